"""Placeholders of pods with volumes: placed where the volumes can be reached, or not at all; then it is told why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.room.placeholder.pod import reachable_terms
from descheduler.migration.room.placement_away import keep_away, narrow
from descheduler.migration.room.provider import CannotHold
from descheduler.plan.outcome import OutcomeCode
from tests.builders import ago
from tests.living.builders import LOWEST, deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.migration.roads.playing import Play

Object = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"


def claim(*, volume: str = "disk", modes: tuple[str, ...] = ("ReadWriteOnce",)) -> Object:
    spec = {"accessModes": list(modes), **({"volumeName": volume} if volume else {})}
    metadata = {"name": "data", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def volume(*zones: str, labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]} for zone in zones]
    reach = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if terms else {}
    metadata = {"name": "disk", "labels": dict(labels or {})}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": {**reach, **spec}}


def world(*others: Object, volumes: Object | None = None) -> LivingCluster:
    """A pod with a volume in zone a, which has one other node; zone b has the emptier ones."""
    mounts = volumes or {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
    zones = {"n1": "a", "n2": "b", "n3": "a", "n4": "b"}
    nodes = [node(name, labels={ZONE: zone}, cpu="2" if zone == "a" else "8") for name, zone in zones.items()]
    return living_cluster(nodes, [deployment("web", 1, on=["n1"], volumes=[mounts])], [LOWEST, *others])


@pytest.mark.parametrize(
    "disk", [volume("a"), volume("a", "nowhere"), volume(labels={ZONE: "a"}), volume(labels={ZONE: "a__c"})]
)
def test_room_is_held_where_the_volume_can_be_reached(disk: Object) -> None:
    cluster = world(claim(), disk)
    play = Play(cluster, provider="placeholder")

    play.evict(*cluster.pods("web"))

    assert [job.node_name for job in play.jobs()] == ["n3"]


@pytest.mark.parametrize(
    ("others", "why"),
    [
        pytest.param([], "PersistentVolumeClaim shop/data is being deleted or does not exist", id="no claim"),
        pytest.param([claim(volume="")], "claim shop/data is not bound", id="unbound"),
        pytest.param([claim()], "PersistentVolume disk of claim shop/data does not exist", id="no volume"),
        pytest.param([claim(modes=("ReadWriteOncePod",)), volume()], "access mode ReadWriteOncePod", id="one pod"),
        pytest.param([claim(), volume(local={"path": "/d"})], "disk is on the node of the pod", id="local"),
    ],
)
def test_nothing_is_evicted_where_a_volume_cannot_be_followed(others: list[Object], why: str) -> None:
    cluster = world(*others)

    (outcome,) = Play(cluster, provider="placeholder").evict(*cluster.pods("web"))

    assert outcome.code is OutcomeCode.NO_ROOM
    assert why.removeprefix("claim ") in outcome.message
    assert cluster.nodes_of("web") == ["n1"]


def test_nothing_is_evicted_whose_claim_is_made_anew_for_the_replacement() -> None:
    cluster = world(volumes={"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}})

    (outcome,) = Play(cluster, provider="placeholder").evict(*cluster.pods("web"))

    assert outcome.code is OutcomeCode.NO_ROOM
    assert outcome.message.startswith("volume scratch is an ephemeral volume")


def test_every_term_of_the_pod_is_narrowed_by_every_term_of_the_volume() -> None:
    spec: Object = {"affinity": {"nodeAffinity": required(term("x"), term("y"), {})}}

    narrow(spec, [term("p"), term("q")])
    keep_away("n1", spec)

    away = {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}
    pairs = [("x", "p"), ("x", "q"), ("y", "p"), ("y", "q")]
    assert spec["affinity"]["nodeAffinity"] == required(*({**term(*pair), **away} for pair in pairs))


def test_a_term_that_matches_no_node_stays_so() -> None:
    spec: Object = {"affinity": {"nodeAffinity": required({})}}
    narrow(spec, [term("p")])
    assert spec["affinity"]["nodeAffinity"] == required({})


def term(*keys: str) -> Object:
    return {"matchExpressions": [{"key": key, "operator": "Exists"} for key in keys]}


def required(*terms: Object) -> Object:
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}


REGION, OLD_ZONE = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone"
CLAIMED: Object = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}


def terms(*objects: Object, mounts: tuple[Object, ...] = (CLAIMED,)) -> list[list[Object]]:
    """What each volume of a pod with these `mounts` wants of its node, in a cluster with these objects."""
    mounting = {"metadata": {"namespace": "shop"}, "spec": {"volumes": list(mounts)}}
    cluster = LivingCluster(objects, acts=False)
    return list(reachable_terms(ObjectCalls(cluster.client()), mounting))


def leaving() -> Object:
    """A claim that is being deleted."""
    made = claim()
    return made | {"metadata": {**made["metadata"], "deletionTimestamp": ago(1), "finalizers": ["x"]}}


def in_zone(key: str, *values: str) -> Object:
    return {"key": key, "operator": "In", "values": list(values)}


@pytest.mark.parametrize(
    ("disk", "expected"),
    [
        pytest.param(volume(), [], id="anywhere"),
        pytest.param(volume("a"), [[{"matchExpressions": [in_zone(ZONE, "a")]}]], id="in a zone by its affinity"),
        pytest.param(
            volume(labels={ZONE: "a", REGION: "r"}),
            [[{"matchExpressions": [in_zone(ZONE, "a"), in_zone(REGION, "r")]}]],
            id="in a zone by its labels",
        ),
        pytest.param(
            volume(labels={OLD_ZONE: "a__b", ZONE: ""}),
            [[{"matchExpressions": [in_zone(OLD_ZONE, "a", "b")]}]],
            id="in one of two zones by the older label",
        ),
        pytest.param(
            volume("a", labels={ZONE: "a"}),
            [[{"matchExpressions": [in_zone(ZONE, "a")]}], [{"matchExpressions": [in_zone(ZONE, "a")]}]],
            id="by both",
        ),
        pytest.param(volume() | {"spec": None}, [], id="that states nothing"),
        pytest.param(volume(nodeAffinity=None), [], id="whose affinity is null"),
        pytest.param(volume(nodeAffinity={"required": None}), [], id="whose affinity demands nothing"),
    ],
)
def test_placeholder_goes_where_the_volume_is(disk: Object, expected: list[list[Object]]) -> None:
    assert terms(claim(), disk) == expected


@pytest.mark.parametrize(
    ("objects", "why"),
    [
        pytest.param([leaving(), volume()], "being deleted", id="gone"),
        pytest.param([claim() | {"spec": None}, volume()], "is not bound", id="a claim that states nothing"),
        pytest.param([claim(), volume(hostPath={"path": "/d"})], "is on the node of the pod", id="a path of the node"),
        pytest.param([claim(modes=("ReadWriteMany", "ReadWriteOncePod")), volume()], "ReadWriteOncePod", id="one pod"),
    ],
)
def test_no_placeholder_follows_such_a_volume(objects: list[Object], why: str) -> None:
    with pytest.raises(CannotHold, match=why):
        terms(*objects)


def test_volumes_that_go_with_the_pod_want_no_node() -> None:
    assert terms(mounts=({"name": "tmp", "emptyDir": {}},)) == []
    assert terms(mounts=()) == []


def test_claim_without_access_modes_is_followed() -> None:
    spec = {"accessModes": None, "volumeName": "disk"}

    assert terms(claim() | {"spec": spec}, volume()) == []


def test_every_claim_counts() -> None:
    other = claim(volume="second")
    other["metadata"]["name"] = "more"
    second = volume("b")
    second["metadata"]["name"] = "second"
    more: Object = {"name": "w", "persistentVolumeClaim": {"claimName": "more"}}

    assert len(terms(claim(), volume("a"), other, second, mounts=(CLAIMED, more))) == 2
