"""The volumes of one storage class as columns, and which of them a claim would get on each node.

Mirrors `FindMatchingVolume` of `k8s.io/component-helpers/storage/volume` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.volume_sources import ClaimReference, PersistentVolume, PersistentVolumeClaim
from descheduler.placement.plugins.volumes.node_sets import NodeIndices, NodeSets
from descheduler.placement.shadow.node_masks import BoolMask

Ranks: TypeAlias = NDArray[np.int64]
"""A volume a node, by its place in `VolumePool.volumes`; `NO_VOLUME` where there is none."""

NO_VOLUME = np.iinfo(np.int64).max

_AVAILABLE = "Available"


class VolumePool:
    """`volumes` are those of one class, the smallest first and equal ones in name order.

    Volumes with the same node affinity form a group, so that a node asks each group that reaches it once.
    """

    def __init__(self, volumes: Sequence[PersistentVolume], nodes: NodeSets, *, compares_attributes: bool) -> None:
        self.volumes = tuple(sorted(volumes, key=lambda volume: (volume.capacity_bytes, volume.name)))
        self._num_nodes = len(nodes.everywhere)
        self._compares_attributes = compares_attributes
        groups: dict[tuple[NodeSelectorTerm, ...] | None, int] = {}
        self._group = np.array([groups.setdefault(v.node_affinity, len(groups)) for v in self.volumes], dtype=np.intp)
        self._reach = [nodes.reaching(affinity) for affinity in groups]
        self._pair_group = np.repeat(np.arange(len(groups)), [len(reach) for reach in self._reach])
        self._pair_node: NodeIndices = np.concatenate([*self._reach, nodes.nowhere])
        self._rank = {volume.name: rank for rank, volume in enumerate(self.volumes)}
        self._kept: dict[tuple[str, str], list[int]] = {}
        for rank, volume in enumerate(self.volumes):
            if volume.claim_ref is not None:
                self._kept.setdefault((volume.claim_ref.namespace, volume.claim_ref.name), []).append(rank)
        self._suitable: dict[object, BoolMask] = {}

    def choose(
        self, claim: PersistentVolumeClaim, taken: Mapping[str, ClaimReference], chosen: Sequence[Ranks]
    ) -> Ranks:
        """The volume that `claim` gets on each node.

        `taken` are volumes taken since the snapshot, and for whom; `chosen` is what earlier claims of the same pod
        get. A volume that is kept for the claim is the only one that will do, if it is big enough at all.
        """
        result = np.full(self._num_nodes, NO_VOLUME)
        is_open = np.ones(self._num_nodes, dtype=bool)
        for rank in self._kept_for(claim, taken):
            asked = is_open.copy()
            for ranks in chosen:
                asked &= ranks != rank
            reach = self._reach[self._group[rank]]
            result[reach[asked[reach]]] = rank
            is_open &= ~asked
        if is_open.any():
            smallest = self._smallest(self._available(claim, taken), chosen)
            result[is_open] = smallest[is_open]
        return result

    def _kept_for(self, claim: PersistentVolumeClaim, taken: Mapping[str, ClaimReference]) -> Iterator[int]:
        """Volumes that fit and are bound to the claim, or meant to be."""
        kept = [(rank, self.volumes[rank].claim_ref) for rank in self._kept.get((claim.namespace, claim.name), ())]
        kept += [(self._rank[name], reference) for name, reference in taken.items() if reference.name == claim.name]
        for rank, reference in kept:
            if reference is not None and _is_for(reference, claim) and self._fits(self.volumes[rank], claim):
                yield rank

    def _fits(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
        return (
            volume.capacity_bytes >= claim.request_bytes
            and volume.volume_mode == claim.volume_mode
            # Before it knows of the classes, the scheduler takes no volume that has one.
            and volume.attributes_class == (claim.attributes_class if self._compares_attributes else "")
            and not volume.is_deleting
        )

    def _available(self, claim: PersistentVolumeClaim, taken: Mapping[str, ClaimReference]) -> BoolMask:
        """Volumes without a claim that fit this claim."""
        key = (claim.request_bytes, claim.volume_mode, claim.attributes_class, claim.access_modes, claim.selector)
        known = self._suitable.get(key)
        if known is None:
            suits = (self._is_suitable(volume, claim) for volume in self.volumes)
            known = self._suitable[key] = np.fromiter(suits, bool, len(self.volumes))
        available = known.copy()
        available[[self._rank[name] for name in taken]] = False
        return available

    def _is_suitable(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
        return (
            volume.claim_ref is None
            and volume.phase == _AVAILABLE
            and self._fits(volume, claim)
            and claim.access_modes <= volume.access_modes
            and claim.selector.matches(volume.labels)
        )

    def _smallest(self, available: BoolMask, chosen: Sequence[Ranks]) -> Ranks:
        """The smallest available volume that reaches each node and is not `chosen` there."""
        result = np.full(self._num_nodes, NO_VOLUME)
        found = np.full(len(self._pair_node), NO_VOLUME)
        # Earlier claims may have the best volumes of a group on this node or that, but no more than one each.
        for _ in range(len(chosen) + 1):
            best = self._first_of_groups(available)
            available[best[best != NO_VOLUME]] = False
            offered = best[self._pair_group]
            is_free = found == NO_VOLUME
            for ranks in chosen:
                is_free &= ranks[self._pair_node] != offered
            found[is_free] = offered[is_free]
        np.minimum.at(result, self._pair_node, found)
        return result

    def _first_of_groups(self, available: BoolMask) -> Ranks:
        ranks = np.flatnonzero(available)
        best = np.full(len(self._reach), NO_VOLUME)
        # Of entries with the same index the last one is kept, which is the smallest volume in this order.
        best[self._group[ranks[::-1]]] = ranks[::-1]
        return best


def _is_for(reference: ClaimReference, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume with this reference belongs to `claim`; a claim of the same name made later is another one."""
    is_named = reference.namespace == claim.namespace and reference.name == claim.name
    return is_named and reference.uid in ("", claim.uid)
