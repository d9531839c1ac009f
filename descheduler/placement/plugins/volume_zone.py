"""Filter VolumeZone: volumes that name their zone in labels are used from that zone alone.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np

from descheduler.model.pod import Pod
from descheduler.model.selection.labels import Requirement
from descheduler.model.volume_sources import PersistentVolume
from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.plugins.helper.node_selector_words import label_found
from descheduler.placement.plugins.volumes.node_sets import NodeSets
from descheduler.placement.plugins.volumes.pod_claims import CLAIM_KINDS, not_found
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

_CURRENT_KEYS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}
"""Each label key that names a place → the key that nodes carry now in its stead."""
_SEPARATOR = "__"

_Zone: TypeAlias = tuple[str, frozenset[str]]
"""A label key that names a place, and the places of a volume."""


class ZoneReason(ObstacleReason):
    """Why a node is out of reach of a volume, and claims of which that cannot be said."""

    ANOTHER_ZONE = 1, "node(s) had no available volume zone", "had no available volume zone"
    NAMELESS_CLAIM = 0, "PersistentVolumeClaim had no name", "persistentVolumeClaim had no name"
    NO_CLASS = (
        0,
        "PersistentVolumeClaim had no pv name and storageClass name",
        "persistentVolumeClaim had no pv name and storageClass name",
    )
    UNBOUND = 0, "PersistentVolume had no name", "persistentVolume had no name"


class VolumeZone:
    """Looks at the claims that a pod names; those of ephemeral volumes are passed over."""

    name = "VolumeZone"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del profile  # nothing can be configured
        self._snapshot = cluster.snapshot
        self._nodes = NodeSets(cluster.table)
        self._served: dict[_Zone, BoolMask] = {}

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Refuses pods with a claim that cannot be followed to its volume or to a class that waits."""
        pod = cycle.pod.pod
        zones = self._zones(pod) if pod.claim_names else ()
        if isinstance(zones, Obstacle):
            return PreFilterResult(obstacle=zones)
        return PASS if zones else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nodes in another zone. A node that names no place at all passes."""
        zones = self._zones(cycle.pod.pod)
        if isinstance(zones, Obstacle) or not zones:
            return None
        served = np.logical_and.reduce([self._serving(zone) for zone in zones])
        return None if served.all() else np.where(served, 0, ZoneReason.ANOTHER_ZONE.bit).astype(np.uint32)

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        return Obstacle.of(self.name, Code.UNRESOLVABLE, ZoneReason.ANOTHER_ZONE)

    def _zones(self, pod: Pod) -> tuple[_Zone, ...] | Obstacle:
        """Where the volumes of the pod's claims are, as far as they say so."""
        zones: dict[_Zone, None] = {}
        for name in pod.claim_names:
            volume = self._volume(pod, name)
            if isinstance(volume, Obstacle):
                return volume
            if volume is not None:
                zones.update(dict.fromkeys(_zones_of(volume.labels)))
        return tuple(zones)

    def _volume(self, pod: Pod, name: str) -> PersistentVolume | Obstacle | None:
        """The volume of a claim; None where it is chosen with the node."""
        if not name:
            return self._refuse(ZoneReason.NAMELESS_CLAIM)
        claim = self._snapshot.claims.get((pod.namespace, name))
        if claim is None:
            return not_found(self._snapshot, self.name, "PersistentVolumeClaim", name)
        if claim.volume_name:
            volume = self._snapshot.volumes.get(claim.volume_name)
            return volume or not_found(self._snapshot, self.name, "PersistentVolume", claim.volume_name)
        if not claim.storage_class:
            return self._refuse(ZoneReason.NO_CLASS)
        storage_class = self._snapshot.storage_classes.get(claim.storage_class)
        if storage_class is None:
            return not_found(self._snapshot, self.name, "StorageClass.storage.k8s.io", claim.storage_class)
        return None if storage_class.waits_for_consumer else self._refuse(ZoneReason.UNBOUND)

    def _refuse(self, reason: ZoneReason) -> Obstacle:
        return Obstacle.of(self.name, Code.UNRESOLVABLE, reason)

    def _serving(self, zone: _Zone) -> BoolMask:
        known = self._served.get(zone)
        if known is None:
            known = self._served[zone] = self._match(*zone)
        return known

    def _match(self, key: str, places: frozenset[str]) -> BoolMask:
        nodes = self._nodes
        has_key = nodes.mask(nodes.meeting_any([(Requirement(key, "Exists"),)]))
        served = nodes.mask(nodes.meeting_any([(Requirement(key, "In", places),)]))
        current = nodes.mask(nodes.meeting_any([(Requirement(_CURRENT_KEYS[key], "In", places),)]))
        nowhere = nodes.meeting_any([tuple(Requirement(place, "DoesNotExist") for place in _CURRENT_KEYS)])
        return served | (current & ~has_key) | nodes.mask(nowhere)


def _zones_of(labels: Mapping[str, str]) -> list[_Zone]:
    """The places that a volume's labels name. A list of several is ignored when an entry of it is empty."""
    zones = []
    for key in _CURRENT_KEYS:
        if key in labels:
            places = [place.strip() for place in labels[key].split(_SEPARATOR)]
            if all(places):
                zones.append((key, frozenset(places)))
    return zones


def explain_volume_zone(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The volumes of another zone."""
    labels, snapshot = refused.node.labels, refused.snapshot
    for name in dict.fromkeys(refused.pod.claim_names):
        claim = snapshot.claims.get((refused.pod.namespace, name))
        volume = None if claim is None else snapshot.volumes.get(claim.volume_name)
        if volume is None:
            continue
        for key, places in _zones_of(volume.labels):
            here = labels.get(key, labels.get(_CURRENT_KEYS[key]))
            if here not in places:
                found = label_found(labels, key) if here is None else f"the node in {here}"
                yield f"volume {volume.name} of claim {name} is in {key}={volume.labels[key]}, {found}"


ROW = SchedulingPlugin(
    plugin=VolumeZone,
    points=frozenset({"pre_filter", "filter"}),
    by_default=ByDefault(),
    interactions=own_node,
    explain=explain_volume_zone,
    reads_kinds=CLAIM_KINDS,
    about=About(
        check="A volume with zone or region labels can be used only there.",
        reasons=(ZoneReason.ANOTHER_ZONE.reason,),
    ),
)
