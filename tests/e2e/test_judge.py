"""The live scheduler as judge: small worlds with certain answers, and generated ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.binaries import Binaries, cache_root, resolve
from tests.e2e.judge import (
    KOORD_SCHEDULER,
    KUBE_SCHEDULER,
    VOLCANO,
    Feature,
    Judge,
    Ruling,
    SchedulerKind,
    World,
    generate_case,
    generate_world,
    judging,
    read_cases,
    recorded,
    write_cases,
)
from tests.e2e.judge.ruling import node_reasons
from tests.e2e.kube_api import ApiError, Object
from tests.e2e.objects import ZONE, namespace, node, pod
from tests.e2e.pins import CONTROL_PLANE

_SHOP = namespace("shop")
_DEDICATED = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
_DEVICE = "example.com/dev"


@pytest.fixture(scope="module")
def judge(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """kube-scheduler with its default profile."""
    with judging(tmp_path_factory.mktemp("judge"), binaries, KUBE_SCHEDULER) as made:
        yield made


def test_tainted_node_is_avoided(judge: Judge) -> None:
    world = World((node("clean", cpu="1"), node("tainted", cpu="64", taints=[_DEDICATED])), objects=(_SHOP,))

    assert _places(judge, world, pod("web", "shop")) == ["clean"]


def test_pod_already_there_keeps_others_out_of_its_zone(judge: Judge) -> None:
    guard = pod("guard", "shop", nodeName="a", affinity=_anti_affinity("web", ZONE))
    nodes = (node("a", zone="east"), node("b", zone="east"), node("c", zone="west"))
    world = World(nodes, (guard,), (_SHOP,))

    assert _places(judge, world, pod("web", "shop")) == ["c"]


def test_pods_are_spread_over_zones(judge: Judge) -> None:
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": _app("web")}
    nodes = (node("large", zone="east", cpu="64"), node("small", zone="west", cpu="1"))
    web = [pod(f"web-{i}", "shop", labels={"app": "web"}, topologySpreadConstraints=[constraint]) for i in range(2)]

    places = _places(judge, World(nodes, objects=(_SHOP,)), *web)

    assert set(places) == {"large", "small"}


def test_bound_volume_pins_its_zone(judge: Judge) -> None:
    nodes = (node("large", zone="east", cpu="64"), node("small", zone="west", cpu="1"))
    world = World(nodes, objects=(_SHOP, *_bound_claim("data", zone="west")))

    assert _places(judge, world, pod("db", "shop", volumes=[_volume("data")])) == ["small"]


def test_claim_that_waits_takes_a_volume_and_its_place(judge: Judge) -> None:
    nodes = (node("large", zone="east", cpu="64"), node("small", zone="west", cpu="1"))
    world = World(nodes, objects=(_SHOP, *_waiting_claims("one", "two"), _local_volume("local", zone="west")))
    candidates = [pod(name, "shop", volumes=[_volume(name)]) for name in ("one", "two")]

    first, second = _rule(judge, world, *candidates)

    assert first.node == "small"
    assert second.node_reasons == {"node(s) didn't find available persistent volumes to bind": 2}


def test_taken_host_port_is_refused(judge: Judge) -> None:
    world = World((node("only"),), objects=(_SHOP,))
    port = {"containerPort": 80, "hostPort": 8080}

    first, second = _rule(judge, world, _with_port("one", port), _with_port("two", port))

    assert first.node == "only"
    assert second.node_reasons == {"node(s) didn't have free ports for the requested pod ports": 1}


def test_missing_devices_are_named(judge: Judge) -> None:
    world = World((node("with", resources={_DEVICE: "1"}), node("without")), objects=(_SHOP,))
    devices = pod("devices", "shop")
    devices["spec"]["containers"][0]["resources"] = {"limits": {_DEVICE: "2"}}

    (ruling,) = _rule(judge, world, devices)

    assert (ruling.node, ruling.reason) == (None, "Unschedulable")
    assert ruling.node_reasons == {f"Insufficient {_DEVICE}": 2}
    assert ruling.num_nodes == 2


def test_pod_that_is_not_kept_leaves_its_room(judge: Judge) -> None:
    world = World((node("only", cpu="1"),), objects=(_SHOP,))
    judge.enter(world)

    rulings = [judge.rule(pod(name, "shop", cpu="800m"), keep=False)[0] for name in ("one", "two")]

    assert [ruling.node for ruling in rulings] == ["only", "only"]


def test_invalid_candidate_is_the_api_servers_business(judge: Judge) -> None:
    judge.enter(World((node("only"),), objects=(_SHOP,)))

    with pytest.raises(ApiError, match="422 Invalid"):
        judge.rule(pod("web", "shop", nodeSelector={"not a key": "x"}))


def test_world_leaves_nothing_to_the_next_one(judge: Judge) -> None:
    full = World((node("a", cpu="1"),), (pod("old", "shop", cpu="900m", nodeName="a"),), (_SHOP,))
    empty = World((node("a", cpu="1"),), objects=(_SHOP,))
    _rule(judge, full)

    assert _places(judge, empty, pod("web", "shop", cpu="900m")) == ["a"]


def test_every_generated_pod_gets_a_ruling_and_the_record_survives_the_file(judge: Judge, tmp_path: Path) -> None:
    case = generate_case(seed=5, num_pods=30, num_nodes=20)

    rulings = judge.rule_all(case.world, [candidate.pod for candidate in case.candidates])

    record = recorded(case, KUBE_SCHEDULER, rulings)
    names = {each["metadata"]["name"] for each in record["nodes"]}
    assert write_cases(tmp_path / "cases.jsonl.gz", [record]) == 1
    assert list(read_cases(tmp_path / "cases.jsonl.gz")) == [record]
    assert len(record["candidates"]) == len(record["features"]) == len(record["expect"]) == 30
    assert all(expect.get("bound_to") in names or expect.get("message") for expect in record["expect"])
    assert {expect.get("bound_to") is None for expect in record["expect"]} == {True, False}


def test_recorded_candidates_are_in_stored_form(judge: Judge, tmp_path: Path) -> None:
    case = generate_case(seed=6, num_pods=20, features={Feature.SPREAD}, num_nodes=10)

    record = recorded(case, KUBE_SCHEDULER, judge.rule_all(case.world, [each.pod for each in case.candidates]))

    constraints = [c for each in record["candidates"] for c in each["spec"]["topologySpreadConstraints"]]
    keyed = [c for c in constraints if "matchLabelKeys" in c]
    assert keyed
    assert all({"key": "ver", "operator": "In"}.items() <= _last_requirement(c).items() for c in keyed)


def test_koord_scheduler_in_the_seat_rules_alike(judge: Judge, tmp_path: Path) -> None:
    world, candidates = _plain_world()

    theirs = _rulings_of(KOORD_SCHEDULER, tmp_path, world, candidates)

    ours = _rule(judge, world, *candidates)
    assert [(r.pod, r.node, r.node_reasons) for r in theirs] == [(r.pod, r.node, r.node_reasons) for r in ours]


def test_volcano_in_the_seat_finds_the_same_pods_fit(judge: Judge, tmp_path: Path) -> None:
    """Its scores and its words for reasons are its own."""
    world, candidates = _plain_world()

    theirs = _rulings_of(VOLCANO, tmp_path, world, candidates)

    ours = _rule(judge, world, *candidates)
    assert [(r.pod, r.node is None) for r in theirs] == [(r.pod, r.node is None) for r in ours]


def test_equal_seeds_give_equal_cases() -> None:
    assert generate_case(3) == generate_case(3)
    assert generate_case(3) != generate_case(4)


def test_feature_that_is_off_leaves_no_trace() -> None:
    world = generate_world(1, features={Feature.SPREAD})

    assert not any("taints" in each["spec"] for each in world.nodes)
    assert {obj["kind"] for obj in world.objects} == {"Namespace"}


def test_world_without_nodes_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a node"):
        World(())


@pytest.mark.parametrize(
    ("message", "reasons"),
    [
        pytest.param(
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). no new claims to "
            "deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
            {"Insufficient cpu": 1, "node(s) had untolerated taint(s)": 2},
            id="reasons of nodes without those of preemption",
        ),
        pytest.param(
            "0/2 nodes are unavailable: 2 node(s) had untolerated taint {dedicated: batch}.",
            {"node(s) had untolerated taint {dedicated: batch}": 2},
            id="the words of volcano",
        ),
        pytest.param(
            '0/2 nodes are available: persistentvolumeclaim "x" not found. not found',
            {},
            id="a reason of the pod as a whole",
        ),
        pytest.param("pod is gated", {}, id="no nodes at all"),
    ],
)
def test_reasons_are_read_from_a_message(message: str, reasons: dict[str, int]) -> None:
    assert node_reasons(message) == reasons


def _rule(judge: Judge, world: World, *candidates: Object) -> list[Ruling]:
    return [ruling for ruling, _ in judge.rule_all(world, candidates)]


def _places(judge: Judge, world: World, *candidates: Object) -> list[str | None]:
    return [ruling.node for ruling in _rule(judge, world, *candidates)]


def _rulings_of(seat: SchedulerKind, folder: Path, world: World, candidates: list[Object]) -> list[Ruling]:
    built = cache_root() / f"{seat.pins.name}-{seat.pins.digest()}" / "bin"
    if not all((built / program.name).exists() for program in seat.pins.programs):
        pytest.skip(f"{seat.name} is not built: python -m tests.e2e.binaries --peers")
    with judging(folder / seat.name, resolve((CONTROL_PLANE, seat.pins)), seat) as judge:
        return _rule(judge, world, *candidates)


def _plain_world() -> tuple[World, list[Object]]:
    nodes = (
        node("small", cpu="2", memory="4Gi", zone="east"),
        node("large", cpu="16", memory="32Gi", zone="west"),
        node("tainted", cpu="64", memory="64Gi", taints=[_DEDICATED]),
    )
    candidates = [
        pod("anywhere", "shop", cpu="1"),
        pod("zonal", "shop", cpu="1", nodeSelector={ZONE: "east"}),
        pod("huge", "shop", cpu="20"),
        pod("tolerant", "shop", cpu="20", tolerations=[{"key": "dedicated", "operator": "Exists"}]),
        pod("nowhere", "shop", nodeSelector={ZONE: "north"}),
    ]
    return World(nodes, objects=(_SHOP,)), candidates


def _app(name: str) -> Object:
    return {"matchLabels": {"app": name}}


def _anti_affinity(app: str, key: str) -> Object:
    term = {"labelSelector": _app(app), "topologyKey": key}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _with_port(name: str, port: Object) -> Object:
    made = pod(name, "shop")
    made["spec"]["containers"][0]["ports"] = [port]
    return made


def _volume(claim: str) -> Object:
    return {"name": "data", "persistentVolumeClaim": {"claimName": claim}}


def _last_requirement(constraint: Object) -> Object:
    requirement: Object = constraint["labelSelector"]["matchExpressions"][-1]
    return requirement


def _claim(name: str, **spec: Any) -> Object:
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": name, "namespace": "shop", "uid": f"claim-{name}"}
    fields = {**storage, "storageClassName": "local", "volumeMode": "Filesystem", **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": fields}


def _local_volume(name: str, *, zone: str, **spec: Any) -> Object:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    fields = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "local": {"path": "/data"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "local",
        "volumeMode": "Filesystem",
        **spec,
    }
    phase = "Bound" if "claimRef" in spec else "Available"
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "uid": f"volume-{name}"},
        "spec": fields,
        "status": {"phase": phase},
    }


def _bound_claim(name: str, *, zone: str) -> tuple[Object, Object]:
    claim = _claim(name, volumeName=f"pv-{name}")
    claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    claim["status"] = {"phase": "Bound"}
    meta = claim["metadata"]
    reference = {"kind": "PersistentVolumeClaim", "namespace": "shop", "name": name, "uid": meta["uid"]}
    return claim, _local_volume(f"pv-{name}", zone=zone, claimRef=reference)


def _waiting_claims(*names: str) -> list[Object]:
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    return [storage_class, *(_claim(name) for name in names)]
