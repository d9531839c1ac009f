"""Filter VolumeBinding: bound claims are used where their volume is, others where they can get one.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding` (1.36). Placing a pod takes volumes for its
unbound claims, or pins the claims to the node that the volumes will be made for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from descheduler.model.pod import Pod
from descheduler.model.storage import PersistentVolumeClaim
from descheduler.placement.framework import SKIP, Code, Cycle, Obstacle, PreFilterResult, ReasonBits
from descheduler.placement.shadow_cluster import ShadowCluster
from descheduler.placement.volumes.assumed_volumes import Assumed
from descheduler.placement.volumes.claim_supply import ClaimSupply, UnboundClaim
from descheduler.placement.volumes.node_sets import NodeIndices, NodeSets
from descheduler.placement.volumes.pod_claims import PodClaim, PodClaims, is_read, not_found
from descheduler.placement.volumes.volume_reach import VolumeReach

if TYPE_CHECKING:
    from descheduler.placement.incoming import Incoming
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


class _Demand(NamedTuple):
    """What a pod wants of storage.

    `reaches` are the nodes that reach each bound volume, None for a volume that does not exist; volumes that every
    node reaches are left out.
    """

    reaches: tuple[NodeIndices | None, ...] = ()
    unbound: tuple[UnboundClaim, ...] = ()


class VolumeBinding:
    """Matches claims and volumes as the scheduler would, one pod after the other."""

    name = "VolumeBinding"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del profile  # the time-out for binding says nothing about where a pod fits
        self._snapshot = cluster.snapshot
        self._table = cluster.table
        self._claims = PodClaims(cluster)
        self._nodes = NodeSets(cluster.table)
        self._supply = ClaimSupply(cluster, self._nodes)
        self._reach = VolumeReach(cluster.snapshot, cluster.table, self._nodes)
        self._demands: dict[Incoming, _Demand | Obstacle] = {}

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Refuses pods with a claim that nothing can be done about; leaves those alone that have none."""
        pod = cycle.pod.pod
        if not pod.claim_names and not pod.ephemeral_volumes:
            return SKIP
        demand = self._demand_of(cycle.pod)
        if isinstance(demand, Obstacle):
            return PreFilterResult(obstacle=demand)
        return _PASS if demand.reaches or demand.unbound else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nodes that do not reach a bound volume, and those where an unbound claim gets none."""
        demand = self._demand_of(cycle.pod)
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
            offer = self._supply.offer(demand.unbound)
            bits[offer.no_volume] |= _NO_VOLUME
            bits[offer.no_room] |= _NO_ROOM
        return bits if bits.any() else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """All reasons of `bits`."""
        del cycle, node
        reasons = sorted(reason for bit, reason in _REASONS.items() if bits & bit)
        return Obstacle(self.name, Code.UNRESOLVABLE, tuple(reasons))

    def reserve(self, cycle: Cycle, node: int) -> Assumed:
        """Takes the volumes that the pod's claims get on `node` and pins the claims that get a new one.

        Where the volumes of pods placed before may use up what a driver publishes, `cycle.notes` says so: the
        scheduler does not see it, but making the volume may fail.
        """
        pod = cycle.pod.pod
        demand = self._demand_of(cycle.pod) if pod.claim_names or pod.ephemeral_volumes else _Demand()
        if isinstance(demand, Obstacle) or not demand.unbound:
            return Assumed()
        assumed, doubts = self._supply.assume(demand.unbound, node)
        cycle.notes.extend(doubts)
        return assumed

    def unreserve(self, taken: object) -> None:
        """Gives back what `reserve` took."""
        if isinstance(taken, Assumed):
            self._supply.release(taken)

    def _demand_of(self, incoming: Incoming) -> _Demand | Obstacle:
        """What the pod wants, or what makes that impossible on any node."""
        pod = incoming.pod
        if pod.ephemeral_volumes:  # whose claims come and go with pods
            return self._look_up(pod)
        known = self._demands.get(incoming)
        if known is None:
            known = self._demands[incoming] = self._look_up(pod)
        return known

    def _look_up(self, pod: Pod) -> _Demand | Obstacle:
        entries = self._claims.of(pod)
        for entry in entries:
            if (fault := self._fault(pod, entry)) is not None:
                return fault
        claims = [UnboundClaim(entry.claim, entry.is_new) for entry in entries if entry.claim is not None]
        unbound = tuple(wanted for wanted in claims if not wanted.claim.is_bound)
        for wanted in unbound:
            if not self._waits(wanted.claim):
                return self._unresolvable("pod has unbound immediate PersistentVolumeClaims")
        reaches: list[NodeIndices | None] = []
        for wanted in claims:
            if wanted.claim.is_bound:
                volume = self._snapshot.volumes.get(wanted.claim.volume_name)
                if volume is None:
                    reaches.append(None)
                elif (reach := self._reach.of(volume)) is not None:
                    reaches.append(reach)
        return _Demand(tuple(reaches), unbound)

    def _fault(self, pod: Pod, entry: PodClaim) -> Obstacle | None:
        """Why a claim cannot be used at all, or cannot be judged."""
        claim = entry.claim
        if claim is None and not entry.is_ephemeral:
            return not_found(self._snapshot, self.name, "PersistentVolumeClaim", entry.name)
        if claim is None:
            reason = f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{entry.name}"'
        elif claim.phase == "Lost":
            reason = (
                f'persistentvolumeclaim "{claim.name}" bound to non-existent persistentvolume "{claim.volume_name}"'
            )
        elif claim.is_deleting:
            reason = f'persistentvolumeclaim "{claim.name}" is being deleted'
        elif entry.is_foreign:
            reason = f"PVC {claim.namespace}/{claim.name} was not created for pod {pod.key} (pod is not owner)"
        else:
            return self._unread(claim)
        return self._unresolvable(reason)

    def _unread(self, claim: PersistentVolumeClaim) -> Obstacle | None:
        """What of the claim the snapshot cannot tell."""
        snapshot = self._snapshot
        if claim.is_bound:
            is_unknown = claim.volume_name not in snapshot.volumes and not is_read(snapshot, "PersistentVolume")
            return not_found(snapshot, self.name, "PersistentVolume", claim.volume_name) if is_unknown else None
        is_unknown = claim.storage_class not in snapshot.storage_classes and not is_read(snapshot, "StorageClass")
        return not_found(snapshot, self.name, "StorageClass", claim.storage_class) if is_unknown else None

    def _waits(self, claim: PersistentVolumeClaim) -> bool:
        """Whether the scheduler chooses the claim's volume; one that names a volume is bound by somebody else."""
        storage_class = self._snapshot.storage_classes.get(claim.storage_class)
        return storage_class is not None and storage_class.waits_for_consumer and not claim.volume_name

    def _unresolvable(self, reason: str) -> Obstacle:
        return Obstacle(self.name, Code.UNRESOLVABLE, (reason,))
