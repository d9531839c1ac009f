"""Aligned columns, as kubectl prints them, fitted to a terminal where there is one."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from descheduler.model.text.printable import printable
from descheduler.report.tables.palette import PLAIN, Palette, Tone

TIE = "\u00a0"
"""A space at which no line is broken; it is shown as a space."""
AS_ABOVE = "as above"
"""A sentence that is that of the row above."""
_EMPTY = "-"
"""How an empty cell shows."""
_GAP = 3
_NARROWEST_NAME = 12
"""A name is never shortened below this."""
_PODS = "POD"
"""A word in the header of columns that name pods."""
_NARROWEST_SENTENCE = 32
"""With fewer cells than this for the last column, sentences stand on lines of their own."""
_INDENT = 4
"""Of such lines."""


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
    below itself or, where little room is left, below the names, and names that are too long lose their middle
    (`ip-10-…internal`), those of pods last, for a reader copies them. Without one everything is whole. An empty header
    gives no header line. An empty cell shows as `-`, characters that do not print are escaped. Where sentences stand
    below the names, an empty one takes no line; in a table without empty ones AS_ABOVE takes none.
    """
    cells = [list(map(_cell, row)) for row in rows]
    texts = [[cell.text for cell in row] for row in cells]
    others = [[_cell(cell).text for cell in row] for row in like]
    layout = _layout([row for row in (header, *texts, *others) if row], header, width)
    if header:
        yield from map(palette.heading, _lines([Toned(name, Tone.PLAIN) for name in header], layout, PLAIN))
    for row in cells:
        yield from _lines(row, layout, palette)


def side_by_side(header: Sequence[str], rows: Sequence[Row], width: int) -> Iterator[Sequence[int]]:
    """The columns of a table in parts that are at most `width` cells wide, the first column in each of them.

    Of the last column, which is wrapped, a part of its width is enough.
    """
    texts = [header, *([_cell(cell).text for cell in row] for row in rows)]
    widths = [max(_num_cells(row[column]) for row in texts) for column in range(len(header))]
    widths[-1] = min(widths[-1], _NARROWEST_SENTENCE)
    part, taken = [0], widths[0]
    for column in range(1, len(header)):
        if len(part) > 1 and taken + _GAP + widths[column] > width:
            yield part
            part, taken = [0], widths[0]
        part.append(column)
        taken += _GAP + widths[column]
    yield part


def _cell(cell: Cell) -> Toned:
    text, tone = (cell.text, cell.tone) if isinstance(cell, Toned) else (cell, Tone.PLAIN)
    return Toned(TIE.join(map(printable, text.split(TIE))) or _EMPTY, tone)


class _Layout(msgspec.Struct, frozen=True):
    """How wide the columns of names are, where sentences begin, and how wide they may be; None for no bound."""

    names: Sequence[int]
    indent: int
    room: int | None = None
    is_stacked: bool = False
    """Whether sentences stand below the names."""
    without_line: str = AS_ABOVE
    """The sentence that then takes no line."""


def _layout(rows: Sequence[Sequence[str]], header: Sequence[str], width: int | None) -> _Layout:
    num_columns = len(rows[0]) if rows else 1
    longest = [max(map(_num_cells, (row[column] for row in rows)), default=0) for column in range(num_columns)]
    names, sentence = longest[:-1], longest[-1]
    indent = sum(names) + _GAP * len(names)
    if width is None:
        return _Layout(names, indent)
    room = width - indent
    if room >= min(sentence, _NARROWEST_SENTENCE) or not names:
        return _Layout(names, indent, room)
    is_pod = [_PODS in title.split() for title in header[:-1]] or [False] * len(names)
    shortened = _shortened(names, is_pod, width - _GAP * (len(names) - 1))
    without_line = _EMPTY if any(row[-1] == _EMPTY for row in rows) else AS_ABOVE
    return _Layout(shortened, _INDENT, max(width - _INDENT, 1), is_stacked=True, without_line=without_line)


def _shortened(widths: Sequence[int], is_pod: Sequence[bool], available: int) -> list[int]:
    """The widths with the longest cut so that they sum up to `available` where that can be.

    Columns of pods share one bound, the others another. The first is lowered when the second cannot be.
    """
    bounds = {is_pods: max(widths, default=0) for is_pods in (False, True)}
    for is_pods in bounds:
        while bounds[is_pods] > _NARROWEST_NAME and sum(_bounded(widths, is_pod, bounds)) > available:
            bounds[is_pods] -= 1
    return _bounded(widths, is_pod, bounds)


def _bounded(widths: Sequence[int], is_pod: Sequence[bool], bounds: Mapping[bool, int]) -> list[int]:
    return [min(width, bounds[is_pods]) for width, is_pods in zip(widths, is_pod, strict=True)]


def _lines(row: Sequence[Toned], layout: _Layout, palette: Palette) -> Iterator[str]:
    """One row: its names, and its sentence on as many lines as it takes."""
    *names, last = row
    head = "".join(_padded(name, width, palette) for name, width in zip(names, layout.names, strict=True))
    first, *others = _wrapped(last.text, layout.room)
    indent = " " * layout.indent
    if layout.is_stacked:
        yield head.rstrip()
        if last.text != layout.without_line:
            yield indent + palette.toned(last.tone, first)
    else:
        yield head + palette.toned(last.tone, first)
    for part in others:
        yield indent + palette.toned(last.tone, part)


def _padded(cell: Toned, width: int, palette: Palette) -> str:
    """The cell and the gap after it; colours take no room."""
    text = _without_middle(cell.text.replace(TIE, " "), width)
    return palette.toned(cell.tone, text) + " " * (width - _num_cells(text) + _GAP)


def _without_middle(name: str, width: int) -> str:
    """`name` in at most `width` cells: both ends tell pods of a workload and nodes of a region apart."""
    if _num_cells(name) <= width:
        return name
    tail = width // 2
    return f"{_start(name, width - 1 - tail)}…{_start(name[::-1], tail)[::-1]}"


def _start(text: str, width: int) -> str:
    """As much of the start of `text` as fits."""
    while _num_cells(text) > width:
        text = text[:width] if text.isascii() else text[:-1]
    return text


def _wrapped(sentence: str, room: int | None) -> list[str]:
    lines = [sentence]
    if room is not None:
        lines = textwrap.wrap(sentence, room, break_long_words=False, break_on_hyphens=False) or lines
    return [line.replace(TIE, " ") for line in lines]


def _num_cells(text: str) -> int:
    """Terminal cells that `text` takes: none for combining marks, two for wide characters."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
