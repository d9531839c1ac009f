"""What CSI drivers make of volumes that Kubernetes once served itself."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import Requirement
from descheduler.model.volume_sources import StorageClass, ebs_handle, gce_handle, migrated_affinity, zones_of

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE, OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
GCE, GCE_ZONE = "kubernetes.io/gce-pd", "topology.gke.io/zone"

Affinity = tuple[NodeSelectorTerm, ...] | None


def _in(key: str, *values: str) -> Requirement:
    return Requirement(key, "In", frozenset(values))


def _term(*expressions: Requirement) -> NodeSelectorTerm:
    return NodeSelectorTerm(expressions)


@pytest.mark.parametrize(
    ("volume_id", "handle"),
    [
        pytest.param("vol-1", "vol-1", id="the id itself"),
        pytest.param("aws://east/vol-1", "vol-1", id="an address with a zone"),
        pytest.param("aws:///vol-1", "vol-1", id="an address without a zone"),
        pytest.param("aws://east/disk", "", id="an address of no volume"),
        pytest.param("aws://east/vol-1/part", "", id="an address with a longer path"),
    ],
)
def test_volume_of_amazon_is_known_by_its_id(volume_id: str, handle: str) -> None:
    assert ebs_handle(volume_id) == handle


@pytest.mark.parametrize(
    ("zones", "handle"),
    [
        pytest.param("", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d", id="no zone"),
        pytest.param("us-east1-a", "projects/UNSPECIFIED/zones/us-east1-a/disks/d", id="one zone"),
        pytest.param("us-east1-a__us-east1-b", "projects/UNSPECIFIED/regions/us-east1/disks/d", id="zones of a region"),
        pytest.param("us-east1-a__us-west1-b", "", id="zones of two regions"),
        pytest.param("east__west", "", id="zones that tell no region"),
    ],
)
def test_disk_of_google_is_known_by_its_place(zones: str, handle: str) -> None:
    assert gce_handle("d", zones) == handle


def test_older_zone_label_of_a_disk_counts_first() -> None:
    assert zones_of({ZONE: "new", OLD_ZONE: "old"}) == "old"
    assert zones_of({ZONE: "new", OLD_ZONE: ""}) == "new"
    assert zones_of({}) == ""


@pytest.mark.parametrize(
    ("affinity", "labels", "expected"),
    [
        pytest.param(None, {}, None, id="nothing is asked for"),
        pytest.param((_term(_in(ZONE, "a")),), {}, (_term(_in(GCE_ZONE, "a")),), id="the zone is renamed"),
        pytest.param(
            (_term(_in(ZONE, "a"), _in("disk", "ssd")), _term(_in(ZONE, "b"))),
            {ZONE: "c"},
            (_term(_in(GCE_ZONE, "a"), _in("disk", "ssd")), _term(_in(GCE_ZONE, "b"))),
            id="the zone is renamed in every term, and labels do not matter",
        ),
        pytest.param(
            (_term(_in(OLD_ZONE, "a"), _in(OLD_REGION, "r")),),
            {},
            (_term(_in(GCE_ZONE, "a"), _in(REGION, "r")),),
            id="the older spelling of the region is replaced with that of the zone",
        ),
        pytest.param(
            (_term(_in(ZONE, "a"), _in(OLD_REGION, "r")),),
            {},
            (_term(_in(GCE_ZONE, "a"), _in(OLD_REGION, "r")),),
            id="the older region stays where the zone is spelled anew",
        ),
        pytest.param(None, {ZONE: "a__ b__"}, (_term(_in(GCE_ZONE, "a", "b")),), id="the labels say the zones"),
        pytest.param(
            (_term(_in("disk", "ssd")),),
            {OLD_ZONE: "a"},
            (_term(_in("disk", "ssd"), _in(GCE_ZONE, "a")),),
            id="the zone of the labels is added to every term",
        ),
        pytest.param(None, {ZONE: ""}, None, id="a label without a zone adds nothing"),
        pytest.param(
            (_term(Requirement(ZONE, "Exists")),),
            {},
            (_term(Requirement(ZONE, "Exists")),),
            id="a condition without values is not renamed",
        ),
    ],
)
def test_driver_asks_for_the_zone_by_its_own_label(
    affinity: Affinity, labels: Mapping[str, str], expected: Affinity
) -> None:
    assert migrated_affinity(GCE, affinity, labels) == expected


def test_plugin_without_a_zone_label_of_its_own_keeps_the_affinity() -> None:
    affinity = (_term(_in(ZONE, "a")),)

    assert migrated_affinity("kubernetes.io/azure-disk", affinity, {ZONE: "b"}) == affinity


@pytest.mark.parametrize(("mode", "waits"), [("WaitForFirstConsumer", True), ("Immediate", False), ("", False)])
def test_volume_waits_for_a_pod_by_the_mode_of_its_class(mode: str, waits: bool) -> None:
    assert StorageClass("fast", binding_mode=mode).waits_for_consumer is waits


@pytest.mark.parametrize(
    ("provisioner", "driver"),
    [("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"), ("disk.example.com", "disk.example.com"), ("", "")],
)
def test_volumes_of_a_class_are_counted_by_its_driver(provisioner: str, driver: str) -> None:
    assert StorageClass("fast", provisioner).csi_driver == driver
