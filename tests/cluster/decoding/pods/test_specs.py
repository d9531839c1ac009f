"""Pod specs: what they hold, and which pods share one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from descheduler.cluster.decoding.blocks import BlockCache
from descheduler.cluster.decoding.pods.specs import NO_VOLUMES, SpecDecoder
from descheduler.cluster.decoding.wire import ContainerWire, PodSpecWire
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.pod import HostPort, InlineDisk, PodResourceClaim, PodSpec
from tests.builders import Object, make_pod, pod_object

MIB = 2**20 * 10**9


def container(name: str = "c", **fields: object) -> Object:
    return {"name": name, "image": "app:1", **fields}


def spec_of(**spec: object) -> PodSpec:
    return make_pod("x", spec=spec).spec


def test_host_ports_are_those_of_containers_and_sidecars() -> None:
    spec = spec_of(
        containers=[
            container(
                ports=[
                    {"containerPort": 80},
                    {"hostPort": 80, "protocol": "UDP"},
                    {"hostPort": 81, "hostIP": "10.0.0.1"},
                ]
            )
        ],
        initContainers=[
            container("first", ports=[{"hostPort": 82}]),
            container("side", restartPolicy="Always", ports=[{"hostPort": 83}]),
        ],
    )

    assert spec.host_ports == (
        HostPort("UDP", "0.0.0.0", 80),
        HostPort("TCP", "10.0.0.1", 81),
        HostPort("TCP", "0.0.0.0", 83, is_of_sidecar=True),
    )


def test_images_are_told_apart_by_what_uses_them() -> None:
    spec = spec_of(
        containers=[container(), container("d", image="other")],
        initContainers=[container("i", image="init:2")],
        volumes=[{"name": "data", "image": {"reference": "model:3"}}, {"name": "none", "image": None}],
    )

    assert (spec.images, spec.init_images, spec.volume_images) == (("app:1", "other"), ("init:2",), ("model:3",))


@pytest.mark.parametrize(
    ("source", "disk"),
    [
        pytest.param(
            {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
            InlineDisk("gcePersistentDisk", ("d",), read_only=True),
            id="a disk of Google's that is only read",
        ),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "vol-1"}}, InlineDisk("awsElasticBlockStore", ("vol-1",)), id="EBS"
        ),
        pytest.param(
            {"iscsi": {"iqn": "iqn.1", "lun": 0, "targetPortal": "1.2.3.4"}},
            InlineDisk("iscsi", ("iqn.1",)),
            id="iSCSI",
        ),
        pytest.param(
            {"rbd": {"image": "i", "pool": "p", "monitors": ["b", "a"]}},
            InlineDisk("rbd", ("p", "i"), monitors=frozenset("ab")),
            id="an RBD image with its monitors",
        ),
        pytest.param({"rbd": {"image": "i"}}, InlineDisk("rbd", ("rbd", "i")), id="an RBD image of the default pool"),
        pytest.param({"azureDisk": {"diskURI": "u"}}, InlineDisk("azureDisk", ("u",)), id="a disk of Azure"),
        pytest.param({"cinder": {"volumeID": "v"}}, InlineDisk("cinder", ("v",)), id="Cinder"),
        pytest.param({"portworxVolume": {"volumeID": "v"}}, InlineDisk("portworxVolume", ("v",)), id="Portworx"),
    ],
)
def test_disk_that_a_pod_states_itself_is_known(source: Object, disk: InlineDisk) -> None:
    assert spec_of(volumes=[{"name": "v", **source}]).inline_disks == (disk,)


def test_scheduling_is_known_as_far_as_it_keeps_a_pod_from_nodes() -> None:
    spec = spec_of(
        preemptionPolicy="Never",
        schedulingGates=[{"name": "example.com/wait"}],
        resourceClaims=[
            {"name": "a", "resourceClaimName": "mine"},
            {"name": "b", "resourceClaimTemplateName": "template"},
        ],
        schedulingGroup={"podGroupName": "g"},
    )

    assert spec.preemption_policy == "Never"
    assert spec.scheduling_gates == ("example.com/wait",)
    claims = (PodResourceClaim("a", "mine"), PodResourceClaim("b", template_name="template"))
    assert (spec.resource_claims[:2], spec.has_resource_claims) == (claims, True)
    assert spec.has_scheduling_group


def test_ordinary_pod_asks_for_nothing_out_of_the_ordinary() -> None:
    spec = make_pod("x").spec

    assert (spec.host_ports, spec.inline_disks, spec.volume_images, spec.scheduling_gates) == ((), (), (), ())
    assert (spec.overhead, spec.pod_level_requests, spec.has_scheduling_group) == ({}, {}, False)


@pytest.mark.parametrize(
    ("volume", "is_local"),
    [
        ({}, False),
        ({"emptyDir": {}}, True),
        ({"hostPath": {"path": "/"}}, True),
        ({"emptyDir": None}, False),
        ({"hostPath": None, "emptyDir": {}}, True),
        ({"persistentVolumeClaim": {"claimName": "c"}}, False),
    ],
)
def test_storage_of_the_node_itself_is_known(volume: Object, is_local: bool) -> None:
    for others in ([], [{"name": "i", "image": {"reference": "i:1"}}], [{"name": "c", "persistentVolumeClaim": {}}]):
        for volumes in ([{"name": "v", **volume}, *others], [*others, {"name": "v", **volume}]):
            assert spec_of(volumes=volumes).has_local_storage is is_local


def test_volumes_of_all_kinds_are_told_apart() -> None:
    pod = make_pod(
        "x",
        spec={
            "volumes": [
                {"name": "a", "persistentVolumeClaim": {"claimName": "c"}},
                {"name": "b", "ephemeral": {}},
                {"name": "d", "persistentVolumeClaim": {}},
                {"name": "e", "ephemeral": {}},
                {"name": "f", "ephemeral": None},
                {"name": "g", "image": {"reference": "i:1"}},
                {"name": "h", "image": None},
            ]
        },
    )

    assert pod.claim_names == ("c", "")
    assert [(volume.name, volume.num_claims_before) for volume in pod.ephemeral_volumes] == [("b", 1), ("e", 2)]
    assert pod.spec.volume_images == ("i:1",)


@pytest.mark.parametrize(
    ("source", "has_image", "has_claim"),
    [
        ({"image": {"reference": "i:1"}}, True, False),
        ({"ephemeral": {}}, False, True),
        ({"ephemeral": None}, False, False),
    ],
)
def test_volume_of_a_kind_by_itself_is_known(source: Object, has_image: bool, has_claim: bool) -> None:
    pod = make_pod("x", spec={"volumes": [{"name": "v", **source}]})

    assert (pod.spec.volume_images, len(pod.ephemeral_volumes)) == (("i:1",) if has_image else (), has_claim)


@pytest.mark.parametrize(
    ("spec", "features"),
    [
        ({}, set()),
        ({"hostNetwork": True}, set()),
        ({"hostUsers": False}, set()),
        ({"hostNetwork": True, "hostUsers": True}, set()),
        ({"hostNetwork": True, "hostUsers": False}, {"UserNamespacesHostNetworkSupport"}),
        ({"containers": [{"restartPolicyRules": [{"action": "Restart"}, {}]}]}, set()),
        (
            {"containers": [{"restartPolicyRules": [{"action": "RestartAllContainers"}]}]},
            {"RestartAllContainersOnContainerExits"},
        ),
        (
            {"initContainers": [{"restartPolicyRules": [{"action": "RestartAllContainers"}]}]},
            {"RestartAllContainersOnContainerExits"},
        ),
    ],
)
def test_young_features_that_a_pod_needs_are_known(spec: Object, features: set[str]) -> None:
    assert set(spec_of(**spec).required_features) == features


@pytest.mark.parametrize(
    ("spec", "group", "has_group"),
    [
        ({"schedulingGroup": None}, "", False),
        ({"schedulingGroup": {}}, "", False),
        ({"schedulingGroup": {"podGroupName": "g"}}, "g", True),
        ({"workloadRef": {"name": "w"}}, "", True),
        ({"workloadRef": {}}, "", False),
    ],
)
def test_group_of_a_pod_is_known(spec: Object, group: str, has_group: bool) -> None:
    found = spec_of(**spec)

    assert (found.scheduling_group, found.has_scheduling_group) == (group, has_group)


@pytest.mark.parametrize(("claims", "has_claims"), [(None, False), ([], False), ([{}], True)])
def test_pod_with_a_claim_of_a_device_has_one(claims: object, has_claims: bool) -> None:
    assert spec_of(resourceClaims=claims).has_resource_claims is has_claims


@pytest.mark.parametrize(("seconds", "found"), [(None, 30), (0, 0), (5, 5)])
def test_pod_ends_within_half_a_minute_unless_it_says_otherwise(seconds: int | None, found: int) -> None:
    assert spec_of(terminationGracePeriodSeconds=seconds).grace_period_seconds == found


def test_both_ledgers_of_scores_are_kept() -> None:
    spec = spec_of(
        containers=[container(resources={"requests": {"cpu": "1"}}), container("d")],
        resources={"requests": {"cpu": "3"}},
        overhead={"memory": "1Mi"},
    )

    assert (spec.pod_level_requests, spec.overhead) == ({"cpu": 3 * 10**9}, {"memory": MIB})
    assert spec.requests == {"cpu": 3 * 10**9, "memory": MIB}
    assert spec.scoring_requests == {"cpu": 3 * 10**9, "memory": MIB}
    assert spec.incoming_scoring_requests == {"cpu": 1100 * 10**6, "memory": 401 * MIB}


@pytest.mark.parametrize(
    ("spec", "is_shared"),
    [
        pytest.param({"nodeName": "b"}, True, id="another node"),
        pytest.param({"volumes": [{"name": "t", "projected": {}}]}, True, id="a token"),
        pytest.param({"volumes": [{"name": "c", "persistentVolumeClaim": {"claimName": "c"}}]}, True, id="a claim"),
        pytest.param({"hostNetwork": True}, False, id="the host's network"),
        pytest.param({"volumes": [{"name": "t", "emptyDir": {}}]}, False, id="local storage"),
        pytest.param({"volumes": [{"name": "t", "rbd": {"image": "i"}}]}, False, id="a disk"),
        pytest.param({"volumes": [{"name": "t", "image": {"reference": "i"}}]}, False, id="a mounted image"),
        pytest.param({"schedulingGates": [{"name": "g"}]}, False, id="a gate"),
        pytest.param({"preemptionPolicy": "Never"}, False, id="preemption"),
        pytest.param({"containers": [container(ports=[{"hostPort": 1}])]}, False, id="a host port"),
        pytest.param({"initContainers": [container("i")]}, False, id="an init container"),
    ],
)
def test_pods_share_a_spec_unless_it_says_something_else(spec: Object, *, is_shared: bool) -> None:
    pods = [pod_object("a"), pod_object("b", spec=spec), pod_object("c")]

    first, second, third = snapshot_from_objects(pods).pods

    assert (first.spec is second.spec) is is_shared
    assert first.spec is third.spec


_SOME = {
    "str | None": "x",
    "bool | None": True,
    "int | None": 1,
    "Int32 | None": 1,
    "msgspec.Raw": msgspec.Raw(b"{}"),
    "list[ContainerWire] | None": [ContainerWire(name="x")],
}
"""Something to say in a field of this type, as the source has it."""
_ONE = msgspec.Raw(b"[{}]")
_LISTS = (
    *("ports", "restart_policy_rules", "tolerations"),
    *("topology_spread_constraints", "scheduling_gates", "resource_claims"),
)


def with_each_field(kind: type[ContainerWire] | type[PodSpecWire], *left_out: str) -> list[tuple[str, Any]]:
    """Each field of `kind`, with a value that says something in it alone."""
    return [
        (name, replace(kind(), **{name: _ONE if name in _LISTS else _SOME[type_name]}))
        for name, type_name in kind.__annotations__.items()
        if name not in left_out
    ]


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        *(
            pytest.param(PodSpecWire(), other, id=name)
            for name, other in with_each_field(PodSpecWire, "volumes", "node_name")  # taken out before
        ),
        *(
            pytest.param(
                PodSpecWire(containers=[ContainerWire()]), PodSpecWire(containers=[other]), id=f"container {name}"
            )
            for name, other in with_each_field(ContainerWire)
        ),
    ],
)
def test_specs_that_differ_in_one_field_are_not_taken_for_one(plain: PodSpecWire, other: PodSpecWire) -> None:
    decoder = SpecDecoder(BlockCache(lambda block: {}))

    assert decoder.decode(plain, NO_VOLUMES) is not decoder.decode(other, NO_VOLUMES)
