"""Room on nodes: what is free is promised twice, to others, or not free at all."""

from __future__ import annotations

from tests.e2e.closed_loop.holes import Hole
from tests.e2e.closed_loop.scenario import Scenario
from tests.e2e.closed_loop.steps import HOSTNAME, LEAVES, closed, leaving_rover, run, switch, taint
from tests.e2e.closed_loop.strategies import LEAVING_PODS, TAINTED_NODES
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import STOPS, deployment, node, pod, priority_class

_GRACE_SECONDS = 8
"""Longer than a program takes to read the cluster."""


def _three_pods_and_one_place(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b", cpu="1500m")))
    run(cluster, deployment("web", cluster.namespace, replicas=3, cpu="1", labels=LEAVES))
    switch(cluster, close="a")


def _full_neighbour(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    run(
        cluster,
        pod("guard", cluster.namespace, cpu="3500m", nodeName="b"),
        deployment("web", cluster.namespace, replicas=2, cpu="1"),
        deployment("rover", cluster.namespace),
    )
    taint(cluster, "a")
    switch(cluster)


def _nominated_pod(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b", cpu="2")))
    slow = pod(
        "slow",
        cluster.namespace,
        annotations={STOPS: "late"},
        cpu="1",
        terminationGracePeriodSeconds=_GRACE_SECONDS,
        nodeName="b",
    )
    run(cluster, slow, deployment("web", cluster.namespace, cpu="1", labels=LEAVES))
    switch(cluster, close="a")
    cluster.create(priority_class("urgent", 1000))
    urgent = pod("urgent", cluster.namespace, cpu="2", priorityClassName="urgent", nodeSelector={HOSTNAME: "b"})
    cluster.create(urgent)
    wait_until("the urgent pod waits for its room", lambda: _is_nominated(cluster, urgent))


def _is_nominated(cluster: Cluster, waiting: Object) -> bool:
    return bool(cluster.api.get(waiting)["status"].get("nominatedNodeName") == "b")


def _shrinking_neighbour(cluster: Cluster) -> None:
    """The guard's kubelet has not yet made it smaller: it holds three CPUs, though its spec says one."""
    cluster.add_nodes(node("a"), closed(node("b")))
    guard = pod("guard", cluster.namespace, cpu="3", nodeName="b")
    run(cluster, guard, deployment("web", cluster.namespace, cpu="2", labels=LEAVES), leaving_rover(cluster))
    _start_to_shrink(cluster, cluster.api.get(guard))
    switch(cluster, close="a")


def _start_to_shrink(cluster: Cluster, guard: Object) -> None:
    held = guard["spec"]["containers"][0]["resources"]
    status = {**guard["status"]["containerStatuses"][0], "resources": held, "allocatedResources": held["requests"]}
    cluster.api.patch(guard, {"status": {"containerStatuses": [status]}}, subresource="status")
    smaller = {**guard["spec"]["containers"][0], "resources": {"requests": {**held["requests"], "cpu": "1"}}}
    cluster.api.patch(guard, {"spec": {"containers": [smaller]}}, subresource="resize")


SCENARIOS = (
    Scenario(
        "three pods are to leave and one of them has a place",
        Hole.SHARED_ROOM,
        LEAVING_PODS,
        _three_pods_and_one_place,
        num_landing=1,
    ),
    Scenario(
        "the other node is full and nobody looks",
        Hole.SWITCHED_OFF,
        TAINTED_NODES,
        _full_neighbour,
        num_landing=1,
        node_fit=False,
    ),
    Scenario(
        "the free room is kept for a pod of higher priority",
        Hole.COMPETITORS,
        LEAVING_PODS,
        _nominated_pod,
    ),
    Scenario(
        "the neighbour still holds the room that it is to give back",
        Hole.RESIZED,
        LEAVING_PODS,
        _shrinking_neighbour,
        num_landing=1,
    ),
)
