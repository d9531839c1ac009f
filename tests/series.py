"""Long series of cases: `make test` and `make test-long` take a fixed part of each, `make test-all` all of it.

What they leave out is marked `rest`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

_T = TypeVar("_T")


@dataclass(frozen=True)
class Part:
    """One of `number` parts of a series, each of which is spread over the whole series."""

    index: int
    number: int

    def of(self, series: Sequence[_T], *, shift: int = 0) -> Sequence[_T]:
        """The cases of this part; with another `shift`, the first parts of two like series hold different cases."""
        return series[(self.index + shift) % self.number :: self.number]


def parts(number: int) -> list[Any]:
    """Parameters: the parts of a series, of which the first is not left to the rest."""
    return [
        pytest.param(Part(index, number), marks=_marks(index < 1), id=f"part-{index + 1}-of-{number}")
        for index in range(number)
    ]


def first_of(count: int, cases: Iterable[Any]) -> list[Any]:
    """Parameters: `cases`, of which the first `count` are not left to the rest."""
    return [pytest.param(case, marks=_marks(position < count)) for position, case in enumerate(cases)]


def _marks(is_taken: bool) -> Sequence[pytest.MarkDecorator]:
    return () if is_taken else (pytest.mark.rest,)
