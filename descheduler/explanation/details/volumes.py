"""VolumeBinding, VolumeZone, VolumeRestrictions and NodeVolumeLimits: which volume is out of reach, and who has it."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.explanation.details.node_conditions import unmet
from descheduler.explanation.details.site import Site
from descheduler.model.in_tree_volumes import migrated_affinity
from descheduler.model.storage import READ_WRITE_ONCE_POD, PersistentVolume, PersistentVolumeClaim
from descheduler.placement.framework.extension_points import Obstacle
from descheduler.placement.plugins.volume_binding import VolumeFault
from descheduler.placement.plugins.volumes.attachable import AttachableVolumes
from descheduler.placement.plugins.volumes.attached_volumes import AttachedVolumes
from descheduler.placement.plugins.volumes.pod_claims import PodClaims
from descheduler.report.amounts import amount_text

__all__ = ["explain_volume_binding", "explain_volume_limits", "explain_volume_restrictions", "explain_volume_zone"]

_PLACE = ("/zone", "/region")


def explain_volume_binding(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """The volumes that the node does not reach, and the claims that get none there."""
    for claim in _claims(site):
        if claim.is_bound:
            yield from _out_of_reach(site, claim)
        elif claim.selected_node and claim.selected_node != site.node.name:
            yield f"claim {claim.name} waits for its volume on node {claim.selected_node}"
        elif VolumeFault.NO_ROOM in obstacle.facts:
            room = amount_text("memory", claim.request_bytes)
            yield f"no room for the volume of claim {claim.name}: {room} of storage class {claim.storage_class}"
        else:
            yield (
                f"claim {claim.name} gets no volume here: none of storage class {claim.storage_class} that is free"
                " and fits is reached from the node, and none can be made for it"
            )


def explain_volume_zone(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """The volumes of another zone."""
    del obstacle
    for claim in _claims(site):
        volume = site.snapshot.volumes.get(claim.volume_name)
        for key, places in sorted(volume.labels.items()) if volume is not None else ():
            here = site.node.labels.get(key)
            if key.endswith(_PLACE) and here is not None and here not in places.split("__"):
                yield f"volume {claim.volume_name} of claim {claim.name} is in {key}={places}, the node in {here}"


def explain_volume_restrictions(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """Who uses a claim that is for one pod alone, or mounts the same disk."""
    del obstacle
    alone = {claim.name for claim in _claims(site) if READ_WRITE_ONCE_POD in claim.access_modes}
    for pod, node in site.pods_everywhere() if alone else ():
        for name in sorted(alone.intersection(pod.claim_names)) if pod.namespace == site.pod.namespace else ():
            yield f"claim {name} is for one pod alone, and {pod.key} on {node.name} uses it"
    disks = {(disk.kind, disk.identity) for disk in site.pod.spec.inline_disks if disk.is_exclusive}
    for pod in site.pods_here() if disks else ():
        for disk in pod.spec.inline_disks:
            if (disk.kind, disk.identity) in disks:
                yield f"{pod.key} mounts the same disk {'/'.join(disk.identity)}"


def explain_volume_limits(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """The drivers that cannot attach more volumes to the node."""
    del obstacle
    cluster = site.cycle.cluster
    volumes = AttachableVolumes(site.snapshot).of(site.pod, PodClaims(cluster).of(site.pod))
    for driver, held, new, limit in cluster.follow(AttachedVolumes).overflow(volumes, site.node_index):
        yield f"driver {driver} attaches {limit} volumes at most; {held} are attached and the pod brings {new} more"


def _out_of_reach(site: Site, claim: PersistentVolumeClaim) -> Iterator[str]:
    volume: PersistentVolume | None = site.snapshot.volumes.get(claim.volume_name)
    if volume is None:
        yield f"claim {claim.name} is bound to volume {claim.volume_name}, which does not exist"
        return
    affinity = volume.node_affinity
    csi_node = site.snapshot.csi_nodes.get(site.node.name)
    if csi_node is not None and volume.in_tree_plugin in csi_node.migrated_plugins:
        affinity = migrated_affinity(volume.in_tree_plugin, affinity, volume.labels)
    for index, fault in enumerate(unmet(affinity or (), site.node)):
        lead = "or with" if index else f"volume {volume.name} of claim {claim.name} is reached only from nodes with"
        yield f"{lead} {fault}"


def _claims(site: Site) -> Iterator[PersistentVolumeClaim]:
    for entry in PodClaims(site.cycle.cluster).of(site.pod):
        if entry.claim is not None and not entry.is_foreign:
            yield entry.claim
