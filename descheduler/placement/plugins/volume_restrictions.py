"""Filter VolumeRestrictions: what some volumes allow one pod alone, and other volumes one pod a node.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions` (1.36), which does not look at
ReadWriteOnce: a pod whose volume is attached to another node is scheduled, and then waits. `before_start` says for
whom.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from descheduler.model.pod import InlineDisk, Pod, PodSpec
from descheduler.model.volume_sources import READ_WRITE_ONCE, READ_WRITE_ONCE_POD, PersistentVolumeClaim
from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, SKIP_FOR_GOOD, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.volumes.pod_claims import CLAIM_KINDS, ClaimInteractions, claims_of, not_found
from descheduler.placement.shadow.shadow_cluster import NO_NODE, Cycle, ShadowCluster

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
        if node != NO_NODE:
            for disk in _exclusive(pod):
                mounts = self._mounts[disk.kind, disk.identity]
                mounts[node, disk] -= 1
                if not mounts[node, disk]:
                    del mounts[node, disk]
                if not mounts:
                    del self._mounts[disk.kind, disk.identity]

    def fingerprint(self) -> object:
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


class ClaimUsers:
    """A follower that counts the users of each claim, also those on nodes that the snapshot does not hold.

    Claims of generic ephemeral volumes are left out: they have one user, and the scheduler does not look at them.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster  # pods are told one by one
        # Namespace → claim → its users, each as twice the node's index, plus one for a pod that is being deleted.
        self._users: dict[str, dict[str, tuple[int, ...]]] = {}

    def concerns(self, spec: PodSpec) -> bool:
        """Pods with claims alone."""
        return False

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Counts a user of each claim."""
        if pod.claim_names:
            users = self._users.setdefault(pod.namespace, {})
            for name in pod.claim_names:
                users[name] = (*users.get(name, ()), 2 * node + is_terminating)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        if not pod.claim_names:
            return
        users = self._users[pod.namespace]
        for name in pod.claim_names:
            left = list(users[name])
            left.remove(2 * node + is_terminating)
            if left:
                users[name] = tuple(left)
            else:
                del users[name]
        if not users:
            del self._users[pod.namespace]

    def fingerprint(self) -> object:
        return sorted(
            (namespace, name, sorted(users))
            for namespace, by_name in self._users.items()
            for name, users in by_name.items()
        )

    def is_used(self, namespace: str, name: str) -> bool:
        """Whether any pod uses the claim on a node of the snapshot, be it one that is being deleted.

        kube-scheduler (1.36) does not see the pods of nodes that do not exist any more.
        """
        return any(user >= 0 for user in self._users.get(namespace, {}).get(name, ()))

    def holders(self, namespace: str, name: str) -> frozenset[int]:
        """The nodes of users that stay; `NO_NODE` among them for a node that is not in the snapshot."""
        users = self._users.get(namespace, {}).get(name, ())
        return frozenset(user >> 1 for user in users if not user & 1)


class VolumeUseReason(ObstacleReason):
    """What another pod keeps a volume from."""

    DISK = 1, "node(s) had no available disk", "had no available disk"
    IN_USE = (
        2,
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode"
        " already in-use by another pod",
        "unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    )


class VolumeRestrictions:
    """Looks at the claims that pods name and at the disks that they state; ephemeral volumes are passed over."""

    name = "VolumeRestrictions"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del profile  # nothing can be configured
        self._cluster = cluster
        self._snapshot = cluster.snapshot
        self._table = cluster.table
        self._claim_users = cluster.follow(ClaimUsers)
        self._disk_users = cluster.follow(DiskUsers)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Refuses pods with a claim that does not exist; skips pods whose volumes no other pod uses."""
        pod = cycle.pod.pod
        if not pod.claim_names and not pod.spec.inline_disks:
            return SKIP_FOR_GOOD
        for name in pod.claim_names:
            if (pod.namespace, name) not in self._snapshot.claims:
                return PreFilterResult(obstacle=not_found(self._snapshot, self.name, "PersistentVolumeClaim", name))
        return PASS if pod.spec.inline_disks or self._is_blocked(pod) else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Every node when a claim for one pod alone is in use, else those where a stated disk is."""
        pod = cycle.pod.pod
        is_blocked = self._is_blocked(pod)
        conflicts = self._disk_users.conflicts(pod.spec.inline_disks)
        if not is_blocked and not conflicts:
            return None
        bits = np.full(len(self._table), VolumeUseReason.IN_USE.bit if is_blocked else 0, dtype=np.uint32)
        bits[list(conflicts)] = VolumeUseReason.DISK.bit
        return bits

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The disk is looked at first, and the first reason is the only one."""
        found = next(reason for reason in VolumeUseReason if reason.bit == bits)
        return Obstacle.of(self.name, Code.UNSCHEDULABLE, found)

    def before_start(self, cycle: Cycle, node: int) -> tuple[str, ...]:
        """For each volume that keeps the pod waiting on `node`: who has to release it."""
        if not cycle.pod.pod.claim_names:
            return ()
        return tuple(
            f"volume of claim {claim.namespace}/{claim.name} is attached to one node at a time and is in use on"
            f" {', '.join(sorted(self._node_name(holder) for holder in holders))}"
            for claim, holders in self._held(cycle.pod.pod)
            if node not in holders
        )

    def _is_blocked(self, pod: Pod) -> bool:
        """Whether a claim that one pod alone may use is in use."""
        for name in pod.claim_names:
            if self._claim_users.is_used(pod.namespace, name):
                claim = self._snapshot.claims.get((pod.namespace, name))
                if claim is not None and READ_WRITE_ONCE_POD in claim.access_modes:
                    return True
        return False

    def _held(self, pod: Pod) -> Iterator[tuple[PersistentVolumeClaim, frozenset[int]]]:
        """The pod's bound claims whose volume goes to one node at a time, and the nodes of pods that keep it."""
        for name in dict.fromkeys(pod.claim_names):
            claim = self._snapshot.claims.get((pod.namespace, name))
            holders = self._cluster.follow(ClaimUsers).holders(pod.namespace, name)
            if claim is not None and claim.is_bound and holders and self._is_exclusive(claim):
                yield claim, holders

    def _is_exclusive(self, claim: PersistentVolumeClaim) -> bool:
        volume = self._snapshot.volumes.get(claim.volume_name)
        modes = claim.access_modes if volume is None else volume.access_modes
        return bool(modes) and modes <= {READ_WRITE_ONCE, READ_WRITE_ONCE_POD}

    def _node_name(self, node: int) -> str:
        return "a node that is not in the snapshot" if node == NO_NODE else self._table.nodes[node].name


