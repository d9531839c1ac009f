"""No packing is above the bound of a knapsack, which is that of fractions where there is one resource."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from descheduler.optimizer.objectives.knapsack import most_weight


def bound(sizes: list[list[float]], weights: list[int], capacity: list[float]) -> int:
    """Of items by their sizes."""
    return most_weight(np.array(sizes, dtype=np.float64).T, np.array(weights), np.array(capacity, dtype=np.float64))


@pytest.mark.parametrize(
    ("capacity", "most"),
    [
        pytest.param(0, 0, id="nothing fits"),
        pytest.param(2, 6, id="the best for its size"),
        pytest.param(4, 8, id="half of the second"),
        pytest.param(6, 11, id="two of them"),
        pytest.param(9, 14, id="all of them"),
        pytest.param(99, 14, id="more than all need"),
    ],
)
def test_the_last_item_counts_in_part(capacity: float, most: int) -> None:
    """Sizes of 2, 4 and 3 weigh 6, 5 and 3."""
    assert bound([[2], [4], [3]], [6, 5, 3], [capacity]) == most


def test_items_that_need_what_there_is_none_of_count_nothing() -> None:
    assert bound([[1, 1], [1, 0], [0, 0]], [7, 2, 1], [5, 0]) == 3
    assert bound([[1, 1]], [7], [5, -1]) == 0


def test_what_there_is_none_of_is_nothing_to_divide_by() -> None:
    with np.errstate(all="raise"):
        assert bound([[0, 2], [0, 2]], [3, 4], [0, 2]) == 4


def test_items_that_take_nothing_always_fit() -> None:
    assert bound([[0], [3]], [4, 6], [1]) == 6


def test_two_resources_together_allow_less_than_each_alone() -> None:
    """Each resource alone lets two of three items in; half of both lets in four thirds of them."""
    assert bound([[2, 1], [1, 2], [1.5, 1.5]], [10, 10, 10], [3, 3]) == 20
    assert bound([[3, 0], [0, 3], [2, 2]], [10, 10, 10], [3, 3]) == 20
    assert bound([[3, 1], [1, 3]], [10, 11], [3, 3]) == 15


@pytest.mark.parametrize("seed", range(20))
def test_no_packing_weighs_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, weight = rng.integers(0, 6, (2, 6)), rng.integers(0, 9, 6)
    capacity = rng.integers(-1, 14, 2)

    packings = (list(some) for number in range(7) for some in itertools.combinations(range(6), number))
    packed = (some for some in packings if (size[:, some].sum(axis=1) <= np.maximum(capacity, 0)).all())
    best = max(int(weight[some].sum()) for some in packed)

    most = most_weight(size.astype(np.float64), weight, capacity.astype(np.float64))
    assert best <= most <= weight.sum()


def test_the_bound_is_a_sum_that_weights_can_add_up_to() -> None:
    """Two items of three fit, and half of the third."""
    assert most_weight(np.array([[2.0, 2.0, 2.0]]), np.array([400, 400, 400]), np.array([5.0])) == 800
