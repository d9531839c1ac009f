"""Neighbours: pods that must be near, and pods that must not."""

from __future__ import annotations

from typing import Any

from tests.e2e.closed_loop.holes import Hole
from tests.e2e.closed_loop.scenario import Scenario
from tests.e2e.closed_loop.steps import HOSTNAME, LEAVES, closed, leaving_rover, run, switch
from tests.e2e.closed_loop.strategies import LEAVING_PODS
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object
from tests.e2e.objects import ZONE, deployment, namespace, node, pod, stateful_set

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _term(app: str, topology_key: str = HOSTNAME, **more: Any) -> Object:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": topology_key, **more}


def _near(app: str) -> Object:
    return {"podAffinity": {_REQUIRED: [_term(app)]}}


def _away_from(app: str, topology_key: str = HOSTNAME, **more: Any) -> Object:
    return {"podAntiAffinity": {_REQUIRED: [_term(app, topology_key, **more)]}}


def _needed_neighbour_stays(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    run(cluster, deployment("store", cluster.namespace))
    run(cluster, deployment("web", cluster.namespace, labels=LEAVES, affinity=_near("store")), leaving_rover(cluster))
    switch(cluster, close="a")


def _neighbour_shuns_it(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    run(
        cluster,
        pod("hermit", cluster.namespace, affinity=_away_from("web"), nodeName="b"),
        deployment("web", cluster.namespace, labels=LEAVES),
        leaving_rover(cluster),
    )
    switch(cluster, close="a")


def _shunned_in_the_zone(cluster: Cluster) -> None:
    cluster.add_nodes(node("a", zone="east"), closed(node("b", zone="west")), closed(node("c", zone="west")))
    run(
        cluster,
        pod("noise", cluster.namespace, nodeName="c"),
        deployment("web", cluster.namespace, labels=LEAVES, affinity=_away_from("noise", ZONE)),
        leaving_rover(cluster),
    )
    switch(cluster, close="a", opens=("b", "c"))


def _shunned_in_any_namespace(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    run(
        cluster,
        pod("noise", _other_namespace(cluster), nodeName="b"),
        deployment("web", cluster.namespace, labels=LEAVES, affinity=_away_from("noise", namespaceSelector={})),
        leaving_rover(cluster),
    )
    switch(cluster, close="a")


def _namesake(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    other = _other_namespace(cluster)
    run(
        cluster,
        pod("web-0", other, labels={"app": "web"}, nodeName="b"),
        stateful_set("web", cluster.namespace, labels=LEAVES, affinity=_away_from("web", namespaces=[other])),
        leaving_rover(cluster),
    )
    switch(cluster, close="a")


def _other_namespace(cluster: Cluster) -> str:
    """The name of a second namespace."""
    name = f"{cluster.namespace}-other"
    cluster.create(namespace(name))
    return name


SCENARIOS = (
    Scenario(
        "the pod that it must be near stays behind",
        Hole.POD_AFFINITY,
        LEAVING_PODS,
        _needed_neighbour_stays,
        num_landing=1,
    ),
    Scenario(
        "a pod on the other node shuns it",
        Hole.ANTI_AFFINITY_OF_OTHERS,
        LEAVING_PODS,
        _neighbour_shuns_it,
        num_landing=1,
    ),
    Scenario(
        "the pod that it shuns is on the next node of the zone",
        Hole.DOMAIN_OF_ANTI_AFFINITY,
        LEAVING_PODS,
        _shunned_in_the_zone,
        num_landing=1,
    ),
    Scenario(
        "it shuns pods of all namespaces",
        Hole.NAMESPACE_SELECTOR,
        LEAVING_PODS,
        _shunned_in_any_namespace,
        num_landing=1,
    ),
    Scenario(
        "it shuns its namesake in another namespace",
        Hole.SAME_NAME,
        LEAVING_PODS,
        _namesake,
        num_landing=1,
    ),
)
