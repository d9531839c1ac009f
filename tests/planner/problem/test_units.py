"""What counts as one of each resource, so that what pods need adds up to exact sums."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer.problem import LARGEST_EXACT
from descheduler.planner.problem.units import Units, counted_needs, ones, units_for

PIB = 2**50


def needs(*amounts: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Of one resource."""
    return np.array([[amount] for amount in amounts], np.int64)


def most(amount: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """What the largest node has of it."""
    return np.array([amount], np.int64)


def test_amounts_that_add_up_exactly_stay_as_they_are() -> None:
    units = units_for(needs(2**52, 2**52 - 1), most(2**52))

    assert (units.sizes.tolist(), units.is_exact) == ([1], True)


def test_amounts_that_add_up_to_more_are_counted_by_their_greatest_common_divisor() -> None:
    need = needs(4 * PIB, 6 * PIB, 2 * PIB)
    units = units_for(need, most(8 * PIB))

    assert (units.sizes.tolist(), units.is_exact) == ([2 * PIB], True)
    assert counted_needs(units, need, most(8 * PIB)).tolist() == [[2], [3], [1]]
    assert units.room(most(8 * PIB)).tolist() == [4]


def test_each_resource_has_a_unit_of_its_own() -> None:
    units = units_for(np.array([[1, 6 * PIB], [3, 6 * PIB]]), np.array([10, 6 * PIB]))

    assert units.sizes.tolist() == [1, 6 * PIB]


def test_where_no_divisor_is_enough_needs_are_rounded_up_for_plans_and_down_for_bounds() -> None:
    need, largest = needs(6 * PIB, 6 * PIB, 1001), most(8 * PIB)
    units = units_for(need, largest)
    (size,) = units.sizes.tolist()

    assert not units.is_exact
    assert size == 4
    assert counted_needs(units, need, largest).tolist() == [[6 * PIB // 4], [6 * PIB // 4], [251]]
    assert counted_needs(units.loosest(), need, largest).tolist()[-1] == [250]


@pytest.mark.parametrize("for_bounds", [False, True])
@pytest.mark.parametrize(
    "amounts",
    [
        pytest.param([2**61] * 3, id="more than any node has, on each of them"),
        pytest.param([2**61, 1, 3], id="one that is absurd"),
        pytest.param([PIB + 1] * 20_000, id="many that nearly fit"),
        pytest.param([3 * PIB, 2 * PIB, 5, 7], id="some that fit"),
    ],
)
def test_all_amounts_add_up_exactly_and_what_fits_nowhere_still_does_not(
    amounts: list[int], *, for_bounds: bool
) -> None:
    need, largest = needs(*amounts), most(4 * PIB)
    units = units_for(need, largest)
    units = units.loosest() if for_bounds else units

    counted = counted_needs(units, need, largest)

    assert float(counted.sum(dtype=np.float64)) < LARGEST_EXACT
    assert (counted[need > largest] > units.room(largest)).all()
    assert (counted[need <= largest] <= units.room(largest) + 1).all()


def test_an_amount_below_0_counts_as_none() -> None:
    assert counted_needs(ones(1), needs(-5, 5), most(10)).tolist() == [[0], [5]]


def test_amounts_of_units_are_cut_where_they_are_more_than_any_node_has() -> None:
    units = Units(np.array([PIB]))

    assert units.amounts(needs(3, 2**30)).tolist() == [[3 * PIB], [2**61]]
