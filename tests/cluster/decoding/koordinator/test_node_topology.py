"""NodeResourceTopologies of Koordinator as the API gives them."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import asdict

from descheduler.cluster.decoding.koordinator.node_topology import decode_node_topology
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
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
