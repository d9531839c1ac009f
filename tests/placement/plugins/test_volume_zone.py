"""Volumes that name their zone in labels."""

from __future__ import annotations

import pytest

from descheduler.model.volume_sources import PersistentVolumeClaim
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.volume_zone import ROW, VolumeZone
from tests.builders import make_node
from tests.placement.clusters import ZONE, make_cluster, obstacles, passing
from tests.placement.plugins.explanations import told
from tests.placement.plugins.volumes.storage import (
    ephemeral,
    make_claim,
    make_class,
    make_storage,
    make_volume,
    new_pod,
)

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
NODES = [
    make_node("bare"),
    make_node("east", labels={ZONE: "east", REGION: "r"}),
    make_node("old-west", labels={BETA_ZONE: "west", REGION: "r"}),
    make_node("region", labels={REGION: "r"}),
    make_node("west", labels={ZONE: "west", REGION: "r"}),
]


@pytest.mark.parametrize(
    ("labels", "left"),
    [
        pytest.param({}, ["bare", "east", "old-west", "region", "west"], id="no zone asks for none"),
        pytest.param({ZONE: "west"}, ["bare", "west"], id="a node in the zone, or in no place at all"),
        pytest.param({ZONE: "west__east"}, ["bare", "east", "west"], id="one of several zones"),
        pytest.param({BETA_ZONE: "west"}, ["bare", "old-west", "west"], id="an old key is met by its present one"),
        pytest.param({ZONE: "west", REGION: "other"}, ["bare"], id="every key has to be met"),
        pytest.param(
            {ZONE: "west__"}, ["bare", "east", "old-west", "region", "west"], id="a list with an empty entry is ignored"
        ),
    ],
)
def test_pod_with_zone_bound_volume_stays_in_zone(labels: dict[str, str], left: list[str]) -> None:
    storage = make_storage(claims=[make_claim("data", volume="v")], volumes=[make_volume("v", labels=labels)])

    assert passing(VolumeZone, make_cluster(NODES, **storage), new_pod("data")) == left


def test_zones_of_all_volumes_have_to_be_met() -> None:
    storage = make_storage(
        claims=[make_claim("one", volume="v1"), make_claim("two", volume="v2")],
        volumes=[make_volume("v1", labels={ZONE: "west__east"}), make_volume("v2", labels={ZONE: "east"})],
    )

    assert passing(VolumeZone, make_cluster(NODES, **storage), new_pod("one", "two")) == ["bare", "east"]


def test_obstacle_has_the_words_of_the_scheduler() -> None:
    storage = make_storage(claims=[make_claim("d", volume="v")], volumes=[make_volume("v", labels={ZONE: "west"})])

    against = obstacles(VolumeZone, make_cluster(NODES, **storage), new_pod("d"))

    assert against["east"] == Obstacle("VolumeZone", Code.UNRESOLVABLE, ("node(s) had no available volume zone",))


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        pytest.param(make_claim("other"), 'persistentvolumeclaim "data" not found', id="claim is missing"),
        pytest.param(make_claim("data", volume="v"), 'persistentvolume "v" not found', id="volume is missing"),
        pytest.param(
            make_claim("data", storage_class=""),
            "PersistentVolumeClaim had no pv name and storageClass name",
            id="claim has neither volume nor class",
        ),
        pytest.param(
            make_claim("data", storage_class="none"),
            'storageclass.storage.k8s.io "none" not found',
            id="class is missing",
        ),
        pytest.param(
            make_claim("data", storage_class="now"), "PersistentVolume had no name", id="class does not wait for a node"
        ),
    ],
)
def test_claim_that_leads_nowhere_refuses_its_pod(claim: PersistentVolumeClaim, reason: str) -> None:
    classes = [make_class(), make_class("now", binding_mode="Immediate")]
    cluster = make_cluster(NODES, **make_storage(claims=[claim], classes=classes))

    assert obstacles(VolumeZone, cluster, new_pod("data")) == {
        "*": Obstacle("VolumeZone", Code.UNRESOLVABLE, (reason,))
    }


def test_claim_that_waits_for_its_node_is_passed_over() -> None:
    cluster = make_cluster(NODES, **make_storage(claims=[make_claim("data")]))

    assert obstacles(VolumeZone, cluster, new_pod("data")) == {}


def test_ephemeral_volumes_are_not_looked_at() -> None:
    cluster = make_cluster(NODES, **make_storage())

    assert obstacles(VolumeZone, cluster, new_pod(volumes=[ephemeral()])) == {}


def test_claims_that_were_not_read_are_undecided() -> None:
    cluster = make_cluster(NODES, kinds=frozenset({"Node", "Pod"}))

    against = obstacles(VolumeZone, cluster, new_pod("data"))

    reason = 'the snapshot holds no PersistentVolumeClaim objects, so "data" cannot be looked up'
    assert against == {"*": Obstacle("VolumeZone", Code.UNDECIDED, (reason,))}


@pytest.mark.parametrize(
    ("labels", "node", "sentence"),
    [
        pytest.param({ZONE: "west"}, "east", f"in {ZONE}=west, the node in east", id="one zone"),
        pytest.param({ZONE: "west__north"}, "east", f"in {ZONE}=west__north, the node in east", id="several zones"),
        pytest.param({BETA_ZONE: "west"}, "east", f"in {BETA_ZONE}=west, the node in east", id="an old key"),
        pytest.param(
            {ZONE: "west"}, "region", f"in {ZONE}=west, the node has no such label", id="a zone that is not told"
        ),
        pytest.param({ZONE: "east__ ,west__"} | {REGION: "q"}, "east", f"in {REGION}=q, the node in r", id="a region"),
        pytest.param(
            {ZONE: "west __ north", REGION: "r"}, "east", f"in {ZONE}=west __ north, the node in east", id="with spaces"
        ),
        pytest.param(
            {ZONE: "east __ north", REGION: "q"},
            "east",
            f"in {REGION}=q, the node in r",
            id="one of several, with spaces",
        ),
        pytest.param(
            {"example.com/zone": "x", ZONE: "west"}, "east", f"in {ZONE}=west, the node in east", id="no other labels"
        ),
    ],
)
def test_explanation_names_the_zone_of_the_volume_and_that_of_the_node(
    labels: dict[str, str], node: str, sentence: str
) -> None:
    storage = make_storage(claims=[make_claim("data", volume="v")], volumes=[make_volume("v", labels=labels)])
    nodes = [make_node(each.name, labels={**each.labels, "example.com/zone": "y"}) for each in NODES]

    found = told(ROW, make_cluster(nodes, **storage), new_pod("data"), node)

    assert found == [f"volume v of claim data is {sentence}"]


def test_explanation_passes_over_claims_without_a_volume() -> None:
    claims = [make_claim("data", volume="v"), make_claim("new")]
    storage = make_storage(claims=claims, volumes=[make_volume("v", labels={ZONE: "west"})])

    assert len(told(ROW, make_cluster(NODES, **storage), new_pod("new", "data"), "east")) == 1
