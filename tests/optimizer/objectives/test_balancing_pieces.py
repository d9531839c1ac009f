"""Nodes over their ceiling: which pods leave at least, where they go first, and which pieces are solved anew."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import AtMost, BalanceUtilization, Limits, MoveLimit, Parts, Problem, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.balance_utilization.ceilings import Ceilings
from descheduler.optimizer.objectives.balance_utilization.large_pods import large_pods, pod_kinds
from descheduler.optimizer.objectives.balance_utilization.placing import place_covers, send_home


def ceilings_of(problem: Problem, *most: int) -> Ceilings:
    """The same for all resources of a node."""
    return Ceilings(problem, np.repeat(np.array(most)[:, None], problem.num_resources, axis=1))


def test_a_node_is_over_its_ceiling_above_it_and_not_at_it() -> None:
    """Node 1 is over in its second resource alone."""
    problem = make_problem([[7, 1], [4, 8], [9, 9]], [[10, 10]] * 3, [0, 1, 2])
    ceilings = ceilings_of(problem, 7, 7, 9)

    assert ceilings.was_hot.tolist() == [False, True, False]
    assert ceilings.hot.tolist() == [1]
    assert ceilings.is_over(Arrangement(problem)).tolist() == [False, True, False]


def test_covers_are_of_pods_that_can_leave_and_none_where_these_do_not_suffice() -> None:
    """3 have to leave each node; the pod of 3 of node 1 may be nowhere else."""
    problem = make_problem(
        [[3], [2], [5], [3], [7], [1]],
        [[10]] * 3,
        [0, 0, 0, 1, 1, 2],
        evictable=[True, True, False, True, False, True],
        pod_class=[0, 0, 0, 1, 0, 0],
        allowed=[[True] * 3, [False, True, False]],
    )
    ceilings = ceilings_of(problem, 7, 7, 3)

    assert ceilings.num_leaving.tolist() == [2, 0, 1]
    assert {node: cover and cover.chosen for node, cover in ceilings.covers.items()} == {0: (0,), 1: None}
    assert ceilings.fewest == {0: (0,)}
    assert ceilings.least_counts == {0: 1}


def test_the_fewest_pods_are_told_whatever_they_cost() -> None:
    problem = make_problem([[4], [2], [2]], [[10], [10]], [0, 0, 0], cost=[9, 1, 1])
    ceilings = ceilings_of(problem, 4, 10)

    cover = ceilings.covers[0]
    assert cover is not None
    assert (cover.chosen, cover.cost) == ((1, 2), 2)
    assert ceilings.fewest == {0: (0,)}
    assert ceilings.least_counts == {0: 1}


def test_slack_is_a_share_of_the_node_and_at_most_all_of_it() -> None:
    problem = make_problem([[2, 12]], [[10, 20], [10, 0]], [0])
    ceilings = Ceilings(problem, np.array([[7, 10], [2**40, 2**40]]))

    assert ceilings.slack(Arrangement(problem), np.array([0, 1])).tolist() == pytest.approx([0.5 - 0.1, 2.0])


def after_covers(problem: Problem, *most: int) -> list[int]:
    placement = Arrangement(problem)
    place_covers(ceilings_of(problem, *most), placement)
    found: list[int] = placement.at.tolist()
    return found


def test_pods_go_to_the_fullest_node_that_stays_under_its_ceiling() -> None:
    """3 have to leave node 0. Node 1 has room for 2 more, node 2 for just 3, node 3 for more."""
    problem = make_problem([[3], [7], [5], [4], [1]], [[10]] * 4, [0, 0, 1, 2, 3], evictable=[True] + [False] * 4)

    assert after_covers(problem, 7, 7, 7, 7) == [2, 0, 1, 2, 3]


def test_the_largest_pods_are_placed_first() -> None:
    """Nodes 2 and 3 have room for 4 and for 3; if the pod of 3 went first, it would be on node 3 all the same."""
    problem = make_problem(
        [[3], [7], [4], [7], [3], [4]],
        [[10], [11], [10], [10]],
        [0, 0, 1, 1, 2, 3],
        evictable=[True, False, True, False, False, False],
    )

    assert after_covers(problem, 7, 7, 7, 7) == [3, 0, 2, 1, 2, 3]


def test_pods_of_a_node_that_stays_over_all_the_same_go_home() -> None:
    """Both pods of 2 would have to leave, and there is room for one of them."""
    problem = make_problem([[2], [2], [7], [5]], [[11], [10]], [0, 0, 0, 1], evictable=[True, True, False, False])

    assert after_covers(problem, 7, 7) == [0, 0, 0, 1]


def test_within_a_limit_the_nodes_are_relieved_that_take_the_fewest_moves() -> None:
    """Two pods have to leave node 0 and one node 1, of which two may move in all: then none of node 0 does."""
    limit = MoveLimit(np.zeros(6, np.int64), np.array([2]))
    problem = make_problem(
        [[2], [2], [5], [3], [6], [1]],
        [[10], [10], [20]],
        [0, 0, 0, 1, 1, 2],
        evictable=[True, True, False, True, False, False],
        rules=[limit],
    )

    assert after_covers(problem, 5, 7, 20) == [0, 0, 0, 2, 1, 2]
    wide = make_problem(
        problem.need,
        problem.capacity,
        problem.assignment,
        evictable=problem.evictable,
        rules=[MoveLimit(np.zeros(6, np.int64), np.array([3]))],
    )
    assert after_covers(wide, 5, 7, 20) == [2, 2, 0, 2, 1, 2]


def test_where_the_cheapest_pods_are_too_many_the_fewest_leave() -> None:
    limit = MoveLimit(np.zeros(4, np.int64), np.array([1]))
    problem = make_problem([[4], [2], [2], [1]], [[10], [20]], [0, 0, 0, 1], cost=[9, 1, 1, 1], rules=[limit])

    assert after_covers(problem, 4, 20) == [1, 0, 0, 1]


def test_rules_keep_pods_from_nodes_with_room() -> None:
    apart = AtMost(np.array([0, -1, 0, -1]), np.arange(3), np.array([1]))
    problem = make_problem(
        [[3], [7], [1], [1]], [[10]] * 3, [0, 0, 1, 2], evictable=[True, False, False, False], rules=[apart]
    )

    assert after_covers(problem, 7, 7, 7) == [2, 0, 1, 2]


@pytest.mark.parametrize(
    ("moves", "ceiling", "at"),
    [
        pytest.param([(0, 1)], 4, [0, 0, 1, 1], id="the node stays over its ceiling without it"),
        pytest.param([(1, 1)], 4, [0, 1, 1, 1], id="the node is relieved"),
        pytest.param([(0, 1), (1, 1)], 3, [1, 1, 1, 1], id="both relieve it together"),
        pytest.param([(2, 0)], 5, [0, 0, 1, 1], id="onto a node over its ceiling"),
        pytest.param([(2, 0)], 10, [0, 0, 1, 1], id="for nothing"),
    ],
)
def test_moves_that_do_not_help_are_taken_back(moves: list[tuple[int, int]], ceiling: int, at: list[int]) -> None:
    """Node 0 has pods of 4 and 5; node 1 may have 20."""
    problem = make_problem([[4], [5], [1], [1]], [[10], [20]], [0, 0, 1, 1])
    placement = Arrangement(problem)
    for pod, node in moves:
        placement.move(pod, node)

    send_home(ceilings_of(problem, ceiling, 20), placement)

    assert placement.at.tolist() == at


def test_a_pod_goes_home_to_a_node_that_is_under_its_ceiling_with_it() -> None:
    """Pods 0 and 1 have left, and either alone would have done; the first of them goes home."""
    problem = make_problem([[3], [3], [4]], [[10], [10]], [0, 0, 0])
    placement = Arrangement(problem)
    for pod in (0, 1):
        placement.move(pod, 1)

    send_home(ceilings_of(problem, 7, 10), placement)

    assert placement.at.tolist() == [0, 1, 0]


def test_some_large_pods_fit_under_no_ceiling_as_things_are_but_where_others_leave() -> None:
    """The pod of 6 fits node 1 once that of 3 has left; the pod of 2 fits node 2, and that of 3 node 0 alone never."""
    problem = make_problem([[6], [2], [3], [2]], [[10], [8], [5]], [0, 0, 1, 2], evictable=[True, True, True, False])
    large = large_pods(ceilings_of(problem, 7, 7, 4))

    assert large.pods[~large.has_room].tolist() == [0]
    assert large.kind[0] == 0
    assert large.capacity[0].tolist() == [1, 1, 0]


def test_pods_are_of_one_kind_that_need_the_same_are_open_to_the_same_and_count_in_the_same_groups() -> None:
    rules = [MoveLimit(np.array([0, 0, 1, 0, 0, 0]), np.ones(2, np.int64))]
    problem = make_problem(
        [[1], [1], [1], [2], [1], [1]],
        [[9]] * 2,
        [0] * 6,
        cost=[1, 1, 1, 1, 1, 5],
        pod_class=[0, 0, 0, 0, 1, 0],
        allowed=np.ones((2, 2), bool),
        rules=rules,
    )

    def alike(*, costs: bool) -> list[int]:
        first, kind = pod_kinds(problem, np.arange(6), costs=costs)
        return [int(first[number]) for number in kind]

    assert alike(costs=False) == [0, 0, 2, 3, 4, 0]
    assert alike(costs=True) == [0, 0, 2, 3, 4, 5]


def cluster(*, moved: tuple[tuple[int, int], ...] = ()) -> tuple[Problem, Arrangement]:
    """Nodes 0 to 2 have 9 of 10 in three pods and may have 6; nodes 3 to 9 have a pod of 1 and a pinned one."""
    at = [*np.repeat(np.arange(3), 3).tolist(), *range(3, 10), *range(3, 10)]
    problem = make_problem([[3]] * 9 + [[1]] * 14, [[10]] * 10, at, evictable=[True] * 16 + [False] * 7)
    placement = Arrangement(problem)
    for pod, node in moved:
        placement.move(pod, node)
    return problem, placement


def pieces(
    problem: Problem, placement: Arrangement, num_pods: int, number: int = 40
) -> list[tuple[set[int], set[int]]]:
    """Some pieces that are drawn: (nodes, pods)."""
    goal = BalanceUtilization(np.full((10, 1), 6)).prepare(problem)
    found = [goal.neighbourhood(placement, np.random.default_rng(seed), num_pods) for seed in range(number)]
    return [(set(piece.nodes.tolist()), set(piece.pods.tolist())) for piece in found if piece is not None]


def test_pieces_are_about_a_node_that_is_over_its_ceiling_with_nodes_that_have_room() -> None:
    """Nodes 1 and 2 have been relieved."""
    problem, placement = cluster(moved=((3, 3), (6, 4)))

    found = pieces(problem, placement, 12)

    assert len(found) == 40
    for nodes, pods in found:
        assert 0 in nodes
        assert {0, 1, 2} <= pods
        assert len(nodes & set(range(3, 10))) >= 3
        assert not pods & set(range(16, 23))
        for guest, (node, home) in {3: (3, 1), 6: (4, 2)}.items():
            assert guest in pods or (node not in nodes and home not in nodes)


def test_other_hot_nodes_of_a_piece_are_those_that_its_guests_came_from() -> None:
    """Pod 3 came from node 1 to node 3, and no guest from node 2."""
    problem, placement = cluster(moved=((3, 3),))

    assert all(1 in nodes for nodes, _ in pieces(problem, placement, 12) if 3 in nodes)
    assert any(3 in nodes for nodes, _ in pieces(problem, placement, 12))


def test_small_pieces_have_other_pods_of_cold_nodes_as_far_as_there_is_place_for_them() -> None:
    problem, placement = cluster()

    for nodes, pods in pieces(problem, placement, 8):
        cold = pods & set(range(9, 16))
        assert len(nodes & {0, 1, 2}) == 2
        assert len(cold) <= max(8 - 6, 8 // 8)
    assert any(pods & set(range(9, 16)) for _, pods in pieces(problem, placement, 8))


def test_nothing_is_left_to_solve_where_every_node_costs_its_cover() -> None:
    problem, placement = cluster(moved=((0, 3), (3, 4), (6, 5)))

    assert pieces(problem, placement, 12) == []


@pytest.mark.parametrize(
    "extra",
    [
        pytest.param((1, 6), id="a hot node that lost more than its cover"),
        pytest.param((9, 6), id="a node that was never hot and lost a pod"),
    ],
)
def test_nodes_that_cost_more_than_they_have_to_are_solved_anew(extra: tuple[int, int]) -> None:
    problem, placement = cluster(moved=((0, 3), (3, 4), (6, 5), extra))
    home = int(problem.assignment[extra[0]])

    found = pieces(problem, placement, 12)

    assert len(found) == 40
    assert all(home in nodes for nodes, _ in found)


def test_cold_nodes_that_lost_pods_to_a_piece_are_in_it() -> None:
    """Pod 9 left node 3 for node 6."""
    problem, placement = cluster(moved=((9, 6),))

    narrow = [(nodes, pods) for nodes, pods in pieces(problem, placement, 12, 200) if 6 in nodes and len(nodes) <= 6]

    assert narrow
    assert all(9 in pods for _, pods in narrow)


def test_a_node_that_no_pods_relieve_is_never_solved_anew() -> None:
    """Nothing fits anywhere under a ceiling."""
    problem = make_problem([[4], [4], [7]], [[10], [10]], [0, 0, 1])

    goal = BalanceUtilization(np.array([[6], [7]])).prepare(problem)

    assert goal.neighbourhood(Arrangement(problem), np.random.default_rng(0), 12) is None
    assert goal.bound() == (1, 0)


def test_being_over_counts_more_than_all_moves_and_being_further_over_more_than_that() -> None:
    """Node 0 has 9 where it may have 6."""
    problem = make_problem([[3], [6], [1]], [[10], [10]], [0, 0, 1], cost=[2, 3, 4])
    goal = BalanceUtilization(np.array([[6], [6]])).prepare(problem)

    def cost(*used: float) -> list[float]:
        found: list[float] = goal.node_cost(np.arange(2), np.array([used])).tolist()
        return found

    moves = float(problem.cost.sum())
    assert cost(6.0, 6.0) == [0.0, 0.0]
    over, further, still = cost(9.0, 1.0)[0], cost(10.0, 1.0)[0], cost(7.0, 1.0)[0]
    assert still > moves
    assert over > still + moves
    assert further > 1e5 * over
    assert cost(0.0, 7.0)[1] > 1e5 * still
    assert goal.move_cost(np.array([0, 1]), np.array([1, 0])).tolist() == [2.0, 0.0]


def test_ceilings_of_other_nodes_or_resources_and_shared_parts_are_refused() -> None:
    problem = make_problem([[1]], [[9], [9]], [0])

    with pytest.raises(ValueError, match=r"ceiling: shape \(1, 1\), expected \(2, 1\)"):
        BalanceUtilization(np.array([[6]])).prepare(problem)
    shared = make_problem([[1]], Parts(np.array([[9]]), np.array([[0]]), np.array([0])), [0])
    with pytest.raises(ValueError, match="BalanceUtilization needs nodes with capacity of their own"):
        BalanceUtilization(np.array([[6]])).prepare(shared)


def test_the_first_plan_keeps_what_was_moved_before() -> None:
    problem, placement = cluster(moved=((1, 5),))

    BalanceUtilization(np.full((10, 1), 6)).prepare(problem).first_plan(
        placement, np.random.default_rng(0), Budget(Limits(work=1.0))
    )

    assert int((placement.at != problem.assignment).sum()) == 3
    assert placement.at[1] == 5


def test_cold_nodes_without_room_come_after_those_with_some() -> None:
    """Nodes 3 to 6 are at their ceiling, and nodes 7 to 9 are half under it."""
    at = [*np.repeat(np.arange(3), 3).tolist(), *range(3, 10)]
    problem = make_problem([[3]] * 9 + [[6]] * 4 + [[3]] * 3, [[10]] * 10, at, evictable=[True] * 9 + [False] * 7)

    found = pieces(problem, Arrangement(problem), 12, 60)

    narrow = [nodes for nodes, _ in found if len(nodes & set(range(3, 10))) == 3]
    assert len(narrow) > 10
    assert sum({7, 8, 9} <= nodes for nodes in narrow) > 0.9 * len(narrow)


def test_a_cold_node_that_lost_pods_to_a_narrow_piece_is_in_it_whatever_its_number() -> None:
    """Node 0 is cold and lost pod 0 to node 1, the only one with room; nodes 2 and 3 are over their ceiling."""
    problem = make_problem(
        [[1], [5], [4], [4], [4], [4], [1], [1]],
        [[10]] * 4,
        [0, 0, 2, 2, 3, 3, 2, 3],
        evictable=[True, False, True, True, True, True, True, True],
    )
    placement = Arrangement(problem)
    placement.move(0, 1)
    goal = BalanceUtilization(np.array([[6], [6], [6], [6]])).prepare(problem)

    for seed in range(30):
        piece = goal.neighbourhood(placement, np.random.default_rng(seed), 12)
        assert piece is not None
        assert {0, 1} <= set(piece.nodes.tolist())
        assert 0 in piece.pods.tolist()
