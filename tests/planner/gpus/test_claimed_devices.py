"""MigrationPlanner with the devices of resource claims as parts of nodes: whole ones, and partitions of one card."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.decide import decide
from descheduler.cycle.deciding import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.placement.framework.node_parts import FreePart, PartNeed
from descheduler.placement.prover import LandingProver
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, node_object, owner, pod_object
from tests.placement.plugins.dynamic_resources.worlds import (
    NO_DEVICE_OBJECTS,
    any_of,
    claim,
    device,
    device_class,
    request,
    slice_of,
    template,
)
from tests.placement.workloads import workload_object
from tests.planner.runs import goal_of, verified
from tests.strategies.runs import evicted

KIND = "device.attributes['gpu.example.com'].kind"
TEMPLATES = [
    template("one", request("r", f"{KIND} == 'gpu'")),
    template("two", request("r", f"{KIND} == 'gpu'", count=2)),
    template("half", request("r", f"{KIND} == 'half'")),
    template("whole", request("r", f"{KIND} == 'whole'")),
    template("any", any_of("r", gpu=request("", f"{KIND} == 'gpu'"), whole=request("", f"{KIND} == 'whole'"))),
    template("fewer", any_of("r", two=request("", f"{KIND} == 'gpu'", count=2), one=request("", f"{KIND} == 'gpu'"))),
    template("either", any_of("r", gpu=request("", f"{KIND} == 'gpu'"), half=request("", f"{KIND} == 'half'"))),
]


def gpus(node: str, number: int = 2) -> list[Object]:
    return [slice_of(node, *(device(f"gpu-{place}", {"kind": "gpu"}) for place in range(number)))]


def card(node: str) -> list[Object]:
    """One card, which is handed out whole or in halves."""
    sizes = {"whole": 2, "half-0": 1, "half-1": 1}
    devices = [
        device(
            name,
            {"kind": name.partition("-")[0]},
            consumesCounters=[{"counterSet": "card", "counters": {"parts": {"value": str(size)}}}],
        )
        for name, size in sizes.items()
    ]
    counters = [{"name": "card", "counters": {"parts": {"value": "2"}}}]
    pieces = [slice_of(node, *devices), slice_of(node, name=f"{node}-counters", sharedCounters=counters)]
    del pieces[1]["spec"]["devices"]
    for piece in pieces:
        piece["spec"]["pool"]["resourceSliceCount"] = 2
    return pieces


def running(name: str, node: str, of: str, *devices: str) -> Iterator[Object]:
    """A pod of a workload of its own, with devices by a claim from the template `of`."""
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": of}]}
    pod = pod_object(name, node=node, owners=[owner(f"ReplicaSet/{name}")], spec=spec)
    pod["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": f"{name}-gpu"}]
    uid = pod["metadata"]["uid"]
    holder = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": True}
    yield pod
    yield claim(f"{name}-gpu", request("r"), devices=devices, node=node, consumers=[uid], ownerReferences=[holder])
    yield workload_object(f"ReplicaSet/{name}", template=pod_object("t", spec=spec))


def pending(name: str, of: str) -> Object:
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": of}]}
    return pod_object(name, node="", phase="Pending", owners=[owner("ReplicaSet/new")], spec=spec)


def snapshot_of(*objects: Object) -> Snapshot:
    nodes = (node_object(name) for name in "ab")
    return snapshot_from_objects(
        [*nodes, device_class(), *TEMPLATES, *objects, *NO_DEVICE_OBJECTS], SnapshotRequest(keep_templates=True)
    )


def run(objective: Object, *objects: Object) -> Decisions:
    planner: Object = {"objectives": [objective], "timeLimit": "60s", "workLimit": 1}
    snapshot = snapshot_of(*objects)
    setting = RunSetting(processed_nodes=snapshot.nodes)
    return decide(load_policy(verified(planner), REGISTRY), snapshot, now=NOW, setting=setting)


SPREAD = [*gpus("a"), *gpus("b"), *running("p", "a", "one", "gpu-0"), *running("q", "b", "one", "gpu-0")]
"""One GPU of each node is free."""
HALVES = [*card("a"), *card("b"), *running("p", "a", "half", "half-0"), *running("q", "b", "half", "half-0")]
"""Half of the card of each node is free."""


@pytest.mark.parametrize(
    ("objects", "wanted"),
    [
        pytest.param(SPREAD, "two", id="two GPUs"),
        pytest.param(HALVES, "whole", id="a card that pods have halves of"),
        pytest.param(HALVES, "any", id="a GPU or such a card"),
    ],
)
def test_room_is_made_for_a_pod_that_needs_the_devices_of_one_node(objects: list[Object], wanted: str) -> None:
    decisions = run({"makeRoom": {}}, *objects, pending("new", wanted))

    (name,) = evicted(decisions)
    node = {"p": "a", "q": "b"}[name]
    assert goal_of(decisions).sentence == f"1 pod pending → 0 (default/new onto {node}) with 1 eviction"


def test_free_halves_are_brought_together_to_whole_cards() -> None:
    decisions = run({"reduceFragmentation": {"resource": "resource.k8s.io/devices"}}, *HALVES, pending("new", "whole"))

    assert len(evicted(decisions)) == 1
    assert goal_of(decisions).sentence.startswith("unusable free GPU capacity: 0.33 → 0 GPUs with 1 eviction")


def test_no_node_of_the_cluster_has_devices() -> None:
    decisions = run({"reduceFragmentation": {"resource": "resource.k8s.io/devices"}})

    why = decisions.facts["p", "MigrationPlanner"].why_nothing
    assert why == "no node has devices of its own (resourceslices.resource.k8s.io)"


@pytest.mark.parametrize(
    ("of", "need"),
    [
        pytest.param("two", PartNeed(2, 100, 100), id="whole devices"),
        pytest.param("half", PartNeed(1, 50, 50), id="a half of a card"),
        pytest.param("whole", PartNeed(1, 100, 100), id="a whole card"),
        pytest.param("any", PartNeed(1, 100, 100), id="alternatives of the same share"),
        pytest.param("either", None, id="alternatives of different shares"),
        pytest.param("fewer", None, id="alternatives of different numbers"),
        pytest.param("none", None, id="no template"),
    ],
)
def test_claims_ask_for_shares_of_parts(of: str, need: PartNeed | None) -> None:
    snapshot = snapshot_of(*gpus("a"), *card("b"), pending("new", of))

    parts = LandingProver(snapshot).openings().parts

    assert parts.need_of(snapshot.pods[0], 0) == need


def test_parts_are_free_as_far_as_no_pod_has_their_devices() -> None:
    snapshot = snapshot_of(
        *gpus("a"), *card("b"), *running("p", "a", "one", "gpu-1"), *running("q", "b", "half", "half-1")
    )

    parts = LandingProver(snapshot).openings().parts

    assert parts.free(0) == {0: FreePart(100, 100), 1: FreePart(0, 0)}
    assert parts.free(1) == {0: FreePart(50, 50)}
    assert [parts.held_by(pod) for pod in snapshot.pods] == [(1,), (0,)]
    assert parts.state(0) is parts.state(0)


def test_pods_that_share_a_claim_hold_no_part_alone() -> None:
    shared = claim("shared", request("r"), devices=["gpu-0"], consumers=["default-p", "default-q"])
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]}
    snapshot = snapshot_of(*gpus("a"), shared, *(pod_object(name, node="a", spec=spec) for name in "pq"))

    assert {LandingProver(snapshot).openings().parts.held_by(pod) for pod in snapshot.pods} == {()}
