"""A snapshot with pods, and PodGroups, that are not created yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, snapshot_fields

__all__ = ["with_wanted_pods"]


def with_wanted_pods(snapshot: Snapshot, objects: Sequence[Mapping[str, object]], request: SnapshotRequest) -> Snapshot:
    """`snapshot`, which was read by `request`, as if `objects` had been created: pods and their PodGroups.

    A pod that is pending is replaced, a PodGroup that exists stays. Raises SnapshotError for what is no object.
    """
    if not objects:
        return snapshot
    made = snapshot_from_objects(objects, request)
    wanted = {pod.key: pod for pod in made.pods}
    others = (pod for pod in snapshot.pods if pod.node_name or pod.key not in wanted)
    pods = tuple(sorted((*others, *wanted.values()), key=lambda pod: (pod.namespace, pod.name)))
    groups = {kind: items for kind, items in made.objects.items() if kind.startswith("PodGroup.") and items}
    if not groups:
        return replace(snapshot, pods=pods)
    kept = {kind: items for kind, items in snapshot.objects.items() if kind not in ("Node", "Pod")}
    return replace(snapshot, **snapshot_fields(snapshot.nodes, pods, {**kept, **_added(kept, groups)}))


def _added(kept: Mapping[str, tuple[Any, ...]], new: Mapping[str, tuple[Any, ...]]) -> Mapping[str, tuple[Any, ...]]:
    """The objects of the kinds of `new`, those of the same name once."""
    return {
        kind: tuple({(each.namespace, each.name): each for each in (*items, *kept.get(kind, ()))}.values())
        for kind, items in new.items()
    }
