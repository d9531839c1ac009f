"""What the unbound claims of a pod would get on each node, and taking it.

Mirrors `FindPodVolumes` and `AssumePodVolumes` of
`k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding/binder.go` (1.37).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.volume_sources import ClaimReference, PersistentVolume, PersistentVolumeClaim
from descheduler.placement.plugins.volumes.node_sets import NodeSets
from descheduler.placement.plugins.volumes.provisioning import MOST_BYTES, Assumed, AssumedVolumes, Provisioning
from descheduler.placement.plugins.volumes.volume_pool import NO_VOLUME, Ranks, VolumePool
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

_NOBODYS_UID = "(new)"


class UnboundClaim(NamedTuple):
    """A claim whose volume is chosen with the node. One that `is_new` will be made with its pod."""

    claim: PersistentVolumeClaim
    is_new: bool = False


class FoundVolumes(NamedTuple):
    """Nodes on which a claim gets no volume, and those on which the driver has no room for one.

    `matched` are the claims that may get a volume there is, with that volume on each node. `provisioned` are those
    that may get a new one, with the nodes on which they would, as far as these take the pod at all.
    """

    no_volume: BoolMask
    no_room: BoolMask
    matched: tuple[tuple[UnboundClaim, Ranks], ...]
    provisioned: tuple[tuple[UnboundClaim, BoolMask], ...]


class ClaimSupply:
    """Volumes and provisioners of one shadow cluster, with what placed pods took of them, which is `assumed`."""

    def __init__(self, cluster: ShadowCluster, nodes: NodeSets) -> None:
        self._cluster = cluster
        self._nodes = nodes
        self.assumed = AssumedVolumes()
        self.provisioning = Provisioning(cluster.snapshot, nodes)
        self._volume_bytes: dict[str, NDArray[np.int64]] = {}
        self._pools: dict[str, VolumePool] = {}
        self._volumes_by_class: dict[str, list[PersistentVolume]] | None = None

    def volumes_for(self, claims: Sequence[UnboundClaim]) -> FoundVolumes:
        """What `claims` of one pod get; each is of a class that waits for its consumer.

        Claims that are pinned to a node get a new volume there and nothing elsewhere. The others are matched by size,
        the smallest first, and what finds no match is to be provisioned.
        """
        no_volume = np.zeros(len(self._cluster.table), dtype=bool)
        no_room = no_volume.copy()
        pins = [(wanted, self._pinned_to(wanted)) for wanted in claims]
        for _, node in pins:
            if node is not None:
                no_volume |= self._nodes.everywhere != node
        is_open = ~no_volume
        free = sorted((wanted for wanted, node in pins if node is None), key=lambda wanted: wanted.claim.request_bytes)
        matched = self._match(free)
        to_provision = [(wanted, is_open) for wanted, node in pins if node is not None]
        to_provision += [(wanted, ranks == NO_VOLUME) for wanted, ranks in matched]
        for wanted, asked in to_provision:
            # The first claim that fails decides what is said of a node.
            lacking = is_open & asked & ~self.provisioning.reaches(wanted.claim)
            is_open = is_open & ~lacking
            full = is_open & asked & ~self.provisioning.has_room(wanted.claim)
            is_open = is_open & ~full
            no_volume |= lacking
            no_room |= full
        return FoundVolumes(no_volume, no_room, matched, tuple(to_provision))

    def volume_bytes(self, storage_class: str) -> NDArray[np.int64]:
        """The sizes of the volumes of a class, by rank."""
        known = self._volume_bytes.get(storage_class)
        if known is None:
            sizes = [min(volume.capacity_bytes, MOST_BYTES) for volume in self._pool(storage_class).volumes]
            known = self._volume_bytes[storage_class] = np.array(sizes, dtype=np.int64)
        return known

    def assume(self, claims: Sequence[UnboundClaim], node: int) -> tuple[tuple[Assumed, ...], tuple[str, ...]]:
        """Takes what `claims` get on `node`; also returns doubts that the scheduler does not have.

        There is one where the volumes of pods placed before may use up what a driver publishes.
        """
        found = [assumed for wanted in claims if (assumed := self._shared_pin(wanted)) is not None]
        for assumed in found:
            self.assumed.hold(assumed)
        doubts: list[str] = []
        for wanted, ranks in self.volumes_for(claims).matched:
            rank = int(ranks[node])
            if rank != NO_VOLUME:
                assumed = _matched(self._pool(wanted.claim.storage_class).volumes[rank], wanted)
            else:
                assumed = self._provisioned(wanted, node, doubts)
            self.assumed.hold(assumed)
            found.append(assumed)
        return tuple(found), tuple(doubts)

    def _pinned_to(self, wanted: UnboundClaim) -> int | None:
        if wanted.claim.selected_node:
            return self._cluster.table.index.get(wanted.claim.selected_node, NO_NODE)
        return None if wanted.is_new else self.assumed.node_of(wanted.claim)

    def _shared_pin(self, wanted: UnboundClaim) -> Assumed | None:
        """The pin of a claim that another pod has had pinned: it lasts until both are gone."""
        claim = wanted.claim
        node = None if wanted.is_new or claim.selected_node else self.assumed.node_of(claim)
        return None if node is None else Assumed(pin=((claim.namespace, claim.name), node))

    def _match(self, claims: Sequence[UnboundClaim]) -> tuple[tuple[UnboundClaim, Ranks], ...]:
        matched: list[tuple[UnboundClaim, Ranks]] = []
        for wanted in claims:
            storage_class = wanted.claim.storage_class
            chosen = [ranks for other, ranks in matched if other.claim.storage_class == storage_class]
            taken = self.assumed.taken(storage_class)
            matched.append((wanted, self._pool(storage_class).choose(wanted.claim, taken, chosen)))
        return tuple(matched)

    def _provisioned(self, wanted: UnboundClaim, node: int, doubts: list[str]) -> Assumed:
        """What is assumed of a claim that gets a new volume for `node`; a claim with a node already stays there."""
        claim = wanted.claim
        pin = None if wanted.is_new or claim.selected_node else ((claim.namespace, claim.name), node)
        source = self.provisioning.source(claim, node, self.assumed)
        if source is None:
            return Assumed(pin=pin)
        capacity, left = source
        if left < claim.request_bytes:
            doubts.append(
                f"storage class {claim.storage_class} publishes too little for the volume of claim"
                f" {claim.namespace}/{claim.name} on {self._cluster.table.nodes[node].name} once the volumes of pods"
                " placed before it are made"
            )
        return Assumed(pin=pin, charge=(capacity, claim.request_bytes))

    def _pool(self, storage_class: str) -> VolumePool:
        known = self._pools.get(storage_class)
        if known is None:
            if self._volumes_by_class is None:
                self._volumes_by_class = {}
                for volume in self._cluster.snapshot.volumes.values():
                    self._volumes_by_class.setdefault(volume.storage_class, []).append(volume)
            volumes = self._volumes_by_class.get(storage_class, ())
            compares = self._cluster.version.gate("VolumeAttributesClass")
            known = self._pools[storage_class] = VolumePool(volumes, self._nodes, compares_attributes=compares)
        return known


def _matched(volume: PersistentVolume, wanted: UnboundClaim) -> Assumed:
    """What is assumed of a claim that gets `volume`: nothing where the volume is kept for it already.

    A claim that `is_new` does not exist yet: it is no other claim, whatever their names are.
    """
    if volume.claim_ref is not None:
        return Assumed()
    claim = wanted.claim
    reference = ClaimReference(claim.namespace, claim.name, _NOBODYS_UID if wanted.is_new else claim.uid)
    return Assumed(volume=((volume.storage_class, volume.name), reference))
