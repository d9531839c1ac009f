"""The cheapest cover of a node's excess is the cheapest of all its subsets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.objectives.balance_utilization.cover import smallest_cover


def _cheapest(excess: Floats, need: Floats, cost: Ints) -> int | None:
    subsets = itertools.chain.from_iterable(
        itertools.combinations(range(len(need)), size) for size in range(1, len(need) + 1)
    )
    costs = [int(cost[list(some)].sum()) for some in subsets if (need[list(some)].sum(axis=0) >= excess).all()]
    return min(costs, default=None)


@pytest.mark.parametrize("resources", [1, 2, 3])
def test_cover_costs_what_the_cheapest_subset_costs(resources: int) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        need = rng.integers(0, 20, (int(rng.integers(1, 10)), resources)).astype(np.float64)
        excess = rng.integers(1, 40, resources).astype(np.float64)
        cost = rng.integers(0, 5, len(need))

        cover = smallest_cover(excess, need, cost)

        expected = _cheapest(excess, need, cost)
        assert (cover and cover.cost) == expected, seed
        if cover is not None:
            assert cover.bound == cover.cost == cost[list(cover.chosen)].sum()
            assert (need[list(cover.chosen)].sum(axis=0) >= excess).all()


def test_of_equal_covers_the_smaller_pods_are_chosen() -> None:
    need = np.array([[9.0], [5.0], [6.0], [1.0]])

    cover = smallest_cover(np.array([5.0]), need, np.ones(4, np.int64))

    assert cover is not None
    assert cover.chosen == (1,)


def test_node_that_stays_over_without_all_its_pods_has_no_cover() -> None:
    assert smallest_cover(np.array([5.0]), np.array([[2.0], [2.0]]), np.ones(2, np.int64)) is None


@pytest.mark.parametrize(
    ("costs", "chosen"),
    [
        pytest.param([1, 1, 1, 1], (1, 3), id="6 and 4 are just enough"),
        pytest.param([1, 1, 1, 2], (1, 2), id="the pod of 4 is dear"),
        pytest.param([1, 2, 1, 3], (0, 2), id="the pods of 6 and of 4 are"),
    ],
)
def test_pods_of_a_cover_are_exchanged_for_smaller_ones_of_no_more_cost(
    costs: list[int], chosen: tuple[int, ...]
) -> None:
    """Two of the pods of 8, 6, 5 and 4 have to leave; the largest ones would come first."""
    cover = smallest_cover(np.array([10.0]), np.array([[8.0], [6.0], [5.0], [4.0]]), np.array(costs))

    assert cover is not None
    assert cover.chosen == chosen


@pytest.mark.parametrize("seed", range(4))
def test_cheapest_cover_of_many_pods_of_few_sizes_is_proven(seed: int) -> None:
    """Sets that cover no more for no less are dropped, so that the search gets to its end."""
    rng = np.random.default_rng(seed)
    need, cost = rng.integers(1, 4, (40, 2)).astype(np.float64), rng.integers(1, 4, 40)

    cover = smallest_cover(need.sum(axis=0) // 2, need, cost)

    assert cover is not None
    assert cover.bound == cover.cost


def test_sets_that_the_cheapest_pods_left_cannot_complete_below_the_best_cost_are_dropped() -> None:
    """Else they would be too many for the search to get to its end."""
    rng = np.random.default_rng(0)
    need, cost = rng.integers(100, 200, (20, 2)).astype(np.float64), rng.integers(50, 100, 20)

    cover = smallest_cover(need.sum(axis=0) // 2, need, cost)

    assert cover is not None
    assert cover.bound == cover.cost


@pytest.mark.parametrize("seed", [1, 2, 5, 8, 9, 10])
def test_where_the_search_ends_early_all_chosen_pods_are_needed_and_the_bound_is_lower(seed: int) -> None:
    rng = np.random.default_rng(seed)
    need, cost = rng.integers(100, 200, (30, 3)).astype(np.float64), rng.integers(50, 100, 30)
    excess = need.sum(axis=0) // 2

    cover = smallest_cover(excess, need, cost)

    assert cover is not None
    assert cover.bound < cover.cost == cost[list(cover.chosen)].sum()
    taken = need[list(cover.chosen)].sum(axis=0)
    assert (taken >= excess).all()
    assert not any((taken - need[pod] >= excess).all() for pod in cover.chosen)


def test_pods_that_cost_nothing_stay_too_where_the_others_do() -> None:
    cover = smallest_cover(np.array([10.0]), np.array([[3.0], [10.0]]), np.array([0, 5]))

    assert cover is not None
    assert (cover.chosen, cover.cost, cover.bound) == ((1,), 5, 5)