def explain_volume_restrictions(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """Who uses a claim that is for one pod alone, or mounts the same disk."""
    alone = {
        claim.name
        for claim in claims_of(refused.pod, refused.cycle.cluster)
        if READ_WRITE_ONCE_POD in claim.access_modes
    }
    for pod, node in refused.pods_everywhere() if alone else ():
        for name in sorted(alone.intersection(pod.claim_names)) if pod.namespace == refused.pod.namespace else ():
            yield f"claim {name} is ReadWriteOncePod and in use by pod {pod.key} on {node.name}"
    wanted = _exclusive(refused.pod)
    for pod in refused.pods_here() if wanted else ():
        for held in _exclusive(pod):
            same = (disk for disk in wanted if (disk.kind, disk.identity) == (held.kind, held.identity))
            if any(_conflict(disk, held) for disk in same):
                yield f"{pod.key} mounts the same disk {'/'.join(held.identity)}"


ROW = SchedulingPlugin(
    plugin=VolumeRestrictions,
    points=frozenset({"pre_filter", "filter"}),
    by_default=ByDefault(),
    prepared_for=frozenset({"filter"}),
    interactions=lambda _: ClaimInteractions(),
    explain=explain_volume_restrictions,
    reads_kinds=CLAIM_KINDS,
    about=About(
        check="A ReadWriteOncePod claim is used by one pod only, some kinds of inline disks by one pod for each node.",
        reasons=tuple(reason.reason for reason in VolumeUseReason),
    ),
)
