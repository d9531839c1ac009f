"""The selectors of device classes and claims: compiled once, then asked of one device after the other."""

from __future__ import annotations

import functools

from descheduler.placement.cel.compiler import Compiler
from descheduler.placement.cel.errors import CelError, EvaluationError, InvalidExpression
from descheduler.placement.cel.frame import ANY, BOOL, CelDevice, Evaluation, Frame
from descheduler.placement.cel.parser import parse
from descheduler.placement.cel.values import type_name

_LONGEST = 10 * 1024
"""Bytes of an expression (`CELSelectorExpressionMaxLength` of `k8s.io/api/resource/v1`)."""
_NUM_CACHED = 4096


class Selector:
    """A compiled expression."""

    __slots__ = ("_num_variables", "_run", "text")

    def __init__(self, text: str, run: Evaluation, num_variables: int) -> None:
        self.text = text
        self._run = run
        self._num_variables = num_variables

    def matches(self, device: CelDevice) -> bool:
        """Whether `device` is selected.

        Raises EvaluationError where the API server's libraries have an error for this device, and Unsupported where
        the answer takes more steps or room than allowed.
        """
        value = self._run(Frame(device, self._num_variables))
        if type(value) is bool:
            return value
        raise EvaluationError(f"the result is of type {type_name(value)}, not bool")


def compile_selector(text: str) -> Selector:
    """The selector of an expression, the same one for the same text.

    Raises InvalidExpression when the API server refuses the expression, and Unsupported when it is outside the subset.
    """
    if len(text) > _LONGEST or len(text.encode(errors="surrogatepass")) > _LONGEST:
        raise InvalidExpression(f"an expression of more than {_LONGEST:,} bytes")
    outcome = _outcome(text)
    if isinstance(outcome, Selector):
        return outcome
    raise outcome


@functools.lru_cache(maxsize=_NUM_CACHED)
def _outcome(text: str) -> Selector | CelError:
    compiler = Compiler()
    try:
        compiled = compiler.compile(parse(text))
    except CelError as error:
        return error.with_traceback(None)
    if compiled.type in (BOOL, ANY):
        return Selector(text, compiled.run, compiler.num_variables)
    return InvalidExpression(f"must evaluate to bool or the unknown type, not {compiled.type}")
