"""Plans for full nodes over objects of a cluster: its moves, replayed by themselves, keep what they promise."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler import evaluate
from descheduler.optimizer.problem import Problem
from tests.bench.planner.packing_dry_run import faults_of
from tests.builders import NOW
from tests.planner.runs import verified
from tests.series import first_of
from tests.worlds.arrays import make_consolidation_world, make_stranded_world
from tests.worlds.stored_arrays import objects_of, pod_number

pytestmark = pytest.mark.long


def planned(problem: Problem, objective: str, work: float, workload: Any = None, *, packs: bool = True) -> Any:
    planner = {"objectives": [{objective: {}}], "timeLimit": "600s", "workLimit": work}
    return evaluate(verified(planner, packs=packs), objects_of(problem, workload), now=NOW)


def after(problem: Problem, result: Any) -> Any:
    at = problem.assignment.copy()
    for eviction in result.evictions:
        at[pod_number(eviction.name)] = pod_number(eviction.target_node)
    return at


@pytest.mark.parametrize("size", first_of(1, [(40, 0.3), (50, 0.45)]), ids=str)
def test_nodes_of_a_plan_are_empty_where_the_scheduler_chooses_the_nodes(size: tuple[int, float]) -> None:
    nodes, mean_ratio = size
    world = make_consolidation_world(nodes=nodes, seed=1, mean_ratio=mean_ratio)

    result = planned(world.problem, "consolidateNodes", 1.0, world.workload)

    at = after(world.problem, result)
    left = set(world.problem.assignment[at != world.problem.assignment].tolist())
    assert len(left) >= 10
    assert left.isdisjoint(at.tolist())
    assert faults_of(world.problem, at) == []


@pytest.mark.parametrize("size", first_of(1, [(15, 0), (30, 0), (30, 1)]), ids=str)
def test_room_for_pending_pods_breaks_no_rule(size: tuple[int, int]) -> None:
    nodes, seed = size
    problem = make_stranded_world(nodes=nodes, seed=seed, pending_ratio=0.3)

    result = planned(problem, "makeRoom", 1)

    assert result.evictions
    assert faults_of(problem, after(problem, result)) == []


@pytest.mark.parametrize("seed", first_of(1, [3, 4]))
def test_what_is_left_of_a_plan_that_others_spoil_is_planned_anew(seed: int) -> None:
    """Plans that are only made whole leave most pods pending here: smaller ones take the room of a chain. What needs an
    order of the replacement pods stays, as a DeschedulerPolicy has no waves.
    """
    problem = make_stranded_world(nodes=12, seed=seed, pending_ratio=0.6)

    result = planned(problem, "makeRoom", 2)

    (goal,) = result.plan.goal.objectives
    (level,) = goal.levels
    assert (level.before, level.after <= 1) == (6, True)
    assert faults_of(problem, after(problem, result)) == []


def test_a_plan_all_of_which_is_refused_is_not_made_again() -> None:
    """Under a scheduler that prefers empty nodes, where pending pods take the room that is meant for replacements.

    What needs an order of the replacement pods stays.
    """
    problem = make_stranded_world(nodes=12, seed=0, pending_ratio=0.3)

    result = planned(problem, "makeRoom", 1, packs=False)

    (goal,) = result.plan.goal.objectives
    (level,) = goal.levels
    assert (level.before, level.after <= 2) == (4, True)
