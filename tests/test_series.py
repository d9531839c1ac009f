"""What `make test` takes of a long series, and what it leaves to `make test-all`."""

from __future__ import annotations

import pytest

from tests.series import first_of, parts


@pytest.mark.parametrize("shift", [0, 2, 5])
def test_parts_are_the_whole_series_without_repetition(shift: int) -> None:
    series = range(1, 30)

    taken = [case for param in parts(4) for case in param.values[0].of(series, shift=shift)]

    assert sorted(taken) == list(series)


def test_first_part_is_spread_over_the_series_and_begins_elsewhere_with_another_shift() -> None:
    first = parts(4)[0].values[0]

    assert [list(first.of(range(10), shift=shift)) for shift in (0, 1, 4)] == [[0, 4, 8], [1, 5, 9], [0, 4, 8]]


def test_all_but_the_first_cases_are_left_to_the_rest() -> None:
    marks = [[mark.name for mark in param.marks] for param in (*parts(3), *first_of(2, "abc"))]

    assert marks == [[], ["rest"], ["rest"], [], [], ["rest"]]
