"""VolumeBinding: bound claims are used where their volume is, others where they can get one; most room left is best.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding` (1.37). Placing a pod takes volumes for its
unbound claims, or pins the claims to the node that the volumes will be made for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
import numpy as np

from descheduler.model.text.amounts import amount_text
from descheduler.model.volume_sources import PersistentVolume, PersistentVolumeClaim, migrated_affinity
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind, ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import (
    PASS,
    SKIP,
    SKIP_FOR_GOOD,
    PreFilterResult,
    ReasonBits,
    Scores,
)
from descheduler.placement.framework.interactions import Interactions
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.helper.node_selector_words import unmet
from descheduler.placement.plugins.helper.scores import (
    Ints,
    ShapePoint,
    ShapePointSection,
    ratings_of,
    read_shape,
    shown_shape,
)
from descheduler.placement.plugins.volumes.claim_supply import ClaimSupply, FoundVolumes
from descheduler.placement.plugins.volumes.pod_claims import CLAIM_KINDS, NewVolumeInteractions, claims_of
from descheduler.placement.plugins.volumes.provisioning import MOST_BYTES
from descheduler.placement.plugins.volumes.volume_demands import VolumeLedger
from descheduler.placement.plugins.volumes.volume_pool import NO_VOLUME
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.policy.shared_args import Args

_FULL = 100


def _storage_scores(found: FoundVolumes, supply: ClaimSupply, ratings: Ints) -> Ints | None:
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
            percent = np.where(capacity == 0, _FULL, requested * _FULL // np.maximum(capacity, 1))
            total += np.where(concerned, ratings.take(percent, mode="clip"), 0)  # more than all is all
            number += concerned
        return (2 * total + number) // np.maximum(2 * number, 1)

    def _of_class(self, claim: PersistentVolumeClaim) -> tuple[BoolMask, Ints, Ints]:
        known = self._by_class.get(claim.storage_class)
        if known is None:
            num_nodes = len(self.nodes)
            amounts = np.zeros(num_nodes, dtype=np.int64), np.zeros(num_nodes, dtype=np.int64)
            known = self._by_class[claim.storage_class] = np.zeros(num_nodes, dtype=bool), *amounts
        return known


_SCORING_GATE = "StorageCapacityScoring"
_FOUND = "VolumeBinding/found"
"""Where a cycle keeps the volumes that the filter found for the pod, for the score."""


class VolumeFault(ObstacleReason):
    """The fault of a pod's volume that a node cannot provide."""

    ELSEWHERE = (
        1,
        "node(s) didn't match PersistentVolume's node affinity",
        "didn't match PersistentVolume's node affinity",
    )
    NO_VOLUME = (
        2,
        "node(s) didn't find available persistent volumes to bind",
        "didn't find available persistent volumes to bind",
    )
    NO_ROOM = (
        4,
        "node(s) did not have enough free storage",
        "did not have enough free storage",
    )
    VOLUME_LOST = (
        8,
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
        "unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    )


class VolumeBinding:
    """Matches claims and volumes as the scheduler would, one pod after the other; `ledger` keeps what is taken."""

    name = "VolumeBinding"
    is_static = False
    lasting = VolumeFault.ELSEWHERE.bit | VolumeFault.VOLUME_LOST.bit

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del profile  # the time-out for binding says nothing about where a pod fits
        self._table = cluster.table
        self.ledger = cluster.ledger(VolumeLedger)
        self.interactions: Interactions = NewVolumeInteractions(cluster.snapshot)
        """Placed pods take volumes away from those that need new ones, too."""

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Refuses pods with a claim that nothing can be done about; leaves those alone that have none."""
        pod = cycle.pod.pod
        if not pod.claim_names and not pod.ephemeral_volumes:
            return SKIP_FOR_GOOD
        demand = self.ledger.demands.of(cycle.pod)
        if isinstance(demand, Obstacle):
            return PreFilterResult(obstacle=demand)
        return PASS if demand.reaches or demand.unbound else SKIP

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
            found = cycle.scratch[_FOUND] = self.ledger.supply.volumes_for(demand.unbound)
            bits[found.no_volume] |= VolumeFault.NO_VOLUME.bit
            bits[found.no_room] |= VolumeFault.NO_ROOM.bit
        return bits if bits.any() else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        found = sorted((fault for fault in VolumeFault if bits & fault.bit), key=lambda fault: fault.reason)
        return Obstacle.of(self.name, Code.UNRESOLVABLE, *found)


class VolumeBindingScore:
    """Prefers nodes on which the volumes of unbound claims leave the most of a volume or of a published capacity."""

    name = "VolumeBinding"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._supply = cluster.ledger(VolumeLedger).supply
        self._ratings = ratings_of(profile.args.of(VolumeBindingArgs).shape)

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """The score of each node; None for a pod whose claims are bound, or whose volumes nothing is known of."""
        found = cycle.scratch.get(_FOUND)
        if not isinstance(found, FoundVolumes):
            return None
        scores = _storage_scores(found, self._supply, self._ratings)
        return None if scores is None else Scores(scores)


def explain_volume_binding(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The volumes that the node does not reach, and the claims that get none there."""
    for claim in claims_of(refused.pod, refused.cycle.cluster):
        if claim.is_bound:
            yield from _out_of_reach(refused, claim)
        elif claim.selected_node and claim.selected_node != refused.node.name:
            yield f"claim {claim.name} waits for its volume on node {claim.selected_node}"
        elif VolumeFault.NO_ROOM in obstacle.facts:
            room = amount_text("memory", claim.request_bytes)
            yield f"no room for the volume of claim {claim.name}: {room} of storage class {claim.storage_class}"
        elif VolumeFault.NO_VOLUME in obstacle.facts:
            yield (
                f"no volume for claim {claim.name}: no free volume of storage class {claim.storage_class} fits and"
                " is reachable from the node, and none can be provisioned"
            )


def _out_of_reach(refused: RefusedNode, claim: PersistentVolumeClaim) -> Iterator[str]:
    volume: PersistentVolume | None = refused.snapshot.volumes.get(claim.volume_name)
    if volume is None:
        yield f"claim {claim.name} is bound to volume {claim.volume_name}, which does not exist"
        return
    affinity = volume.node_affinity
    csi_node = refused.snapshot.csi_nodes.get(refused.node.name)
    if csi_node is not None and volume.in_tree_plugin in csi_node.migrated_plugins:
        affinity = migrated_affinity(volume.in_tree_plugin, affinity, volume.labels)
    for index, fault in enumerate(unmet(affinity or (), refused.node)):
        lead = "or with" if index else f"volume {volume.name} of claim {claim.name} is reachable only from nodes with"
        yield f"{lead} {fault}"


class VolumeBindingSection(Args, frozen=True):
    """`VolumeBindingArgs`."""

    bind_timeout_seconds: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] | None = None
    """How long binding may take, 600 by default; without effect here."""
    shape: tuple[ShapePointSection, ...] | None = None
    """Score of a node at a utilization of its storage; by default 10 at 0 and 0 at 100. Only with the gate
    StorageCapacityScoring, which is on from Kubernetes 1.37 on."""


