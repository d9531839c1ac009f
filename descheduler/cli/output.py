"""Documents to standard output: data goes there, everything else to standard error."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, TextIO

import click
import msgspec

from descheduler.cli.ending.exit_code import CommandError, ExitCode
from descheduler.cli.flag_groups import FlagGroup, flag

if TYPE_CHECKING:
    from descheduler.report.formats.render import FlatFormat, Format, PictureFormat, TabledDocument
    from descheduler.report.outcome.document import OutcomeDocument
    from descheduler.report.outcome.status_document import StatusDocument
    from descheduler.report.plan.document import Plan
    from descheduler.report.simulation_document import Simulation


class Output(msgspec.Struct, frozen=True):
    """What the output flags say."""

    format: Format | FlatFormat | PictureFormat = "table"
    is_quiet: bool = False
    has_headers: bool = True

    @property
    def is_picture(self) -> bool:
        """Whether it is a format of plans and simulations alone."""
        return self.format in _PICTURES


_kept: list[TextIO | None] = []
"""The stream that `keep_output` keeps for documents, in a list; None where it was closed before the start."""
_is_command = False
"""Whether a command runs, at the end of which standard output is given back."""

_FLAT = ("name", "csv", "jsonl")
_PICTURES = ("html", "markdown")
_DATA = ("json", "yaml", "jsonl", "csv", *_PICTURES)
"""Formats for programs, which are UTF-8 whatever the locale says."""


def takes_output(
    what: str, *, has_flat_formats: bool = False, has_pictures: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds `--output` and what goes with it; the command gets an `Output`, for `write_document` to write `what`."""
    more = [*(_FLAT if has_flat_formats else ()), *(_PICTURES if has_pictures else ())]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @flag(
            FlagGroup.OUTPUT,
            "-o",
            "--output",
            "output_format",
            type=click.Choice(["table", "wide", "json", "yaml", *more]),
            default="table",
            show_default=True,
            help=f"Format of {what} on standard output.",
        )
        @wraps(command)
        def with_output(
            *args: object,
            output_format: Format | FlatFormat | PictureFormat,
            is_quiet: bool = False,
            has_headers: bool = True,
            **flags: object,
        ) -> object:
            return command(*args, output=Output(output_format, is_quiet, has_headers), **flags)

        return _with_table_flags(with_output) if has_flat_formats else with_output

    return decorate


def _with_table_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags of plans and outcomes alone."""
    quiet = flag(
        FlagGroup.OUTPUT,
        "-q",
        "--quiet",
        "is_quiet",
        is_flag=True,
        help="Print only the summary of a table, and no progress.",
    )
    headers = flag(
        FlagGroup.OUTPUT,
        "--no-headers",
        "has_headers",
        flag_value=False,
        default=True,
        help="Print only rows, one for each pod to evict, without titles, headers and summary; for CSV, no header row.",
    )
    return quiet(headers(command))


@contextmanager
def output_may_be_kept() -> Iterator[None]:
    """Has `keep_output` keep standard output, which is at the end again what it was at the start."""
    global _is_command
    _is_command = True
    try:
        yield
    finally:
        _is_command = False
        if _kept:
            with suppress(AttributeError, OSError, ValueError):  # harmed by a plugin, or its reader has gone away
                sys.stdout.close()
            sys.stdout = _kept.pop()


def keep_output() -> None:
    """Keeps standard output for documents until the command ends; what plugins of packages print goes to the log.

    A plugin that closes `sys.stdout` closes a stream of its own. Outside of a command nothing is kept.
    """
    if _is_command and not _kept:
        _kept.append(sys.stdout)
        sys.stdout = _to_standard_error()


def _to_standard_error() -> TextIO:
    """A stream of its own to where the log goes; to nowhere if that is closed."""
    try:
        return os.fdopen(os.dup(sys.stderr.fileno()), "w", buffering=1, errors="backslashreplace")
    except (AttributeError, OSError, ValueError):
        return open(os.devnull, "w")


def _documents() -> TextIO | None:
    return _kept[0] if _kept else sys.stdout


def write_document(
    document: Plan | OutcomeDocument | StatusDocument | Simulation | TabledDocument, output: Output
) -> bool:
    """Writes a document; in colours and to the width of the terminal, if it is one.

    Returns and raises as `write_text`.
    """
    from descheduler.report.formats.render import render
    from descheduler.report.tables.palette import Palette, wants_colour
    from descheduler.report.tables.table_style import TableStyle

    stream = _documents()
    is_terminal = stream is not None and stream.isatty()
    style = TableStyle(
        width=shutil.get_terminal_size().columns if is_terminal and output.has_headers else None,
        palette=Palette(is_coloured=wants_colour(is_terminal=is_terminal, environ=os.environ)),
        is_quiet=output.is_quiet,
        has_headers=output.has_headers,
    )
    pieces = render(document, output.format, style)
    return write_data(pieces) if output.format in _DATA else write_text(pieces)


def write_data(pieces: Iterable[str]) -> bool:
    """Writes what programs read, which is UTF-8 whatever the locale says. Returns and raises as `write_text`."""
    stream = _documents()
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    return write_text(pieces)


def write_text(pieces: Iterable[str]) -> bool:
    """Writes text and sees that it is out: whether its reader took all of it. Raises CommandError for other faults."""
    stream = _documents()
    if stream is None:
        raise CommandError("cannot write to standard output: it is closed", ExitCode.FAILED)
    try:
        for piece in pieces:
            stream.write(piece)
        stream.flush()
    except BrokenPipeError:
        _discard(stream)
        return False
    except OSError as error:
        _discard(stream)
        text = f"cannot write to standard output: {(error.strerror or str(error)).lower()}"
        raise CommandError(text, ExitCode.FAILED) from error
    return True


def _discard(stream: TextIO) -> None:
    """What is still buffered would fail once more when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
