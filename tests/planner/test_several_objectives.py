"""MigrationPlanner with several objectives: what the goal says of each, and of all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.report.plan.goal import PlannedGoal, goal_of
from tests.builders import Object, make_node, make_pod
from tests.planner.runs import run_objective, verified
from tests.strategies.runs import run_plugin


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


def test_moves_for_a_later_objective_are_of_a_later_turn() -> None:
    """So they stay where the order of the replacements decides whether all pods can leave at once."""
    nodes = [make_node(name, cpu="10", memory="10Gi") for name in "abcd"]
    pods = [make_pod("c", cpu="4"), make_pod("d", cpu="4"), make_pod("m", memory="4Gi", node="b")]
    pods += [make_pod("n", memory="4Gi", node="b")]

    decisions = run([balance(cpu=70), balance(memory=70)], nodes, pods, packs=False)

    assert [move.turn for move in decisions.moves] == [1, 2]


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


def run_profiles(nodes: Sequence[Node], pods: Sequence[Pod], *profiles: Object) -> PlannedGoal:
    """What the goals of a policy with these profiles say."""
    policy: Any = verified({})
    return goal(run_plugin("MigrationPlanner", nodes, pods, policy={**policy, "profiles": list(profiles)}))


def profile(name: str, objective: Object, **facts: Any) -> Object:
    """A profile that plans for one objective, under a scheduler that prefers full nodes."""
    policy: Any = verified({"objectives": [objective], "workLimit": 2, **facts})
    return {**policy["profiles"][0], "name": name}


def after_pod_life_time(planned: Object) -> Object:
    """The profile `planned` with PodLifeTime before its planner: it evicts pods of namespace old."""
    made: Any = planned
    args = {"maxPodLifeTimeSeconds": 60, "namespaces": {"include": ["old"]}}
    return {
        **made,
        "pluginConfig": [*made["pluginConfig"], {"name": "PodLifeTime", "args": args}],
        "plugins": {**made["plugins"], "deschedule": {"enabled": ["PodLifeTime"]}},
    }


def test_the_figure_of_a_profile_is_that_after_the_profiles_that_follow() -> None:
    """Consolidation of the second profile brings a node over the target of the first one."""
    nodes = [make_node(name, cpu="10") for name in "ab"]
    pods = [make_pod("p", cpu="4", node="a"), make_pod("q", cpu="4", node="b", owners=())]

    found = run_profiles(nodes, pods, profile("one", balance(cpu=60)), profile("two", {"consolidateNodes": {}}))

    balanced, consolidated = found.objectives
    assert (balanced.levels[0].before, balanced.levels[0].after, balanced.bound) == (0, 1, None)
    assert balanced.sentence == (
        "no node is over its target (cpu 60%); 1 node over target after the evictions by later plugins"
    )
    assert consolidated.sentence == "2 nodes in use → 1 with 1 eviction; no plan does better"


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        pytest.param(
            50, "1 node over target → 0 with 1 eviction (at least 1 is needed); planned after 1 eviction by earlier"
            " plugins", id="something to do",
        ),
        pytest.param(
            70, "no node is over its target (cpu 70%); counted after 1 eviction by earlier plugins", id="nothing to do"
        ),
    ],
)  # fmt: skip
def test_a_goal_says_how_many_evictions_by_earlier_plugins_it_counts_on(target: int, sentence: str) -> None:
    """Each of three pods requests 30% of the node; PodLifeTime evicts one of them first."""
    nodes = [make_node(name, cpu="10") for name in "abc"]
    pods = [make_pod(name, namespace=name, cpu="3", age=3600) for name in ("old", "new", "other")]
    planned: Any = verified({"objectives": [balance(cpu=target)], "workLimit": 2}, packs=False)

    found = run_profiles(nodes, pods, after_pod_life_time(planned["profiles"][0]))

    assert [each.sentence for each in found.objectives] == [sentence]
