"""Limits that are percentages, in decisions: of which pods they are one, and what reports say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.staying import staying_pods
from descheduler.policy.load import load_policy
from descheduler.report.plan.making import make_plan
from tests.bench.policies import STRATEGIES, policy_of
from tests.builders import NOW, make_node, make_pod, make_snapshot, owner
from tests.report.decided_cycles import pod_life_time_policy
from tests.worlds.generate import GENERATED_AT, generate_cluster


def decide_by(document: Mapping[str, object], pods: Iterable[Pod], nodes: Iterable[Node] = ()) -> Decisions:
    snapshot = make_snapshot(list(nodes) or [make_node("a"), make_node("b")], pods)
    return decide(load_policy(document, REGISTRY), snapshot, now=NOW)


def pods_on(node: str, number: int, **facts: Any) -> list[Pod]:
    return [make_pod(f"{node}-{index:03}", node=node, cpu="1m", **facts) for index in range(number)]


def evicted_by_node(decisions: Decisions) -> dict[str, int]:
    leaving = [move.pod.node_name for move in decisions.leaving]
    return {node: leaving.count(node) for node in sorted(set(leaving))}


@pytest.mark.parametrize(
    ("limits", "evicted"),
    [
        pytest.param({"maxNoOfPodsToEvictTotal": "10%"}, {"a": 3}, id="of all pods"),
        pytest.param({"maxNoOfPodsToEvictPerNode": "20%"}, {"a": 4, "b": 2}, id="of the pods of each node"),
        pytest.param({"maxNoOfPodsToEvictPerNode": "3%"}, {"a": 1, "b": 1}, id="at least 1"),
        pytest.param({"maxNoOfPodsToEvictPerNamespace": "50%"}, {"a": 15}, id="of the pods of each namespace"),
    ],
)
def test_share_that_may_be_evicted(limits: dict[str, Any], evicted: dict[str, int]) -> None:
    finished = [make_pod(f"done-{index}", node="a", phase="Succeeded") for index in range(50)]

    decisions = decide_by(pod_life_time_policy(**limits), [*pods_on("a", 20), *pods_on("b", 10), *finished])

    assert evicted_by_node(decisions) == evicted


def test_pods_above_a_share_name_the_percentage_and_what_it_comes_to() -> None:
    decisions = decide_by(pod_life_time_policy(maxNoOfPodsToEvictPerNode="20%"), pods_on("a", 10))

    staying = {each.first.verdict.message for each in staying_pods(decisions)}
    (limit,) = make_plan(decisions).limits

    assert staying == {"maxNoOfPodsToEvictPerNode (20%: 2 of 10 pods) reached for node a"}
    assert (limit.limit, limit.percentage, limit.value, limit.scope, limit.num_pods) == (
        "maxNoOfPodsToEvictPerNode",
        "20%",
        2,
        "a",
        8,
    )


def test_plan_says_what_percentages_come_to_though_none_is_reached() -> None:
    limits: dict[str, Any] = {
        "maxNoOfPodsToEvictTotal": "90%",
        "maxNoOfPodsToEvictPerNode": "95%",
        "maxNoOfPodsToEvictPerNamespace": 9,
    }

    decisions = decide_by(pod_life_time_policy(**limits), [*pods_on("a", 20, age=0), *pods_on("b", 40, age=0)])

    assert make_plan(decisions).warnings == (
        "maxNoOfPodsToEvictTotal (90%) is 54 of 60 pods",
        "maxNoOfPodsToEvictPerNode (95%) is 19 to 38 pods, depending on the node",
    )


def test_plan_says_what_percentages_of_a_migration_controller_come_to() -> None:
    args: dict[str, object] = {"maxMigratingGlobally": "10%", "maxMigratingPerNamespace": "20%"}

    decisions = decide_by(controlled(args), pods_on("a", 20, owners=()))

    assert set(decisions.notes) >= {
        "profile main: maxMigratingGlobally (10%) is 2 of 20 pods",
        "profile main: maxMigratingPerNamespace (20%) is 4 pods for each namespace",
    }


def test_numbers_are_not_explained() -> None:
    decisions = decide_by(pod_life_time_policy(maxNoOfPodsToEvictTotal=5), pods_on("a", 3))

    assert make_plan(decisions).warnings == ()


def controlled(args: dict[str, object]) -> Mapping[str, object]:
    """A DeschedulerConfiguration that evicts pods after a minute through a MigrationController without other limits."""
    free = {"skipEvictionGates": ["ExpectedReplicas"], "objectLimiters": {"workload": {"duration": "0s"}}}
    config = [
        {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}},
        {
            "name": "MigrationController",
            "args": {"defaultJobMode": "EvictDirectly", "evictAllBarePods": True, "maxMigratingPerNode": 0, **free}
            | args,
        },
    ]
    plugins = {"deschedule": {"enabled": [{"name": "PodLifeTime"}]}}
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [{"name": "main", "pluginConfig": config, "plugins": plugins}],
    }


@pytest.mark.parametrize(
    ("args", "evicted", "message"),
    [
        pytest.param(
            {"maxMigratingGlobally": "10%"},
            {"a": 3},
            "maxMigratingGlobally (10%: 3 of 30 pods) reached: 3 other pods are evicted before it",
            id="of all pods",
        ),
        pytest.param(
            {"maxMigratingPerNode": "20%"},
            {"a": 4, "b": 2},
            "maxMigratingPerNode (20%: 2 of 10 pods) reached for node b: 2 other pods are evicted before it",
            id="of the pods of a node",
        ),
        pytest.param(
            {"maxMigratingPerNamespace": "5%"},
            {"a": 1},
            "maxMigratingPerNamespace (5%: 1 of 30 pods) reached for namespace default:"
            " 1 other pod is evicted before it",
            id="of the pods of a namespace",
        ),
    ],
)
def test_share_that_may_migrate_at_once(args: dict[str, object], evicted: dict[str, int], message: str) -> None:
    pods = [*pods_on("a", 20, owners=()), *pods_on("b", 10, owners=())]

    decisions = decide_by(controlled(args), pods)

    assert evicted_by_node(decisions) == evicted
    assert message in {each.first.verdict.message for each in staying_pods(decisions)}


def test_plugin_of_one_nodes_limit_takes_a_share_of_its_pods() -> None:
    args = {
        "thresholds": {"cpu": 20, "pods": 100},
        "targetThresholds": {"cpu": 30, "pods": 100},
        "evictionLimits": {"node": "25%"},
    }
    document = pod_life_time_policy(balance=["LowNodeUtilization"])
    profile = {
        "name": "main",
        "pluginConfig": [{"name": "LowNodeUtilization", "args": args}],
        "plugins": {"balance": {"enabled": ["LowNodeUtilization"]}},
    }
    pods = [make_pod(f"p{index}", node="a", cpu="200m", owners=[owner("ReplicaSet/web")]) for index in range(9)]

    decisions = decide_by({**document, "profiles": [profile]}, pods, [make_node("a", cpu="2"), make_node("b", cpu="2")])

    assert evicted_by_node(decisions) == {"a": 2}
    assert "evictionLimits.node (25%: 2 of 9 pods) reached for node a" in {
        each.first.verdict.message for each in staying_pods(decisions)
    }


@pytest.fixture(scope="module")
def world() -> Snapshot:
    builder = SnapshotBuilder("generated", SnapshotRequest(keep_templates=True))
    for page in generate_cluster(nodes=20, pods=600, seed=5):
        builder.add_object(page)
    return builder.finish(taken_at=GENERATED_AT)


def test_share_of_all_pods_decides_as_its_number_does(world: Snapshot) -> None:
    policy = policy_of(list(STRATEGIES), node_fit=False)
    num_pods = sum(not pod.is_terminal for pod in world.pods)

    by_share, by_number = (
        decide(load_policy({**policy, "maxNoOfPodsToEvictTotal": limit}, REGISTRY), world, now=GENERATED_AT)
        for limit in ("3%", num_pods * 3 // 100)
    )

    assert [move.pod.key for move in by_share.moves] == [move.pod.key for move in by_number.moves]
    assert len(by_share.moves) == num_pods * 3 // 100


@pytest.mark.parametrize(
    ("limit", "scope_of"),
    [
        pytest.param("maxNoOfPodsToEvictPerNode", lambda pod: pod.node_name, id="node"),
        pytest.param("maxNoOfPodsToEvictPerNamespace", lambda pod: pod.namespace, id="namespace"),
    ],
)
def test_no_scope_loses_more_than_its_share(world: Snapshot, limit: str, scope_of: Callable[[Pod], str]) -> None:
    policy = {**policy_of(list(STRATEGIES), node_fit=False), limit: "5%"}

    decisions = decide(load_policy(policy, REGISTRY), world, now=GENERATED_AT)

    pods = Counter(scope_of(pod) for pod in world.pods if not pod.is_terminal)
    evicted = Counter(scope_of(move.pod) for move in decisions.moves if move.pod.node_name)
    assert {scope: number for scope, number in evicted.items() if number > max(1, pods[scope] * 5 // 100)} == {}
    assert evicted
