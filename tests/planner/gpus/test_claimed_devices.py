"""MigrationPlanner with the devices of resource claims as parts of nodes: whole ones, and partitions of one card."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.placement.framework.node_parts import FreePart, PartNeed
from descheduler.placement.prover import LandingProver
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, node_object, owner, pod_object
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
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
from tests.work_counts import num_calls

KIND = "device.attributes['gpu.example.com'].kind"
TEMPLATES = [
    template("one", request("r", f"{KIND} == 'gpu'")),
    template("two", request("r", f"{KIND} == 'gpu'", count=2)),
    template("half", request("r", f"{KIND} == 'half'")),
    template("whole", request("r", f"{KIND} == 'whole'")),
    template("any", any_of("r", gpu=request("", f"{KIND} == 'gpu'"), whole=request("", f"{KIND} == 'whole'"))),
    template("fewer", any_of("r", two=request("", f"{KIND} == 'gpu'", count=2), one=request("", f"{KIND} == 'gpu'"))),
    template("all", request("r", f"{KIND} == 'gpu'", allocationMode="All")),
    template("all and one", request("r", f"{KIND} == 'gpu'", allocationMode="All"), request("s", f"{KIND} == 'gpu'")),
    template("both", request("g", f"{KIND} == 'gpu'"), request("n", f"{KIND} == 'nic'")),
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


def nics() -> Object:
    """Devices that all nodes can use."""
    return slice_of("", *(device(f"nic-{place}", {"kind": "nic"}) for place in range(4)), pool="net", allNodes=True)


def pending(name: str, of: str) -> Object:
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": of}]}
    return pod_object(name, node="", phase="Pending", owners=[owner("ReplicaSet/new")], spec=spec)


def snapshot_of(*objects: Object) -> Snapshot:
    nodes = (node_object(name) for name in "ab")
    return snapshot_from_objects(
        [*nodes, device_class(), *TEMPLATES, *objects, *NO_DEVICE_OBJECTS], SnapshotRequest(keep_templates=True)
    )


def run(objective: Object, *objects: Object, packs: bool = True) -> Decisions:
    planner: Object = {"objectives": [objective], "timeLimit": "60s", "workLimit": 1}
    snapshot = snapshot_of(*objects)
    setting = RunSetting(processed_nodes=snapshot.nodes)
    return decide(load_policy(verified(planner, packs=packs), REGISTRY), snapshot, now=NOW, setting=setting)


SPREAD = [*gpus("a"), *gpus("b"), *running("p", "a", "one", "gpu-0"), *running("q", "b", "one", "gpu-0")]
"""One GPU of each node is free."""
UNEVEN = [*gpus("a"), *gpus("b", 3), *SPREAD[2:]]
"""The same with one GPU more on one of the nodes."""
HALVES = [*card("a"), *card("b"), *running("p", "a", "half", "half-0"), *running("q", "b", "half", "half-0")]
"""Half of the card of each node is free."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("objects", "wanted"),
    [
        pytest.param(SPREAD, "two", id="two GPUs"),
        pytest.param(HALVES, "whole", id="a card that pods have halves of"),
        pytest.param(HALVES, "any", id="a GPU or such a card"),
        pytest.param(SPREAD, "all", id="all GPUs of a node"),
        pytest.param(UNEVEN, "all", id="all GPUs of a node, and nodes have different numbers"),
        pytest.param([*SPREAD, nics()], "two", id="two GPUs beside devices of all nodes"),
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
        pytest.param("either", PartNeed(1, 50, 50), id="the smaller share of alternatives"),
        pytest.param("fewer", PartNeed(1, 100, 100), id="the smaller number of alternatives"),
        pytest.param("all", PartNeed(2, 100, 100), id="all devices of a node"),
        pytest.param("both", PartNeed(1, 100, 100), id="a device of one node beside one of all nodes"),
        pytest.param("none", None, id="no template"),
    ],
)
def test_claims_ask_for_shares_of_parts(of: str, need: PartNeed | None) -> None:
    snapshot = snapshot_of(*gpus("a"), *card("b"), nics(), pending("new", of))

    parts = LandingProver(snapshot).openings().parts

    assert parts.need_of(snapshot.pods[0], 0) == need


