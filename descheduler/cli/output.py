"""Documents to standard output: data goes there, everything else to standard error."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from descheduler.cli.errors import CommandError
from descheduler.cli.exit_code import ExitCode

if TYPE_CHECKING:
    from descheduler.report.explanation.document import Explanation
    from descheduler.report.outcome_document import Outcome
    from descheduler.report.plan_document import Plan
    from descheduler.report.render import Format

__all__ = ["takes_output", "write_data", "write_document", "write_text"]


def takes_output(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds `--output`, the format in which `write_document` writes `what`."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(["table", "wide", "json", "yaml"]),
        default="table",
        show_default=True,
        help=f"Format of {what} on standard output.",
    )


def write_document(document: Plan | Outcome | Explanation, output_format: Format) -> bool:
    """Writes a document; in colours and to the width of the terminal, if it is one.

    Returns and raises as `write_text`.
    """
    from descheduler.report.palette import Palette, wants_colour
    from descheduler.report.render import render

    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    palette = Palette(is_coloured=wants_colour(is_terminal=is_terminal, environ=os.environ))
    width = shutil.get_terminal_size().columns if is_terminal else None
    pieces = render(document, output_format, width=width, palette=palette)
    if output_format in ("json", "yaml"):
        return write_data(pieces)
    return write_text(pieces)


def write_data(pieces: Iterable[str]) -> bool:
    """Writes JSON or YAML, which is UTF-8 whatever the locale says. Returns and raises as `write_text`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    return write_text(pieces)


def write_text(pieces: Iterable[str]) -> bool:
    """Writes text and sees that it is out: whether its reader took all of it. Raises CommandError for other faults."""
    if sys.stdout is None:
        raise CommandError("cannot write to standard output: it is closed", ExitCode.FAILED)
    try:
        for piece in pieces:
            sys.stdout.write(piece)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return False
    except OSError as error:
        _discard_output()
        text = f"cannot write to standard output: {(error.strerror or str(error)).lower()}"
        raise CommandError(text, ExitCode.FAILED) from error
    return True


def _discard_output() -> None:
    """What is still buffered would fail once more when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
