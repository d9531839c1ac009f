"""Room is held by placeholder pods before pods leave a node: on the real scheduler, with real preemption."""

from __future__ import annotations

import pytest
import yaml

from tests.cronjob.manifests import OVERLAYS
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import deployment, node, stateful_set
from tests.e2e.program import Program, koordinator_policy

MOVING = koordinator_policy(
    "RemovePodsViolatingNodeTaints",
    {
        "reservationProvider": "placeholder",
        "maxMigratingPerNode": 0,
        "maxMigratingPerWorkload": "100%",
        "maxUnavailablePerWorkload": "100%",
        "skipEvictionGates": ["ExpectedReplicas"],
        "objectLimiters": {"workload": {"duration": "0s"}},
    },
)
CLOSED = {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}}
OURS = {"labelSelector": "descheduler/jobs-of"}


@pytest.fixture(autouse=True)
def priority_class(cluster: Cluster) -> None:
    """The class that the overlay ships."""
    cluster.create(yaml.safe_load((OVERLAYS / "placeholder" / "priority-class.yaml").read_text()))


def test_workloads_move_to_the_nodes_that_were_held_for_them(cluster: Cluster, program: Program) -> None:
    """Of the StatefulSet one pod moves a run: whether the second comes again depends on the first being Ready."""
    cluster.add_nodes(node("a"))
    cluster.run(deployment("web", cluster.namespace, replicas=3))
    cluster.run(stateful_set("store", cluster.namespace, replicas=2))
    cluster.run(deployment("single", cluster.namespace, replicas=1))
    cluster.add_nodes(node("b"), node("full", cpu="50m"))
    cluster.api.patch(node("a"), CLOSED)

    planned = program.run(MOVING, "--dry-run")
    report, further = program.run(MOVING), program.run(MOVING)

    assert {move["to"] for move in planned.document["moves"]} == {"b"}
    assert (report.exit_code, further.exit_code) == (0, 0), report.log + further.log
    assert report.evicted_apps() == {"web": 3, "store": 1, "single": 1}
    assert further.evicted_apps() == {"store": 1}
    for app, count in (("web", 3), ("store", 2), ("single", 1)):
        assert {pod["spec"]["nodeName"] for pod in cluster.wait_ready(app, count)} == {"b"}
    assert_nothing_is_left(cluster)


def test_a_replacement_that_needs_the_room_preempts_its_placeholder(cluster: Cluster, program: Program) -> None:
    cluster.add_nodes(node("a"))
    cluster.run(deployment("big", cluster.namespace, replicas=1, cpu="3"))
    cluster.add_nodes(node("b"))
    cluster.api.patch(node("a"), CLOSED)

    report = program.run(MOVING)

    assert report.codes() == dict.fromkeys(report.codes(), "done")
    assert [pod["spec"]["nodeName"] for pod in cluster.wait_ready("big", 1)] == ["b"]
    assert_nothing_is_left(cluster)


def assert_nothing_is_left(cluster: Cluster) -> None:
    """No placeholder, and no pod that waits for a node."""
    wait_until("no placeholder is left", lambda: not cluster.api.pods(cluster.namespace, **OURS))
    assert [pod for pod in pods_of(cluster) if not pod["spec"].get("nodeName")] == []


def pods_of(cluster: Cluster) -> list[Object]:
    """All pods of the namespace."""
    return cluster.api.pods(cluster.namespace)
