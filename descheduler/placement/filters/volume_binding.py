"""Filter VolumeBinding: bound claims are used where their volume is, others where they can get one.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding` (1.36). Placing a pod takes volumes for its
unbound claims, or pins the claims to the node that the volumes will be made for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from descheduler.placement.framework import SKIP, Code, Cycle, Obstacle, PreFilterResult, ReasonBits
from descheduler.placement.shadow_cluster import ShadowCluster
from descheduler.placement.volumes.volume_ledger import VolumeLedger

if TYPE_CHECKING:
    from descheduler.policy.scheduler_profile import SchedulerProfile

__all__ = ["VolumeBinding"]

_ELSEWHERE, _NO_VOLUME, _NO_ROOM, _VOLUME_LOST = 1, 2, 4, 8
_REASONS = {
    _ELSEWHERE: "node(s) didn't match PersistentVolume's node affinity",
    _NO_VOLUME: "node(s) didn't find available persistent volumes to bind",
    _NO_ROOM: "node(s) did not have enough free storage",
    _VOLUME_LOST: "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
}
_PASS = PreFilterResult()


class VolumeBinding:
    """Matches claims and volumes as the scheduler would, one pod after the other; `ledger` keeps what is taken."""

    name = "VolumeBinding"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del profile  # the time-out for binding says nothing about where a pod fits
        self._table = cluster.table
        self.ledger = cluster.ledger(VolumeLedger)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Refuses pods with a claim that nothing can be done about; leaves those alone that have none."""
        pod = cycle.pod.pod
        if not pod.claim_names and not pod.ephemeral_volumes:
            return SKIP
        demand = self.ledger.demands.of(cycle.pod)
        if isinstance(demand, Obstacle):
            return PreFilterResult(obstacle=demand)
        return _PASS if demand.reaches or demand.unbound else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nodes that do not reach a bound volume, and those where an unbound claim gets none."""
        demand = self.ledger.demands.of(cycle.pod)
        if isinstance(demand, Obstacle):
            return None
        bits = np.zeros(len(self._table), dtype=np.uint32)
        is_open = np.ones(len(self._table), dtype=bool)
        for reach in demand.reaches:
            # The first bound volume out of reach decides what is said of a node.
            missed = is_open.copy()
            if reach is not None:
                missed[reach] = False
            bits[missed] = _VOLUME_LOST if reach is None else _ELSEWHERE
            is_open &= ~missed
        if demand.unbound:
            offer = self.ledger.supply.offer(demand.unbound)
            bits[offer.no_volume] |= _NO_VOLUME
            bits[offer.no_room] |= _NO_ROOM
        return bits if bits.any() else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """All reasons of `bits`."""
        del cycle, node
        reasons = sorted(reason for bit, reason in _REASONS.items() if bits & bit)
        return Obstacle(self.name, Code.UNRESOLVABLE, tuple(reasons))
