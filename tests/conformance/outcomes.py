"""Counts of checks that passed and failed, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

__all__ = ["Outcomes"]

_Cell = tuple[int, int]


@dataclass
class Outcomes:
    """Checks passed and failed, by row and column of the table."""

    passed: Counter[tuple[str, str]] = field(default_factory=Counter)
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)

    def note(self, row: str, column: str, *, is_passed: bool) -> None:
        """Counts one check."""
        (self.passed if is_passed else self.failed)[row, column] += 1

    @property
    def columns(self) -> list[str]:
        """Every column that holds something, in alphabetical order."""
        return sorted({column for _, column in {**self.passed, **self.failed}})

    def cell(self, column: str, row: str | None = None) -> _Cell:
        """Passed and failed in one column, over all rows unless one is named."""
        rows = self._rows() if row is None else [row]
        return sum(self.passed[name, column] for name in rows), sum(self.failed[name, column] for name in rows)

    def table(self, heading: str, columns: Sequence[str], *, has_sums: bool = False) -> str:
        """Passed of all as a Markdown table with a last row of totals; `has_sums` adds a last column of them."""
        names = [heading, *columns, *(["all"] if has_sums else [])]
        lines = ["| " + " | ".join(names) + " |", "|---|" + "---:|" * (len(names) - 1)]
        for row in [*self._rows(), None]:
            cells = [self.cell(column, row) for column in columns]
            sums = [_sum(cells)] if has_sums else []
            lines.append("| " + " | ".join([row or "**total**", *map(_text, [*cells, *sums])]) + " |")
        return "\n".join(lines)

    def _rows(self) -> list[str]:
        return sorted({row for row, _ in {**self.passed, **self.failed}})


def _sum(cells: Iterable[_Cell]) -> _Cell:
    passed, failed = zip(*cells, strict=True)
    return sum(passed), sum(failed)


def _text(cell: _Cell) -> str:
    passed, failed = cell
    return f"{passed}/{passed + failed}" if passed + failed else ""
