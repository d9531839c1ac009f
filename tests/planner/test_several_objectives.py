"""MigrationPlanner with several objectives: what the goal says of each, and of all of them together."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.report.plan.goal import PlannedGoal, goal_of
from tests.builders import Object, make_node, make_pod
from tests.planner.runs import run_objective


def balance(**targets: int) -> Object:
    return {"balanceUtilization": {"targetThresholds": targets}}


def run(objectives: Sequence[Object], nodes: Sequence[Node], pods: Sequence[Pod], *, packs: bool = True) -> Decisions:
    return run_objective("", nodes, pods, planner={"objectives": list(objectives)}, packs=packs)


def goal(decisions: Decisions) -> PlannedGoal:
    found = goal_of(decisions)
    assert found is not None
    return found


def test_bounds_of_two_objectives_with_evictions_are_no_bound_of_both() -> None:
    """One pod brings the node under both targets; the cheapest one for cpu does so for cpu alone."""
    nodes = [make_node(name, cpu="10", memory="10Gi") for name in "abc"]
    pods = [
        make_pod("for-cpu", cpu="3", memory="500Mi", priority=0),
        make_pod("for-both", cpu="3", memory="3Gi", priority=1000),
        make_pod("stays", cpu="3", memory="5Gi", owners=()),
    ]

    found = goal(run([balance(cpu=70), balance(memory=70)], nodes, pods, packs=False))

    assert [each.evictions for each in found.objectives] == [1, 1]
    assert [each.bound for each in found.objectives] == [1, 1]
    assert (found.evictions, found.bound, found.gap, found.status) == (2, None, None, "feasible")
    assert "planned after 1 eviction for earlier objectives" in found.objectives[1].sentence


def test_a_plan_is_proven_whose_other_objectives_have_nothing_to_do() -> None:
    nodes, pods = [make_node(name, cpu="10") for name in "ab"], [make_pod(name, cpu="4") for name in "pq"]

    found = goal(run([balance(cpu=70), balance(memory=70)], nodes, pods, packs=False))

    assert (found.evictions, found.bound, found.gap, found.status) == (1, 1, 0, "optimal")


def test_the_figure_of_an_objective_is_that_after_the_objectives_that_follow() -> None:
    """Consolidation brings a node over the target of the objective before it."""
    nodes = [make_node(name, cpu="10") for name in "ab"]
    pods = [make_pod("p", cpu="4", node="a"), make_pod("q", cpu="4", node="b", owners=())]

    found = goal(run([balance(cpu=60), {"consolidateNodes": {}}], nodes, pods))

    balanced, consolidated = found.objectives
    assert (consolidated.levels[0].after, consolidated.evictions) == (1, 1)
    assert (balanced.levels[0].before, balanced.levels[0].after, balanced.bound) == (0, 1, None)
    assert balanced.sentence == (
        "no node is over its target (cpu 60%); 1 node over target after the evictions for later objectives"
    )
    assert found.status == "feasible"
