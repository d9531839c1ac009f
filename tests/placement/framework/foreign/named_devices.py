"""NamedDevices: nodes have devices with names; annotations of the pods that run say which ones these have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.matched_reservations import Allocation
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

DEVICES = "devices"
"""A label of a node: the names of its devices, joined by points."""
WANTED = "example.com/devices"
"""An annotation of a pod: how many it wants."""
ALLOCATED = "example.com/allocated"
"""An annotation: the names of the devices that a running pod has, joined by points."""


class AnnotatedDevices:
    """A follower of the devices that running pods have by their annotations. A pod to be placed has no uid."""

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster
        self.used: set[tuple[int, str]] = set()

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Takes its devices, which it keeps until it is gone."""
        del is_terminating
        self.used |= _devices_of(pod, node)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Gives them back."""
        del is_terminating
        self.used -= _devices_of(pod, node)

    def fingerprint(self) -> object:
        """All of them."""
        return sorted(self.used)


class DeviceLedger:
    """The devices of pods placed since the snapshot was taken, by node and name."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._names = [sorted(filter(None, node.labels.get(DEVICES, "").split("."))) for node in cluster.table.nodes]
        self._annotated = cluster.follow(AnnotatedDevices)
        self._taken: set[tuple[int, str]] = set()

    def free(self, node: int) -> list[tuple[int, str]]:
        """What is left on a node, in name order."""
        used = self._annotated.used | self._taken
        return [(node, name) for name in self._names[node] if (node, name) not in used]

    def reserve(self, cycle: Cycle, node: int) -> frozenset[tuple[int, str]] | None:
        """Takes the first devices that are free."""
        taken = frozenset(self.free(node)[: _wanted(cycle.pod.pod)])
        self.restore(taken)
        return taken or None

    def restore(self, taken: frozenset[tuple[int, str]]) -> None:
        """Takes these devices again."""
        self._taken |= taken

    def release(self, taken: frozenset[tuple[int, str]]) -> None:
        """Gives these devices back."""
        self._taken -= taken

    def allocations(self, taken: frozenset[tuple[int, str]]) -> tuple[Allocation, ...]:
        """The devices by name."""
        return tuple(Allocation("NamedDevices", "device", name) for _, name in sorted(taken))

    def fingerprint(self) -> object:
        """All of them."""
        return sorted(self._taken)


class DeviceReason(ObstacleReason):
    """Why a node takes no pod that wants devices."""

    TOO_FEW = 1, "node(s) had too few free devices", "too few free devices"


class NamedDevices:
    """Refuses nodes with too few free devices."""

    name = "NamedDevices"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del profile
        self.ledger = cluster.ledger(DeviceLedger)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves pods alone that want none."""
        return PreFilterResult() if _wanted(cycle.pod.pod) else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nodes with too few."""
        num_free = np.array([len(self.ledger.free(node)) for node in range(len(cycle.cluster.table))])
        return (num_free < _wanted(cycle.pod.pod)).astype(np.uint32)

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """That there are too few."""
        del cycle, node, bits
        return Obstacle.of(self.name, Code.UNSCHEDULABLE, DeviceReason.TOO_FEW)


def explain_devices(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """What is free."""
    del obstacle
    free = refused.cycle.cluster.ledger(DeviceLedger).free(refused.node_index)
    names = ", ".join(name for _, name in free) or "none"
    yield f"the pod asks for {_wanted(refused.pod)} devices; free: {names}"


ROW = SchedulingPlugin(
    plugin=NamedDevices,
    points=frozenset({"pre_filter", "filter", "reserve"}),
    interactions=own_node,
    explain=explain_devices,
    reads_annotations=(WANTED,),
    about=About(check="A node has to have as many devices as the pod wants."),
)


def _wanted(pod: Pod) -> int:
    return int(pod.annotations.get(WANTED, "0"))


def _devices_of(pod: Pod, node: int) -> set[tuple[int, str]]:
    names = pod.annotations.get(ALLOCATED, "") if pod.uid else ""
    return {(node, name) for name in names.split(".") if name}
