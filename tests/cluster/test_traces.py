"""What pods and nodes show of objects of other kinds."""

from __future__ import annotations

import pytest

from descheduler.cluster.kind import Trace, find_traces
from descheduler.cluster.kinds import KINDS
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from tests.builders import make_node, make_pod

NODE = make_node("a")
DISK = {"name": "d", "azureDisk": {"diskName": "d", "diskURI": "/d"}}
ON_DEMAND = {"name": "d", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}}


@pytest.mark.parametrize(
    ("pod", "node", "traces"),
    [
        pytest.param(make_pod("p", owners=()), NODE, set(), id="nothing"),
        pytest.param(make_pod("p", owners=["ReplicaSet/w"]), NODE, {Trace.REPLICA_SET}, id="a controller"),
        pytest.param(
            make_pod("p", owners=[], claims=["c"]), NODE, {Trace.CLAIMED_VOLUME, Trace.VOLUME}, id="a claimed volume"
        ),
        pytest.param(
            make_pod("p", owners=[], volumes=[ON_DEMAND]),
            NODE,
            {Trace.CLAIMED_VOLUME, Trace.VOLUME},
            id="a volume on demand",
        ),
        pytest.param(make_pod("p", owners=[], volumes=[DISK]), NODE, {Trace.VOLUME}, id="a disk without a claim"),
        pytest.param(
            make_pod("p", owners=[], scheduler="koord-scheduler"), NODE, {Trace.KOORDINATOR}, id="a scheduler"
        ),
        pytest.param(
            make_pod("p", owners=[]),
            make_node("a", labels={"node.koordinator.sh/gpu-model": "A100"}),
            {Trace.KOORDINATOR},
            id="a label of a node",
        ),
        pytest.param(
            make_pod("p", owners=[], annotations={"scheduling.k8s.io/group-name": "g"}),
            NODE,
            {Trace.VOLCANO},
            id="a gang of Volcano",
        ),
        pytest.param(
            make_pod("p", owners=[], labels={"scheduling.x-k8s.io/pod-group": "g"}),
            NODE,
            {Trace.COSCHEDULING},
            id="a gang of scheduler-plugins",
        ),
        pytest.param(
            make_pod("p", owners=[], spec={"schedulingGroup": {"podGroupName": "g"}}),
            NODE,
            {Trace.SCHEDULING_GROUP},
            id="a group of Kubernetes",
        ),
        pytest.param(
            make_pod("p", owners=[], spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}),
            NODE,
            {Trace.DEVICE_CLAIM},
            id="a resource claim",
        ),
        pytest.param(
            make_pod("p", owners=[], requests={"example.com/gpu": "1"}),
            NODE,
            {Trace.DEVICE_CLAIM},
            id="a resource that a device class stands for",
        ),
        pytest.param(
            make_pod("p", owners=[], requests={"example.com/gpu": "1"}),
            make_node("a", allocatable={"example.com/gpu": "8"}),
            set(),
            id="a resource of a node",
        ),
    ],
)
def test_what_a_pod_and_a_node_show(pod: Pod, node: Node, traces: set[Trace]) -> None:
    assert find_traces([pod], [node]) == traces


def test_every_trace_leads_to_a_kind() -> None:
    assert {trace for kind in KINDS.values() for trace in kind.traces} == set(Trace)
