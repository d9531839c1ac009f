"""What is printed of an unexpected error: its type and where it arose, never its text.

The text of such an error is some library's, which may quote whatever it was given: a header field with a token, a URL
with a password, the line of a file.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from types import TracebackType

_PACKAGE = "descheduler"


def error_words(error: BaseException) -> str:
    """What the operating system says of `error`, such as `connection refused`; else the name of its type."""
    said = error.strerror if isinstance(error, OSError) else None
    return said.lower() if isinstance(said, str) and said else type(error).__name__


def place_of(error: BaseException) -> str:
    """`module:line` of the innermost frame of this program that `error` passed through; "" when there is none."""
    place, trace = "", error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == _PACKAGE:
            place = f"{module}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def traceback_lines(error: BaseException) -> list[str]:
    """The traceback of `error`, and of what it came from, with the types of the errors in place of their texts."""
    lines = []
    for chained in reversed(list(_chain(error))):
        lines += ["Traceback (most recent call last):", *_frames(chained.__traceback__), _type_name(chained)]
    return lines


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen = set[int]()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)


def _frames(trace: TracebackType | None) -> list[str]:
    return [line for entry in traceback.format_tb(trace) for line in entry.rstrip("\n").split("\n")]


def _type_name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
