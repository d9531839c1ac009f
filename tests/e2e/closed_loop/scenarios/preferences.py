"""Preferences: another node would do, and the scheduler takes the same one again."""

from __future__ import annotations

from tests.e2e.closed_loop.holes import Hole
from tests.e2e.closed_loop.scenario import Scenario, Strategy
from tests.e2e.closed_loop.steps import LEAVES, closed, leaving_rover, prefers, run, switch
from tests.e2e.closed_loop.strategies import LEAVING_PODS
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object
from tests.e2e.objects import ZONE, deployment, node, pod, priority_class

_SHUNNED = {"key": "old", "value": "yes", "effect": "PreferNoSchedule"}
_DUPLICATES = Strategy("RemoveDuplicates", {}, "balance")
_SOFT_SPREAD = Strategy("RemovePodsViolatingTopologySpreadConstraint", {"constraints": ["ScheduleAnyway"]}, "balance")
_OVERUSED = Strategy("LowNodeUtilization", {"thresholds": {"cpu": 50}, "targetThresholds": {"cpu": 70}}, "balance")
_UNDERUSED = Strategy("HighNodeUtilization", {"thresholds": {"cpu": 20}}, "balance")


def _soft_spread(topology_key: str) -> list[Object]:
    """One of its own also keeps the scheduler from spreading the replicas by its defaults."""
    constraint = {"maxSkew": 1, "topologyKey": topology_key, "whenUnsatisfiable": "ScheduleAnyway"}
    return [{**constraint, "labelSelector": {"matchLabels": {"app": "web"}}}]


def _prefers_its_node(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    run(
        cluster,
        deployment("web", cluster.namespace, labels=LEAVES, affinity=prefers("a")),
        leaving_rover(cluster, affinity=prefers("b")),
    )
    switch(cluster)


def _duplicates_prefer_their_node(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    together: Object = {"affinity": prefers("a"), "topologySpreadConstraints": _soft_spread("kubernetes.io/os")}
    run(
        cluster,
        deployment("web", cluster.namespace, replicas=2, **together),
        deployment("rover", cluster.namespace, replicas=2, affinity=prefers("b")),
    )
    switch(cluster)


def _zone_is_shunned(cluster: Cluster) -> None:
    cluster.add_nodes(node("a", zone="east"), closed(node("b", zone="west", taints=[_SHUNNED])))
    placing: Object = {"affinity": prefers("a"), "topologySpreadConstraints": _soft_spread(ZONE)}
    run(cluster, deployment("web", cluster.namespace, replicas=4, **placing))
    switch(cluster)


def _fragments(cluster: Cluster) -> None:
    """Two targets are to share what only the source can hold. Its large pods are the first choice."""
    cluster.create(priority_class("low", -10))
    cluster.add_nodes(node("a"), closed(node("b", cpu="2")), closed(node("c", cpu="2")))
    run(
        cluster,
        deployment("large", cluster.namespace, replicas=2, cpu="1200m", priorityClassName="low"),
        deployment("small", cluster.namespace, replicas=3, cpu="300m"),
        *(pod(f"base-{name}", cluster.namespace, cpu="1", nodeName=name) for name in ("b", "c")),
    )
    switch(cluster, opens=("b", "c"))


def _emptiest_node(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    run(
        cluster,
        deployment("web", cluster.namespace),
        deployment("rover", cluster.namespace, affinity=prefers("b")),
        pod("base", cluster.namespace, cpu="2", nodeName="b"),
    )
    switch(cluster)


SCENARIOS = (
    Scenario(
        "the pod prefers the node that it is to leave",
        Hole.NO_SCORES,
        LEAVING_PODS,
        _prefers_its_node,
        num_landing=1,
    ),
    Scenario(
        "duplicates prefer the node that they share",
        Hole.NO_SCORES,
        _DUPLICATES,
        _duplicates_prefer_their_node,
        num_landing=1,
    ),
    Scenario(
        "pods leave the emptiest node, which the scheduler likes best",
        Hole.NO_SCORES,
        _UNDERUSED,
        _emptiest_node,
        num_landing=1,
    ),
    Scenario(
        "the free room of two nodes is taken for one",
        Hole.FRAGMENTS,
        _OVERUSED,
        _fragments,
        num_landing=2,
        node_fit=False,
    ),
    Scenario(
        "the empty zone is shunned for more than the spread gains",
        Hole.PREFERENCES,
        _SOFT_SPREAD,
        _zone_is_shunned,
    ),
)
