"""What a cluster has of what room is held by."""

from __future__ import annotations

import msgspec

from descheduler.kube.discovery import ServerFacts
from descheduler.kube.objects import ObjectCalls

__all__ = ["ClusterOffer", "find_offer"]

_KOORDINATOR_GROUP = "scheduling.koordinator.sh"
_PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


class ClusterOffer(msgspec.Struct, frozen=True):
    """Whether there are PodMigrationJobs, Reservations and the PriorityClass of placeholders."""

    has_jobs: bool = False
    has_reservations: bool = False
    has_placeholder_class: bool = False


class _Resource(msgspec.Struct):
    name: str


class _ResourceList(msgspec.Struct):
    resources: list[_Resource]


_decode_resources = msgspec.json.Decoder(_ResourceList).decode


def find_offer(objects: ObjectCalls, server: ServerFacts, priority_class: str = "") -> ClusterOffer:
    """What the server behind `objects` offers; a PriorityClass is looked for if named. Raises ExchangeError."""
    names: set[str] = set()
    if _KOORDINATOR_GROUP in server.groups:
        found = objects.read(f"/apis/{_KOORDINATOR_GROUP}/v1alpha1", _decode_resources)
        names = {resource.name for resource in found.resources} if found is not None else set()
    has_class = bool(priority_class) and objects.read(f"{_PRIORITY_CLASSES}/{priority_class}", bytes) is not None
    return ClusterOffer("podmigrationjobs" in names, "reservations" in names, has_class)
