"""NodeResourceTopologies of Koordinator as the API gives them."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import asdict

from descheduler.cluster.decoding.koordinator.node_topology import (
    decode_cpu_spec,
    decode_node_topology,
    decode_numa_policy,
    decode_pinned_cpus,
)
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.annotations import CPU_MANAGER_POLICY_ANNOTATION
from descheduler.model.koordinator.node_reports import NODE_TOPOLOGY_KIND, Cpu, NodeTopology
from tests.builders import node_object
from tests.worlds.node_topologies import cpu_layout, make_topology, topology_object


def test_cpus_and_those_that_are_closed_to_pods_are_read() -> None:
    """Koordinator's reference, §4.3: the kubelet's pods and its own CPUs, the reserved ones, the SYSTEM set."""
    found = make_topology(
        "a",
        cpus=cpu_layout(cores=4),
        reserved="0-1",
        kubelet_reserved="2",
        kubelet_pods={"uid-p": "4-5"},
        system="7",
    )

    assert found.cpus[3] == Cpu(3, 1, 0, 0)
    assert found.reserved_cpus == {0, 1}
    assert found.kubelet_pods == {"uid-p": {4, 5}}
    assert found.closed_cpus == {0, 1, 2, 4, 5, 7}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("node.koordinator.sh/system-qos-resource", {"cpuset": "7", "cpusetExclusive": False}, id="shared"),
        pytest.param("node.koordinator.sh/pod-cpu-allocs", [{"uid": "u", "cpuset": "1"}], id="not of the kubelet"),
        pytest.param(
            "node.koordinator.sh/pod-cpu-allocs", [{"cpuset": "1", "managedByKubelet": True}], id="a pod without uid"
        ),
        pytest.param("node.koordinator.sh/reservation", {"resources": {"cpu": "1"}}, id="an amount alone"),
        pytest.param("node.koordinator.sh/reservation", {"reservedCPUs": "1-"}, id="an invalid list"),
    ],
)
def test_annotations_that_close_no_cpu(key: str, value: object) -> None:
    found = topology_object("a")
    found["metadata"]["annotations"] = {key: json.dumps(value)}

    assert decode_node_topology(json.dumps(found).encode()).closed_cpus == frozenset()


def test_object_without_annotations_says_nothing() -> None:
    found = decode_node_topology(b'{"metadata": {"name": "a"}, "zones": null, "topologyPolicies": null}')

    assert asdict(found) == asdict(NodeTopology("a"))


def test_annotations_that_cannot_be_read_count_as_absent() -> None:
    found = topology_object("a", kubelet_reserved="1")
    found["metadata"]["annotations"]["node.koordinator.sh/cpu-topology"] = "{"

    topology = decode_node_topology(json.dumps(found).encode())

    assert not topology.cpus
    assert topology.closed_cpus == {1}


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ([], ""),
        (["None"], ""),
        (["SingleNUMANodeContainerLevel"], ""),
        (["SingleNUMANodePodLevel"], "SingleNUMANode"),
        (["Restricted", "BestEffort"], "Restricted"),
    ],
)
def test_policy_for_numa_nodes(policies: list[str], expected: str) -> None:
    assert make_topology("a", policies=policies).numa_policy == expected


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("false", False)])
def test_kubelet_that_gives_out_whole_cores(value: str, expected: bool) -> None:
    assert make_topology("a", options={"full-pcpus-only": value}).needs_full_cores is expected


def test_snapshot_holds_them_by_node_where_they_are_asked_for() -> None:
    objects = [node_object("a"), topology_object("a", reserved="3")]

    snapshot = snapshot_from_objects(objects, SnapshotRequest(needed=frozenset({"Node", "Pod", NODE_TOPOLOGY_KIND})))

    assert snapshot.node_topologies["a"].reserved_cpus == {3}


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", set()),
        ("null", set()),
        ("{", set()),
        ("{}", set()),
        ('{"cpuset": "0-1,4"}', {0, 1, 4}),
        ('{"cpuset": "x"}', set()),
    ],
)
def test_cpus_that_a_pod_is_pinned_to_are_read(text: str, cpus: set[int]) -> None:
    assert decode_pinned_cpus(text) == cpus


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("", ("", "", "")),
        ("null", ("", "", "")),
        ("{}", ("", "", "")),
        (
            '{"requiredCPUBindPolicy": "a", "preferredCPUBindPolicy": "b", "preferredCPUExclusivePolicy": "c"}',
            ("a", "b", "c"),
        ),
    ],
)
def test_wishes_for_cpus_are_read(text: str, spec: tuple[str, str, str]) -> None:
    assert decode_cpu_spec(text) == spec


@pytest.mark.parametrize(
    ("text", "policy"),
    [("", ""), ("null", ""), ("{}", ""), ('{"numaTopologyPolicy": "Restricted"}', "Restricted")],
)
def test_policy_of_a_pod_for_numa_nodes_is_read(text: str, policy: str) -> None:
    assert decode_numa_policy(text) == policy


def test_wishes_that_cannot_be_read_are_refused() -> None:
    for decode in (decode_cpu_spec, decode_numa_policy):
        with pytest.raises(ValueError, match="malformed"):
            decode("{oops")


def decoded(annotations: dict[str, object], **fields: object) -> NodeTopology:
    texts = {f"node.koordinator.sh/{key}": json.dumps(value) for key, value in annotations.items()}
    return decode_node_topology(json.dumps({"metadata": {"name": "a", "annotations": texts}, **fields}).encode())


def test_cpu_has_a_core_a_socket_and_a_numa_node() -> None:
    found = decoded({"cpu-topology": {"detail": [{"id": 5, "core": 2, "socket": 1, "node": 3}, {}]}})

    assert found.cpus == (Cpu(5, 2, 1, 3), Cpu(0, 0, 0, 0))
    assert decoded({"cpu-topology": {}}).cpus == ()


@pytest.mark.parametrize(
    ("alloc", "pods"),
    [
        ({"uid": "u", "cpuset": "1", "managedByKubelet": True}, {"u": {1}}),
        ({"uid": "u", "cpuset": "", "managedByKubelet": True}, {}),
        ({"uid": "u", "cpuset": "x", "managedByKubelet": True}, {}),
        ({"uid": "u", "managedByKubelet": True}, {}),
        ({"uid": "u", "cpuset": "1", "managedByKubelet": False}, {}),
        ({"uid": "", "cpuset": "1", "managedByKubelet": True}, {}),
    ],
)
def test_cpus_of_pods_are_those_that_the_kubelet_gave_them(alloc: dict[str, object], pods: object) -> None:
    assert decoded({"pod-cpu-allocs": [alloc]}).kubelet_pods == pods


@pytest.mark.parametrize(
    ("policy", "needs_full_cores"),
    [
        ({"policy": "static", "options": {"full-pcpus-only": "true"}}, True),
        ({"policy": "none", "options": {"full-pcpus-only": "true"}}, False),
        ({"policy": "static", "options": {}}, False),
        ({"policy": "static"}, False),
        ({}, False),
    ],
)
def test_static_kubelet_with_the_option_gives_out_whole_cores(policy: object, needs_full_cores: bool) -> None:
    metadata = {"name": "a", "annotations": {CPU_MANAGER_POLICY_ANNOTATION: json.dumps(policy)}}

    found = decode_node_topology(json.dumps({"metadata": metadata}).encode())

    assert found.needs_full_cores is needs_full_cores
    assert found.kubelet_reserved_cpus == frozenset()


@pytest.mark.parametrize(
    ("system", "cpus"),
    [
        ({"cpuset": "7"}, {7}),
        ({"cpuset": "7", "cpusetExclusive": True}, {7}),
        ({"cpuset": "7", "cpusetExclusive": False}, set()),
        ({}, set()),
    ],
)
def test_cpus_of_the_system_are_its_own_unless_it_shares_them(system: object, cpus: set[int]) -> None:
    assert decoded({"system-qos-resource": system}).system_cpus == cpus
