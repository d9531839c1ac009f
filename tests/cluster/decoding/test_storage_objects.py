"""Claims, volumes, classes and CSI objects as the API states them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import EphemeralVolume
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import EVERYTHING, NOTHING, LabelSelector, Requirement
from descheduler.model.volume_sources import (
    ClaimReference,
    ClaimTemplate,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from tests.builders import Object, make_pod, owner

GIB = 2**30
IN_ZONE_A = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
ZONE_A = Requirement("zone", "In", frozenset(("a",)))


def snapshot_of(
    kind: str, name: str, *, group: str = "storage.k8s.io/v1", metadata: Object | None = None, **fields: object
) -> Snapshot:
    own = {"name": name, **(metadata or {})}
    return snapshot_from_objects([{"kind": kind, "apiVersion": group, "metadata": own, **fields}])


def claim(metadata: Object | None = None, **fields: object) -> PersistentVolumeClaim:
    place = {"namespace": "shop", **(metadata or {})}
    claims = snapshot_of("PersistentVolumeClaim", "data", group="v1", metadata=place, **fields).claims
    return claims["shop", "data"]


def volume(metadata: Object | None = None, **fields: object) -> PersistentVolume:
    return snapshot_of("PersistentVolume", "pv", group="v1", metadata=metadata, **fields).volumes["pv"]


def test_claim_that_says_little_takes_any_volume() -> None:
    assert claim(spec={}) == PersistentVolumeClaim("shop", "data", "", selector=EVERYTHING)


def test_claim_says_what_it_wants_and_what_it_has() -> None:
    made = claim(
        {
            "uid": "u",
            "deletionTimestamp": "2026-01-02T03:04:05Z",
            "annotations": {
                "pv.kubernetes.io/bind-completed": "yes",
                "volume.kubernetes.io/selected-node": "a",
            },
            "ownerReferences": [owner("Other/x", controller=False), owner("Pod/web-0", uid="pod-uid")],
        },
        spec={
            "storageClassName": "fast",
            "volumeName": "pv",
            "accessModes": ["ReadWriteOncePod"],
            "resources": {"requests": {"storage": "1Gi"}},
            "volumeMode": "Block",
            "volumeAttributesClassName": "gold",
            "selector": {"matchLabels": {"zone": "a"}},
        },
        status={"phase": "Bound"},
    )

    assert made == PersistentVolumeClaim(
        "shop",
        "data",
        "fast",
        uid="u",
        volume_name="pv",
        is_bound=True,
        selected_node="a",
        access_modes=frozenset(("ReadWriteOncePod",)),
        request_bytes=GIB,
        volume_mode="Block",
        attributes_class="gold",
        selector=LabelSelector((ZONE_A,)),
        phase="Bound",
        is_deleting=True,
        owner_uid="pod-uid",
    )


def test_class_in_an_old_annotation_counts_before_the_field() -> None:
    metadata = {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}

    assert claim(metadata, spec={"storageClassName": "new"}).storage_class == "old"
    assert volume(metadata, spec={"storageClassName": "new"}).storage_class == "old"


def test_claim_is_bound_only_once_the_binding_is_complete() -> None:
    assert not claim(spec={"volumeName": "pv"}).is_bound


def test_volume_says_where_it_can_be_reached_and_by_whom() -> None:
    made = volume(
        {"labels": {"topology.kubernetes.io/zone": "a"}},
        spec={
            "capacity": {"storage": "1500m"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [IN_ZONE_A]}},
            "claimRef": {"namespace": "shop", "name": "data", "uid": "u"},
            "csi": {"driver": "disk.example.com", "volumeHandle": "h"},
        },
        status={"phase": "Available"},
    )

    assert made == PersistentVolume(
        "pv",
        labels={"topology.kubernetes.io/zone": "a"},
        node_affinity=(NodeSelectorTerm((ZONE_A,)),),
        capacity_bytes=2,
        access_modes=frozenset(("ReadWriteOnce",)),
        storage_class="fast",
        phase="Available",
        claim_ref=ClaimReference("shop", "data", "u"),
        csi_driver="disk.example.com",
        csi_handle="h",
    )


GCE = "pd.csi.storage.gke.io"
GCE_HANDLE = "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"


@pytest.mark.parametrize(
    ("source", "driver", "handle"),
    [
        pytest.param({"gcePersistentDisk": {"pdName": "d"}}, GCE, GCE_HANDLE, id="a disk of Google's"),
        pytest.param({"awsElasticBlockStore": {"volumeID": "v"}}, "ebs.csi.aws.com", "v", id="a volume of Amazon's"),
        pytest.param({"azureDisk": {"diskURI": "u"}}, "disk.csi.azure.com", "u", id="a disk of Microsoft's"),
        pytest.param({"azureDisk": {"diskURI": "u", "kind": "Shared"}}, "disk.csi.azure.com", "", id="one unmanaged"),
        pytest.param({"cinder": {"volumeID": "v"}}, "cinder.csi.openstack.org", "v", id="a volume of OpenStack's"),
        pytest.param({"local": {"path": "/d"}}, "", "", id="a local disk belongs to no driver"),
    ],
)
def test_volume_of_an_older_kind_is_counted_under_the_driver_that_serves_it(
    source: Object, driver: str, handle: str
) -> None:
    made = volume(spec=source)

    assert (made.csi_driver, made.csi_handle) == (driver, handle)
    assert bool(made.in_tree_plugin) is bool(driver)


def test_volume_without_affinity_differs_from_one_that_no_node_reaches() -> None:
    assert volume(spec={}).node_affinity is None
    assert volume(spec={"nodeAffinity": {"required": {"nodeSelectorTerms": []}}}).node_affinity == ()


def test_class_says_when_and_where_volumes_are_made() -> None:
    snapshot = snapshot_of(
        "StorageClass",
        "fast",
        metadata={
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        provisioner="kubernetes.io/gce-pd",
        volumeBindingMode="WaitForFirstConsumer",
        allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
    )

    made = snapshot.storage_classes["fast"]
    assert made == StorageClass(
        "fast",
        provisioner="kubernetes.io/gce-pd",
        binding_mode="WaitForFirstConsumer",
        allowed_topologies=((ZONE_A,),),
        is_default=True,
        created_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    )
    assert made.waits_for_consumer
    assert made.csi_driver == "pd.csi.storage.gke.io"


def test_class_binds_at_once_unless_it_says_otherwise() -> None:
    made = snapshot_of("StorageClass", "slow", provisioner="disk.example.com").storage_classes["slow"]

    assert not made.waits_for_consumer
    assert made.csi_driver == "disk.example.com"


def test_node_says_how_many_volumes_each_driver_attaches() -> None:
    snapshot = snapshot_of(
        "CSINode",
        "a",
        metadata={"annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd"}},
        spec={"drivers": [{"name": "few", "allocatable": {"count": 3}}, {"name": "many"}]},
    )

    plugins = frozenset(("kubernetes.io/gce-pd",))
    assert snapshot.csi_nodes == {"a": CSINode("a", {"few": 3, "many": None}, plugins)}


def test_driver_says_whether_capacity_is_tracked() -> None:
    assert snapshot_of("CSIDriver", "d", spec={"storageCapacity": True}).csi_drivers == {"d": CSIDriver("d", True)}
    assert snapshot_of("CSIDriver", "d", spec={}).csi_drivers == {"d": CSIDriver("d")}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, CSIStorageCapacity("kube-system", "c", "fast", NOTHING), id="for no node, of unknown size"),
        pytest.param(
            {"nodeTopology": {}, "capacity": "1Gi", "maximumVolumeSize": "1Mi"},
            CSIStorageCapacity("kube-system", "c", "fast", EVERYTHING, GIB, 2**20),
            id="for every node",
        ),
    ],
)
def test_capacity_is_for_the_nodes_that_it_selects(fields: Object, expected: CSIStorageCapacity) -> None:
    metadata = {"namespace": "kube-system"}
    snapshot = snapshot_of("CSIStorageCapacity", "c", metadata=metadata, storageClassName="fast", **fields)

    assert snapshot.storage_capacities == (expected,)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            {"persistentVolumeName": "pv"}, VolumeAttachment("x", "driver", "a", volume_name="pv"), id="a volume"
        ),
        pytest.param(
            {"inlineVolumeSpec": {"csi": {"driver": "d", "volumeHandle": "h"}}},
            VolumeAttachment("x", "driver", "a", inline_driver="d", inline_handle="h"),
            id="what a pod states itself",
        ),
    ],
)
def test_attachment_names_the_volume(source: Object, expected: VolumeAttachment) -> None:
    spec = {"attacher": "driver", "nodeName": "a", "source": source}

    assert snapshot_of("VolumeAttachment", "x", spec=spec).attachments == (expected,)


def test_ephemeral_volume_brings_the_claim_that_will_be_made() -> None:
    template = {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    volumes = [
        {"name": "plain", "configMap": {"name": "c"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}},
        {"name": "nothing", "ephemeral": None},
    ]

    pod = make_pod("x", claims=["data"], volumes=volumes)

    expected = ClaimTemplate(access_modes=frozenset(("ReadWriteOnce",)), request_bytes=GIB, labels={"app": "x"})
    assert pod.ephemeral_volumes == (EphemeralVolume("scratch", expected, num_claims_before=1),)
    assert pod.claim_names == ("data",)
