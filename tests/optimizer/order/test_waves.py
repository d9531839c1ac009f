"""What can start in a wave that is under way: room that pods leave in it is not there yet, and rules hold."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MaxSkew, MoveLimit, Problem, make_problem
from descheduler.optimizer.order.waves import Reassignment, WaveState
from descheduler.optimizer.rules import Rule

ZONE = np.array([0, 0, 1, -1])


def state_of(*rules: Rule, assignment: list[int]) -> WaveState:
    """Pods of 1 on four nodes of two zones, with room for all."""
    return WaveState(make_problem([[1]] * len(assignment), [[9]] * 4, assignment, rules=rules))


def tight() -> Problem:
    return make_problem([[4, 0], [5, 1], [0, 1]], [[8, 1], [9, 1], [4, 0]], [0, 1, 2])


def test_what_leaves_in_a_wave_still_takes_its_room_until_the_next_one() -> None:
    state = WaveState(tight())
    assert state.can_start(0, 2)

    assert state.start(0, 2) == Reassignment(0, 0, 2)

    assert not state.can_start(1, 0)
    state.begin()
    assert state.can_start(1, 0)


def test_what_arrives_in_a_wave_takes_its_room_at_once() -> None:
    state = WaveState(make_problem([[4], [5], [4]], [[9], [9], [9]], [0, 1, 2]))
    state.start(0, 1)

    assert not state.can_start(2, 1)
    assert state.can_start(2, 0)


def test_a_pod_that_needs_nothing_of_what_is_overdrawn_can_start() -> None:
    state = WaveState(make_problem([[9, 0], [0, 1]], [[5, 9], [9, 9]], [0, 1]))

    assert state.can_start(1, 0)


def test_limits_of_moves_are_no_matter_of_the_order() -> None:
    state = state_of(MoveLimit(np.array([0]), np.array([0])), assignment=[0])

    assert state.can_start(0, 1)


@pytest.mark.parametrize(
    ("first", "second", "can_start"),
    [
        pytest.param((0, 2), (1, 0), False, id="into the zone that is being left"),
        pytest.param((0, 2), (1, 3), True, id="to a node of no zone"),
        pytest.param((0, 1), (2, 2), True, id="after a move within the zone"),
        pytest.param((2, 0), (1, 0), False, id="by a pod that was pending"),
        pytest.param((3, 2), (1, 0), True, id="where the one that left is of no group"),
    ],
)
def test_a_zone_that_a_pod_leaves_takes_another_one_of_its_group_in_the_next_wave(
    first: tuple[int, int], second: tuple[int, int], can_start: bool
) -> None:
    """One pod a zone: pod 0 is in zone 0, pods 1 and 2 are not placed, and pod 3 in zone 0 is of no group."""
    rule = AtMost(np.array([0, 0, 0, -1]), ZONE, np.array([1]))
    state = state_of(rule, assignment=[0, -1, -1, 0] if first[0] != 3 else [2, -1, -1, 0])
    state.start(*first)

    assert state.can_start(*second) == can_start


def spread(skew: int) -> MaxSkew:
    return MaxSkew(np.array([0, 0, 0, 0, -1]), ZONE, np.array([skew]), np.ones((1, 2), bool))


@pytest.mark.parametrize(
    ("skew", "first", "second", "can_start"),
    [
        pytest.param(1, (0, 2), (2, 0), False, id="a zone is emptied before it is filled"),
        pytest.param(3, (0, 2), (2, 0), True, id="as far as the skew allows it"),
        pytest.param(1, (4, 2), (0, 1), True, id="the first of its group"),
        pytest.param(1, (3, 2), (0, 1), False, id="both count in the fuller zone"),
        pytest.param(1, (0, 3), (3, 2), True, id="where a pod has gone to no zone"),
    ],
)
def test_pods_of_a_group_move_together_where_no_order_of_their_ends_makes_zones_uneven(
    skew: int, first: tuple[int, int], second: tuple[int, int], can_start: bool
) -> None:
    """Zone 0 has pods 0 and 1, zone 1 has pod 2; pod 3 is pending, and pod 4 counts nowhere."""
    state = state_of(spread(skew), assignment=[0, 1, 2, -1, 0])
    state.start(*first)

    assert state.can_start(*second) == can_start


def test_the_next_wave_begins_with_the_counts_of_the_last() -> None:
    """After the first wave both zones have two; another pod of the group that leaves one comes to the other."""
    state = state_of(spread(1), assignment=[0, 1, 2, -1, 0])
    state.start(3, 2)
    state.begin()

    assert not state.can_start(0, 2)
    assert state.can_start(0, 1)
    state.start(0, 1)
    assert state.can_start(4, 2)
    assert not state.can_start(2, 1)


@pytest.mark.parametrize("is_there", [True, False])
def test_the_emptiest_zone_is_one_that_is_there(is_there: bool) -> None:
    """Zone 1 has no pods, and zone 0 may have three of them for a while, and one at least."""
    rule = MaxSkew(np.array([0, 0, 0]), ZONE, np.array([2]), np.array([[True, is_there]]))
    state = state_of(rule, assignment=[0, 1, -1])
    state.start(0, 3)

    assert state.can_start(2, 0) is not is_there


def test_where_no_zone_is_there_the_emptiest_counts_as_empty() -> None:
    rule = MaxSkew(np.zeros(3, np.int64), ZONE, np.array([2]), np.zeros((1, 2), bool))
    state = state_of(rule, assignment=[-1, -1, -1])
    state.start(0, 0)

    assert state.can_start(1, 0)
    state.start(1, 0)
    assert not state.can_start(2, 0)


def test_a_wave_counts_what_left_and_came_in_the_one_before_it() -> None:
    """Of pods 0 and 1 in zone 0 and pod 2 in zone 1 one goes to zone 1; in the next wave two pods come to zone 0."""
    state = state_of(spread(2), assignment=[0, 1, 2, -1, 0])
    state.start(0, 2)
    state.begin()
    state.start(3, 0)

    assert state.can_start(2, 0)


def test_a_zone_that_has_too_many_pods_keeps_none_from_another_one() -> None:
    """Zone 0 has three pods, and zone 1 gets two, which may be the number by which the zones differ."""
    state = state_of(spread(2), assignment=[0, 0, 1, -1, 0])
    state.start(3, 2)

    assert state.can_start(0, 2)


def test_nodes_of_no_zone_and_pods_of_no_group_have_no_limit_to_wait_for() -> None:
    """One pod of the group a zone; pod 0 is in none, and pods 2 and 3 are of no group."""
    state = state_of(AtMost(np.array([0, 0, -1, -1]), ZONE, np.array([1])), assignment=[3, 0, 0, 2])
    state.start(0, 2)
    state.start(2, 2)

    assert state.can_start(1, 3)
    assert state.can_start(3, 0)
