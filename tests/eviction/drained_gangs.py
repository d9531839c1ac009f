"""Gangs on a drained node, and policies that clear it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descheduler.model.groups.workloads import Workload
from descheduler.model.koordinator.gang_settings import PodGroup
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from tests.builders import Object, make_node, make_snapshot
from tests.placement.plugins.coscheduling.worlds import member


def policy_of(on_minimum: str = "evictGang", **limits: Any) -> Object:
    """A DeschedulerConfiguration that clears tainted nodes."""
    arguments: list[tuple[str, Object]] = [
        ("PlacementVerification", {"onGangMinimum": on_minimum}),
        ("MigrationController", {"skipCheckExpectedReplicas": True, "maxMigratingPerNode": 100}),
        ("RemovePodsViolatingNodeTaints", {}),
    ]
    profile = {
        "name": "p",
        "pluginConfig": [{"name": name, "args": args} for name, args in arguments],
        "plugins": {
            "deschedule": {"disabled": [{"name": "*"}], "enabled": [{"name": "RemovePodsViolatingNodeTaints"}]},
            "balance": {"disabled": [{"name": "*"}]},
        },
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": [profile], **limits}


def snapshot_of(pods: Sequence[Pod], *groups: PodGroup, room: int = 8, **facts: Any) -> Any:
    """Pods of `drained`, which is tainted, of `kept`, which is full, and a node with so much room."""
    owners = {pod.owners[0].uid: pod.owners[0].name for pod in pods}
    workloads = {uid: Workload("ReplicaSet", "default", name, uid, 10) for uid, name in owners.items()}
    return make_snapshot(nodes_of(room), pods, pod_groups=groups, workloads=workloads, **facts)


def nodes_of(room: int) -> list[Node]:
    """See `snapshot_of`."""
    return [
        make_node("drained", taints=["maintenance:NoSchedule"]),
        make_node("kept", cpu="1", unschedulable=True),
        make_node("room", cpu=str(room)),
    ]


def train(number: int = 3) -> list[Pod]:
    """A gang of pods on `drained`, but for the last one."""
    nodes = ["drained"] * (number - 1) + ["kept"]
    return [member(f"m{index}", node=node) for index, node in enumerate(nodes)]
