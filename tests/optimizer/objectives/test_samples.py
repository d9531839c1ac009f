"""The fullest node, nodes that nearly fit a pod, and samples in which some values come more often than others."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from descheduler.optimizer import make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.objectives.fullest_node import fullest, place_on_fullest
from descheduler.optimizer.objectives.likely_nodes import nearly_fitting, with_room
from descheduler.optimizer.objectives.weighted_sample import weighted_sample


def test_a_pod_goes_to_the_fullest_other_node_that_it_fits() -> None:
    """Node 0 is its own, node 1 has too little, node 2 a tenth left of all, node 3 is larger and half full."""
    problem = make_problem([[2], [9], [18], [50]], [[9], [10], [20], [100]], [0, 1, 2, 3])
    placement = Arrangement(problem)

    assert place_on_fullest(placement, 0)
    assert placement.at[0] == 2
    assert place_on_fullest(placement, 2)
    assert not place_on_fullest(placement, 3)
    assert placement.at.tolist() == [2, 1, 3, 3]


def test_the_fullest_node_has_the_least_left_of_its_resources_together() -> None:
    placement = Arrangement(make_problem([[9, 0], [5, 5], [0, 2]], [[10, 10]] * 3, [0, 1, 2]))

    assert fullest(placement, np.arange(3)) == 1
    assert fullest(placement, np.array([0, 2])) == 0


@pytest.mark.parametrize("count", [0, 2, 4, 9])
def test_a_sample_has_each_value_once(count: int) -> None:
    values = np.array([7, 3, 9, 5])

    drawn = weighted_sample(values, np.ones(4), np.random.default_rng(0), count).tolist()

    assert len(drawn) == len(set(drawn)) == min(count, 4)
    assert set(drawn) <= set(values.tolist())


def test_weights_say_how_often_a_value_is_drawn_first() -> None:
    rng, weights = np.random.default_rng(1), np.array([1.0, 3.0])

    first = Counter(int(weighted_sample(np.array([4, 8]), weights, rng, 1)[0]) for _ in range(2000))

    assert 0.7 < first[8] / 2000 < 0.8


def drawn_first(kind: str) -> Counter[int]:
    """Nodes with 9, 7, 5 and 0 of 10 taken, for a pod of 4; node 3 is closed to it."""
    problem = make_problem(
        [[4], [9], [7], [5]],
        [[10]] * 4,
        [-1, 0, 1, 2],
        pod_class=[1, 0, 0, 0],
        allowed=[[True] * 4, [True] * 3 + [False]],
    )
    placement, rng = Arrangement(problem), np.random.default_rng(0)
    found: Counter[int] = Counter()
    for _ in range(1000):
        drawn = nearly_fitting(placement, 0, rng, 2) if kind == "near" else with_room(placement, rng, 2)
        assert len(set(drawn.tolist())) == 2
        found[int(drawn[0])] += 1
    return found


def test_nodes_that_lack_little_for_a_pod_are_likelier_and_closed_ones_are_never_drawn() -> None:
    """The pod lacks nothing on node 2, a tenth on node 1, and three tenths on node 0."""
    found = drawn_first("near")

    assert found[2] > 800 > found[1] > found[0] > 10
    assert found[3] == 0


def test_nodes_with_much_room_are_likelier() -> None:
    found = drawn_first("room")

    assert found[3] > found[2] > found[1] > found[0] > 20
    assert 0.45 < found[3] / 1000 < 0.6


def test_a_node_with_nothing_left_of_one_resource_is_drawn_last() -> None:
    placement = Arrangement(make_problem([[12, 1], [1, 1]], [[10, 10]] * 2, [0, 1]))

    drawn = [with_room(placement, np.random.default_rng(seed), 2).tolist() for seed in range(50)]

    assert drawn.count([1, 0]) >= 49
