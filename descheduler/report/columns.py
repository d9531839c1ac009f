"""Aligned columns, as kubectl prints them."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence

from descheduler.model.printable import printable
from descheduler.report.palette import PLAIN, Palette

__all__ = ["aligned"]

_GAP = 3
_NARROWEST_SENTENCE = 24
"""A last column with fewer cells than this is left to the terminal: wrapping would only make a tower of words."""


def aligned(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None = None, palette: Palette = PLAIN
) -> Iterator[str]:
    """Lines of a table whose columns are as wide as their longest cell.

    The last column holds sentences: with a `width` in cells it is wrapped between words, below itself. Other columns
    hold names and are never broken. An empty cell shows as `-`, characters that do not print are escaped.
    """
    cells = [[printable(cell) or "-" for cell in row] for row in rows]
    widths = [max(_num_cells(row[column]) for row in (header, *cells)) for column in range(len(header) - 1)]
    indent = sum(widths) + _GAP * len(widths)
    room = None if width is None or width - indent < _NARROWEST_SENTENCE else width - indent
    yield palette.heading(_line(header, widths))
    for row in cells:
        first, *others = _wrapped(row[-1], room)
        yield _line((*row[:-1], first), widths)
        for part in others:
            yield " " * indent + part


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    names = (cell + " " * (width - _num_cells(cell) + _GAP) for cell, width in zip(cells[:-1], widths, strict=True))
    return "".join(names) + cells[-1]


def _wrapped(sentence: str, room: int | None) -> list[str]:
    if room is None:
        return [sentence]
    return textwrap.wrap(sentence, room, break_long_words=False, break_on_hyphens=False) or [sentence]


def _num_cells(text: str) -> int:
    """Terminal cells that `text` takes: none for combining marks, two for wide characters."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
