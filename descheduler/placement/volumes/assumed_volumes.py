"""What placed pods will have made of volumes and claims, before any volume controller has acted on it.

kube-scheduler keeps the same in its assume caches (`k8s.io/kubernetes/pkg/scheduler/util/assumecache`, 1.36): a volume
is taken for a claim, or a claim that is to be provisioned is pinned to a node. Charges on published storage capacity
are this program's own: the scheduler leaves that to the driver, so they only tell how sure an answer is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from descheduler.model.pod import Pod
from descheduler.model.storage import ClaimReference, PersistentVolume, PersistentVolumeClaim
from descheduler.placement.shadow_cluster import ShadowCluster

__all__ = ["Assumed", "AssumedVolumes", "CapacityKey", "ClaimKey"]

ClaimKey: TypeAlias = tuple[str, str]
"""Namespace and name of a claim."""
CapacityKey: TypeAlias = tuple[str, str]
"""Namespace and name of a CSIStorageCapacity."""

_NOBODYS_UID = "(new)"


@dataclass(slots=True)
class Assumed:
    """What was assumed for one pod: volumes taken as (class, name), claims pinned, bytes charged by capacity."""

    volumes: list[tuple[str, str]] = field(default_factory=list)
    claims: list[ClaimKey] = field(default_factory=list)
    charges: list[tuple[CapacityKey, int]] = field(default_factory=list)


class AssumedVolumes:
    """A follower only so that its state is part of the cluster's digest: placing a pod alone assumes nothing."""

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster
        self._taken: dict[str, dict[str, ClaimReference]] = {}
        self._pinned: dict[ClaimKey, int] = {}
        self._charged: dict[CapacityKey, int] = {}

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Nothing changes."""

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Nothing changes: what was begun for a claim goes on without the pod."""

    def fingerprint(self) -> object:
        """Everything that is assumed."""
        taken = sorted((name, tuple(sorted(by_name.items()))) for name, by_name in self._taken.items())
        return taken, sorted(self._pinned.items()), sorted(self._charged.items())

    def taken(self, storage_class: str) -> Mapping[str, ClaimReference]:
        """Volumes of a class that are taken, by name, and the claims that they are taken for."""
        return self._taken.get(storage_class, {})

    def node_of(self, claim: PersistentVolumeClaim) -> int | None:
        """The node to which the claim is pinned since the snapshot was taken."""
        return self._pinned.get((claim.namespace, claim.name))

    def charged(self, capacity: CapacityKey) -> int:
        """Bytes of volumes that will be made out of a published capacity."""
        return self._charged.get(capacity, 0)

    def take(self, assumed: Assumed, volume: PersistentVolume, claim: PersistentVolumeClaim, *, is_new: bool) -> None:
        """Takes `volume` for `claim`, unless it is kept for it already.

        A claim that `is_new` does not exist yet: it is no other claim, whatever their names are.
        """
        if volume.claim_ref is None and volume.name not in self.taken(volume.storage_class):
            taken = self._taken.setdefault(volume.storage_class, {})
            uid = _NOBODYS_UID if is_new else claim.uid
            taken[volume.name] = ClaimReference(claim.namespace, claim.name, uid)
            assumed.volumes.append((volume.storage_class, volume.name))

    def pin(self, assumed: Assumed, claim: PersistentVolumeClaim, node: int) -> None:
        """Has the volume of `claim` made for `node`. One that is pinned already stays where it is."""
        key = claim.namespace, claim.name
        if not claim.selected_node and key not in self._pinned:
            self._pinned[key] = node
            assumed.claims.append(key)

    def charge(self, assumed: Assumed, capacity: CapacityKey, size_bytes: int) -> None:
        """Notes that a volume of this size will be made out of `capacity`."""
        self._charged[capacity] = self._charged.get(capacity, 0) + size_bytes
        assumed.charges.append((capacity, size_bytes))

    def release(self, assumed: Assumed) -> None:
        """Gives everything back that `assumed` holds."""
        for storage_class, name in assumed.volumes:
            taken = self._taken[storage_class]
            del taken[name]
            if not taken:
                del self._taken[storage_class]
        for key in assumed.claims:
            del self._pinned[key]
        for capacity, size_bytes in assumed.charges:
            self._charged[capacity] -= size_bytes
            if not self._charged[capacity]:
                del self._charged[capacity]
