"""Counts of checks that passed and failed, as a table, and of cases that a check each answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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


@dataclass
class CaseTally:
    """Outcomes of whole cases; `failures` maps the id of a case to what differs."""

    outcomes: Outcomes = field(default_factory=Outcomes)
    failures: dict[str, str] = field(default_factory=dict)

    def note(self, case_id: str, row: str, column: str, difference: str | None) -> str | None:
        """Counts one case, and gives what differs back."""
        self.outcomes.note(row, column, is_passed=difference is None)
        if difference is not None:
            self.failures[case_id] = difference
        return difference

    @property
    def num_passed(self) -> int:
        """Cases in which nothing differs."""
        return sum(self.outcomes.passed.values())

    @property
    def num_failed(self) -> int:
        """The other cases that were run."""
        return sum(self.outcomes.failed.values())


def difference_or_crash(check: Callable[[Mapping[str, Any]], str | None], case: Mapping[str, Any]) -> str | None:
    """What `check` says. A crash is a difference too."""
    try:
        return check(case)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _sum(cells: Iterable[_Cell]) -> _Cell:
    passed, failed = zip(*cells, strict=True)
    return sum(passed), sum(failed)


def _text(cell: _Cell) -> str:
    passed, failed = cell
    return f"{passed}/{passed + failed}" if passed + failed else ""
