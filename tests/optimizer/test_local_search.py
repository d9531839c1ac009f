"""What the array operations say a move changes is the difference of the guide's sum before and after it."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import AtMost, ReduceFragmentation, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.limits import Budget, Limits
from descheduler.optimizer.local_search import climb_best_first, climb_by_shifts, shift_changes
from descheduler.optimizer.objective import Guide
from tests.bench.roadef.random_instances import random_instance
from tests.optimizer.tiny import is_feasible, random_parts_problem


def guide_sum(placement: Arrangement, guide: Guide) -> float:
    """What the hill climb lowers."""
    nodes: Ints = np.arange(placement.problem.num_nodes)
    pods: Ints = np.arange(placement.problem.num_pods)
    return float(guide.node_cost(nodes, placement.usage).sum() + guide.move_cost(pods, placement.at).sum())


@pytest.mark.parametrize("seed", range(5))
def test_change_of_a_shift_is_what_the_sum_changes_by(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = Arrangement(instance.problem), instance.objective.prepare(instance.problem)
    pods, nodes = np.arange(instance.problem.num_pods), np.arange(instance.problem.num_nodes)

    change = shift_changes(placement, guide, pods, nodes)

    before = guide_sum(placement, guide)
    for pod, node in np.argwhere(np.isfinite(change)).tolist():
        placement.move(pod, node)
        assert guide_sum(placement, guide) - before == pytest.approx(change[pod, node])
        placement.reset(instance.problem.assignment)


@pytest.mark.parametrize("seed", range(5))
def test_climbing_lowers_the_sum_until_no_single_move_does(seed: int) -> None:
    instance = random_instance(seed)
    placement, guide = Arrangement(instance.problem), instance.objective.prepare(instance.problem)
    budget, nodes = Budget(Limits(work=10.0)), np.arange(5)
    before = guide_sum(placement, guide)

    last = np.inf
    while (now := guide_sum(placement, guide)) < last:
        climb_by_shifts(placement, guide, nodes, budget)
        last = now

    assert guide_sum(placement, guide) < before
    assert shift_changes(placement, guide, np.arange(24), nodes).min() > -1e-6
    assert is_feasible(instance.problem, placement.at)


class Prices:
    """A guide by which each unit on a node has its price, and each move costs a little."""

    def __init__(self, price: Floats, placement: Arrangement) -> None:
        self._price, self._origins = price, placement.origins

    def node_cost(self, nodes: Ints, usage: Floats) -> Floats:
        """The dearer the fuller the node is."""
        return np.asarray(self._price[nodes] * (usage[0] + 0.01 * usage[0] ** 2))

    def move_cost(self, pods: Ints, nodes: Ints) -> Floats:
        """The same for each move."""
        return np.where(self._origins[pods] != nodes, 0.5, 0.0)


def priced(seed: int, *, pods: int, nodes: int = 6) -> tuple[Arrangement, Prices]:
    """Pods of different sizes on nodes of different prices, with room for a few more each."""
    rng = np.random.default_rng(seed)
    need, at = rng.integers(1, 40, (pods, 1)), rng.integers(0, nodes, pods)
    used = np.bincount(at, weights=need[:, 0], minlength=nodes).astype(np.int64)
    problem = make_problem(need, used[:, None] + 60, at, evictable=rng.random(pods) < 0.9)
    placement = Arrangement(problem)
    return placement, Prices(rng.uniform(1.0, 3.0, nodes), placement)


@pytest.mark.parametrize("pods", [5, 63, 64, 300])
def test_the_best_move_of_all_is_made_again_and_again(pods: int) -> None:
    """The kept gains lead where a look at all moves before each one does."""
    placement, guide = priced(pods, pods=pods)
    naive, _ = priced(pods, pods=pods)
    movable, nodes = np.flatnonzero(naive.problem.evictable), np.arange(6)

    climb_best_first(placement, guide, Budget(Limits(work=10.0)))

    while (change := shift_changes(naive, guide, movable, nodes)).min() < -1e-6:
        pod, node = np.unravel_index(int(change.argmin()), change.shape)
        naive.move(int(movable[pod]), int(node))
    assert placement.at.tolist() == naive.at.tolist()
    assert (placement.at != placement.origins).any()


def test_a_move_that_another_one_has_closed_is_looked_at_again_before_it_is_made() -> None:
    """Pod 1 goes first and closes its zone to pod 0, whose next best node is worth more to pod 2."""
    zone = AtMost(np.zeros(3, np.int64), np.array([0, 1, 1, -1]), np.array([1]))
    problem = make_problem(
        [[10], [20], [12]],
        [[99], [99], [99], [12]],
        [0, 0, 0],
        pod_class=[0, 1, 2],
        allowed=[[False, False, True, True], [False, True, False, False], [False, False, False, True]],
        rules=[zone],
    )
    placement = Arrangement(problem)

    climb_best_first(placement, Prices(np.array([5.0, 1.0, 1.0, 4.0]), placement), Budget(Limits(work=1.0)))

    assert placement.at.tolist() == [0, 1, 3]


@pytest.mark.parametrize("seed", range(4))
def test_the_change_for_pods_that_have_moved_counts_what_their_move_has_cost(seed: int) -> None:
    placement, guide = priced(seed, pods=8)
    for pod in np.flatnonzero(placement.problem.evictable)[:3].tolist():
        open_nodes = np.flatnonzero(placement.open_moves(np.array([pod]), np.arange(6))[0])
        placement.move(pod, int(open_nodes[0]))
    before, now = guide_sum(placement, guide), placement.at.copy()

    change = shift_changes(placement, guide, np.arange(8), np.arange(6))

    for pod, node in np.argwhere(np.isfinite(change) & placement.problem.evictable[:, None]).tolist():
        placement.move(pod, node)
        assert guide_sum(placement, guide) - before == pytest.approx(change[pod, node])
        placement.move(pod, int(now[pod]))


def test_no_move_is_made_when_the_budget_is_over() -> None:
    placement, guide = priced(0, pods=20)

    for climb in (climb_best_first, lambda *some: climb_by_shifts(some[0], some[1], np.arange(6), some[2])):
        climb(placement, guide, Budget(Limits(work=0.0)))

    assert (placement.at == placement.origins).all()


def test_pending_pods_and_nodes_without_evictable_pods_are_left_alone() -> None:
    problem = make_problem([[1], [1], [1]], [[9], [9]], [-1, 0, 1], evictable=[True, False, True])
    placement = Arrangement(problem)
    guide = Prices(np.array([5.0, 1.0]), placement)

    climb_best_first(placement, guide, Budget(Limits(work=1.0)))
    climb_by_shifts(placement, guide, np.array([0, 1]), Budget(Limits(work=1.0)))

    assert placement.at.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("pods", [63, 64, 100])
def test_the_change_of_many_pods_at_once_is_that_of_each(pods: int) -> None:
    placement, guide = priced(1, pods=pods)
    nodes, before = np.arange(6), guide_sum(placement, guide)
    home = placement.at.copy()

    change = shift_changes(placement, guide, np.arange(pods), nodes)

    is_open = np.isfinite(change) & placement.problem.evictable[:, None]
    for pod, node in np.argwhere(is_open).tolist()[::7]:
        placement.move(pod, node)
        assert guide_sum(placement, guide) - before == pytest.approx(change[pod, node])
        placement.move(pod, int(home[pod]))
    assert not np.isfinite(change[np.arange(pods), home]).any()


@pytest.mark.parametrize("seed", range(6))
def test_over_parts_the_change_is_of_all_parts_that_the_pod_leaves_and_takes(seed: int) -> None:
    problem = random_parts_problem(np.random.default_rng(seed), rules=False, pending=seed % 2)
    placement = Arrangement(problem)
    guide = ReduceFragmentation(0, np.array([[3, 1], [5, 2]])).prepare(problem)
    parts, pods = np.arange(4), np.arange(problem.num_pods)

    def total() -> float:
        return float(guide.node_cost(parts, placement.usage).sum() + guide.move_cost(pods, placement.at).sum())

    before = total()
    placed = np.flatnonzero(problem.evictable & (problem.assignment >= 0))
    change = shift_changes(placement, guide, placed, np.arange(problem.num_nodes))

    for row, node in np.argwhere(np.isfinite(change)).tolist():
        placement.move(int(placed[row]), node)
        assert total() - before == pytest.approx(change[row, node])
        placement.reset(problem.assignment)
