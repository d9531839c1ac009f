"""What explanations see of a node that refuses a pod: the pods there, around it and everywhere."""

from __future__ import annotations

import pytest

from descheduler.placement.framework.attempt import place
from descheduler.placement.framework.refused_node import RefusedNode, listed
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.clusters import HOSTNAME, ZONE
from tests.placement.default_scheduler import default_scheduler

NODES = [
    make_node("a", labels={ZONE: "east"}),
    make_node("b", labels={ZONE: "west"}),
    make_node("c", labels={ZONE: "east"}),
    make_node("d"),
]
PODS = [
    make_pod("z", node="a"),
    make_pod("a", node="a"),
    make_pod("of-b", node="b"),
    make_pod("of-c", node="c"),
    make_pod("of-d", node="d"),
    make_pod("done", node="a", phase="Succeeded"),
    make_pod("waits", node="", phase="Pending"),
]


def refused_on(index: int, cluster: ShadowCluster | None = None) -> RefusedNode:
    """A pod that the node of this index refuses."""
    over = cluster or ShadowCluster(make_snapshot(NODES, PODS))
    return RefusedNode(Cycle(over.placement_class(make_pod("pod", node="")), over), default_scheduler(over), index)


def test_pods_of_a_node_are_in_the_order_of_their_names() -> None:
    """Those that have ended take no room."""
    assert [pod.name for pod in refused_on(0).pods_here()] == ["a", "z"]
    assert [(pod.name, node.name) for pod, node in refused_on(0).pods_everywhere()] == [
        ("a", "a"),
        ("z", "a"),
        ("of-b", "b"),
        ("of-c", "c"),
        ("of-d", "d"),
    ]


@pytest.mark.parametrize(
    ("index", "key", "pods"),
    [
        pytest.param(0, ZONE, ["a", "z", "of-c"], id="those on the node itself come first"),
        pytest.param(2, ZONE, ["of-c", "a", "z"], id="wherever it is in the zone"),
        pytest.param(1, HOSTNAME, ["of-b"], id="a node is a domain of its own"),
        pytest.param(3, ZONE, [], id="a node without the label"),
    ],
)
def test_pods_around_are_those_of_the_same_topology_domain(index: int, key: str, pods: list[str]) -> None:
    assert [pod.name for pod, _ in refused_on(index).pods_around(key)] == pods


def test_pods_that_come_and_go_are_seen() -> None:
    cluster = ShadowCluster(make_snapshot(NODES, PODS))
    refused = refused_on(1, cluster)
    assert len(refused.pods_here()) == 1
    new = make_pod("new", node="", node_selector={HOSTNAME: "b"})

    with cluster.what_if():
        place(default_scheduler(cluster).evaluate(new))
        assert [pod.name for pod in refused.pods_here()] == ["new", "of-b"]

    assert [pod.name for pod in refused.pods_here()] == ["of-b"]


def test_node_pod_and_snapshot_are_those_of_the_question() -> None:
    refused = refused_on(1)

    assert (refused.node.name, refused.pod.name, len(refused.snapshot.pods)) == ("b", "pod", len(PODS))


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b", "c"], "a, b, c"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
        (["a", "b", "c", "d", "e"], "a, b, c and 2 more"),
    ],
)
def test_more_than_three_names_are_counted(names: list[str], text: str) -> None:
    assert listed(names) == text


def test_pod_that_leaves_is_gone_from_its_node() -> None:
    """Even from the first one, and for as long as it is away."""
    cluster = ShadowCluster(make_snapshot(NODES, PODS))
    here = refused_on(0, cluster)
    assert len(here.pods_here()) == 2

    with cluster.what_if():
        cluster.remove(PODS[0])
        assert [pod.name for pod in here.pods_here()] == ["a"]

    assert [pod.name for pod in here.pods_here()] == ["a", "z"]
