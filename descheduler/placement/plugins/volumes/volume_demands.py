"""What pods want of storage: bound volumes to be near to, and claims that get a volume where the pod goes."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

import numpy as np

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.volume_sources import PersistentVolume, PersistentVolumeClaim, migrated_affinity
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.volumes.claim_supply import ClaimSupply, UnboundClaim
from descheduler.placement.plugins.volumes.node_sets import NodeIndices, NodeSets
from descheduler.placement.plugins.volumes.pod_claims import PodClaim, PodClaims, is_read, not_found
from descheduler.placement.plugins.volumes.provisioning import Assumed
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import NodeTable
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

_PLUGIN = "VolumeBinding"
_CLASSES: Final = "StorageClass.storage.k8s.io"
_Affinity: TypeAlias = tuple[NodeSelectorTerm, ...] | None


class _VolumeReach:
    """From which nodes a bound volume can be reached, over one snapshot.

    Mirrors `checkBoundClaims` of `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding/binder.go` (1.36). A
    node that has left a storage plugin to its CSI driver is asked for the topology labels of the driver.
    """

    def __init__(self, snapshot: Snapshot, table: NodeTable, nodes: NodeSets) -> None:
        self._nodes = nodes
        self._migrated: dict[str, BoolMask] = {}
        for name, csi_node in snapshot.csi_nodes.items():
            for plugin in csi_node.migrated_plugins if name in table.index else ():
                has_migrated = self._migrated.setdefault(plugin, np.zeros(len(table), dtype=bool))
                has_migrated[table.index[name]] = True
        self._known: dict[tuple[str, _Affinity, _Affinity], NodeIndices] = {}

    def of(self, volume: PersistentVolume) -> NodeIndices | None:
        """Nodes that reach `volume`, ascending; None for all of them."""
        plugin, affinity = volume.in_tree_plugin, volume.node_affinity
        if plugin in self._migrated:
            migrated = migrated_affinity(plugin, affinity, volume.labels)
            if migrated != affinity:
                return self._mixed(plugin, affinity, migrated)
        return None if affinity is None else self._nodes.reaching(affinity)

    def _mixed(self, plugin: str, affinity: _Affinity, migrated: _Affinity) -> NodeIndices:
        key = (plugin, affinity, migrated)
        known = self._known.get(key)
        if known is None:
            reached, reached_by_driver = (self._nodes.mask(self._nodes.reaching(each)) for each in (affinity, migrated))
            known = np.flatnonzero(np.where(self._migrated[plugin], reached_by_driver, reached))
            self._known[key] = known
        return known


class VolumeDemand(NamedTuple):
    """What a pod wants of storage.

    `reaches` are the nodes that reach each bound volume, None for a volume that does not exist; volumes that every
    node reaches are left out.
    """

    reaches: tuple[NodeIndices | None, ...] = ()
    unbound: tuple[UnboundClaim, ...] = ()


class VolumeDemands:
    """Looks up what the pods of one shadow cluster want, once a placement class where that is the same for all."""

    def __init__(self, cluster: ShadowCluster, nodes: NodeSets) -> None:
        self._snapshot = cluster.snapshot
        self._claims = PodClaims(cluster)
        self._reach = _VolumeReach(cluster.snapshot, cluster.table, nodes)
        self._known: dict[PlacementClass, VolumeDemand | Obstacle] = {}

    def of(self, incoming: PlacementClass) -> VolumeDemand | Obstacle:
        """What the pod wants, or what makes that impossible on any node."""
        pod = incoming.pod
        if not pod.claim_names and not pod.ephemeral_volumes:
            return VolumeDemand()
        if pod.ephemeral_volumes:  # whose claims come and go with pods
            return self._look_up(pod)
        known = self._known.get(incoming)
        if known is None:
            known = self._known[incoming] = self._look_up(pod)
        return known

    def _look_up(self, pod: Pod) -> VolumeDemand | Obstacle:
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
        return VolumeDemand(tuple(reaches), unbound)

    def _fault(self, pod: Pod, entry: PodClaim) -> Obstacle | None:
        """Why a claim cannot be used at all, or cannot be judged."""
        claim = entry.claim
        if claim is None and not entry.is_ephemeral:
            return not_found(self._snapshot, _PLUGIN, "PersistentVolumeClaim", entry.name)
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
        """The part of the claim that the snapshot does not show."""
        snapshot = self._snapshot
        if claim.is_bound:
            is_unknown = claim.volume_name not in snapshot.volumes and not is_read(snapshot, "PersistentVolume")
            return not_found(snapshot, _PLUGIN, "PersistentVolume", claim.volume_name) if is_unknown else None
        is_unknown = claim.storage_class not in snapshot.storage_classes and not is_read(snapshot, _CLASSES)
        return not_found(snapshot, _PLUGIN, _CLASSES, claim.storage_class) if is_unknown else None

    def _waits(self, claim: PersistentVolumeClaim) -> bool:
        """Whether the scheduler chooses the claim's volume; one that names a volume is bound by somebody else."""
        storage_class = self._snapshot.storage_classes.get(claim.storage_class)
        return storage_class is not None and storage_class.waits_for_consumer and not claim.volume_name

    def _unresolvable(self, reason: str) -> Obstacle:
        return Obstacle(_PLUGIN, Code.UNRESOLVABLE, (reason,))


class VolumeLedger:
    """Takes volumes for the unbound claims of placed pods, and pins the claims whose volume is to be made.

    `demands` are what pods want and `supply` is what there is for them; both serve VolumeBinding's filter.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        nodes = NodeSets(cluster.table)
        self.demands = VolumeDemands(cluster, nodes)
        self.supply = ClaimSupply(cluster, nodes)

    def reserve(self, cycle: Cycle, node: int) -> tuple[Assumed, ...] | None:
        """Takes the volumes that the pod's claims get on `node` and pins the claims that get a new one.

        As in the scheduler, nothing is taken for a pod that VolumeBinding did not filter in the same cycle.
        Where the volumes of pods placed before may use up what a driver publishes, `cycle.notes` says so: the
        scheduler does not see it, but making the volume may fail.
        """
        demand = cycle.scratch.get("VolumeBinding")
        if not isinstance(demand, VolumeDemand) or not demand.unbound:
            return None
        taken, doubts = self.supply.assume(demand.unbound, node)
        cycle.notes.extend(doubts)
        return taken

    def restore(self, taken: tuple[Assumed, ...]) -> None:
        for assumed in taken:
            self.supply.assumed.hold(assumed)

    def release(self, taken: tuple[Assumed, ...]) -> None:
        for assumed in taken:
            self.supply.assumed.release(assumed)

    def fingerprint(self) -> object:
        return self.supply.assumed.fingerprint()
