"""Columns of pods by node say what summing up all changes anew says."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from descheduler.placement.shadow.tally.pod_columns import PodColumns

NUM_NODES = 7
Change = tuple[int, int, int, int]


def summed(changes: list[Change], weights: Any, *, counts_terminating: bool) -> list[int]:
    """Pods by node, each with the weight of its group."""
    counts = [0] * NUM_NODES
    for group, node, by, is_terminating in changes:
        if counts_terminating or not is_terminating:
            counts[node] += by * int(weights[group])
    return counts


def random_changes(generator: Random, number: int, num_groups: int) -> list[Change]:
    """Pods that come, of which some leave again."""
    found: list[Change] = []
    for _ in range(number):
        if found and generator.random() < 0.3:
            group, node, by, is_terminating = generator.choice(found)
            found.append((group, node, -by, is_terminating))
        else:
            found.append((generator.randrange(num_groups), generator.randrange(NUM_NODES), 1, generator.randrange(2)))
    return found


def weights_of(generator: Random, num_groups: int) -> dict[str, Any]:
    """Queries that find a few groups or most of them, or sum them up with weights."""
    few = np.zeros(num_groups, dtype=bool)
    few[generator.sample(range(num_groups), 3)] = True
    most = np.array([generator.random() < 0.8 for _ in range(num_groups)])
    summing = np.array([generator.randrange(-3, 4) for _ in range(num_groups)], dtype=np.int64)
    return {"few": few, "most": most, "sum": summing, "none": np.zeros(num_groups, dtype=bool)}


@pytest.mark.parametrize("counts_terminating", [True, False])
@pytest.mark.parametrize(("num_first", "num_later"), [(0, 40), (200, 40), (200, 600), (50, 5000)])
def test_columns_follow_all_changes(num_first: int, num_later: int, counts_terminating: bool) -> None:
    """Those that were there at first, and a log so long that it is moved into them."""
    generator = Random(num_first + num_later)
    first = random_changes(generator, num_first, 40)
    later = random_changes(generator, num_later, 40)
    queries = weights_of(generator, 40)
    columns = PodColumns(NUM_NODES, first)
    seen = list(first)

    for place, (group, node, by, is_terminating) in enumerate(later):
        columns.change(group, node, by, is_terminating=bool(is_terminating))
        seen.append((group, node, by, is_terminating))
        if place % (1 + num_later // 20) == 0 or place == len(later) - 1:
            for name, weights in queries.items():
                if name != "few" or place % 2:
                    found = columns.counts(name, weights, counts_terminating=counts_terminating)
                    assert found.tolist() == summed(seen, weights, counts_terminating=counts_terminating)


def test_change_that_is_taken_back_at_once_leaves_no_trace() -> None:
    """In columns that have seen it, and in those that have not."""
    weights = np.array([True, False])
    columns = PodColumns(NUM_NODES, [(0, 1, 2, 0)])

    columns.change(0, 3, 1, is_terminating=False)
    assert columns.counts("seen", weights, counts_terminating=True).tolist() == [0, 2, 0, 1, 0, 0, 0]
    columns.change(1, 5, 1, is_terminating=False)
    columns.change(1, 5, -1, is_terminating=False)
    columns.change(0, 3, -1, is_terminating=False)

    assert columns.counts("seen", weights, counts_terminating=True).tolist() == [0, 2, 0, 0, 0, 0, 0]
    assert columns.counts("new", weights, counts_terminating=True).tolist() == [0, 2, 0, 0, 0, 0, 0]


def test_pod_that_is_being_deleted_is_another_one_than_the_same_pod_before() -> None:
    weights = np.array([True])
    columns = PodColumns(NUM_NODES, [(0, 0, 1, 0)])

    columns.change(0, 0, -1, is_terminating=False)
    columns.change(0, 0, 1, is_terminating=True)

    assert columns.counts("all", weights, counts_terminating=True).tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert columns.counts("lasting", weights, counts_terminating=False).tolist() == [0] * NUM_NODES


def test_groups_that_come_later_count_in_columns_that_were_asked_before() -> None:
    columns = PodColumns(NUM_NODES, [(0, 0, 1, 0)])
    assert columns.counts("x", np.array([True]), counts_terminating=True).tolist() == [1, 0, 0, 0, 0, 0, 0]

    columns.change(1, 2, 1, is_terminating=False)

    assert columns.counts("x", np.array([True, True]), counts_terminating=True).tolist() == [1, 0, 1, 0, 0, 0, 0]
    for _ in range(2100):
        columns.change(2, 4, 1, is_terminating=False)
    assert columns.counts("x", np.array([True, True, True]), counts_terminating=True).tolist() == [
        1,
        0,
        1,
        0,
        2100,
        0,
        0,
    ]


def test_weights_add_up_beyond_32_bits() -> None:
    columns = PodColumns(NUM_NODES, [(0, 1, 3, 0)])

    found = columns.counts("sum", np.array([2**40], dtype=np.int64), counts_terminating=True)

    assert found.tolist() == [0, 3 * 2**40, 0, 0, 0, 0, 0]