def test_claims_are_those_of_the_templates_in_the_namespace_of_the_pod() -> None:
    templates = [template("t", request("r", f"{KIND} == 'gpu'", count=number)) for number in (1, 2)]
    pods = [pending("p", "t") for _ in templates]
    for namespace, *objects in zip(("one", "two"), templates, pods, strict=True):
        for each in objects:
            each["metadata"]["namespace"] = namespace
    snapshot = snapshot_of(*gpus("a"), *templates, *pods)

    parts = LandingProver(snapshot).openings().parts

    assert [parts.need_of(pod, 0) for pod in snapshot.pods] == [PartNeed(1, 100, 100), PartNeed(2, 100, 100)]


@pytest.mark.parametrize(
    ("of", "why"),
    [
        pytest.param("one", "", id="one device"),
        pytest.param("any", "", id="alternatives of one size"),
        pytest.param(
            "fewer", "its resource claims have alternatives of different sizes (firstAvailable)", id="another number"
        ),
        pytest.param(
            "all and one",
            "its resource claims ask for all devices of a node (allocationMode: All) and for others",
            id="all of a node and another one",
        ),
        pytest.param("all", "", id="all of nodes that have different numbers"),
    ],
)
def test_pod_with_devices_stays_where_its_replacement_may_get_others(of: str, why: str) -> None:
    snapshot = snapshot_of(*gpus("a"), *gpus("b", 3), *running("p", "a", of, "gpu-0"))

    parts = LandingProver(snapshot).openings().parts

    assert (parts.why_uncounted(snapshot.pods[0]), parts.need_of(snapshot.pods[0], 0) is None) == (why, bool(why))


def test_devices_of_all_nodes_are_no_parts_that_a_pod_holds() -> None:
    *objects, bound, workload = [*running("p", "a", "both", "gpu-1")]
    bound["status"]["allocation"]["devices"]["results"].append(
        {"request": "n", "driver": GPU, "pool": "net", "device": "nic-0"}
    )
    snapshot = snapshot_of(*gpus("a"), nics(), *objects, bound, workload)

    parts = LandingProver(snapshot).openings().parts

    assert (parts.held_by(snapshot.pods[0]), parts.need_of(snapshot.pods[0], 0)) == ((1,), PartNeed(1, 100, 100))


def test_plan_names_the_pods_that_stay_for_their_claims() -> None:
    """Room for two GPUs would take both pods elsewhere."""
    fewer = running("p", "a", "fewer", "gpu-0")

    decisions = run({"makeRoom": {}}, *gpus("a"), *gpus("b", 1), *fewer, pending("new", "two"))

    why = "its resource claims have alternatives of different sizes (firstAvailable)"
    assert evicted(decisions) == []
    assert f"; 1 pod is not evicted (default/p: {why})" in goal_of(decisions).sentence


def test_plan_names_the_pods_whose_devices_are_not_counted() -> None:
    mixed = slice_of("b", device("gpu-0", {"kind": "gpu"}), device("other", {"kind": "fpga"}))
    decisions = run({"makeRoom": {}}, *gpus("a"), mixed, *SPREAD[2:], pending("new", "all"))

    why = "its resource claims ask for all devices of a kind (allocationMode: All), and a node has others beside these"
    assert f"; devices of 1 pending pod are not counted (default/new: {why})" in goal_of(decisions).sentence


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


def test_claims_from_many_templates_of_one_content_cost_as_much_as_from_one() -> None:
    templates = [template(name, request("r", f"{KIND} == 'gpu'")) for name in ("first", "second")]
    slices = [each for place in range(100) for each in gpus(f"n{place}")]
    nodes = [node_object(f"n{place}") for place in range(100)]
    snapshot = snapshot_of(*nodes, *slices, *templates, *(pending(f"of-{name}", name) for name in ("first", "second")))
    parts = LandingProver(snapshot).openings().parts

    first, second = (num_calls(partial(parts.need_of, pod, 0)) for pod in snapshot.pods)

    assert second < first / 10
