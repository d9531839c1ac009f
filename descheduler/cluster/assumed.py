"""A snapshot with objects that are not created yet: pods, their PodGroups, and what devices are told by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, snapshot_fields
from descheduler.model.groups.gangs import POD_GROUP_API_GROUPS
from descheduler.model.resource_claims import DEVICE_KINDS

__all__ = ["with_assumed"]

_ASSUMED = (*DEVICE_KINDS, *(f"PodGroup.{group}" for group in POD_GROUP_API_GROUPS))


def with_assumed(snapshot: Snapshot, objects: Sequence[Mapping[str, object]], request: SnapshotRequest) -> Snapshot:
    """`snapshot`, which was read by `request`, as if pods, PodGroups and objects of devices had been created.

    Of two with the same name the new one counts, unless it is a pod that runs, or a PodGroup, whose status counts.
    Raises SnapshotError for what is no such object.
    """
    if not objects:
        return snapshot
    found = snapshot_from_objects(objects, request)
    wanted = {pod.key: pod for pod in found.pods}
    others = (pod for pod in snapshot.pods if pod.node_name or pod.key not in wanted)
    pods = tuple(sorted((*others, *wanted.values()), key=lambda pod: (pod.namespace, pod.name)))
    held = {kind: items for kind, items in snapshot.objects.items() if kind not in ("Node", "Pod")}
    added = {kind: items for kind in _ASSUMED if (items := found.objects.get(kind))}
    for kind, items in added.items():
        here = held.get(kind, ())
        held[kind] = _merged(items, here) if kind in DEVICE_KINDS else _merged(here, items)
    fields = snapshot_fields(snapshot.nodes, pods, held)
    return replace(snapshot, **fields, kinds=snapshot.kinds | added.keys())


def _merged(first: Iterable[Any], then: Iterable[Any]) -> tuple[Any, ...]:
    """All of `first`, and of `then` what has another name."""
    named = {(getattr(each, "namespace", ""), each.name): each for each in (*then, *first)}
    return tuple(named.values())
