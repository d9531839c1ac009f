"""Moves that topology spread closes in every order."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from descheduler.optimizer import BalanceUtilization, Limits, MaxSkew, Problem, make_problem, solve
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools
from descheduler.optimizer.kept_domains import with_kept_domains


def random_problem(seed: int) -> Problem:
    """Up to six pods of two groups on a node for each of three domains, perhaps with one that is in no domain."""
    rng = np.random.default_rng(seed)
    domain = np.array([0, 1, 2, -1][: 3 + int(rng.random() < 0.2)])
    pods = int(rng.integers(2, 7))
    rule = MaxSkew(
        rng.integers(-1, 2, pods),
        domain,
        rng.integers(1, 3, 2),
        rng.random((2, 3)) < 0.8,
        holds_first=bool(rng.random() < 0.5),
        free=rng.random(pods) < 0.2 if rng.random() < 0.5 else None,
        others=rng.integers(0, 2, (2, 3)) if rng.random() < 0.5 else None,
    )
    assignment = rng.integers(PENDING if rng.random() < 0.2 else 0, 3, pods)
    return make_problem([[1]] * pods, [[99]] * len(domain), assignment, evictable=rng.random(pods) < 0.8, rules=[rule])


def reachable(problem: Problem) -> Bools:
    """bool[P, N]: the nodes that some order of single moves brings each pod to."""
    found = np.zeros((problem.num_pods, problem.num_nodes), bool)
    start = tuple(problem.assignment.tolist())
    waiting, seen = deque([start]), {start}
    while waiting:
        at = np.array(waiting.popleft())
        placement = Arrangement(problem)
        placement.reset(at)
        is_open = placement.open_moves(np.arange(problem.num_pods), np.arange(problem.num_nodes))
        for pod, node in np.argwhere(is_open & problem.evictable[:, None]).tolist():
            found[pod, node] = True
            after = (*at[:pod].tolist(), node, *at[pod + 1 :].tolist())
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return found


@pytest.mark.parametrize("seed", range(120))
def test_only_moves_that_no_order_makes_are_closed(seed: int) -> None:
    problem = random_problem(seed)
    kept = with_kept_domains(problem)

    closed = problem.allowed[problem.pod_class] & ~kept.allowed[kept.pod_class]

    assert not (closed & reachable(problem)).any()


def test_pods_that_are_one_in_each_domain_stay_in_it() -> None:
    rule = MaxSkew(np.array([0, 0, -1]), np.array([0, 0, 1, 1]), np.array([1]), np.ones((1, 2), bool))
    kept = with_kept_domains(make_problem([[1]] * 3, [[9]] * 4, [0, 2, 0], rules=[rule]))

    assert kept.allowed[kept.pod_class].astype(int).tolist() == [[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]


def test_a_pending_pod_may_open_another_domain() -> None:
    rule = MaxSkew(np.zeros(3, np.int64), np.array([0, 1]), np.array([1]), np.ones((1, 2), bool))
    problem = make_problem([[1]] * 3, [[9]] * 2, [0, 1, PENDING], rules=[rule])

    assert with_kept_domains(problem) is problem


def test_the_bound_has_no_pods_change_domains_that_cannot() -> None:
    """The pods of 6 and 5 are one in each zone. If they changed zones, one pod would make room for each."""
    spread = MaxSkew(
        np.array([0, -1, 0, -1, -1, -1, -1]), np.array([0, 1, 0, 1, 0]), np.array([1]), np.ones((1, 2), bool)
    )
    problem = make_problem(
        [[6], [3], [5], [4], [3], [3], [5]],
        [[10], [10], [10], [10], [20]],
        [0, 0, 1, 1, 2, 2, 3],
        pod_class=[0, 1, 0, 1, 1, 1, 1],
        allowed=[[True] * 4 + [False], [True] * 5],
        evictable=[True, False, True, False, True, True, True],
        rules=[spread],
    )

    ceiling = BalanceUtilization(np.array([[7], [7], [8], [7], [20]]))
    plan = solve(with_kept_domains(problem), ceiling, Limits(work=2.0))

    assert plan.value == plan.bound == (0, 5)
