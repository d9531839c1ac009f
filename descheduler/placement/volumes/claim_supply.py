"""What the unbound claims of a pod would get on each node, and taking it.

Mirrors `FindPodVolumes` and `AssumePodVolumes` of
`k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding/binder.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from descheduler.model.storage import PersistentVolume, PersistentVolumeClaim
from descheduler.placement.framework import BoolMask
from descheduler.placement.shadow_cluster import NO_NODE, ShadowCluster
from descheduler.placement.volumes.assumed_volumes import Assumed, AssumedVolumes
from descheduler.placement.volumes.node_sets import NodeSets
from descheduler.placement.volumes.provisioning import Provisioning
from descheduler.placement.volumes.volume_pool import NO_VOLUME, Ranks, VolumePool

__all__ = ["ClaimSupply", "Offer", "UnboundClaim"]


class UnboundClaim(NamedTuple):
    """A claim whose volume is chosen with the node. One that `is_new` will be made with its pod."""

    claim: PersistentVolumeClaim
    is_new: bool = False


class Offer(NamedTuple):
    """Nodes on which a claim gets no volume, and those on which the driver has no room for one.

    `matched` are the claims that may get a volume there is, with that volume on each node.
    """

    no_volume: BoolMask
    no_room: BoolMask
    matched: tuple[tuple[UnboundClaim, Ranks], ...]


class ClaimSupply:
    """Volumes and provisioners of one shadow cluster, with what placed pods took of them."""

    def __init__(self, cluster: ShadowCluster, nodes: NodeSets) -> None:
        self._cluster = cluster
        self._nodes = nodes
        self._assumed = cluster.follow(AssumedVolumes)
        self._provisioning = Provisioning(cluster.snapshot, nodes)
        self._pools: dict[str, VolumePool] = {}
        self._volumes_by_class: dict[str, list[PersistentVolume]] | None = None

    def offer(self, claims: Sequence[UnboundClaim]) -> Offer:
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
            lacking = is_open & asked & ~self._provisioning.reaches(wanted.claim)
            is_open = is_open & ~lacking
            full = is_open & asked & ~self._provisioning.has_room(wanted.claim)
            is_open = is_open & ~full
            no_volume |= lacking
            no_room |= full
        return Offer(no_volume, no_room, matched)

    def assume(self, claims: Sequence[UnboundClaim], node: int) -> tuple[Assumed, list[str]]:
        """Takes what `claims` get on `node`; also returns doubts that the scheduler does not have.

        There is one where the volumes of pods placed before may use up what a driver publishes.
        """
        assumed = Assumed()
        doubts: list[str] = []
        for wanted, ranks in self.offer(claims).matched:
            rank = int(ranks[node])
            if rank != NO_VOLUME:
                volume = self._pool(wanted.claim.storage_class).volumes[rank]
                self._assumed.take(assumed, volume, wanted.claim, is_new=wanted.is_new)
            else:
                doubts += self._provision(assumed, wanted, node)
        return assumed, doubts

    def release(self, assumed: Assumed) -> None:
        """Gives back what `assume` took."""
        self._assumed.release(assumed)

    def _pinned_to(self, wanted: UnboundClaim) -> int | None:
        if wanted.claim.selected_node:
            return self._cluster.table.index.get(wanted.claim.selected_node, NO_NODE)
        return None if wanted.is_new else self._assumed.node_of(wanted.claim)

    def _match(self, claims: Sequence[UnboundClaim]) -> tuple[tuple[UnboundClaim, Ranks], ...]:
        matched: list[tuple[UnboundClaim, Ranks]] = []
        for wanted in claims:
            storage_class = wanted.claim.storage_class
            chosen = [ranks for other, ranks in matched if other.claim.storage_class == storage_class]
            taken = self._assumed.taken(storage_class)
            matched.append((wanted, self._pool(storage_class).choose(wanted.claim, taken, chosen)))
        return tuple(matched)

    def _provision(self, assumed: Assumed, wanted: UnboundClaim, node: int) -> list[str]:
        claim = wanted.claim
        if not wanted.is_new:
            self._assumed.pin(assumed, claim, node)
        source = self._provisioning.source(claim, node, self._assumed)
        if source is None:
            return []
        capacity, left = source
        self._assumed.charge(assumed, capacity, claim.request_bytes)
        if left >= claim.request_bytes:
            return []
        return [
            f"storage class {claim.storage_class} publishes too little for the volume of claim"
            f" {claim.namespace}/{claim.name} on {self._cluster.table.nodes[node].name} once the volumes of pods placed"
            " before it are made"
        ]

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
