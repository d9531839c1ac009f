"""Names of files on the command line, and what - stands for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

__all__ = ["file_source", "input_path", "read_file_name", "read_input_name", "read_input_names", "read_output_name"]

_STANDARD_STREAM = "-"
_TAKEN = "descheduler.standard_input_is_taken"


def read_file_name(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """The name of a file, which is not empty: an empty variable in a script would stand for the present folder."""
    if text == "":
        raise click.BadParameter("the file name is empty.")
    return text


def read_output_name(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """The name of a file to write beside a document, which takes standard output."""
    if text == _STANDARD_STREAM:
        raise click.BadParameter("standard output is used for the plan; name a file (./- for a file named -).")
    return read_file_name(ctx, option, text)


def read_input_name(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """The name of a file to read; - is standard input, which can be read once by all parameters together."""
    if text == _STANDARD_STREAM:
        if ctx.meta.get(_TAKEN):
            raise click.BadParameter("standard input can be read once; name a file (./- for a file named -).")
        ctx.meta[_TAKEN] = True
    return read_file_name(ctx, option, text)


def read_input_names(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Names of files to read, each as `read_input_name`."""
    for text in texts:
        read_input_name(ctx, option, text)
    return texts


def input_path(name: str) -> Path | Literal["-"]:
    """The file that was named; - is standard input."""
    return "-" if name == "-" else Path(name)


def file_source(file: str) -> tuple[Path | str, str | None]:
    """The file, or the text of standard input and its name in messages for -. Raises click.UsageError without one."""
    if file != "-":
        return Path(file), None
    if sys.stdin is None:
        raise click.UsageError("standard input is closed; name a file.")
    return sys.stdin.buffer.read().decode("utf-8", errors="replace"), "<stdin>"
