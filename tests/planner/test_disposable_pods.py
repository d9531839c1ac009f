"""Pods that are evicted although their replacement cannot be scheduled (`disposablePods` of PlacementVerification)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.planner.objectives.table import OBJECTIVES
from tests.builders import Object, make_node, make_pod
from tests.planner.runs import goal_of
from tests.strategies.runs import evicted, run_plugin

BATCH = {"tier": "batch"}
NODES = [make_node(name, cpu="4") for name in "ab"]
FULL = [
    make_pod("batch-a", cpu="4", node="a", labels=BATCH, priority=0),
    make_pod("web-b", cpu="4", node="b", priority=0),
]
"""Nodes without any room."""


def policy(plugin: str, args: Object, disposable: Object | None) -> Object:
    profile: Object = {
        "name": "p",
        "pluginConfig": [
            {"name": "DefaultEvictor", "args": {}},
            {"name": plugin, "args": args},
            {"name": "PlacementVerification", "args": {} if disposable is None else {"disposablePods": disposable}},
        ],
        "plugins": {
            "balance" if plugin == "MigrationPlanner" else "deschedule": {"enabled": [plugin]},
            "preevictionfilter": {"enabled": ["PlacementVerification"]},
        },
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}


def run(
    key: str,
    pods: Sequence[Pod],
    *,
    args: Object | None = None,
    disposable: Object | None = None,
    nodes: Sequence[Node] = NODES,
    **others: Any,
) -> Decisions:
    planned = {"objectives": [{key: args or {}}], "timeLimit": "60s", "workLimit": 2}
    return run_plugin("MigrationPlanner", nodes, pods, policy=policy("MigrationPlanner", planned, disposable), **others)


SELECTED = {"matchLabels": BATCH}


@pytest.mark.parametrize(("disposable", "leave"), [(None, []), (SELECTED, ["batch-a"])])
def test_room_for_a_pending_pod_is_made_by_a_disposable_pod(disposable: Object | None, leave: Sequence[str]) -> None:
    pending = make_pod("db", cpu="4", node="", phase="Pending", priority=100)

    decisions = run("makeRoom", [*FULL, pending], disposable=disposable)

    assert evicted(decisions) == leave
    assert goal_of(decisions).levels[0].after == (0 if leave else 1)


def test_a_disposable_pod_leaves_in_vain_for_a_pod_of_lower_priority_and_stays() -> None:
    """Its replacement would take the room again."""
    pending = make_pod("db", cpu="4", node="", phase="Pending", priority=-1)

    assert evicted(run("makeRoom", [*FULL, pending], disposable=SELECTED)) == []


@pytest.mark.parametrize(("disposable", "leave"), [(None, []), (SELECTED, ["batch-a"])])
def test_a_node_is_drained_of_disposable_pods(disposable: Object | None, leave: Sequence[str]) -> None:
    nodes = [make_node("a", cpu="4", unschedulable=True), NODES[1]]

    decisions = run("drainNodes", FULL, args={"nodes": ["a"]}, disposable=disposable, nodes=nodes)

    assert evicted(decisions) == leave
    assert [move.to_node for move in decisions.moves] == [None] * len(leave)


def test_a_node_is_not_drained_of_others() -> None:
    nodes = [NODES[0], make_node("b", cpu="4", unschedulable=True)]

    decisions = run("drainNodes", FULL, args={"nodes": ["b"]}, disposable=SELECTED, nodes=nodes)

    assert evicted(decisions) == []


def test_disposable_pods_go_to_free_room_first() -> None:
    nodes = [make_node("a", cpu="4", unschedulable=True), NODES[1], make_node("c", cpu="8")]

    decisions = run("drainNodes", FULL, args={"nodes": ["a"]}, disposable=SELECTED, nodes=nodes)

    assert [move.to_node for move in decisions.moves] == ["c"]


@pytest.mark.parametrize("key", ["consolidateNodes", "balanceUtilization"])
def test_nothing_is_thrown_out_where_the_pods_would_return(key: str) -> None:
    """A node that is emptied is the only room that their replacements have."""
    args: Object = {"targetThresholds": {"cpu": 50}} if key == "balanceUtilization" else {}
    assert key in OBJECTIVES

    assert evicted(run(key, FULL, args=args, disposable=SELECTED)) == []


@pytest.mark.parametrize(("disposable", "leave"), [(None, []), (SELECTED, ["batch-a"])])
def test_strategies_evict_disposable_pods_as_well(disposable: Object | None, leave: Sequence[str]) -> None:
    nodes = [make_node("a", cpu="4", taints=["dedicated=x:NoSchedule"]), NODES[1]]

    decisions = run_plugin(
        "RemovePodsViolatingNodeTaints",
        nodes,
        FULL,
        policy=policy("RemovePodsViolatingNodeTaints", {}, disposable),
    )

    assert evicted(decisions) == leave
