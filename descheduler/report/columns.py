"""Aligned columns, as kubectl prints them, fitted to a terminal where there is one."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from descheduler.model.printable import printable
from descheduler.report.palette import PLAIN, Palette, Tone

__all__ = ["Cell", "Row", "Toned", "aligned"]

_GAP = 3
_NARROWEST_NAME = 12
"""A name is never shortened below this."""
_NARROWEST_SENTENCE = 24
"""A last column with fewer cells than this is left to the terminal: wrapping would only make a tower of words."""
_ROOM_FOR_SENTENCE = 40
"""What the last column keeps, if it needs it, before names are shortened."""


class Toned(NamedTuple):
    """A cell that stands out on a terminal with colours."""

    text: str
    tone: Tone


Cell = str | Toned
Row = Sequence[Cell]


def aligned(
    header: Sequence[str],
    rows: Sequence[Row],
    *,
    width: int | None = None,
    palette: Palette = PLAIN,
    like: Sequence[Row] = (),
) -> Iterator[str]:
    """Lines of a table whose columns are as wide as their longest cell, those of the rows `like` included.

    With a `width` in cells the table is fitted to it: the last column, which holds sentences, is wrapped between words
    below itself, and long names in the other columns lose their middle (`ip-10-…internal`). Without one everything is
    whole. An empty header gives no header line. An empty cell shows as `-`, characters that do not print are escaped.
    """
    cells = [list(map(_cell, row)) for row in rows]
    texts = [[cell.text for cell in row] for row in cells]
    others = [[_cell(cell).text for cell in row] for row in like]
    widths, room = _layout([row for row in (header, *texts, *others) if row], width)
    if header:
        yield palette.heading(_line(header, widths))
    for row in cells:
        yield from _lines(row, widths, room, palette)


def _cell(cell: Cell) -> Toned:
    text, tone = (cell.text, cell.tone) if isinstance(cell, Toned) else (cell, Tone.PLAIN)
    return Toned(printable(text) or "-", tone)


def _layout(rows: Sequence[Sequence[str]], width: int | None) -> tuple[list[int], int | None]:
    """How wide the columns of names are, and what is left for the last one; None for no bound."""
    num_columns = len(rows[0]) if rows else 1
    longest = [max(_num_cells(row[column]) for row in rows) for column in range(num_columns)] if rows else [0]
    names, sentence = longest[:-1], longest[-1]
    if width is None:
        return names, None
    for_names = width - _GAP * len(names) - min(sentence, _ROOM_FOR_SENTENCE)
    widths = _shortened(names, for_names)
    room = width - sum(widths) - _GAP * len(widths)
    return widths, None if room < _NARROWEST_SENTENCE else room


def _shortened(widths: Sequence[int], available: int) -> list[int]:
    """The widths with the longest cut to one common bound, so that they sum up to `available` where that can be."""
    bound = max(widths, default=0)
    while bound > _NARROWEST_NAME and sum(min(width, bound) for width in widths) > available:
        bound -= 1
    return [min(width, bound) for width in widths]


def _lines(row: Sequence[Toned], widths: Sequence[int], room: int | None, palette: Palette) -> Iterator[str]:
    """One row: its names, and its sentence on as many lines as it takes."""
    *names, last = row
    head = "".join(_padded(name, width, palette) for name, width in zip(names, widths, strict=True))
    first, *others = _wrapped(last.text, room)
    yield head + palette.toned(last.tone, first)
    indent = " " * (sum(widths) + _GAP * len(widths))
    for part in others:
        yield indent + palette.toned(last.tone, part)


def _padded(cell: Toned, width: int, palette: Palette) -> str:
    """The cell and the gap after it; colours take no room."""
    text = _without_middle(cell.text, width)
    return palette.toned(cell.tone, text) + " " * (width - _num_cells(text) + _GAP)


def _line(header: Sequence[str], widths: Sequence[int]) -> str:
    names = (_padded(Toned(cell, Tone.PLAIN), width, PLAIN) for cell, width in zip(header, widths, strict=False))
    return "".join(names) + header[-1]


def _without_middle(name: str, width: int) -> str:
    """`name` in at most `width` cells: both ends tell pods of a workload and nodes of a region apart."""
    if _num_cells(name) <= width:
        return name
    tail = width // 2
    head = width - 1 - tail
    return f"{_start(name, head)}…{_start(name[::-1], tail)[::-1]}"


def _start(text: str, width: int) -> str:
    """As much of the start of `text` as fits."""
    while _num_cells(text) > width:
        text = text[: max(width, 0)] if text.isascii() else text[:-1]
    return text


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