class VolumeBindingArgs(msgspec.Struct, frozen=True):
    """How the storage of nodes is scored."""

    shape: tuple[ShapePoint, ...] = (ShapePoint(0, 10), ShapePoint(100, 0))


def _read_args(block: ArgsBlock, section: VolumeBindingSection) -> VolumeBindingArgs | None:
    if not section.shape:
        return None
    if not block.release.gate(_SCORING_GATE):
        block.warn(("shape",), f"is ignored; kube-scheduler scores storage with the gate {_SCORING_GATE} only")
        return None
    return VolumeBindingArgs(read_shape(block, section.shape, ("shape",)))


ROW = SchedulingPlugin(
    plugin=VolumeBinding,
    points=frozenset({"pre_filter", "filter", "pre_score", "score", "reserve", "pre_bind"}),
    by_default=ByDefault(),
    prepared_for=frozenset({"filter", "reserve"}),
    score=VolumeBindingScore,
    args=ArgsKind(VolumeBindingSection, _read_args, VolumeBindingArgs, lambda args: {"shape": shown_shape(args.shape)}),
    explain=explain_volume_binding,
    scoring_gate=_SCORING_GATE,
    reads_kinds=CLAIM_KINDS
    | {"CSINode.storage.k8s.io", "CSIDriver.storage.k8s.io", "CSIStorageCapacity.storage.k8s.io"},
    about=About(
        check="Bound volumes must be reachable from the node, and unbound claims must get a volume there.",
        preference="Nodes on which the pod's new volumes take the smallest share of the storage.",
        reasons=(
            *(fault.reason for fault in VolumeFault),
            "pod has unbound immediate PersistentVolumeClaims",
        ),
    ),
)
