"""How much of the storage of each node a pod's claims would take, as a score.

Mirrors `scorer.go` and `Score` of `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding` (1.37).
"""

from __future__ import annotations

import numpy as np

from descheduler.model.volume_sources import PersistentVolumeClaim
from descheduler.placement.plugins.helper.score_arithmetic import Ints
from descheduler.placement.plugins.volumes.claim_supply import ClaimSupply, FoundVolumes
from descheduler.placement.plugins.volumes.provisioning import MOST_BYTES
from descheduler.placement.plugins.volumes.volume_pool import NO_VOLUME
from descheduler.placement.shadow.node_masks import BoolMask

__all__ = ["storage_scores"]

_FULL = 100


def storage_scores(found: FoundVolumes, supply: ClaimSupply, ratings: Ints) -> Ints | None:
    """The score of each node for the volumes that a pod's claims get there; None where nothing is to be scored.

    `ratings` are the scores at 0 to 100 percent. A node on which a claim gets a volume that exists is scored by such
    volumes alone; what others publish of their capacity counts elsewhere.
    """
    existing, new = _Storage(len(found.no_volume)), _Storage(len(found.no_volume))
    for wanted, ranks in found.matched:
        has_volume = ranks != NO_VOLUME
        if has_volume.any():
            sizes = np.zeros(len(ranks), dtype=np.int64)
            sizes[has_volume] = supply.volume_bytes(wanted.claim.storage_class)[ranks[has_volume]]
            existing.add(wanted.claim, has_volume, existing.capacity(wanted.claim) + sizes)
    for wanted, nodes in found.provisioned:
        offered = supply.provisioning.offered(wanted.claim)
        if offered is not None:
            new.add(wanted.claim, nodes, offered)
    if not existing.has_any and not new.has_any:
        return None
    return np.where(existing.nodes, existing.scores(ratings), new.scores(ratings))


class _Storage:
    """What claims request of storage on each node, and what there is of it, by storage class."""

    def __init__(self, num_nodes: int) -> None:
        self.nodes: BoolMask = np.zeros(num_nodes, dtype=bool)
        self._by_class: dict[str, tuple[BoolMask, Ints, Ints]] = {}

    @property
    def has_any(self) -> bool:
        """Whether there is storage to be scored."""
        return bool(self._by_class)

    def capacity(self, claim: PersistentVolumeClaim) -> Ints:
        """What there is for the claim's class so far."""
        return self._of_class(claim)[2]

    def add(self, claim: PersistentVolumeClaim, nodes: BoolMask, capacity: Ints) -> None:
        """Adds what `claim` requests on `nodes`, where there is now `capacity` for its class."""
        concerned, requested, total = self._of_class(claim)
        self.nodes |= nodes
        concerned |= nodes
        requested[nodes] += min(claim.request_bytes, MOST_BYTES)
        total[nodes] = capacity[nodes]

    def scores(self, ratings: Ints) -> Ints:
        """The rounded mean of the classes that are concerned on each node, 0 where none is."""
        total, number = np.zeros(len(self.nodes), dtype=np.int64), np.zeros(len(self.nodes), dtype=np.int64)
        for concerned, requested, capacity in self._by_class.values():
            is_full = (capacity == 0) | (requested > capacity)
            percent = np.where(is_full, _FULL, requested * _FULL // np.maximum(capacity, 1))
            total += np.where(concerned, ratings.take(percent, mode="clip"), 0)
            number += concerned
        return (2 * total + number) // np.maximum(2 * number, 1)

    def _of_class(self, claim: PersistentVolumeClaim) -> tuple[BoolMask, Ints, Ints]:
        known = self._by_class.get(claim.storage_class)
        if known is None:
            num_nodes = len(self.nodes)
            amounts = np.zeros(num_nodes, dtype=np.int64), np.zeros(num_nodes, dtype=np.int64)
            known = self._by_class[claim.storage_class] = np.zeros(num_nodes, dtype=bool), *amounts
        return known
