"""How tables look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from descheduler.model.text.printable import printable
from descheduler.report.tables.columns import AS_ABOVE, Row, aligned, side_by_side
from descheduler.report.tables.palette import PLAIN, Palette


class TableStyle(msgspec.Struct, frozen=True):
    """How tables look. `width` is that of the terminal in cells, None for output that is to be whole.

    `is_wide` shows every row and more columns, whole. `is_quiet` leaves only the summary, `has_headers` unset only
    rows that another program can read.
    """

    is_wide: bool = False
    width: int | None = None
    palette: Palette = PLAIN
    is_quiet: bool = False
    has_headers: bool = True

    def table(
        self, header: Sequence[str], rows: Sequence[Row], *, title: str = "", like: Sequence[Row] = ()
    ) -> Iterator[str]:
        """The lines of one table under its title, an empty line after it; nothing when there are no rows.

        Its columns are as wide as if the rows `like` were in it too.
        """
        if not rows:
            return
        if title:
            yield self.palette.heading(title)
        yield from aligned(header, rows, width=self._room, palette=self.palette, like=like)
        if self.has_headers:
            yield ""

    def figures(self, header: Sequence[str], rows: Sequence[Row], *, title: str = "") -> Iterator[str]:
        """As `table`, for rows of figures that the first column names: columns that are too many for the width stand in
        a table of their own, with the first column again."""
        parts = [range(len(header))] if self._room is None else side_by_side(header, rows, self._room)
        for number, part in enumerate(parts):
            shown = [[row[column] for column in part] for row in rows]
            yield from self.table([header[column] for column in part], shown, title="" if number else title)

    def without_repeats(self, rows: Sequence[Row]) -> list[Row]:
        """The rows, whose last cell says only that it is that of the row above; wide tables keep every cell."""
        if self.is_wide:
            return list(rows)
        above = [None, *(row[-1] for row in rows)]
        return [
            [*row[:-1], AS_ABOVE] if row[-1] and row[-1] == last else row
            for row, last in zip(rows, above, strict=False)
        ]

    def labelled(self, texts: Mapping[str, str]) -> Iterator[str]:
        """A line for each text that is not empty, after its label; the texts stand one below the other."""
        rows = [[f"{label}:", text] for label, text in texts.items() if text]
        yield from aligned((), rows, width=self._room)

    def paragraph(self, text: str, *, indent: str = "") -> Iterator[str]:
        """`text` on as many lines as the width takes, behind `indent`, and twice that from the second line on.

        What does not print is escaped.
        """
        room = None if self._room is None else self._room - 2 * len(indent)
        for number, line in enumerate(aligned((), [[text]], width=room)):
            yield f"{indent * (2 if number else 1)}{line}"

    def notes(self, notes: Sequence[str]) -> Iterator[str]:
        """A paragraph for each note, an empty line after them; nothing without any."""
        for note in notes:
            yield from self.paragraph(printable(note))
        if notes:
            yield ""

    def heading(self, text: str) -> Iterator[str]:
        """`text` as a paragraph that stands out."""
        yield from map(self.palette.heading, self.paragraph(text))

    @property
    def _room(self) -> int | None:
        return None if self.is_wide else self.width
