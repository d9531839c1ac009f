"""DrainNodes of pods that find a node once others have left: these open it, or the pod itself does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Level
from tests.builders import Object, make_node, make_pod, required_anti_affinity
from tests.planner.choosing import run_choosing
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted

OLD = {"pool": "old"}
SELECTED: Object = {"nodeSelector": {"matchLabels": OLD}}


def pod(name: str, node: str, cpu: str = "2", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **facts)


def run(pods: Iterable[Pod], nodes: Sequence[Node]) -> Decisions:
    return run_objective("drainNodes", nodes, pods, args=SELECTED, packs=False)


ZONE = "topology.kubernetes.io/zone"
APART_BY_ZONE: Object = {"labels": {"app": "x"}, "affinity": required_anti_affinity({"app": "x"}, key=ZONE)}
NEAR_ITS_KIND: Object = {
    "labels": {"app": "x"},
    "affinity": {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    },
}


def in_zone(name: str, zone: str, **facts: Any) -> Node:
    labels = {ZONE: zone, "kubernetes.io/hostname": name, **facts.pop("labels", {})}
    return make_node(name, cpu="10", labels=labels, **facts)


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(APART_BY_ZONE, id="that keeps apart from its own kind by zone, within the zone"),
        pytest.param(NEAR_ITS_KIND, id="that is to be near its own kind, and the only one of it"),
    ],
)
def test_a_pod_that_is_in_its_own_way_only_until_it_has_left_is_drained(facts: Object) -> None:
    nodes = [in_zone("old-1", "a", labels=OLD, unschedulable=True), in_zone("new-1", "a")]

    assert evicted(run([pod("p", "old-1", **facts)], nodes)) == ["p"]


@pytest.mark.parametrize("chooses", [False, True])
def test_a_pod_takes_the_zone_that_another_one_which_it_keeps_apart_from_leaves(chooses: bool) -> None:
    """The large one has room in zone a alone."""
    nodes = [
        in_zone("old-a", "a", labels=OLD, unschedulable=True),
        in_zone("old-b", "b", labels=OLD, unschedulable=True),
        *(in_zone(f"new-{zone}", zone) for zone in "abc"),
    ]
    pods = [
        pod("large", "old-b", "6", owners=["ReplicaSet/l"], **APART_BY_ZONE),
        pod("small", "old-a", "1", owners=["ReplicaSet/s"], node_selector={ZONE: "c"}, **APART_BY_ZONE),
        pod("full-b", "new-b", "8", owners=["ReplicaSet/f"]),
        pod("full-c", "new-c", "8", owners=["ReplicaSet/g"]),
    ]

    decisions = run_choosing("drainNodes", nodes, pods, args=SELECTED, chooses=chooses)

    assert evicted(decisions) == ["small", "large"]


@pytest.mark.parametrize("chooses", [False, True])
def test_a_node_is_drained_once_the_pods_of_another_one_have_opened_nodes_to_its_own(chooses: bool) -> None:
    """The follower is to be on the host of the leader, which leaves another node."""
    hosts = {name: {"kubernetes.io/hostname": name} for name in ("old-1", "old-2", "new-1")}
    nodes = [
        make_node(name, cpu="10", labels={**OLD, **hosts[name]}, unschedulable=True) for name in ("old-1", "old-2")
    ]
    term = {"labelSelector": {"matchLabels": {"app": "leader"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    pods = [
        pod("leader", "old-1", owners=["ReplicaSet/l"], labels={"app": "leader"}),
        pod("follower", "old-2", owners=["ReplicaSet/f"], affinity=affinity),
    ]

    decisions = run_choosing(
        "drainNodes",
        [*nodes, make_node("new-1", cpu="10", labels=hosts["new-1"])],
        pods,
        args=SELECTED,
        chooses=chooses,
    )

    assert evicted(decisions) == ["leader", "follower"]
    assert goal_of(decisions).levels == (Level("nodes to be drained", 2, 0, 0),)


def test_that_room_can_be_held_nowhere_while_the_pod_is_there_is_named() -> None:
    """Zone a has the only room, and takes no second pod of the kind while the first one is there."""
    nodes = [in_zone("old-1", "a", labels=OLD, unschedulable=True), in_zone("new-1", "a")]

    decisions = run_choosing("drainNodes", nodes, [pod("p", "old-1", **APART_BY_ZONE)], args=SELECTED)

    assert goal_of(decisions).sentence.endswith(
        "node old-1 cannot be drained: pod default/p cannot be evicted: on no other node can room be held for its"
        " replacement pod while the pod runs: 0/2 nodes are available for the replacement pod: 2 didn't match pod"
        " anti-affinity rules, 1 unschedulable"
    )


def test_the_pod_for_which_no_room_is_left_by_the_others_of_its_node_is_named_where_the_plan_chooses() -> None:
    pods = [pod(name, "old-1", "3", owners=[f"ReplicaSet/{name}"]) for name in "pqr"]

    decisions = run_choosing(
        "drainNodes",
        [
            make_node("old-1", cpu="10", labels=OLD, unschedulable=True),
            *(make_node(name, cpu="4") for name in ("new-1", "new-2")),
        ],
        pods,
        args=SELECTED,
    )

    assert goal_of(decisions).sentence.endswith(
        "node old-1 cannot be drained: pod default/r cannot be evicted together with the other pods of the node: on no"
        " other node can room be held for its replacement pod while the pod runs: 0/3 nodes are available for the"
        " replacement pod: 2 insufficient cpu, 1 unschedulable"
    )
