"""Volumes that one pod alone may use, and disks that two pods of a node may not share."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.volume_sources import READ_WRITE_ONCE_POD
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.volume_restrictions import ROW, VolumeRestrictions
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, make_profile, obstacles, passing
from tests.placement.plugins.explanations import told
from tests.placement.plugins.volumes.storage import RWO, ephemeral, make_claim, make_storage, make_volume, new_pod

NODES = [make_node("a"), make_node("b"), make_node("c")]
IN_USE = Obstacle(
    "VolumeRestrictions",
    Code.UNSCHEDULABLE,
    (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another"
        " pod",
    ),
)
RWOP_STORAGE = make_storage(
    claims=[make_claim("data", volume="v", modes=frozenset({READ_WRITE_ONCE_POD}))],
    volumes=[make_volume("v", claim="data", access_modes=frozenset({READ_WRITE_ONCE_POD}))],
)
RWO_STORAGE = make_storage(claims=[make_claim("data", volume="v")], volumes=[make_volume("v", claim="data")])


def _gce(name: str, *, read_only: bool = False) -> dict[str, Any]:
    return {"name": name, "gcePersistentDisk": {"pdName": "disk", "readOnly": read_only}}


def _ebs(volume: str) -> dict[str, Any]:
    return {"name": "d", "awsElasticBlockStore": {"volumeID": volume}}


def _iscsi(iqn: str, *, read_only: bool = False) -> dict[str, Any]:
    return {"name": "d", "iscsi": {"iqn": iqn, "targetPortal": "t", "lun": 0, "readOnly": read_only}}


def _rbd(monitors: list[str], *, image: str = "i", read_only: bool = False) -> dict[str, Any]:
    return {"name": "d", "rbd": {"monitors": monitors, "pool": "p", "image": image, "readOnly": read_only}}


def _cinder(volume: str) -> dict[str, Any]:
    return {"name": "d", "cinder": {"volumeID": volume}}


@pytest.mark.parametrize(
    "user",
    [
        pytest.param(make_pod("user", node="b", claims=["data"]), id="by a pod of any node"),
        pytest.param(make_pod("user", node="b", claims=["data"], deleted=5), id="by a pod that is being deleted"),
    ],
)
def test_claim_for_one_pod_that_is_in_use_blocks_every_node(user: Pod) -> None:
    cluster = make_cluster(NODES, [user], **RWOP_STORAGE)

    assert obstacles(VolumeRestrictions, cluster, new_pod("data")) == dict.fromkeys("abc", IN_USE)


@pytest.mark.parametrize(
    "user",
    [
        pytest.param(make_pod("user", claims=["data"], phase="Succeeded"), id="by a pod that has finished"),
        pytest.param(make_pod("user", node="gone", claims=["data"]), id="by a pod of a node that is not there"),
        pytest.param(make_pod("user", claims=["data"], namespace="other"), id="by a pod of another namespace"),
        pytest.param(make_pod("user", claims=["else"]), id="by nobody"),
    ],
)
def test_claim_for_one_pod_is_free_when_used(user: Pod) -> None:
    cluster = make_cluster(NODES, [user], **RWOP_STORAGE)

    assert obstacles(VolumeRestrictions, cluster, new_pod("data")) == {}


def test_claim_for_one_pod_is_free_once_its_user_is_gone() -> None:
    user = make_pod("user", node="b", claims=["data"])
    cluster = make_cluster(NODES, [user], **RWOP_STORAGE)
    trial = cluster.what_if()

    cluster.remove(user)
    settled = passing(VolumeRestrictions, cluster, new_pod("data"))
    trial.take_back()

    assert settled == ["a", "b", "c"]
    assert passing(VolumeRestrictions, cluster, new_pod("data")) == []


def test_missing_claim_refuses_the_pod() -> None:
    against = obstacles(VolumeRestrictions, make_cluster(NODES, **make_storage()), new_pod("data"))

    reason = 'persistentvolumeclaim "data" not found'
    assert against == {"*": Obstacle("VolumeRestrictions", Code.UNRESOLVABLE, (reason,))}


def test_ephemeral_volumes_are_not_looked_at() -> None:
    pod = new_pod(volumes=[ephemeral()])

    assert obstacles(VolumeRestrictions, make_cluster(NODES, **make_storage()), pod) == {}


@pytest.mark.parametrize(
    ("held", "wanted", "is_free"),
    [
        pytest.param(_gce("d"), _gce("d"), False, id="one writer and another"),
        pytest.param(_gce("d", read_only=True), _gce("d"), False, id="a reader and a writer"),
        pytest.param(_gce("d", read_only=True), _gce("d", read_only=True), True, id="two readers"),
        pytest.param(_ebs("v"), _ebs("v"), False, id="an EBS volume always"),
        pytest.param(_ebs("v"), _ebs("w"), True, id="two EBS volumes"),
        pytest.param(_iscsi("q"), _iscsi("q", read_only=True), False, id="one iSCSI target"),
        pytest.param(_iscsi("q", read_only=True), _iscsi("q", read_only=True), True, id="one iSCSI target read only"),
        pytest.param(_rbd(["m1", "m2"]), _rbd(["m2", "m3"]), False, id="an RBD image with a common monitor"),
        pytest.param(_rbd(["m1"]), _rbd(["m2"]), True, id="an RBD image of another cluster"),
        pytest.param(_rbd(["m1"]), _rbd(["m1"], image="j"), True, id="another RBD image"),
        pytest.param(_rbd(["m"], read_only=True), _rbd(["m"], read_only=True), True, id="an RBD image read only"),
        pytest.param(_cinder("v"), _cinder("v"), True, id="a volume of OpenStack's, which nothing is known of"),
    ],
)
def test_stated_disk_is_shared_on_a_node_only_by_readers(
    held: dict[str, Any], wanted: dict[str, Any], is_free: bool
) -> None:
    cluster = make_cluster(NODES, [make_pod("holder", node="b", volumes=[held])])

    left = passing(VolumeRestrictions, cluster, new_pod(volumes=[wanted]))

    assert left == (["a", "b", "c"] if is_free else ["a", "c"])


def test_disk_is_named_where_the_claim_is_in_use_too() -> None:
    users = [make_pod("user", node="a", claims=["data"]), make_pod("holder", node="b", volumes=[_ebs("v")])]
    cluster = make_cluster(NODES, users, **RWOP_STORAGE)

    against = obstacles(VolumeRestrictions, cluster, new_pod("data", volumes=[_ebs("v")]))

    disk = Obstacle("VolumeRestrictions", Code.UNSCHEDULABLE, ("node(s) had no available disk",))
    assert against == {"a": IN_USE, "b": disk, "c": IN_USE}


def _waits(cluster: ShadowCluster, pod: Pod) -> dict[str, tuple[str, ...]]:
    """What the pod would have to wait for, by node."""
    plugin = VolumeRestrictions(cluster, make_profile())
    cycle = Cycle(cluster.placement_class(pod), cluster)
    said = {node.name: plugin.before_start(cycle, index) for index, node in enumerate(cluster.table.nodes)}
    return {name: sentences for name, sentences in said.items() if sentences}


def test_volume_that_another_node_has_attached_is_waited_for_elsewhere() -> None:
    cluster = make_cluster(NODES, [make_pod("user", node="b", claims=["data"])], **RWO_STORAGE)

    waits = _waits(cluster, new_pod("data"))

    sentence = "volume of claim default/data is attached to one node at a time and is in use on b"
    assert waits == {"a": (sentence,), "c": (sentence,)}


def test_volume_for_one_node_or_one_pod_is_waited_for_elsewhere() -> None:
    modes = frozenset({READ_WRITE_ONCE_POD, *RWO})
    claim, volume = make_claim("data", volume="v"), make_volume("v", claim="data", access_modes=modes)
    cluster = make_cluster(
        NODES, [make_pod("user", node="b", claims=["data"])], **make_storage(claims=[claim], volumes=[volume])
    )

    assert list(_waits(cluster, new_pod("data"))) == ["a", "c"]


def test_plain_read_write_once_passes_the_filter_everywhere() -> None:
    cluster = make_cluster(NODES, [make_pod("user", node="b", claims=["data"])], **RWO_STORAGE)

    assert passing(VolumeRestrictions, cluster, new_pod("data")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("user", "modes"),
    [
        pytest.param(make_pod("user", claims=["data"], deleted=5), RWO, id="its user is leaving"),
        pytest.param(make_pod("user", claims=["other"]), RWO, id="it has no user"),
        pytest.param(make_pod("user", claims=["data"]), RWO | {"ReadWriteMany"}, id="several nodes may have it"),
    ],
)
def test_nothing_is_waited_for_when(user: Pod, modes: frozenset[str]) -> None:
    storage = make_storage(
        claims=[make_claim("data", volume="v", modes=modes)], volumes=[make_volume("v", access_modes=modes)]
    )

    assert _waits(make_cluster(NODES, [user], **storage), new_pod("data")) == {}


def test_unbound_claim_has_no_volume_to_wait_for() -> None:
    storage = make_storage(claims=[make_claim("data")])

    assert _waits(make_cluster(NODES, [make_pod("user", claims=["data"])], **storage), new_pod("data")) == {}


def test_explanation_names_the_users_of_a_claim_for_one_pod_alone() -> None:
    users = [
        make_pod("user", node="b", claims=["data"]),
        make_pod("stranger", namespace="other", node="b", claims=["data"]),
        make_pod("idle", node="b", claims=["else"]),
    ]

    found = told(ROW, make_cluster(NODES, users, **RWOP_STORAGE), new_pod("data"))

    assert found == ["claim data is ReadWriteOncePod and in use by pod default/user on b"]


def test_explanation_passes_over_claims_that_several_pods_may_use() -> None:
    holders = [make_pod("user", node="a", claims=["data"]), make_pod("holder", node="a", volumes=[_ebs("v")])]
    pod = new_pod("data", volumes=[_ebs("v")])

    assert told(ROW, make_cluster(NODES, holders, **RWO_STORAGE), pod) == ["default/holder mounts the same disk v"]


def test_explanation_names_who_mounts_the_same_disk_on_the_node() -> None:
    holders = [
        make_pod("holder", node="a", volumes=[_ebs("v")]),
        make_pod("other", node="a", volumes=[_ebs("w"), _gce("d")]),
        make_pod("elsewhere", node="b", volumes=[_ebs("v")]),
    ]

    found = told(ROW, make_cluster(NODES, holders), new_pod(volumes=[_ebs("v"), _cinder("w")]))

    assert found == ["default/holder mounts the same disk v"]


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        pytest.param(_gce("d", read_only=True), _gce("d", read_only=True), id="readers of the same disk"),
        pytest.param(_rbd(["m2"]), _rbd(["m1"]), id="an image of another cluster"),
    ],
)
def test_explanation_passes_over_pods_that_may_share_the_disk(held: dict[str, Any], wanted: dict[str, Any]) -> None:
    other = {**wanted, **{key: {**each, "readOnly": False} for key, each in wanted.items() if key != "name"}}
    pods = [make_pod("holder", node="a", volumes=[other]), make_pod("harmless", node="a", volumes=[held])]

    (sentence,) = told(ROW, make_cluster(NODES, pods), new_pod(volumes=[wanted]))

    assert sentence.startswith("default/holder mounts the same disk")
