"""Room for pending pods: by the fewest moves of others, in which order, gangs whole, and what room costs at least."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import AtMost, Limits, MakeRoom, MoveLimit, Parts, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.fullest_node import place_on_fullest
from descheduler.optimizer.objectives.make_room.greedy import make_room_for
from descheduler.optimizer.objectives.make_room.pending import PendingUnits, SizeOrder

PENDING = -1


def room_made(problem: Problem, pod: int = 0) -> list[int] | None:
    """Where pods are once room is made for one; None: nowhere, and then nothing has moved."""
    placement = Arrangement(problem)
    if make_room_for(placement, pod):
        found: list[int] = placement.at.tolist()
        return found
    assert (placement.at == problem.assignment).all()
    return None


def test_a_pod_goes_where_it_fits_as_it_is_with_least_lacking() -> None:
    assert room_made(make_problem([[3], [7], [6]], [[9], [9], [9]], [PENDING, 0, 1])) == [1, 0, 1]


def test_one_move_of_the_smallest_pod_that_suffices_makes_room() -> None:
    """2 are lacking on node 0, where pods of 1, 2 and 4 are; 3 on node 1."""
    problem = make_problem(
        [[4], [1], [2], [4], [8]],
        [[9], [9], [5]],
        [PENDING, 0, 0, 0, 1],
        pod_class=[1, 0, 0, 0, 0],
        allowed=[[True] * 3, [True, True, False]],
    )

    assert room_made(problem) == [0, 0, 2, 0, 1]


def test_several_moves_of_the_largest_make_room_where_no_single_one_does() -> None:
    """7 are lacking: both large pods leave, to the fullest node that has room for each."""
    problem = make_problem([[9], [4], [4], [1], [2]], [[9], [4], [6]], [PENDING, 0, 0, 0, 2], allowed=[[True] * 3])

    assert room_made(problem) is None
    assert room_made(make_problem([[8], [4], [4], [1], [2]], [[9], [4], [6]], [PENDING, 0, 0, 0, 2])) == [0, 2, 1, 0, 2]


def test_the_node_with_the_fewest_moves_is_taken_although_less_is_lacking_on_another() -> None:
    """Two small pods would have to leave node 0, where 2 are lacking; one leaves node 1, where 3 are."""
    problem = make_problem(
        [[6], [1], [1], [3], [3], [3]],
        [[9], [9], [9]],
        [PENDING, 0, 0, 0, 1, 1],
        evictable=[True, True, True, False, True, False],
        pod_class=[1, 0, 0, 0, 0, 0],
        allowed=[[True] * 3, [True, True, False]],
    )

    assert room_made(problem) == [1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(("small", "has_room"), [(4, True), (5, False)])
def test_no_more_than_four_pods_make_room_for_one(small: int, has_room: bool) -> None:
    """As many pods of 1 as are lacking are on the only node that is large enough."""
    sizes, at = [[small]] + [[1]] * small, [PENDING] + [0] * small
    problem = make_problem(sizes, [[small], [1], [1], [1], [1], [1]], at)

    assert (room_made(problem) is not None) is has_room


def test_pods_that_have_come_with_the_plan_do_not_make_room() -> None:
    problem = make_problem([[5], [5]], [[5], [6]], [PENDING, 1], allowed=[[True, True]])
    placement = Arrangement(problem)
    placement.move(1, 0)

    assert make_room_for(placement, 0)
    assert placement.at.tolist() == [1, 0]

    narrow = make_problem([[5], [5]], [[5], [6]], [PENDING, 1], pod_class=[1, 0], allowed=[[True] * 2, [True, False]])
    moved = Arrangement(narrow)
    moved.move(1, 0)
    assert not make_room_for(moved, 0)


def test_all_resources_that_are_lacking_have_to_be_freed() -> None:
    """Pod 1 frees enough of the first resource, pod 2 of the second, pod 3 of both but for one unit."""
    problem = make_problem(
        [[4, 4], [4, 1], [1, 4], [3, 3]],
        [[8, 8], [8, 8]],
        [PENDING, 0, 0, 0],
        pod_class=[1, 0, 0, 0],
        allowed=[[True, True], [True, False]],
    )

    at = room_made(problem)

    assert at is not None
    assert (at[0], at.count(1)) == (0, 2)


def test_rules_and_limits_keep_pods_where_they_are() -> None:
    need, capacity, at = [[3], [3]], [[3], [9]], [PENDING, 0]
    facts: dict[str, Any] = {"pod_class": [1, 0], "allowed": [[True, True], [True, False]]}
    apart = AtMost(np.array([-1, 0]), np.array([0, 1]), np.array([0]))

    assert room_made(make_problem(need, capacity, at, **facts)) == [0, 1]
    assert room_made(make_problem(need, capacity, at, rules=[apart], **facts)) is None
    assert (
        room_made(make_problem(need, capacity, at, rules=[MoveLimit(np.zeros(2, np.int64), np.array([0]))], **facts))
        is None
    )


def pending_units(sizes: list[int], gang: list[int], weight: list[int]) -> tuple[PendingUnits, Problem]:
    """Pending pods of such sizes, and a node with room for 6."""
    problem = make_problem([[size] for size in sizes], [[6]], [PENDING] * len(sizes))
    return PendingUnits(problem, np.array(weight), np.array(gang)), problem


@pytest.mark.parametrize(
    ("order", "placed"),
    [(SizeOrder.SMALLEST_FIRST, [1, 2, 3]), (SizeOrder.LARGEST_FIRST, [0, 3]), (SizeOrder.AS_GIVEN, [0, 1])],
)
def test_the_weightiest_are_placed_first_and_of_equal_ones_by_size(order: SizeOrder, placed: list[int]) -> None:
    units, problem = pending_units([4, 1, 3, 2], [-1] * 4, [1, 1, 1, 1])
    placement = Arrangement(problem)

    units.place_greedily(placement, place_on_fullest, order)

    assert np.flatnonzero(placement.at == 0).tolist() == placed
    assert units.left(placement.at).tolist() == sorted(set(range(4)) - set(placed))


def test_a_weighty_unit_comes_before_a_small_one() -> None:
    units, problem = pending_units([5, 1, 1], [-1, 7, 7], [3, 1, 1])
    placement = Arrangement(problem)

    units.place_greedily(placement, place_on_fullest, SizeOrder.SMALLEST_FIRST)

    assert placement.at.tolist() == [0, PENDING, PENDING]
    assert sorted(map(len, units.units)) == [1, 2]


def test_a_gang_counts_whole_while_one_of_it_is_pending() -> None:
    units, _ = pending_units([1, 1, 1], [4, 4, -1], [1, 1, 1])

    assert units.left(np.array([0, PENDING, 0])).tolist() == [0, 1]
    assert units.left(np.array([0, 0, PENDING])).tolist() == [2]
    assert units.left(np.array([0, 0, 0])).tolist() == []


def test_what_has_no_place_is_asked_about_once_until_something_changes() -> None:
    """Pods of 3 have no place; a pod of 1 is placed between, after which another one of 3 is asked about."""
    units, problem = pending_units([3, 3, 1, 3, 3], [-1] * 5, [1] * 5)
    asked: list[int] = []

    def place(placement: Arrangement, pod: int) -> bool:
        asked.append(pod)
        if problem.need[pod, 0] == 1:
            placement.move(pod, 0)
            return True
        return False

    units.place_greedily(Arrangement(problem), place, SizeOrder.AS_GIVEN)

    assert asked == [0, 2, 3]


def test_parts_of_gangs_are_withdrawn() -> None:
    units, problem = pending_units([1, 1, 1, 1], [4, 4, -1, 5], [1] * 4)
    placement = Arrangement(problem)
    for pod in (0, 2, 3):
        placement.move(pod, 0)

    units.withdraw_parts(placement)

    assert placement.at.tolist() == [PENDING, PENDING, 0, 0]


@pytest.mark.parametrize(
    ("sizes", "free", "bound"),
    [
        pytest.param([2, 3], 5, (0, 0), id="room for all"),
        pytest.param([2, 3], 4, (1, 0), id="one unit short"),
        pytest.param([2, 3, 9], 20, (4, 0), id="too large for any node"),
        pytest.param([2, 3], 1, (3, 0), id="room for none"),
    ],
)
def test_weight_that_free_room_cannot_hold_stays_pending(sizes: list[int], free: int, bound: tuple[int, int]) -> None:
    """Pods weigh 1, 2 and 4; the nodes have 8 at most, in several pieces."""
    pieces = [[min(8, free - start)] for start in range(0, free, 8)]
    problem = make_problem([[size] for size in sizes], pieces, [PENDING] * len(sizes))

    goal = MakeRoom(weight=np.array([1, 2, 4][: len(sizes)])).prepare(problem)

    assert goal.bound()[0] == bound[0]


@pytest.mark.parametrize(
    ("pending", "cost"),
    [
        pytest.param([3], 0, id="it fits as it is"),
        pytest.param([4], 1, id="half of a cheap pod"),
        pytest.param([7], 4, id="both cheap pods"),
        pytest.param([8], 6, id="a third of the dear one, too"),
        pytest.param([10], 10, id="all of them"),
        pytest.param([3, 3], 3, id="the second one needs three more"),
    ],
)
def test_room_costs_what_the_cheapest_pods_per_size_cost(pending: list[int], cost: int) -> None:
    """Node 0 has 3 of 10 free, beside pods of 2, 2 and 3, which cost 2, 2 and 6; pending pods go there alone."""
    problem = make_problem(
        [[2], [2], [3], *([size] for size in pending)],
        [[10], [99]],
        [0, 0, 0, *[PENDING] * len(pending)],
        cost=[2, 2, 6, *[9] * len(pending)],
        pod_class=[0, 0, 0, *[1] * len(pending)],
        allowed=[[True, True], [True, False]],
    )

    assert MakeRoom().prepare(problem).bound() == (0, cost)


def test_only_as_many_pods_as_can_be_placed_cost_room() -> None:
    """There is free room for 5 in total: the largest weight is reached by one of two pods."""
    problem = make_problem(
        [[4], [4], [4], [1]], [[5], [4]], [PENDING, PENDING, 0, 1], cost=[1, 1, 6, 2], allowed=[[True, True]]
    )

    assert MakeRoom().prepare(problem).bound() == (1, 2)


def test_over_parts_a_pod_takes_its_need_of_each_part_of_its_node() -> None:
    """A pod of 3 may be on both parts at once alone, which takes 6; the parts have 5 and 5 free."""
    parts = Parts(np.array([[5], [5]]), np.array([[0, -1], [1, -1], [0, 1]]), np.array([0, 0, 0]))
    wide: dict[str, Any] = {"pod_class": [1, 1], "allowed": [[True] * 3, [False, False, True]]}

    assert MakeRoom().prepare(make_problem([[3], [3]], parts, [PENDING] * 2, **wide)).bound()[0] == 1
    assert MakeRoom().prepare(make_problem([[3], [3]], parts, [PENDING] * 2)).bound()[0] == 0


def test_over_parts_a_pod_may_be_released_from_all_but_the_fewest() -> None:
    """The pod of 4 takes of both parts, and of one of another machine it would be half as much."""
    parts = Parts(np.full((3, 1), 5), np.array([[0, 1], [2, -1], [0, -1], [1, -1]]), np.array([0, 1, 0, 0]))
    facts: dict[str, Any] = {"pod_class": [0, 1, 1], "allowed": [[True] * 4, [False, False, True, True]]}

    free = make_problem([[4], [5], [5]], parts, [0, PENDING, PENDING], **facts)
    pinned = make_problem([[4], [5], [5]], parts, [0, PENDING, PENDING], evictable=[False, True, True], **facts)

    assert MakeRoom().prepare(free).bound()[0] == 0
    assert MakeRoom().prepare(pinned).bound()[0] == 1


def test_moves_of_pods_with_a_node_cost_and_placements_are_free() -> None:
    problem = make_problem([[1], [1]], [[9], [9]], [0, PENDING], cost=[5, 7])
    goal = MakeRoom().prepare(problem)

    assert goal.move_cost(np.array([0, 0, 1]), np.array([0, 1, 1])).tolist() == [0, 5, 0]
    assert goal.value(np.array([1, 0])) == (0, 5)
    assert goal.node_cost(np.arange(2), np.ones((1, 2))).tolist() == [0, 0]


def test_pods_are_sent_home_and_parts_of_gangs_withdrawn() -> None:
    """Pod 0 has room at home again; pod 1 made room for pod 4, which keeps it away."""
    problem = make_problem([[2], [3], [1], [1], [3]], [[4], [3], [9]], [0, 1, PENDING, PENDING, PENDING])
    goal, placement = MakeRoom(gang=np.array([-1, -1, 3, 3, -1])).prepare(problem), Arrangement(problem)
    for pod, node in ((0, 2), (1, 2), (2, 0), (4, 1)):
        placement.move(pod, node)

    goal.tidy(placement)

    assert placement.at.tolist() == [0, 2, PENDING, PENDING, 1]


def test_pieces_are_about_what_is_pending_and_whole_gangs() -> None:
    """Pods 0 and 1 are a gang, pod 2 is pending alone, and no other pod has moved."""
    problem = make_problem([[2], [2], [1], [3], [3], [1]], [[4], [4], [4]], [PENDING] * 3 + [0, 1, 2])
    goal = MakeRoom(gang=np.array([5, 5, -1, -1, -1, -1])).prepare(problem)

    for seed in range(20):
        piece = goal.neighbourhood(Arrangement(problem), np.random.default_rng(seed), 10)
        assert piece is not None
        pods = set(piece.pods.tolist())
        assert pods & {0, 1, 2}
        assert {0, 1} <= pods or not {0, 1} & pods


def test_there_is_no_piece_where_nothing_is_pending_or_moved() -> None:
    problem = make_problem([[2], [2]], [[4], [4]], [PENDING, 0])
    goal, placement = MakeRoom().prepare(problem), Arrangement(problem)
    placement.move(0, 0)
    assert goal.neighbourhood(placement, np.random.default_rng(0), 10) is None

    placement.move(1, 1)

    assert goal.neighbourhood(placement, np.random.default_rng(0), 10) is not None


def test_the_first_plan_is_that_of_the_best_order_and_leaves_what_was_placed() -> None:
    """The largest first places one pod, the smallest first two."""
    problem = make_problem([[5], [3], [3]], [[6]], [PENDING] * 3)
    placement = Arrangement(problem)

    MakeRoom().prepare(problem).first_plan(placement, np.random.default_rng(0), Budget(Limits(work=1.0)))

    assert placement.at.tolist() == [PENDING, 0, 0]
