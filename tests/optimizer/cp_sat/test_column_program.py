"""Linear programs by columns: prices are duals, and whole numbers keep the limits that fractions keep."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer.cp_sat.column_program import ColumnProgram

_FOREVER = float("inf")


def test_price_of_a_row_is_what_one_more_of_its_limit_gains() -> None:
    program = ColumnProgram(np.array([3]), scale=10)
    program.add(30, 1, {0: 2})
    program.add(10, 5, {0: 1})

    relaxed = program.relax(_FOREVER)

    assert relaxed is not None
    assert (relaxed.values.tolist(), relaxed.prices.tolist()) == ([1.0, 1.0], [1.0])


def test_a_column_that_is_added_later_changes_the_prices() -> None:
    program = ColumnProgram(np.array([3]), scale=1)
    program.add(1, 5, {0: 1})
    program.relax(_FOREVER)

    program.add(4, 5, {0: 1})

    relaxed = program.relax(_FOREVER)
    assert relaxed is not None
    assert (relaxed.values.tolist(), relaxed.prices.tolist()) == ([0.0, 3.0], [4.0])


def test_whole_numbers_stay_within_a_limit_that_fractions_use_up() -> None:
    program = ColumnProgram(np.array([3]), scale=1)
    program.add(2, 2, {0: 2})
    relaxed = program.relax(_FOREVER)
    assert relaxed is not None

    whole = program.solve_whole(relaxed, 10, seconds=_FOREVER, work=1.0, seed=0)

    assert (relaxed.values.tolist(), whole.values.tolist()) == ([1.5], [1])


@pytest.mark.parametrize("most", [0, 1, 2, 9])
def test_columns_that_the_best_fractions_take_are_kept_whatever_the_number(most: int) -> None:
    program = ColumnProgram(np.array([3]), scale=1)
    program.add(1, 5, {0: 1})
    program.add(2, 5, {0: 1})
    relaxed = program.relax(_FOREVER)
    assert relaxed is not None

    whole = program.solve_whole(relaxed, most, seconds=_FOREVER, work=1.0, seed=0)

    assert whole.values.tolist() == [0, 3]


def test_a_column_that_is_newer_than_the_fractions_may_be_taken_too() -> None:
    program = ColumnProgram(np.array([3]), scale=1)
    program.add(2, 5, {0: 2})
    relaxed = program.relax(_FOREVER)
    assert relaxed is not None
    program.add(1, 5, {0: 1})

    whole = program.solve_whole(relaxed, 2, seconds=_FOREVER, work=1.0, seed=0)

    assert (whole.values * [2, 1]).sum() == 3


@pytest.mark.parametrize(("most", "values"), [(1, [1, 0, 0]), (2, [1, 0, 1]), (3, [1, 0, 1])])
def test_beside_the_columns_of_the_fractions_those_are_taken_that_lose_least(most: int, values: list[int]) -> None:
    """The first column takes 2 of 3 for 10, so that the last unit is worth 5; the others gain 1 and 4 by it."""
    program = ColumnProgram(np.array([3]), scale=1)
    for gain, times in ((10, 2), (1, 1), (4, 1)):
        program.add(gain, 5, {0: times})
    relaxed = program.relax(_FOREVER)
    assert relaxed is not None

    whole = program.solve_whole(relaxed, most, seconds=_FOREVER, work=1.0, seed=0)

    assert whole.values.tolist() == values


def test_a_solution_in_whole_numbers_ends_where_nothing_is_better_by_the_scale() -> None:
    """The row has room for one column or the other, of which the one gains a little more than the other."""
    program = ColumnProgram(np.array([1]), scale=10)
    for gain in (20, 11):
        program.add(gain, 1, {0: 1})
    relaxed = program.relax(_FOREVER)
    assert relaxed is not None

    whole = program.solve_whole(relaxed, 2, seconds=_FOREVER, work=1.0, seed=0)

    assert (relaxed.prices.tolist(), whole.values.tolist()) == ([2.0], [1, 0])
    assert relaxed.work >= 0.0
