"""Nodes emptied whole: which can be, how much at most and at what cost, and the greedy orders in which they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import ConsolidateNodes, Limits, MoveLimit, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes import GreedyOrder, MostAllocated, drain_greedily
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.objectives.consolidate_nodes.greedy import replace_greedily

FULLEST, FIRST = GreedyOrder(fewest_pods_first=True, best_fit=True), GreedyOrder(fewest_pods_first=True, best_fit=False)


def drains_of(
    problem: Problem, *, ceiling: Any = None, protected: tuple[int, ...] = (), receives: tuple[int, ...] = ()
) -> Drains:
    """The nodes of a problem, of which some are protected and some may receive pods."""
    nodes = np.arange(problem.num_nodes)
    most = problem.capacity if ceiling is None else np.array(ceiling)
    return Drains(problem, most, np.isin(nodes, protected), np.isin(nodes, receives))


def drained(drains: Drains, order: GreedyOrder = FULLEST, *, weight: list[int] | None = None) -> list[int]:
    """Where pods are after a greedy order."""
    placement = Arrangement(drains.problem)
    weights = np.ones(drains.problem.num_nodes, np.int64) if weight is None else np.array(weight)
    drain_greedily(drains, placement, order, weights, budget=Budget(Limits(work=1.0)))
    found: list[int] = placement.at.tolist()
    return found


def test_nodes_can_be_emptied_whose_pods_all_can_leave_for_nodes_in_use() -> None:
    """Node 0 has a pinned pod, pods of node 1 fit node 0, the pod of node 2 fits node 4 alone, which is not in use;
    node 3 is protected."""
    problem = make_problem(
        [[1], [1], [2], [8], [1]],
        [[9], [9], [9], [9], [9]],
        [0, 0, 1, 2, 3],
        evictable=[True, False, True, True, True],
        pod_class=[0, 0, 0, 1, 0],
        allowed=[[True] * 5, [False, False, True, False, True]],
    )

    assert drains_of(problem, protected=(3,)).can_empty.tolist() == [False, True, False, False, False]
    assert drains_of(problem, receives=(4,)).can_empty.tolist() == [False, True, True, True, False]


def test_what_is_known_of_nodes_is_as_it_was_before_the_plan() -> None:
    problem = make_problem([[2, 1], [3, 0], [4, 4]], [[10, 2], [8, 8], [5, 5]], [0, 0, 1], cost=[5, 7, 9])
    drains = drains_of(problem, ceiling=[[4, 2], [8, 8], [5, 5]], receives=(1, 2))

    assert drains.num_pods.tolist() == [2, 1, 0]
    assert (drains.is_used.tolist(), drains.opens.tolist()) == ([True] * 3, [False, False, True])
    assert [pods.tolist() for pods in drains.home] == [[0, 1], [2], []]
    assert drains.cost.tolist() == [12, 9, 0]
    assert drains.share.tolist() == [0.5, 0.5, 0.0]
    assert drains.volume.tolist() == pytest.approx([0.5 + 0.3, 0.5, 0.0])
    assert drains.limit.tolist() == [[5, 8, 5], [2, 8, 5]]
    assert drains.above_free.tolist() == [[-5, 0, 0], [0, 0, 0]]
    assert drains.usage_of(np.array([True, False, True])).tolist() == [[2, 4, 0], [1, 4, 0]]
    assert drains.largest_first(np.array([1, 0])).tolist() == [0, 1]


def test_emptied_are_nodes_that_had_pods_and_have_none_now() -> None:
    problem = make_problem([[1], [1], [1]], [[9]] * 3, [0, 1, -1])
    drains, placement = drains_of(problem), Arrangement(problem)
    assert drains.is_emptied(placement).tolist() == [False, False, False]

    placement.move(0, 1)

    assert drains.is_emptied(placement).tolist() == [True, False, False]
    placement.move(2, 0)
    assert drains.is_emptied(placement).tolist() == [False, False, False]


def test_the_node_with_the_fewest_pods_is_emptied_first_to_the_fullest_nodes() -> None:
    """Node 0 has one pod, which goes to node 2; then that has no room for those of node 1, which have received none."""
    problem = make_problem([[3], [2], [2], [6]], [[9], [9], [9]], [0, 1, 1, 2], evictable=[True, True, True, False])

    assert drained(drains_of(problem)) == [2, 1, 1, 2]
    assert drained(drains_of(problem), FIRST) == [1, 1, 1, 2]


def test_the_emptiest_node_is_first_where_the_number_of_pods_does_not_count() -> None:
    """Two small pods take less of node 1 than one pod of node 0."""
    problem = make_problem([[4], [1], [1], [4]], [[9], [9], [6]], [0, 1, 1, 2], evictable=[True, True, True, False])
    by_share = GreedyOrder(fewest_pods_first=False, best_fit=True)

    assert drained(drains_of(problem), by_share) == [0, 2, 2, 2]
    assert drained(drains_of(problem)) == [1, 1, 1, 2]
    assert drained(drains_of(problem), by_share, weight=[9, 1, 1]) == [1, 1, 1, 2]


def test_a_node_is_emptied_whole_or_not_at_all() -> None:
    """The large pod would find room, but not the small ones after it."""
    problem = make_problem([[4], [2], [2], [5]], [[9], [10]], [0, 0, 0, 1], evictable=[True, True, True, False])

    assert drained(drains_of(problem)) == [0, 0, 0, 1]
    assert (
        drained(drains_of(make_problem(problem.need, [[9], [13]], [0, 0, 0, 1], evictable=problem.evictable)))
        == [1] * 4
    )


def test_ceilings_are_kept_up_to_the_last_unit() -> None:
    problem = make_problem([[4], [5]], [[9], [12]], [0, 1], evictable=[True, False])

    assert drained(drains_of(problem, ceiling=[[9], [9]])) == [1, 1]
    assert drained(drains_of(problem, ceiling=[[9], [8]])) == [0, 1]


def test_unused_nodes_receive_pods_only_where_they_may_and_count_nothing() -> None:
    problem = make_problem([[4]], [[9], [9]], [0])

    assert drained(drains_of(problem)) == [0]
    assert drained(drains_of(problem, receives=(1,)), weight=[3, 2]) == [0]
    assert drained(drains_of(problem, receives=(1,)), weight=[3, 0]) == [1]


@pytest.mark.parametrize(
    ("weight", "at"),
    [
        pytest.param([3, 3, 5], [2, 2], id="two nodes for one that counts less than both"),
        pytest.param([3, 3, 6], [0, 1], id="no gain"),
        pytest.param([3, 3, 0], [0, 1], id="one that counts nothing needs no opening"),
    ],
)
def test_a_node_is_opened_where_more_is_emptied_onto_it_than_it_counts(weight: list[int], at: list[int]) -> None:
    problem = make_problem([[5], [5]], [[9], [9], [12]], [0, 1])
    placement = Arrangement(problem)

    replace_greedily(
        drains_of(problem, receives=(2,)), placement, FULLEST, np.array(weight), budget=Budget(Limits(work=1.0))
    )

    assert placement.at.tolist() == at


def test_of_nodes_that_can_be_opened_the_lightest_is_tried_first_and_few_in_vain() -> None:
    """Nodes 1 to 4 are lighter and too small; after three of them no more are tried."""
    many = make_problem([[5]], [[9], [4], [4], [4], [9]], [0])
    few = make_problem([[5]], [[9], [4], [4], [9], [9]], [0])

    def opened(problem: Problem) -> int:
        placement = Arrangement(problem)
        drains = drains_of(problem, receives=(1, 2, 3, 4))
        replace_greedily(drains, placement, FULLEST, np.array([9, 1, 2, 3, 4]), budget=Budget(Limits(work=1.0)))
        return int(placement.at[0])

    assert (opened(many), opened(few)) == (0, 3)


def bound_of(problem: Problem, **facts: Any) -> tuple[int, ...]:
    """What is in use at least, and what so much costs."""
    return ConsolidateNodes(**facts).prepare(problem).bound()


@pytest.mark.parametrize(
    ("room", "bound"),
    [
        pytest.param(0, (4, 0), id="none"),
        pytest.param(3, (3, 1), id="one node"),
        pytest.param(6, (2, 3), id="two nodes"),
        pytest.param(99, (1, 6), id="all but the one with room"),
    ],
)
def test_as_many_nodes_can_be_emptied_as_others_have_room_for(room: int, bound: tuple[int, int]) -> None:
    """Three full nodes of 3 cost 1, 2 and 3; a fourth one has so much room beside a pinned pod."""
    problem = make_problem(
        [[3], [3], [3], [5]], [[3]] * 3 + [[5 + room]], range(4), evictable=[True] * 3 + [False], cost=[1, 2, 3, 9]
    )

    assert bound_of(problem) == bound


def test_weight_that_is_emptied_counts_and_the_last_node_in_part() -> None:
    """There is room for one of the nodes: the one that counts 5 costs 10; the cheapest per weight is one of them."""
    problem = make_problem([[3], [3], [5]], [[3], [3], [8]], range(3), evictable=[True, True, False], cost=[10, 4, 9])

    assert bound_of(problem, weight=np.array([5, 4, 7])) == (11, 6)


def test_nodes_that_none_can_empty_are_all_in_use() -> None:
    problem = make_problem([[1], [1]], [[9], [9]], [0, 1], evictable=[False, False])

    assert bound_of(problem) == (2, 0)
    assert bound_of(problem, protected=np.array([True, True])) == (2, 0)


def test_opened_nodes_count_in_the_bound_and_win_room() -> None:
    """Two nodes of 4 and 5 go onto one of 6, which costs both moves."""
    problem = make_problem([[5], [5]], [[5], [5], [12]], [0, 1])
    opens = np.array([False, False, True])

    assert bound_of(problem, weight=np.array([4, 5, 6])) == (9, 0)
    assert bound_of(problem, weight=np.array([4, 5, 6]), receives=opens) == (6, 2)
    assert bound_of(problem, weight=np.array([4, 5, 9]), receives=opens) == (9, 0)


@pytest.mark.parametrize(("most", "bound"), [(0, (3, 0)), (1, (3, 0)), (2, (2, 2)), (4, (1, 4))])
def test_limits_on_moves_count_in_the_bound(most: int, bound: tuple[int, int]) -> None:
    """Three nodes have two pods each, of which so many may be moved."""
    limit = MoveLimit(np.zeros(6, np.int64), np.array([most]))
    problem = make_problem([[1]] * 6, [[9]] * 3, [0, 0, 1, 1, 2, 2], rules=[limit])

    assert bound_of(problem) == bound


def test_pods_that_are_confined_to_some_nodes_need_room_there() -> None:
    """Pods of nodes 0 and 1 may be on these alone, where there is room for one more of them."""
    narrow = [True, True, False]
    problem = make_problem(
        [[4], [4], [1]], [[9], [9], [99]], [0, 1, 2], pod_class=[0, 0, 1], allowed=[narrow, [True] * 3]
    )

    assert bound_of(problem) == (1, 2)
    tight = make_problem(problem.need, [[7], [7], [99]], [0, 1, 2], pod_class=[0, 0, 1], allowed=[narrow, [True] * 3])
    assert bound_of(tight) == (2, 1)


def test_arrays_of_other_shapes_are_named() -> None:
    problem = make_problem([[1]], [[9]], [0])

    for facts, fault in (
        ({"ceiling": np.ones((1, 2), int)}, r"ceiling: shape \(1, 2\), expected \(1, 1\)"),
        ({"weight": np.ones(2, int)}, r"weight: shape \(2,\), expected \(1,\)"),
        ({"protected": np.ones(2, bool)}, r"protected: shape \(2,\)"),
        ({"receives": np.ones(2, bool)}, r"receives: shape \(2,\)"),
    ):
        with pytest.raises(ValueError, match=fault):
            ConsolidateNodes(**facts).prepare(problem)


@pytest.mark.parametrize(
    ("free", "score"),
    [
        pytest.param([10, 20], (10 + 25) // 2, id="an empty node"),
        pytest.param([1, 20], (100 + 25) // 2, id="one resource is full"),
        pytest.param([0, 0], (110 + 125) // 2, id="more than there is"),
    ],
)
def test_nodes_score_by_the_mean_of_whole_percents(free: list[int], score: int) -> None:
    """A pod of 1 and 5 on a node of 10 and 20; the third resource has no weight."""
    scheduler = MostAllocated(np.array([[10, 20, 5]]), np.array([1, 1, 0]))

    assert scheduler.scores(np.array([[*free, 9]]).T.astype(float), np.array([1.0, 5.0, 5.0])).tolist() == [score]


def test_weights_of_resources_count_in_the_mean_which_is_cut() -> None:
    scheduler = MostAllocated(np.array([[3, 10], [0, 10]]), np.array([2, 1]))

    scores = scheduler.scores(np.array([[3.0, 0.0], [10.0, 5.0]]), np.array([1.0, 0.0]))

    assert scores.tolist() == [(2 * 33 + 0) // 3, (2 * 200 + 50) // 3]


def test_pieces_have_nodes_that_might_be_emptied_with_all_their_pods_and_nodes_that_take_them() -> None:
    """Node 3 was emptied onto node 4, node 5 is protected, and node 6 is not in use."""
    at = [0, 0, 1, 2, 2, 3, 4, 5]
    problem = make_problem([[1]] * 8, [[9]] * 7, at)
    goal = ConsolidateNodes(protected=np.arange(7) == 5).prepare(problem)
    placement = Arrangement(problem)
    placement.move(5, 4)

    for seed in range(30):
        piece = goal.neighbourhood(placement, np.random.default_rng(seed), 8)
        assert piece is not None
        nodes, pods = set(piece.nodes.tolist()), set(piece.pods.tolist())
        whole = {node for node in range(6) if {pod for pod in range(8) if at[pod] == node} <= pods}
        assert whole & {0, 1, 2, 4}
        assert 5 not in whole
        assert 6 not in nodes
        assert (5 in pods) == bool({3, 4} & nodes)


def test_there_is_no_piece_where_all_are_emptied_that_can_be() -> None:
    problem = make_problem([[1], [1]], [[9]] * 2, [0, 1], evictable=[True, False])
    goal, placement = ConsolidateNodes().prepare(problem), Arrangement(problem)
    assert goal.neighbourhood(placement, np.random.default_rng(0), 8) is not None

    placement.move(0, 1)

    assert goal.neighbourhood(placement, np.random.default_rng(0), 8) is None


def test_several_nodes_may_be_emptied_in_a_piece_as_far_as_their_pods_are_few() -> None:
    """Nodes have one pod each; of a piece of 10 pods not much more than half are of such nodes."""
    problem = make_problem([[1]] * 12, [[9]] * 12, range(12))
    goal = ConsolidateNodes().prepare(problem)

    sizes = []
    for seed in range(30):
        piece = goal.neighbourhood(Arrangement(problem), np.random.default_rng(seed), 10)
        assert piece is not None
        sizes.append(len(piece.pods))
        large = goal.neighbourhood(Arrangement(problem), np.random.default_rng(seed), 2)
        assert large is not None
        assert len(large.pods) == 1

    assert set(sizes) == {6}
