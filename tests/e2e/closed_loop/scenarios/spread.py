"""Spread over zones, and ports of the host."""

from __future__ import annotations

from typing import Any

from tests.e2e.closed_loop.holes import Hole
from tests.e2e.closed_loop.scenario import Scenario
from tests.e2e.closed_loop.steps import LEAVES, closed, leaving_rover, prefers, run, switch, taint
from tests.e2e.closed_loop.strategies import LEAVING_PODS, TAINTED_NODES
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object
from tests.e2e.objects import ZONE, deployment, node, pod


def _hard_spread(**more: Any) -> list[Object]:
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", **more}
    return [{**constraint, "labelSelector": {"matchLabels": {"app": "web"}}}]


def _closed_zone_still_counts(cluster: Cluster) -> None:
    cluster.add_nodes(node("a", zone="east"), node("b", zone="west"))
    web = deployment("web", cluster.namespace, replicas=2, labels=LEAVES, topologySpreadConstraints=_hard_spread())
    run(cluster, web, leaving_rover(cluster, affinity=prefers("a")))
    switch(cluster, close="a", opens=())


def _too_few_zones_are_left(cluster: Cluster) -> None:
    """A zone whose only node is tainted is none for this constraint, and two are demanded."""
    cluster.add_nodes(node("a", zone="east"), node("b", zone="west"))
    spread = _hard_spread(minDomains=2, nodeTaintsPolicy="Honor")
    run(
        cluster,
        deployment("web", cluster.namespace, replicas=2, topologySpreadConstraints=spread),
        deployment("rover", cluster.namespace, affinity=prefers("a")),
    )
    taint(cluster, "a")


def _port_is_taken(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    gate, web = pod("gate", cluster.namespace, nodeName="b"), deployment("web", cluster.namespace, labels=LEAVES)
    for spec in (gate["spec"], web["spec"]["template"]["spec"]):
        spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    run(cluster, gate, web, leaving_rover(cluster))
    switch(cluster, close="a")


SCENARIOS = (
    Scenario(
        "the zone that it leaves still counts for its spread",
        Hole.TOPOLOGY_SPREAD,
        LEAVING_PODS,
        _closed_zone_still_counts,
        num_landing=1,
    ),
    Scenario(
        "fewer zones are left than its spread demands",
        Hole.TOPOLOGY_SPREAD,
        TAINTED_NODES,
        _too_few_zones_are_left,
        num_landing=1,
    ),
    Scenario(
        "its host port is taken on the other node",
        Hole.HOST_PORTS,
        LEAVING_PODS,
        _port_is_taken,
        num_landing=1,
    ),
)
