"""How many volumes each driver has attached to each node, and how many more it can attach."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.model.volume_sources import CSINode
from descheduler.placement.plugins.volumes.attached_volumes import (
    AttachableVolume,
    AttachableVolumes,
    AttachedVolumes,
    may_have_attachable,
)
from descheduler.placement.plugins.volumes.pod_claims import PodClaims
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster
from tests.placement.plugins.volumes.storage import (
    DRIVER,
    ephemeral,
    make_attachment,
    make_claim,
    make_class,
    make_storage,
    make_volume,
    new_pod,
)

NODES = [make_node("a"), make_node("b")]
EBS, EBS_PLUGIN = "ebs.csi.aws.com", "kubernetes.io/aws-ebs"
PORTWORX, PORTWORX_PLUGIN = "pxd.portworx.com", "kubernetes.io/portworx-volume"


def disk(volume_id: str, *, source: str = "awsElasticBlockStore") -> dict[str, Any]:
    """A disk that a pod states itself."""
    return {"name": volume_id, source: {"volumeID": volume_id}}


def world(pods: list[Pod] | None = None, *, limit: int = 2, version: str = "1.37", **others: Any) -> ShadowCluster:
    """Claims c0 to c3, bound to volumes of one driver that attaches so many to node a; claim `open` of its class."""
    names = [f"c{index}" for index in range(4)]
    storage = make_storage(
        claims=[*(make_claim(name, volume=f"v-{name}") for name in names), make_claim("open")],
        volumes=[make_volume(f"v-{name}", csi_driver=DRIVER, csi_handle=f"h-{name}") for name in names],
        classes=[make_class(provisioner=DRIVER)],
        **({"limits": {"a": limit}} | others),
    )
    return make_cluster(NODES, pods or [], version=KubeVersion.parse(version), **storage)


def volumes_of(cluster: ShadowCluster, pod: Pod) -> list[AttachableVolume]:
    """The volumes of a pod that is to be placed."""
    return list(AttachableVolumes(cluster.snapshot).of(pod, PodClaims(cluster).of(pod)))


def overflow(cluster: ShadowCluster, pod: Pod, node: int = 0) -> list[tuple[str, int, int, int]]:
    """Drivers that cannot attach all volumes of a pod to a node: volumes attached, new ones, limit."""
    attached, volumes = cluster.follow(AttachedVolumes), volumes_of(cluster, pod)
    found = list(attached.overflow(volumes, node))
    exceeded = attached.exceeded(volumes)
    assert bool(found) is (exceeded is not None and bool(exceeded[node]))
    return found


@pytest.mark.parametrize(
    ("pods", "claims", "expected"),
    [
        pytest.param([], ["c0", "c1"], [], id="as many as the driver attaches"),
        pytest.param([], ["c0", "c1", "c2"], [(DRIVER, 0, 3, 2)], id="one more"),
        pytest.param([make_pod("p", claims=["c0", "c1"])], ["c2"], [(DRIVER, 2, 1, 2)], id="one more than are there"),
        pytest.param([make_pod("p", claims=["c0", "c1"])], ["c0"], [], id="one that is there"),
        pytest.param([make_pod("p", claims=["c0"])], ["c0", "c1"], [], id="one that is there and the last one"),
        pytest.param([make_pod("p", node="b", claims=["c0", "c1"])], ["c2"], [], id="those of another node"),
        pytest.param([make_pod("p", node="gone", claims=["c0", "c1"])], ["c2"], [], id="those of no node"),
        pytest.param([make_pod("p", claims=["c0", "open"])], ["c1"], [(DRIVER, 2, 1, 2)], id="an unbound claim there"),
        pytest.param([make_pod("p", claims=["c0", "c1"])], ["open"], [(DRIVER, 2, 1, 2)], id="an unbound claim more"),
        pytest.param([make_pod("p", claims=["c0"])], ["open", "open"], [], id="an unbound claim named twice"),
    ],
)
def test_volumes_are_counted_up_to_the_limit(
    pods: list[Pod], claims: list[str], expected: list[tuple[str, int, int, int]]
) -> None:
    assert overflow(world(pods), new_pod(*claims)) == expected


def test_node_without_a_limit_attaches_any_number() -> None:
    cluster = world([make_pod("p", node="b", claims=["c0", "c1", "c2"])])

    assert overflow(cluster, new_pod("c3"), node=1) == []


@pytest.mark.parametrize(
    ("csi_nodes", "has_limits"),
    [
        pytest.param({}, False, id="no CSINode"),
        pytest.param({"a": CSINode("a", {DRIVER: None})}, False, id="no count"),
        pytest.param({"gone": CSINode("gone", {DRIVER: 1})}, False, id="a node that is not there"),
        pytest.param({"a": CSINode("a", {DRIVER: 1})}, True, id="a count"),
    ],
)
def test_limits_are_those_of_the_nodes_there_are(csi_nodes: dict[str, CSINode], has_limits: bool) -> None:
    assert world(csi_nodes=csi_nodes).follow(AttachedVolumes).has_limits is has_limits


@pytest.mark.parametrize(
    ("attachment", "expected"),
    [
        pytest.param(make_attachment("v-c0", "a"), [(DRIVER, 1, 1, 1)], id="counts"),
        pytest.param(make_attachment("v-c0", "b"), [], id="not on another node"),
        pytest.param(make_attachment("v-c0", "gone"), [], id="not on a node that is not there"),
        pytest.param(make_attachment("gone", "a"), [], id="not of a volume that is not there"),
        pytest.param(make_attachment("v-c0", "a", attacher="other"), [], id="not by a driver without a limit"),
    ],
)
def test_attachment_without_a_pod(attachment: Any, expected: list[tuple[str, int, int, int]]) -> None:
    assert overflow(world(limit=1, attachments=(attachment,)), new_pod("c1")) == expected


def test_attachment_of_an_in_tree_volume_does_not_count() -> None:
    volumes = [
        make_volume("v", csi_driver=EBS, csi_handle="vol", in_tree_plugin=EBS_PLUGIN),
        make_volume("w", csi_driver=EBS, csi_handle="other"),
    ]
    storage = make_storage(
        claims=[make_claim("new", volume="w")],
        volumes=volumes,
        csi_nodes={"a": CSINode("a", {EBS: 1})},
        attachments=(make_attachment("v", "a", attacher=EBS),),
    )

    assert overflow(make_cluster(NODES, **storage), new_pod("new")) == []


def test_volume_stays_until_its_last_user_leaves_and_no_attachment_names_it() -> None:
    pods = [make_pod(name, claims=["c0"]) for name in ("p", "q")]
    cluster = world(pods, limit=1)
    kept = world(pods, limit=1, attachments=(make_attachment("v-c0", "a"),))
    found = []

    for each in pods:
        cluster.remove(each)
        kept.remove(each)
        found.append((overflow(cluster, new_pod("c1")), overflow(kept, new_pod("c1"))))

    full = [(DRIVER, 1, 1, 1)]
    assert found == [(full, full), ([], full)]


def test_volumes_of_pods_that_come_are_counted_and_taken_back() -> None:
    cluster = world(limit=1)
    attached = cluster.follow(AttachedVolumes)
    before, pod = attached.fingerprint(), new_pod("c0")

    with cluster.what_if():
        cluster.add(pod, 0)
        during = overflow(cluster, new_pod("c1"))

    assert (during, overflow(cluster, new_pod("c1"))) == ([(DRIVER, 1, 1, 1)], [])
    assert attached.fingerprint() == before


def test_each_claim_yet_to_be_made_takes_a_place() -> None:
    cluster = world(limit=1)
    pod = new_pod(uid="", volumes=[ephemeral()])

    with cluster.what_if():
        cluster.add(pod, 0)
        during = overflow(cluster, pod)

    assert (during, overflow(cluster, pod)) == ([(DRIVER, 1, 1, 1)], [])
    assert overflow(cluster, new_pod(uid="", volumes=[ephemeral(), ephemeral("more")])) == [(DRIVER, 0, 2, 1)]


@pytest.mark.parametrize(
    ("volume", "claim", "expected"),
    [
        pytest.param({"csi_driver": DRIVER, "csi_handle": "h"}, {}, [AttachableVolume(DRIVER, "h")], id="a CSI volume"),
        pytest.param({"csi_driver": DRIVER}, {}, [], id="no handle"),
        pytest.param({}, {}, [], id="no driver"),
        pytest.param(
            {"csi_driver": EBS, "csi_handle": "h", "in_tree_plugin": EBS_PLUGIN},
            {},
            [AttachableVolume(EBS, "h", EBS_PLUGIN)],
            id="an in-tree volume",
        ),
        pytest.param(
            None, {"storage_class": "ebs"}, [AttachableVolume(EBS, "\0default/c", EBS_PLUGIN)], id="an in-tree class"
        ),
        pytest.param(None, {"storage_class": "none"}, [], id="no class"),
    ],
)
def test_claim_leads_to_the_volume_of_a_driver(
    volume: dict[str, Any] | None, claim: dict[str, Any], expected: list[AttachableVolume]
) -> None:
    storage = make_storage(
        claims=[make_claim("c", volume="v", **claim)],
        volumes=[] if volume is None else [make_volume("v", **volume)],
        classes=[make_class("ebs", provisioner=EBS_PLUGIN)],
    )

    assert volumes_of(make_cluster(NODES, **storage), new_pod("c")) == expected


def test_claim_of_another_pod_leads_to_no_volume() -> None:
    foreign = make_claim("new-scratch", volume="v", owner_uid="uid-of-another")
    storage = make_storage(claims=[foreign], volumes=[make_volume("v", csi_driver=DRIVER, csi_handle="h")])

    assert volumes_of(make_cluster(NODES, **storage), new_pod(volumes=[ephemeral()])) == []


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(new_pod("c"), True, id="a claim"),
        pytest.param(new_pod(volumes=[ephemeral()]), True, id="a claim for itself"),
        pytest.param(new_pod(volumes=[disk("d")]), True, id="a disk"),
        pytest.param(new_pod(volumes=[{"name": "e", "emptyDir": {}}]), False, id="a folder"),
    ],
)
def test_pod_may_have_volumes_to_attach(pod: Pod, expected: bool) -> None:
    assert may_have_attachable(pod) is expected


@pytest.mark.parametrize(
    ("version", "migrated", "expected"),
    [
        pytest.param("1.35", "", [], id="where the plugin serves them"),
        pytest.param("1.35", PORTWORX_PLUGIN, [(PORTWORX, 0, 1, 0)], id="where the driver has taken over"),
        pytest.param("1.35", EBS_PLUGIN, [], id="where the driver of another plugin has taken over"),
        pytest.param("1.36", "", [(PORTWORX, 0, 1, 0)], id="since 1.36"),
    ],
)
def test_disks_of_portworx_count_for_its_driver(
    version: str, migrated: str, expected: list[tuple[str, int, int, int]]
) -> None:
    csi_nodes = {
        "a": CSINode("a", {PORTWORX: 0}, frozenset({migrated} - {""})),
        "gone": CSINode("gone", {}, frozenset({PORTWORX_PLUGIN})),
    }
    cluster = world(version=version, csi_nodes=csi_nodes)

    assert overflow(cluster, new_pod(volumes=[disk("d", source="portworxVolume")])) == expected


def test_disks_of_other_plugins_count_in_every_version() -> None:
    cluster = world(version="1.35", csi_nodes={"a": CSINode("a", {EBS: 1})})

    assert overflow(cluster, new_pod(volumes=[disk("vol-1"), disk("vol-2")])) == [(EBS, 0, 2, 1)]
    assert overflow(cluster, new_pod(volumes=[disk("vol-1"), disk("aws://east/vol-1")])) == []


@pytest.mark.parametrize(
    ("held", "version", "expected"),
    [
        pytest.param(disk("vol-1"), "1.37", [(EBS, 1, 1, 1)], id="a disk of another plugin"),
        pytest.param(
            disk("d", source="portworxVolume"), "1.36", [(PORTWORX, 1, 1, 1)], id="one of Portworx since 1.36"
        ),
        pytest.param(disk("d", source="portworxVolume"), "1.35", [], id="one of Portworx that its plugin serves"),
    ],
)
def test_disks_of_pods_that_are_there_count(
    held: dict[str, Any], version: str, expected: list[tuple[str, int, int, int]]
) -> None:
    csi_nodes = {"a": CSINode("a", {EBS: 1, PORTWORX: 1})}
    cluster = world([make_pod("p", volumes=[held])], version=version, csi_nodes=csi_nodes)
    (source,) = held.keys() - {"name"}

    assert overflow(cluster, new_pod(volumes=[disk("new", source=source)])) == expected
