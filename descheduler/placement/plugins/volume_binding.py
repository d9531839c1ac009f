"""Filter VolumeBinding: bound claims are used where their volume is, others where they can get one.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding` (1.36). Placing a pod takes volumes for its
unbound claims, or pins the claims to the node that the volumes will be made for.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from descheduler.placement.framework.extension_points import SKIP, Code, Obstacle, PreFilterResult, ReasonBits
from descheduler.placement.plugins.volumes.volume_ledger import VolumeLedger
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

if TYPE_CHECKING:
    from descheduler.model.pod import Pod
    from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile

__all__ = ["ClaimInteractions", "VolumeBinding", "VolumeFault"]


class VolumeFault(Enum):
    """What of a pod's volumes is not to be had on a node, by its bit, with the scheduler's words for it."""

    ELSEWHERE = 1, "node(s) didn't match PersistentVolume's node affinity"
    NO_VOLUME = 2, "node(s) didn't find available persistent volumes to bind"
    NO_ROOM = 4, "node(s) did not have enough free storage"
    VOLUME_LOST = 8, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"

    def __init__(self, bit: int, reason: str) -> None:
        self.bit = bit
        self.reason = reason


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
        cycle.scratch[self.name] = demand
        bits = np.zeros(len(self._table), dtype=np.uint32)
        is_open = np.ones(len(self._table), dtype=bool)
        for reach in demand.reaches:
            # The first bound volume out of reach decides what is said of a node.
            missed = is_open.copy()
            if reach is not None:
                missed[reach] = False
            bits[missed] = VolumeFault.VOLUME_LOST.bit if reach is None else VolumeFault.ELSEWHERE.bit
            is_open &= ~missed
        if demand.unbound:
            found = self.ledger.supply.volumes_for(demand.unbound)
            bits[found.no_volume] |= VolumeFault.NO_VOLUME.bit
            bits[found.no_room] |= VolumeFault.NO_ROOM.bit
        return bits if bits.any() else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """All reasons of `bits`."""
        del cycle, node
        found = sorted((fault for fault in VolumeFault if bits & fault.bit), key=lambda fault: fault.reason)
        return Obstacle(self.name, Code.UNRESOLVABLE, tuple(fault.reason for fault in found), tuple(found))


class ClaimInteractions:
    """Volumes that one pod takes are gone for pods on other nodes too, and so is a claim that one pod alone may use."""

    def can_be_helped(self, pod: Pod) -> bool:
        """Never: others only take volumes away."""
        del pod
        return False

    def is_local(self, pod: Pod) -> bool:
        """Whether it uses no claims."""
        return not _has_claims(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Not beyond those that use claims, which are not local themselves."""
        del pod
        return False

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether both use claims."""
        return _has_claims(first) and _has_claims(second)


def _has_claims(pod: Pod) -> bool:
    return bool(pod.claim_names or pod.ephemeral_volumes)
