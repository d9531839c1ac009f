"""Faults of plugins that are not of this program: what they raise, and what they answer that is no answer.

Such code may raise anything, and ends nothing by it: `sys.exit` is a fault like any other. The message names the
plugin, its package and the line of its code; the text of an error stays out, as it may hold anything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from pathlib import PurePath
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

import msgspec

from descheduler.model.text.printable import clipped, printable
from descheduler.supervision import RunStopped

MOST_TEXT = 1_000
"""Characters of a text of a plugin that are kept."""
_MOST_OF_NAME = 100
"""Characters of the name of an exception."""
_OWN = "descheduler"
_FAILED = " failed: "
_LIBRARIES = frozenset(
    {"click", "google", "jinja2", "kubernetes", "msgspec", "numpy", "opentelemetry", "ortools"}
    | {"prometheus_client", "tenacity", "urllib3", "yaml"}
)
"""Packages that this program uses, whose code runs on its behalf."""

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class Origin(msgspec.Struct, frozen=True):
    """Where a plugin comes from: its name, its package where one offers it, and the root of the modules of its code."""

    plugin: str
    package: str = ""
    root: str = ""

    def __str__(self) -> str:
        """As part of a sentence."""
        return f"plugin {self.plugin} (package {self.package})" if self.package else f"plugin {self.plugin}"


class PluginFault(Exception):  # noqa: N818 - named after what it says
    """A plugin that is not of this program has failed; the others go on. The message says which, how and where."""

    def __init__(self, plugin: str, message: str) -> None:
        super().__init__(message)
        self.plugin = plugin


class WrongAnswer(Exception):  # noqa: N818 - an answer, and what is wrong with it
    """A plugin has answered what is no answer; the message says what it is instead."""


def is_own_code(code: object) -> bool:
    """Whether a class or a function is of this program."""
    return _root_of(code) == _OWN


def origin_of(plugin: str, code: object) -> Origin:
    """The origin of a plugin that no package offers by its metadata."""
    return Origin(plugin, "", _root_of(code))


def _root_of(code: object) -> str:
    return str(getattr(code, "__module__", "")).partition(".")[0]


def guarded(origin: Origin, ask: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """`ask`, which raises PluginFault for whatever its code raises."""

    def asked(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        try:
            return ask(*args, **kwargs)
        except BaseException as error:
            raise fault_of(origin, error) from error

    return asked


def fault_of(origin: Origin, error: BaseException) -> PluginFault:
    """The fault of a plugin whose code has raised `error`.

    Raises `error` itself where the plugin is not to blame: another one is, the run's time is over, or somebody has
    pressed Ctrl-C. The first two, and what is wrong with an answer, are for this program to say: a package that raises
    them has failed as with any other exception.
    """
    is_own = _is_raised_here(error)
    if (is_own and isinstance(error, (PluginFault, RunStopped))) or _is_interrupt(error):
        raise error
    is_answer = is_own and isinstance(error, WrongAnswer)
    said = str(error) if is_answer else clipped(type(error).__name__, _MOST_OF_NAME)
    place = place_in_foreign_code(error, origin.root)
    return PluginFault(origin.plugin, f"{origin}{_FAILED}{said}{f' at {place}' if place else ''}")


def failure_words(plugin: str, message: str) -> str:
    """What `message` says after `plugin X failed: `, such as `KeyError at spot.py:3 (package acme)`.

    The message of a fault begins with its plugin and package; that of a plugin of this program does not.
    """
    origin, _, said = message.partition(_FAILED)
    own = str(Origin(plugin))
    if not said or not (origin == own or origin.startswith(f"{own} (")):
        return message
    return f"{said}{origin[len(own) :]}"


def place_in_foreign_code(error: BaseException, root: str = "") -> str:
    """`package/module.py:line` of the innermost frame of modules below `root`; "" where there is none.

    Without a frame there, or without a `root`, it is the innermost frame that is neither of this program nor of what it
    uses. Of a file that Python cannot read it is the line at fault.
    """
    if isinstance(error, SyntaxError) and error.filename and root:
        parts = PurePath(error.filename).parts
        if root in parts:
            return printable(f"{'/'.join(parts[parts.index(root) :])}:{error.lineno}")
    own, others = "", ""
    for trace in _traces(error):
        name = str(trace.tb_frame.f_globals.get("__name__", ""))
        at = name.partition(".")[0]
        if root and at == root:
            own = _place(trace, name)
        elif at != _OWN and at not in _LIBRARIES and at not in sys.stdlib_module_names:
            others = _place(trace, name)
    return own or others


def _place(trace: TracebackType, module: str) -> str:
    """The file as far as the name of its module tells of it: where it is installed stays out."""
    path = PurePath(trace.tb_frame.f_code.co_filename)
    depth = len(module.split(".")) + (path.stem == "__init__")
    return printable(f"{'/'.join(path.parts[-depth:])}:{trace.tb_lineno}")


def _traces(error: BaseException) -> Iterator[TracebackType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_raised_here(error: BaseException) -> bool:
    """Whether it comes from code of this program, as far as anybody knows."""
    traces = list(_traces(error))
    return not traces or str(traces[-1].tb_frame.f_globals.get("__name__", "")).partition(".")[0] == _OWN


def _is_interrupt(error: BaseException) -> bool:
    """Whether somebody has pressed Ctrl-C, which comes between two instructions; code that raises it says `raise`."""
    if not isinstance(error, KeyboardInterrupt):
        return False
    from opcode import opmap  # only then

    last = list(_traces(error))[-1]
    return last.tb_frame.f_code.co_code[last.tb_lasti] != opmap["RAISE_VARARGS"]


_FAULTS: ContextVar[list[PluginFault] | None] = ContextVar("faults of plugins", default=None)


@contextmanager
def collected_faults() -> Iterator[list[PluginFault]]:
    """The faults that are noted in the context, as they come."""
    faults: list[PluginFault] = []
    token = _FAULTS.set(faults)
    try:
        yield faults
    finally:
        _FAULTS.reset(token)


@contextmanager
def contained() -> Iterator[None]:
    """Raises PluginFault for what would end the program in a `with` statement: no code of its own asks for that."""
    try:
        yield
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        raise fault_of(Origin("of another package"), error) from error


def note_fault(fault: PluginFault) -> None:
    """Notes a fault that ends nothing, for whoever collects them."""
    faults = _FAULTS.get()
    if faults is not None:
        faults.append(fault)


def text_of(value: object, what: str, most: int = MOST_TEXT) -> str:
    """A text of a plugin, cut off with a note where it is longer than `most`. Raises WrongAnswer for anything else."""
    if not isinstance(value, str):
        raise WrongAnswer(f"{what} is {type(value).__name__}, not text")
    text = str.__str__(value)
    if len(text) > most:
        text = f"{text[:most]}... (cut off: {len(text):,} characters)"
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def is_of(value: object, kind: type[Answer], what: str) -> Answer:
    """`value`, which is a `kind`. Raises WrongAnswer."""
    if not isinstance(value, kind):
        raise WrongAnswer(f"{what} is {type(value).__name__}, not {kind.__name__}")
    return value


def a_mapping(value: object, what: str) -> Mapping[Any, Any]:
    """`value`, which maps something. Raises WrongAnswer."""
    if not isinstance(value, Mapping):
        raise WrongAnswer(f"{what} is {type(value).__name__}, not a mapping")
    return value


def at_most(values: object, most: int, what: str) -> list[object]:
    """What an iterable of a plugin gives. Raises WrongAnswer for what is none, and for one of more than `most`."""
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes)):
        raise WrongAnswer(f"{what} is {type(values).__name__}, not a list")
    found: list[object] = list(islice(values, most + 1))
    if len(found) > most:
        raise WrongAnswer(f"{what} has more than {most:,} entries")
    return found
