"""Disks that pods state themselves instead of claiming them: who has which, and which two may not share a node.

The rules are those of `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions` (1.36).
"""

from __future__ import annotations

from typing import TypeAlias

from descheduler.model.pod import InlineDisk, Pod, PodSpec
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

__all__ = ["DiskUsers"]

_Disk: TypeAlias = tuple[str, tuple[str, ...]]
"""The kind of a disk, and which one it is."""


class DiskUsers:
    """A follower that knows on which nodes each stated disk is mounted, and how."""

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster  # pods are told one by one
        self._mounts: dict[_Disk, dict[tuple[int, InlineDisk], int]] = {}

    def concerns(self, spec: PodSpec) -> bool:
        """Those that name disks."""
        return bool(spec.inline_disks)

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Counts a mount of each disk."""
        del is_terminating  # a pod that is being deleted still has its disks
        if node != NO_NODE:
            for disk in _exclusive(pod):
                mounts = self._mounts.setdefault((disk.kind, disk.identity), {})
                mounts[node, disk] = mounts.get((node, disk), 0) + 1

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Takes the mounts back."""
        del is_terminating
        if node != NO_NODE:
            for disk in _exclusive(pod):
                mounts = self._mounts[disk.kind, disk.identity]
                mounts[node, disk] -= 1
                if not mounts[node, disk]:
                    del mounts[node, disk]
                if not mounts:
                    del self._mounts[disk.kind, disk.identity]

    def fingerprint(self) -> object:
        """All mounts by disk."""
        return sorted(
            (kind, identity, node, disk.read_only, sorted(disk.monitors), count)
            for (kind, identity), mounts in self._mounts.items()
            for (node, disk), count in mounts.items()
        )

    def conflicts(self, disks: tuple[InlineDisk, ...]) -> frozenset[int]:
        """Nodes where a pod that has one of `disks` must not join those that are there."""
        return frozenset(
            node
            for disk in disks
            for node, held in self._mounts.get((disk.kind, disk.identity), ())
            if _conflict(disk, held)
        )


def _exclusive(pod: Pod) -> list[InlineDisk]:
    return [disk for disk in pod.spec.inline_disks if disk.is_exclusive]


def _conflict(disk: InlineDisk, held: InlineDisk) -> bool:
    """Whether two mounts of what has the same kind and identity exclude each other."""
    if disk.kind == "awsElasticBlockStore":
        return True
    if disk.kind == "rbd" and disk.monitors.isdisjoint(held.monitors):
        return False
    return not (disk.read_only and held.read_only)
