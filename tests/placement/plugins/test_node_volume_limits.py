"""How many volumes a driver attaches to a node."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.model.volume_sources import CSIDriver, CSINode
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.node_volume_limits import NodeVolumeLimits
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import make_node, make_pod, node_object
from tests.placement.clusters import make_cluster, obstacles, passing
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION
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
NAMES = ["c0", "c1", "c2", "c3"]
EBS, EBS_PLUGIN = "ebs.csi.aws.com", "kubernetes.io/aws-ebs"
PORTWORX, PORTWORX_PLUGIN = "pxd.portworx.com", "kubernetes.io/portworx-volume"


def _storage(limit: int = 2, **others: Any) -> dict[str, Any]:
    """Claims c0 to c3 bound to volumes v0 to v3 of one driver, with a limit on node a."""
    return make_storage(
        claims=[make_claim(name, volume=f"v{name[1:]}") for name in NAMES],
        volumes=[
            make_volume(f"v{name[1:]}", claim=name, csi_driver=DRIVER, csi_handle=f"h{name[1:]}") for name in NAMES
        ],
        **({"limits": {"a": limit}} | others),
    )


def test_node_at_its_limit_refuses_another_volume() -> None:
    cluster = make_cluster(NODES, [make_pod("p", claims=["c0", "c1"])], **_storage())

    against = obstacles(NodeVolumeLimits, cluster, new_pod("c2"))

    reason = "node(s) exceed max volume count"
    assert against == {"a": Obstacle("NodeVolumeLimits", Code.UNSCHEDULABLE, (reason,))}


@pytest.mark.parametrize(
    ("pods", "claims", "is_free"),
    [
        pytest.param([make_pod("p", claims=["c0"])], ["c2"], True, id="the last free place"),
        pytest.param([make_pod("p", claims=["c0"])], ["c2", "c3"], False, id="two volumes for one place"),
        pytest.param([make_pod("p", claims=["c0", "c1"])], ["c1"], True, id="a volume that is there already"),
        pytest.param([make_pod("p", claims=["c0", "c1"])], ["c1", "c2"], False, id="one that is there and a new one"),
        pytest.param(
            [make_pod("p", claims=["c0"]), make_pod("q", claims=["c0"])], ["c1"], True, id="one volume of two pods"
        ),
        pytest.param([make_pod("p", claims=["c0"])], ["c1", "c1"], True, id="one claim named twice"),
        pytest.param([make_pod("p", claims=["c0", "c1"], deleted=5)], ["c2"], False, id="volumes of a leaving pod"),
        pytest.param(
            [make_pod("p", claims=["c0", "c1"], phase="Failed")], ["c2"], True, id="volumes of a finished pod"
        ),
        pytest.param([make_pod("p", claims=["c0", "lost"])], ["c2"], True, id="a claim that does not exist"),
    ],
)
def test_distinct_volumes_are_counted(pods: list[Pod], claims: list[str], is_free: bool) -> None:
    cluster = make_cluster(NODES, pods, **_storage())

    left = passing(NodeVolumeLimits, cluster, new_pod(*claims))

    assert left == (["a", "b"] if is_free else ["b"])


def test_volume_that_only_an_attachment_names_counts_twice_for_the_pod_that_uses_it() -> None:
    cluster = make_cluster(NODES, **_storage(limit=1, attachments=(make_attachment("v0", "a"),)))

    assert passing(NodeVolumeLimits, cluster, new_pod("c0")) == ["b"]


def test_attachment_of_a_volume_in_use_is_counted_once() -> None:
    pods = [make_pod("p", claims=["c0"])]
    cluster = make_cluster(NODES, pods, **_storage(attachments=(make_attachment("v0", "a"),)))

    assert passing(NodeVolumeLimits, cluster, new_pod("c1")) == ["a", "b"]


def test_attachment_stays_when_its_pod_is_gone() -> None:
    pod = make_pod("p", claims=["c0"])
    cluster = make_cluster(NODES, [pod], **_storage(limit=1, attachments=(make_attachment("v0", "a"),)))

    cluster.remove(pod)

    assert passing(NodeVolumeLimits, cluster, new_pod("c1")) == ["b"]


def test_unbound_claim_counts_for_the_driver_of_its_class() -> None:
    storage = make_storage(
        claims=[make_claim("one"), make_claim("two")], classes=[make_class(provisioner=DRIVER)], limits={"a": 1}
    )
    cluster = make_cluster(NODES, [make_pod("p", claims=["one"])], **storage)

    new, shared = passing(NodeVolumeLimits, cluster, new_pod("two")), passing(NodeVolumeLimits, cluster, new_pod("one"))

    assert (new, shared) == (["b"], ["a", "b"])


def test_volume_of_no_driver_is_not_counted() -> None:
    storage = make_storage(claims=[make_claim("nfs", volume="v")], volumes=[make_volume("v")], limits={"a": 0})

    assert passing(NodeVolumeLimits, make_cluster(NODES, **storage), new_pod("nfs")) == ["a", "b"]


def test_claims_yet_to_be_made_each_take_a_place() -> None:
    classes = [make_class(provisioner=DRIVER)]
    cluster = make_cluster(NODES, **make_storage(classes=classes, limits={"a": 2}))
    pod = new_pod(uid="", volumes=[ephemeral()])

    cluster.add(pod, 0)
    with_one = passing(NodeVolumeLimits, cluster, pod)
    cluster.add(pod, 0)
    with_two = passing(NodeVolumeLimits, cluster, pod)

    assert (with_one, with_two) == (["a", "b"], ["b"])


def test_missing_claim_is_told_where_volume_binding_does_not_run() -> None:
    cluster = make_cluster([NODES[0]], **make_storage())

    alone = obstacles(NodeVolumeLimits, cluster, new_pod("data"))
    after_volume_binding = obstacles(NodeVolumeLimits, cluster, new_pod("data"), DEFAULT_CONFIGURATION.profiles[0])

    reason = 'looking up PVC default/data: persistentvolumeclaim "data" not found'
    assert alone == {"a": Obstacle("NodeVolumeLimits", Code.UNRESOLVABLE, (reason,))}
    assert after_volume_binding == {}


def _in_tree(driver: str = EBS, plugin: str = EBS_PLUGIN, *, migrated: bool = False) -> dict[str, Any]:
    """One volume of an in-tree plugin in use on node a, which attaches one, and another one to be attached."""
    volumes = [
        make_volume(f"v{index}", csi_driver=driver, csi_handle=f"vol-{index}", in_tree_plugin=plugin)
        for index in (0, 1)
    ]
    return make_storage(
        claims=[make_claim("c0", volume="v0"), make_claim("c1", volume="v1")],
        volumes=volumes,
        csi_nodes={"a": CSINode("a", {driver: 1}, frozenset({plugin} if migrated else ()))},
    )


@pytest.mark.parametrize(
    ("pod", "is_counted"),
    [
        pytest.param(new_pod("c1"), True, id="a claimed volume"),
        pytest.param(
            new_pod(volumes=[{"name": "d", "awsElasticBlockStore": {"volumeID": "aws://east/vol-1"}}]),
            True,
            id="a stated disk",
        ),
        pytest.param(
            new_pod(volumes=[{"name": "d", "awsElasticBlockStore": {"volumeID": "aws://east/vol-0"}}]),
            False,
            id="a stated disk that is there as a claimed volume",
        ),
        pytest.param(new_pod(volumes=[{"name": "d", "iscsi": {"iqn": "q"}}]), False, id="a disk of no driver"),
    ],
)
def test_volumes_of_an_in_tree_plugin_count_for_its_driver(pod: Pod, is_counted: bool) -> None:
    cluster = make_cluster(NODES, [make_pod("p", claims=["c0"])], **_in_tree())

    assert passing(NodeVolumeLimits, cluster, pod) == (["b"] if is_counted else ["a", "b"])


@pytest.mark.parametrize(
    ("version", "migrated", "left"),
    [
        pytest.param("1.35", False, ["a", "b"], id="not before 1.36 where the plugin still serves them"),
        pytest.param("1.35", True, ["b"], id="before 1.36 where the driver has taken over"),
        pytest.param("1.36", False, ["b"], id="since 1.36"),
    ],
)
def test_volumes_of_portworx_count_for_its_driver(version: str, migrated: bool, left: list[str]) -> None:
    kube = KubeVersion.parse(version)
    storage = _in_tree(PORTWORX, PORTWORX_PLUGIN, migrated=migrated)
    cluster = make_cluster(NODES, [make_pod("p", claims=["c0"])], version=kube, **storage)

    assert passing(NodeVolumeLimits, cluster, new_pod("c1")) == left


@pytest.mark.parametrize(
    ("driver", "source"),
    [
        pytest.param("pd.csi.storage.gke.io", {"gcePersistentDisk": {"pdName": "d"}}, id="Google's"),
        pytest.param("disk.csi.azure.com", {"azureDisk": {"diskURI": "u", "kind": "Managed"}}, id="Microsoft's"),
        pytest.param("cinder.csi.openstack.org", {"cinder": {"volumeID": "v"}}, id="OpenStack's"),
        pytest.param("pxd.portworx.com", {"portworxVolume": {"volumeID": "v"}}, id="Portworx's"),
    ],
)
def test_stated_disk_counts_for_the_driver_that_took_over(driver: str, source: dict[str, Any]) -> None:
    cluster = make_cluster(NODES, **make_storage(csi_nodes={"a": CSINode("a", {driver: 0})}))

    assert passing(NodeVolumeLimits, cluster, new_pod(volumes=[{"name": "d", **source}])) == ["b"]


def _stored(kind: str, name: str, version: str = "v1", **facts: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default"} | facts.pop("metadata", {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **facts}


def test_migration_is_read_from_the_objects_of_the_cluster() -> None:
    """The annotation of a CSINode and the source of a volume decide, as the API has them."""
    plugins = f"kubernetes.io/gce-pd,{PORTWORX_PLUGIN}"
    migrated = {"annotations": {"storage.alpha.kubernetes.io/migrated-plugins": plugins}}
    drivers = {"drivers": [{"name": PORTWORX, "nodeID": "i", "allocatable": {"count": 0}}]}
    snapshot = snapshot_from_objects(
        [
            node_object("a"),
            node_object("b"),
            _stored("CSINode", "a", "storage.k8s.io/v1", metadata=migrated, spec=drivers),
            _stored("CSINode", "b", "storage.k8s.io/v1", spec=drivers),
            _stored("PersistentVolume", "v", spec={"portworxVolume": {"volumeID": "h"}}),
            _stored("PersistentVolumeClaim", "c", spec={"volumeName": "v"}),
        ]
    )

    left = passing(NodeVolumeLimits, ShadowCluster(snapshot, version=KubeVersion.parse("1.35")), new_pod("c"))

    assert left == ["b"]


@pytest.mark.parametrize(
    ("version", "is_required", "left"),
    [
        pytest.param("1.37", True, ["a"], id="from 1.37 on, where the driver asks for it"),
        pytest.param("1.37", False, ["a", "b"], id="not where the driver does not ask for it"),
        pytest.param("1.36", True, ["a", "b"], id="not before 1.37"),
    ],
)
def test_node_without_the_driver_refuses_its_volumes(version: str, is_required: bool, left: list[str]) -> None:
    drivers = {DRIVER: CSIDriver(DRIVER, is_required=is_required)}
    storage = _storage(csi_drivers=drivers)
    cluster = make_cluster(NODES, version=KubeVersion.parse(version), **storage)

    assert passing(NodeVolumeLimits, cluster, new_pod("c0")) == left
    assert passing(NodeVolumeLimits, cluster, new_pod()) == ["a", "b"]


def test_missing_driver_is_told_before_a_limit() -> None:
    nodes = [*NODES, make_node("c")]
    csi_nodes = {"a": CSINode("a", {DRIVER: 1}), "b": CSINode("b", {"other.example.com": 1})}
    storage = _storage(csi_nodes=csi_nodes, csi_drivers={DRIVER: CSIDriver(DRIVER, is_required=True)})

    against = obstacles(NodeVolumeLimits, make_cluster(nodes, **storage), new_pod("c0", "c1"))

    missing = Obstacle("NodeVolumeLimits", Code.UNSCHEDULABLE, (f"{DRIVER} CSI driver is not installed on the node",))
    full = Obstacle("NodeVolumeLimits", Code.UNSCHEDULABLE, ("node(s) exceed max volume count",))
    assert against == {"a": full, "b": missing, "c": missing}
