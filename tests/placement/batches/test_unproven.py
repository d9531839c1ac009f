"""Which replacements of a batch may be left without a node in some order, or where some of the victims stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot, required_anti_affinity
from tests.placement.batches.proofs import cordoned, victim
from tests.placement.clusters import HOSTNAME
from tests.placement.workloads import pod_named


def unproven(
    nodes: Sequence[Node], pods: Sequence[Pod], *, asked: str = "", may_stay: bool = False, victims: str = ""
) -> list[str]:
    """Those of the pods that are `asked` about, by name, where all of `victims` leave; both are all unless given."""
    snapshot = make_snapshot([*nodes, cordoned(cpu="64")], pods)
    leaving = [pod_named(snapshot, name) for name in victims.split()] or list(snapshot.pods)
    about = [pod_named(snapshot, name) for name in asked.split()] or leaving
    return sorted(pod.name for pod in LandingProver(snapshot).unproven(leaving, about, may_stay=may_stay))


def on(node: str, name: str, *, to: str = "", **facts: Any) -> Pod:
    """A pod of its own ReplicaSet on this node, whose replacement goes to the node `to` alone."""
    selector = {"node_selector": {HOSTNAME: to}} if to else {}
    return make_pod(name, node=node, owners=[f"ReplicaSet/{name}"], **selector, **facts)


@pytest.mark.parametrize(
    ("cpu", "number"),
    [
        pytest.param("4", 0, id="room for both"),
        pytest.param("5", 0, id="and some more"),
        pytest.param("3", 1, id="room for either"),
    ],
)
def test_order_decides_who_is_left(cpu: str, number: int) -> None:
    """Those of one such order are told."""
    assert len(unproven([make_node("x", cpu=cpu)], [victim("p", cpu="2"), victim("q", cpu="2")])) == number


def test_pod_that_may_be_in_the_way_of_another_one_leaves_that_unproven() -> None:
    """The large one has no other node, the small one may take either."""
    nodes = [make_node("x", cpu="4"), make_node("y", cpu="1")]

    assert unproven(nodes, [victim("large", cpu="4"), victim("small", cpu="1")]) == ["large"]
    assert unproven(nodes, [victim("large", cpu="3"), victim("small", cpu="1")]) == []


@pytest.mark.parametrize("asked", ["p", "q"])
def test_pods_that_nobody_asked_about_are_not_told(asked: str) -> None:
    pods = [victim("p", cpu="2"), victim("q", cpu="2")]

    assert unproven([make_node("x", cpu="3")], pods, asked=asked) == [asked]


def test_pod_that_lands_nobody_knows_where_may_take_the_node_of_another_one() -> None:
    """A search among those whose nodes are known would leave that one out."""
    near_nobody = {"labelSelector": {"matchLabels": {"app": "none"}}, "topologyKey": HOSTNAME}
    near: dict[str, Any] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near_nobody]}}
    unknown = victim("unknown", cpu="2", scheduler="mine", affinity=near)

    assert unproven([make_node("x", cpu="3")], [victim("p", cpu="2"), unknown]) == ["p"]
    assert unproven([make_node("x", cpu="4")], [victim("p", cpu="2"), unknown]) == []


def test_pod_whose_node_is_not_known_is_in_the_way_of_none_where_it_stays() -> None:
    nodes = [make_node("x", cpu="4"), make_node("y", cpu="4")]
    pods = [victim("p", cpu="2"), make_pod("q", node="gone", owners=["ReplicaSet/q"], cpu="2")]

    assert unproven(nodes, pods, may_stay=True) == []


def test_pod_that_needs_the_room_of_another_victim_is_proven_where_that_leaves() -> None:
    """Whether the other one leaves is not known where any of them may stay."""
    nodes = [make_node("x", cpu="3"), make_node("y", cpu="3")]
    pods = [victim("p", cpu="3", node_selector={HOSTNAME: "x"}), on("x", "q", to="y", cpu="3")]

    assert unproven(nodes, pods) == []
    assert unproven(nodes, pods, may_stay=True) == ["p"]
    assert unproven(nodes, pods, may_stay=True, asked="q") == []


def test_pod_that_stays_is_in_the_way_on_its_own_node_alone() -> None:
    nodes = [make_node("x", cpu="6"), make_node("y", cpu="3")]
    pods = [victim("p", cpu="3", node_selector={HOSTNAME: "x"}), on("x", "q", to="y", cpu="3")]

    assert unproven(nodes, pods, may_stay=True) == []


def test_pods_that_keep_apart_are_left_where_another_one_stays() -> None:
    """Each of two nodes takes one of them; the one that stays has its own."""
    facts: dict[str, Any] = {"labels": {"app": "web"}, "affinity": required_anti_affinity({"app": "web"})}
    nodes = [make_node("x"), make_node("y")]
    pods = [victim("p", **facts), victim("q", **facts)]

    assert unproven(nodes, pods) == []
    assert len(unproven(nodes, [*pods, victim("r", **facts)])) == 1
    assert unproven(nodes, [victim("p", **facts), on("x", "q", **facts), on("y", "r", **facts)], may_stay=True)
