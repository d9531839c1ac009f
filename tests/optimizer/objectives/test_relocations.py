"""Room on devices: two moves that hang together place pods that no single move makes room for."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import (
    UNLIMITED,
    Limits,
    MakeRoom,
    MoveLimit,
    Parts,
    Problem,
    Reassignment,
    Solution,
    make_problem,
    replay,
    solve,
)
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.limits import Budget
from tests.series import first_of
from tests.worlds.openb_arrays import make_small_openb_world


def _host_world(need: list[list[int]], assignment: list[int], *, most_moves: int = 9) -> Problem:
    """Hosts of 12 and 13 cores with two GPUs of 10 tenths each (nodes 0 to 3), one of 2 cores and one GPU (node 4).

    Pending pods may be on the first host alone.
    """
    capacity = [[12, UNLIMITED], [13, UNLIMITED], [2, UNLIMITED]] + [[UNLIMITED, 10]] * 5
    taken = np.array([[0, 3], [0, 4], [1, 5], [1, 6], [2, 7]])
    parts = Parts(np.array(capacity), taken, np.array([0, 0, 1, 1, 2]))
    limit = MoveLimit(np.zeros(len(need), np.int64), np.array([most_moves]))
    is_pending = np.array(assignment) == PENDING
    allowed = np.array([[True] * 5, [True, True, False, False, False]])
    return make_problem(need, parts, assignment, pod_class=is_pending.astype(np.int64), allowed=allowed, rules=[limit])


# A heavy pod leaves a GPU of its host without a core, two light ones leave their host 11 cores without a GPU.
_HEAVY, _LIGHT, _PENDING = [12, 10], [1, 10], [6, 10]


def test_light_pod_makes_place_for_a_heavy_one_and_pending_pods_follow() -> None:
    problem = _host_world([_HEAVY, _LIGHT, _LIGHT, _PENDING, _PENDING], [0, 2, 3, PENDING, PENDING])

    plan = solve(problem, MakeRoom(), Limits(work=1.0))

    assert plan.value == (0, 2)
    assert {move.pod for move in plan.moves} == {0, 1, 3, 4} or {move.pod for move in plan.moves} == {0, 2, 3, 4}


def test_order_takes_the_light_pod_first() -> None:
    problem = _host_world([_HEAVY, _LIGHT, _LIGHT, _PENDING, _PENDING], [0, 2, 3, PENDING, PENDING])

    plan = solve(problem, MakeRoom(), Limits(work=1.0))

    first, second = plan.waves[0], plan.waves[1]
    assert [(move.source in (2, 3), move.target) for move in first] == [(True, 4)]
    assert second == (Reassignment(0, 0, first[0].source),)


def test_move_limit_holds_for_relocations() -> None:
    problem = _host_world([_HEAVY, _LIGHT, _LIGHT, _PENDING, _PENDING], [0, 2, 3, PENDING, PENDING], most_moves=1)

    plan = solve(problem, MakeRoom(), Limits(work=1.0))

    assert plan.value == (2, 0)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_plan_for_a_full_cluster_keeps_its_limit_of_moves(seed: int) -> None:
    problem = make_small_openb_world(hosts=16, load=1.0, seed=seed).problem

    plan = solve(problem, MakeRoom(), Limits(work=0.2), seed=seed)

    assert replay(problem, plan.waves, plan.assignment) == []
    assert plan.bound <= plan.value <= plan.value_before
    assert len(problem.moved(plan.assignment)) <= 0.2 * problem.num_pods


def test_relocation_is_found_without_the_solver() -> None:
    problem = _host_world([_HEAVY, _LIGHT, _LIGHT, _PENDING, _PENDING], [0, 2, 3, PENDING, PENDING])
    goal, placement, budget = MakeRoom().prepare(problem), Arrangement(problem), Budget(Limits(work=1.0))
    relocations = goal.annealing(placement, np.random.default_rng(0))
    assert relocations is not None

    relocations.run(budget, budget, 1.0)

    assert goal.value(placement.at) == (0, 2)


@pytest.mark.long
@pytest.mark.parametrize("workers", first_of(1, [1, 2]))
def test_same_seed_and_work_give_the_same_plan(workers: int) -> None:
    problem = make_small_openb_world(hosts=16, load=1.0, seed=1).problem

    first, second = (solve(problem, MakeRoom(), Limits(work=0.1), seed=3, num_workers=workers) for _ in range(2))

    assert _parts(first) == _parts(second)


def _parts(plan: Solution) -> tuple[bytes, object, object]:
    return plan.assignment.tobytes(), plan.waves, plan.value
