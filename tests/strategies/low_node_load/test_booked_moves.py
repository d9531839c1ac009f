"""What LowNodeLoad sees of evictions that other plugins of the run were granted before: both of their ends."""

from __future__ import annotations

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.groups.workloads import Workload
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_snapshot
from tests.strategies.low_node_load.worlds import LOAD, NodeWorld, node
from tests.worlds.node_metrics import metrics_by_node

DAY = 24 * 3600
UNLIMITED = {
    "maxMigratingPerNode": 0,
    "maxMigratingPerWorkload": 100,
    "maxUnavailablePerWorkload": 100,
    "objectLimiters": {"workload": {"duration": "0s"}},
    "skipCheckExpectedReplicas": True,
    "defaultJobMode": "EvictDirectly",
}


def run(*worlds: NodeWorld, verifies: bool) -> Decisions:
    """A run in which PodLifeTime evicts pods older than two hours before LowNodeLoad looks at what is left."""
    configs = [
        {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 7200}},
        {"name": "LowNodeLoad", "args": {**LOAD, "nodeFit": False}},
        {"name": "MigrationController", "args": UNLIMITED},
    ]
    plugins = {"deschedule": {"enabled": [{"name": "PodLifeTime"}]}, "balance": {"enabled": [{"name": "LowNodeLoad"}]}}
    if not verifies:
        plugins["filter"] = {"disabled": [{"name": "PlacementVerification"}]}
    document = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [{"name": "p", "pluginConfig": configs, "plugins": plugins}],
    }
    pods = [pod for _, made, _ in worlds for pod in made]
    snapshot = make_snapshot(
        [each for each, _, _ in worlds],
        pods,
        workloads={"replicaset-web": Workload("ReplicaSet", "default", "web", "replicaset-web", len(pods))},
        node_metrics=metrics_by_node([metric for _, _, metric in worlds if metric is not None]),
    )
    return decide(load_policy(document, REGISTRY), snapshot, now=NOW)


def moved(decisions: Decisions) -> dict[str, str]:
    return {move.pod.name: move.plugin for move in decisions.moves}


def test_usage_of_pods_that_leave_no_longer_counts() -> None:
    hot = node("hot", {"old": "2", "young": "4"}, pods={"old": {"age": DAY}})

    assert moved(run(hot, node("cold"), verifies=False)) == {"old": "PodLifeTime"}


@pytest.mark.parametrize(
    ("verifies", "expected"),
    [
        pytest.param(True, {"old": "PodLifeTime"}, id="a node that is to take a pod has its usage"),
        pytest.param(False, {"old": "PodLifeTime", "a": "LowNodeLoad"}, id="of unknown landings nothing is known"),
    ],
)
def test_usage_of_pods_that_are_to_come_counts(verifies: bool, expected: dict[str, str]) -> None:
    hot = node("hot", {"a": "3", "b": "3"}, pods={"a": {"age": 60}, "b": {"cpu": "9"}})
    left = node("left", {"old": "4"}, pods={"old": {"age": DAY, "cpu": "5"}}, unschedulable=True)

    assert moved(run(hot, node("cold"), left, verifies=verifies)) == expected
