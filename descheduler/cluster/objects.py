"""A snapshot of Kubernetes objects that a program holds as dictionaries, or with such objects that are not
created yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.kinds import kind_of
from descheduler.cluster.loading import paused_gc
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, SnapshotError, snapshot_fields
from descheduler.model.groups.gangs import POD_GROUP_API_GROUPS
from descheduler.model.resource_claims import DEVICE_KINDS
from descheduler.model.text.printable import printable

_encode = msgspec.json.Encoder().encode


def snapshot_from_objects(objects: Iterable[Mapping[str, object]], request: SnapshotRequest | None = None) -> Snapshot:
    """The snapshot of `objects`, lists of them included; kinds that no rule reads are passed over.

    Nothing has to be there: no objects are an empty cluster. Times may be strings or aware datetimes. Raises
    SnapshotError, naming the object, for what is no Kubernetes object.
    """
    builder = SnapshotBuilder("objects", request or SnapshotRequest())
    with paused_gc():
        for index, item in enumerate(objects):
            _add(builder, item, index)
        return builder.finish()


def _add(builder: SnapshotBuilder, item: object, index: int) -> None:
    if not isinstance(item, Mapping):
        raise SnapshotError(f"objects[{index}]: a {type(item).__name__} instead of a Kubernetes object as a dict")
    name, version = item.get("kind"), item.get("apiVersion")
    if not isinstance(name, str) or not name:
        raise SnapshotError(f"objects[{index}]: no kind; pass whole Kubernetes objects with apiVersion and kind")
    kind = kind_of(builder.request.kinds, version if isinstance(version, str) else "", name)
    try:
        if kind is not None:
            builder.add(kind, _json(item, index, name))
        elif name.endswith("List"):
            builder.add_object(_json(item, index, name))
    except RecursionError:
        if kind is None:
            raise SnapshotError(f"objects[{index}] ({printable(name)}) is nested too deeply") from None
        builder.add_deep(kind, _name_of(item))


def _name_of(item: Mapping[str, object]) -> str:
    metadata = item.get("metadata")
    parts = [metadata.get(key) for key in ("namespace", "name")] if isinstance(metadata, Mapping) else []
    return "/".join(part for part in parts if isinstance(part, str) and part)


def _json(item: Mapping[str, object], index: int, name: str) -> bytes:
    """The object in JSON. Raises SnapshotError for what is not plain data, RecursionError for what nests too deeply."""
    try:
        return _encode(item)
    except (TypeError, ValueError) as error:
        raise SnapshotError(f"objects[{index}] ({printable(name)}) is not plain data: {error}") from error


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
