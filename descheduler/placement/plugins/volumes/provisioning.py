"""Where a driver can make a new volume, and what placed pods will have made before any volume controller has acted on
it.

Mirrors `checkVolumeProvisions` of `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding` (1.37).
kube-scheduler keeps the latter in its assume caches (`k8s.io/kubernetes/pkg/scheduler/util/assumecache`, 1.36): a
volume is taken for a claim, or a claim that is to be provisioned is pinned to a node. Charges on published storage
capacity are this program's own: the scheduler leaves that to the driver, so they only tell how sure an answer is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.volume_sources import ClaimReference, CSIStorageCapacity, PersistentVolumeClaim, StorageClass
from descheduler.placement.plugins.volumes.node_sets import NodeIndices, NodeSets
from descheduler.placement.shadow.node_masks import BoolMask

ClaimKey: TypeAlias = tuple[str, str]
"""Namespace and name of a claim."""
CapacityKey: TypeAlias = tuple[str, str]
"""Namespace and name of a CSIStorageCapacity."""
VolumeKey: TypeAlias = tuple[str, str]
"""Storage class and name of a volume."""


class Assumed(msgspec.Struct, frozen=True):
    """What was assumed for one claim: a volume taken and for whom; or a node it is pinned to and bytes charged."""

    volume: tuple[VolumeKey, ClaimReference] | None = None
    pin: tuple[ClaimKey, int] | None = None
    charge: tuple[CapacityKey, int] | None = None


class AssumedVolumes:
    """Everything that is assumed. Pods that share a claim hold its volume together: it is free when the last leaves."""

    def __init__(self) -> None:
        self._taken: dict[str, dict[str, ClaimReference]] = {}
        self._pinned: dict[ClaimKey, int] = {}
        self._charged: dict[CapacityKey, int] = {}
        self._num_holders: dict[tuple[str, str, str], int] = {}

    def fingerprint(self) -> object:
        taken = sorted((name, tuple(sorted(by_name.items()))) for name, by_name in self._taken.items())
        return taken, sorted(self._pinned.items()), sorted(self._charged.items()), sorted(self._num_holders.items())

    def taken(self, storage_class: str) -> Mapping[str, ClaimReference]:
        """Volumes of a class that are taken, by name, and the claims that they are taken for."""
        return self._taken.get(storage_class, {})

    def node_of(self, claim: PersistentVolumeClaim) -> int | None:
        """The node to which the claim is pinned since the snapshot was taken."""
        return self._pinned.get((claim.namespace, claim.name))

    def charged(self, capacity: CapacityKey) -> int:
        """Bytes of volumes that will be made out of a published capacity."""
        return self._charged.get(capacity, 0)

    def hold(self, assumed: Assumed) -> None:
        """Takes everything that `assumed` names."""
        if assumed.volume is not None:
            (storage_class, name), reference = assumed.volume
            self._taken.setdefault(storage_class, {})[name] = reference
            self._count("volume", (storage_class, name), 1)
        if assumed.pin is not None:
            claim, node = assumed.pin
            self._pinned[claim] = node
            self._count("claim", claim, 1)
        if assumed.charge is not None:
            self._charge(*assumed.charge)

    def release(self, assumed: Assumed) -> None:
        """The inverse of `hold`, whatever was held or released in between."""
        if assumed.volume is not None:
            storage_class, name = key = assumed.volume[0]
            if not self._count("volume", key, -1):
                taken = self._taken[storage_class]
                del taken[name]
                if not taken:
                    del self._taken[storage_class]
        if assumed.pin is not None and not self._count("claim", assumed.pin[0], -1):
            del self._pinned[assumed.pin[0]]
        if assumed.charge is not None:
            capacity, size_bytes = assumed.charge
            self._charge(capacity, -size_bytes)

    def _charge(self, capacity: CapacityKey, size_bytes: int) -> None:
        charged = self._charged.get(capacity, 0) + size_bytes
        if charged:
            self._charged[capacity] = charged
        else:
            self._charged.pop(capacity, None)

    def _count(self, what: str, key: tuple[str, str], change: int) -> int:
        """How many pods hold `key` after this change."""
        holding = (what, *key)
        number = self._num_holders.get(holding, 0) + change
        if number:
            self._num_holders[holding] = number
        else:
            del self._num_holders[holding]
        return number


MOST_BYTES = 2**54
"""Amounts are scored as if they were no larger, 16 PiB, so that percentages stay within int64."""

_NO_PROVISIONER = "kubernetes.io/no-provisioner"


class Provisioning:
    """What the storage classes and the capacities that drivers publish say, over all nodes."""

    def __init__(self, snapshot: Snapshot, nodes: NodeSets) -> None:
        self._snapshot = snapshot
        self._nodes = nodes
        self._by_node: dict[str, dict[int, list[CSIStorageCapacity]]] = {}
        self._reaching: dict[str, BoolMask] = {}
        self._roomy: dict[tuple[str, int], BoolMask] = {}
        self._offered: dict[tuple[str, int], NDArray[np.int64]] = {}

    def reaches(self, claim: PersistentVolumeClaim) -> BoolMask:
        """Nodes for which the claim's class can have a volume made, as far as its topology goes."""
        known = self._reaching.get(claim.storage_class)
        if known is None:
            storage_class = self._snapshot.storage_classes[claim.storage_class]
            known = self._reaching[claim.storage_class] = self._nodes.mask(self._served(storage_class))
        return known

    def has_room(self, claim: PersistentVolumeClaim) -> BoolMask:
        """Nodes for which the driver publishes a capacity that the claim fits, or need not publish any."""
        key = claim.storage_class, claim.request_bytes
        known = self._roomy.get(key)
        if known is None:
            if self._is_tracked(claim):
                known = self._nodes.mask(self._nodes.nowhere)
                for capacity, nodes in self._published(claim.storage_class):
                    if _limit(capacity) >= claim.request_bytes:
                        known[nodes] = True
            else:
                known = self._nodes.mask(self._nodes.everywhere)
            self._roomy[key] = known
        return known

    def offered(self, claim: PersistentVolumeClaim) -> NDArray[np.int64] | None:
        """The capacity in bytes out of which the claim's volume would come on each node, 0 where none has the room.

        None for a driver whose capacity is not looked at. Of several for one node the scheduler takes any; this is the
        largest. Volumes of pods placed before are not taken off: the scheduler does not see them either.
        """
        if not self._is_tracked(claim):
            return None
        key = claim.storage_class, claim.request_bytes
        known = self._offered.get(key)
        if known is None:
            known = self._offered[key] = np.zeros(len(self._nodes.everywhere), dtype=np.int64)
            for capacity, nodes in self._published(claim.storage_class):
                if _limit(capacity) >= claim.request_bytes:
                    known[nodes] = np.maximum(known[nodes], min(capacity.capacity or 0, MOST_BYTES))
        return known

    def source(
        self, claim: PersistentVolumeClaim, node: int, assumed: AssumedVolumes
    ) -> tuple[CapacityKey, int] | None:
        """The published capacity out of which the claim's volume for `node` would come, and the bytes left of it.

        It is the one with most left, volumes `assumed` so far taken off. None where nothing is published in bytes.
        """
        if not self._is_tracked(claim):
            return None
        left = [
            (capacity.capacity - assumed.charged((capacity.namespace, capacity.name)), capacity)
            for capacity in self._published_for(claim.storage_class, node)
            if capacity.capacity is not None and _limit(capacity) >= claim.request_bytes
        ]
        if not left:
            return None
        most, capacity = max(left, key=lambda entry: entry[0])
        return (capacity.namespace, capacity.name), most

    def _served(self, storage_class: StorageClass) -> NodeIndices:
        if storage_class.provisioner in ("", _NO_PROVISIONER):
            return self._nodes.nowhere
        if not storage_class.allowed_topologies:
            return self._nodes.everywhere
        return self._nodes.meeting_any(term for term in storage_class.allowed_topologies if term)

    def _is_tracked(self, claim: PersistentVolumeClaim) -> bool:
        storage_class = self._snapshot.storage_classes[claim.storage_class]
        driver = self._snapshot.csi_drivers.get(storage_class.provisioner)
        return bool(claim.request_bytes) and driver is not None and driver.tracks_capacity

    def _published_for(self, storage_class: str, node: int) -> Sequence[CSIStorageCapacity]:
        by_node = self._by_node.get(storage_class)
        if by_node is None:
            by_node = self._by_node[storage_class] = {}
            for capacity, nodes in self._published(storage_class):
                for reached in nodes.tolist():
                    by_node.setdefault(reached, []).append(capacity)
        return by_node.get(node, ())

    def _published(self, storage_class: str) -> Iterator[tuple[CSIStorageCapacity, NodeIndices]]:
        for capacity in self._snapshot.storage_capacities:
            if capacity.storage_class == storage_class:
                yield capacity, self._nodes.selected(capacity.node_topology)


def _limit(capacity: CSIStorageCapacity) -> int:
    """The largest volume that the capacity promises, in bytes; -1 where it promises none."""
    if capacity.maximum_volume_size is not None:
        return capacity.maximum_volume_size
    return -1 if capacity.capacity is None else capacity.capacity
