"""MigrationPlanner with RepairViolations: what strategies would select again after the plan."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.plan.goals import Level
from tests.builders import make_node, make_pod, preferred_node_affinity
from tests.planner.repairs import AFFINITY, FREE, LIFE_TIME, TAINTED, TAINTS, goal_of, policy_for
from tests.strategies.runs import evicted, run_plugin


@pytest.mark.parametrize(
    "others", [[], [make_pod("web", cpu="1", node="tainted", priority=9)]], ids=["alone", "beside another"]
)
def test_a_pod_whose_replacement_would_be_selected_again_is_not_evicted(others: Sequence[Pod]) -> None:
    """The node that it prefers is full, and the scheduler would place it on another one that is no better."""
    nodes = [
        make_node("a", cpu="4"),
        make_node("c", cpu="4"),
        make_node("ssd", cpu="4", labels={"disk": "ssd"}),
        TAINTED,
    ]
    prefers = preferred_node_affinity(("disk", "ssd", 1))
    pods = [
        make_pod("db", cpu="3", node="a", affinity=prefers),
        make_pod("full", node="ssd", cpu="4", owners=["DaemonSet/d"]),
        make_pod("agent", node="a", cpu="1", owners=["DaemonSet/d"]),
        *others,
    ]

    policy = policy_for(AFFINITY, TAINTS)
    policy["profiles"][0]["pluginConfig"][1]["args"] = {
        "nodeAffinityType": ["preferredDuringSchedulingIgnoredDuringExecution"]
    }

    decisions = run_plugin("MigrationPlanner", nodes, pods, policy=policy)

    assert evicted(decisions) == [pod.name for pod in others]
    assert goal_of(decisions).levels[0].after == 1


def test_a_pod_whose_replacement_would_be_selected_again_is_not_evicted_beside_one_that_has_a_better_node() -> None:
    """The node that both prefer has room for one of them."""
    nodes = [make_node("a", cpu="4"), make_node("c", cpu="4"), make_node("ssd", cpu="4", labels={"disk": "ssd"})]
    prefers = preferred_node_affinity(("disk", "ssd", 100))
    pods = [make_pod(name, cpu="3", node=node, affinity=prefers) for name, node in (("one", "a"), ("two", "c"))]
    policy = policy_for(AFFINITY)
    policy["profiles"][0]["pluginConfig"][1]["args"] = {
        "nodeAffinityType": ["preferredDuringSchedulingIgnoredDuringExecution"]
    }

    decisions = run_plugin("MigrationPlanner", nodes, pods, policy=policy)

    assert len(decisions.moves) == 1
    assert goal_of(decisions).levels[0].after == 1


@pytest.mark.parametrize("is_read", [True, False], ids=["its owner was read", "its owner was not read"])
def test_a_pod_that_is_too_old_leaves_because_its_replacement_is_young(is_read: bool) -> None:
    policy = policy_for(LIFE_TIME)
    uid = make_pod("old").owners[0].uid
    web = Workload("ReplicaSet", "default", "web", uid, replicas=2, template=make_pod("web", cpu="1", node=""))
    workloads = {uid: web} if is_read else {}
    pods = [make_pod("old", cpu="1", node="a", age=999), make_pod("young", cpu="4", node="a", age=9)]

    decisions = run_plugin("MigrationPlanner", FREE, pods, policy=policy, workloads=workloads)

    assert evicted(decisions) == ["old"]
    assert goal_of(decisions).levels == (Level("violations left", 1, 0, 0),)
