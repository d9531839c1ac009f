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
