"""Rows of plugins that are not of this program, as they are used: every function of theirs behind a guard.

What goes wrong while a policy is read is a problem of the policy, at the arguments of the plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from descheduler.cluster.kinds import KINDS
from descheduler.cycle.foreign.plugins import METHODS, ForeignFactory
from descheduler.policy.plugin import ArgsProblem, ExtensionPoint, Needs, PluginSpec
from descheduler.policy.plugin_faults import (
    Origin,
    PluginFault,
    WrongAnswer,
    a_mapping,
    at_most,
    guarded,
    is_of,
    is_own_code,
    origin_of,
    text_of,
)

_MOST_PROBLEMS = 100
_MOST_QUERIES = 100
_PROBLEMS = ("validate", "construction_problems", "file_problems", "warnings", "profile_problems")
"""Functions that answer with problems."""
_POINTS: tuple[ExtensionPoint, ...] = get_args(ExtensionPoint)
Spec = PluginSpec[Any]
Problems = Sequence[ArgsProblem]


def guarded_spec(spec: Spec) -> Spec:
    """A row as it is used: as it is where it is of this program, or guarded already."""
    if isinstance(spec.factory, ForeignFactory) or is_own_code(spec.factory):
        return spec
    origin = origin_of(spec.name, spec.factory)
    return replace(spec, factory=ForeignFactory(spec.factory, origin, spec.extension_points))


def admit_spec(spec: Spec, origin: Origin) -> Spec:
    """The row of a package. Raises WrongAnswer for one that makes no sense, PluginFault where its code fails."""
    _check_row(spec)
    _check_methods(spec)
    guarded(origin, _zero_args)(spec)
    factory = ForeignFactory(spec.factory, origin, spec.extension_points)
    return replace(spec, factory=factory, **_Guard(spec, origin).functions())


def _check_row(spec: Spec) -> None:
    if not (isinstance(spec.args_type, type) and issubclass(spec.args_type, msgspec.Struct)):
        raise WrongAnswer("args_type of its row is not a class of arguments")
    points = at_most(spec.extension_points, len(_POINTS), "extension_points of its row")
    unknown = [text_of(point, "an extension point") for point in points if point not in _POINTS]
    if unknown or not points:
        named = f"names {', '.join(sorted(unknown))}" if unknown else "names no extension point"
        raise WrongAnswer(f"its row {named}; known are {', '.join(_POINTS)}")
    for key, warning in a_mapping(spec.beside, "beside of its row").items():
        text_of(key, "a plugin of beside")
        text_of(warning, "a warning of beside")
    for name in (*_PROBLEMS, *(name for name in _CHECKS if name != "uses" or spec.uses is not None)):
        if not callable(getattr(spec, name)):
            raise WrongAnswer(f"{name} of its row is not a function")


def _check_methods(spec: Spec) -> None:
    """A misspelt method is found here, not by a plugin that never does anything."""
    if not isinstance(spec.factory, type):
        return
    wanted = [METHODS[point] for point in _POINTS if point in spec.extension_points and point in METHODS]
    if all(callable(getattr(spec.factory, name, None)) for name in wanted):
        return
    there = ", ".join(sorted(name for name in vars(spec.factory) if not name.startswith("_"))) or "none"
    raise WrongAnswer(f"its row needs the methods {', '.join(wanted)}; class {spec.factory.__name__} has {there}")


def _zero_args(spec: Spec) -> None:
    try:
        spec.args_type()
    except TypeError:
        raise WrongAnswer("args_type of its row has fields without a default") from None


class _Guard:
    """The functions of a row that read arguments."""

    def __init__(self, spec: Spec, origin: Origin) -> None:
        self._spec = spec
        self._origin = origin

    def functions(self) -> dict[str, Callable[..., object]]:
        """All of them by name. Of one that fails the problems are that, and the answer is that of no function."""
        functions: dict[str, Callable[..., object]] = {
            **{name: partial(self._found, name) for name in _PROBLEMS},
            "validate": self._validate,
            "construction_problems": self._construction_problems,
            **{name: partial(self._answer, name) for name in _CHECKS},
        }
        return {name: each for name, each in functions.items() if getattr(self._spec, name) is not None}

    def _validate(self, args: msgspec.Struct) -> Problems:
        """The problems of the row; that there are no defaults for the arguments is one as well."""
        return [*self._fault(partial(self._checked, "defaults", args)), *self._found("validate", args)]

    def _construction_problems(self, args: msgspec.Struct) -> Problems:
        """The problems of the row; that it cannot say what it needs, reads or holds is one as well."""
        asked = ("needs", "samples", "creates_reservations", "without_limits")
        asks = [
            *(partial(self._checked, name, args) for name in asked),
            partial(self._checked, "cordons", args, (), {}),
        ]
        return [*(problem for ask in asks for problem in self._fault(ask)), *self._found("construction_problems", args)]

    def _checked(self, name: str, *given: Any) -> Any:
        return _CHECKS[name](getattr(self._spec, name)(*given), self._spec, *given)

    def _answer(self, name: str, *given: Any) -> object:
        """The answer of the row; where its code fails the arguments as they are, or nothing."""
        found: list[object] = []
        self._fault(lambda: found.append(self._checked(name, *given)))
        return found[0] if found else _OTHERWISE.get(name, given[0])

    def _found(self, name: str, *given: Any) -> Problems:
        found: list[ArgsProblem] = []

        def ask() -> None:
            answer = getattr(self._spec, name)(*given)
            found.extend(_checked_problem(each) for each in at_most(answer, _MOST_PROBLEMS, f"{name}()"))

        failed = self._fault(ask)
        return [*found, *failed]

    def _fault(self, ask: Callable[[], object]) -> Problems:
        """The fault of the plugin as a problem; none where `ask` succeeds."""
        try:
            guarded(self._origin, ask)()
        except PluginFault as fault:
            return [ArgsProblem((), str(fault))]
        return ()


def _of_kind(answer: object, spec: Spec, what: str) -> msgspec.Struct:
    kind: type[msgspec.Struct] = spec.args_type
    return is_of(answer, kind, what)


def _texts(answer: object, most: int, function: str, noun: str) -> list[str]:
    return [text_of(each, f"{noun} of {function}") for each in at_most(answer, most, function)]


_CHECKS: Mapping[str, Callable[..., object]] = {
    "defaults": lambda answer, spec, args: _of_kind(answer, spec, "defaults()"),
    "without_limits": lambda answer, spec, args: _of_kind(answer, spec, "without_limits()"),
    "needs": lambda answer, spec, args: _checked_needs(answer),
    "uses": lambda answer, spec, args: {_checked_path(path): text_of(each, "uses()") for path, each in answer.items()},
    "creates_reservations": lambda answer, spec, args: bool(answer),
    "samples": lambda answer, spec, args: _texts(answer, _MOST_QUERIES, "samples()", "a query"),
    "samples_address": lambda answer, spec, args: text_of(answer, "samples_address()"),
    "cordons": lambda answer, spec, args, nodes, files: frozenset(_texts(answer, len(nodes), "cordons()", "a node")),
}
"""What is made of the answer of each function, which is checked, by its name: told the answer, the row and what the
function was told."""
_OTHERWISE: Mapping[str, object] = {
    "needs": Needs(),
    "uses": {},
    "creates_reservations": False,
    "samples": (),
    "samples_address": "",
    "cordons": frozenset(),
}
"""The answers of functions that fail; of others it is the arguments as they are."""


def _checked_problem(given: object) -> ArgsProblem:
    problem = is_of(given, ArgsProblem, "a problem")
    return ArgsProblem(_checked_path(problem.path), text_of(problem.message, "the message of a problem"))


def _checked_path(given: object) -> tuple[str | int, ...]:
    steps = at_most(given, _MOST_PROBLEMS, "the path of a problem")
    return tuple([step if isinstance(step, int) else text_of(step, "a step of a path") for step in steps])


def _checked_needs(given: object) -> Needs:
    needs = is_of(given, Needs, "needs()")
    kinds, wanted = frozenset(needs.kinds), frozenset(needs.wanted_kinds)
    unknown = sorted(text_of(key, "a kind of needs()") for key in kinds | wanted if key not in KINDS)
    if unknown:
        raise WrongAnswer(f"needs() names unknown kinds: {', '.join(unknown)}")
    annotations = frozenset(text_of(key, "an annotation of needs()") for key in needs.annotations)
    return Needs(
        kinds,
        wanted,
        pod_conditions=bool(needs.pod_conditions),
        pod_templates=bool(needs.pod_templates),
        annotations=annotations,
    )
