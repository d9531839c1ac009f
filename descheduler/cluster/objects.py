"""A snapshot of Kubernetes objects that a program holds as dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.kinds import kind_of
from descheduler.cluster.loading import paused_gc
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, SnapshotError
from descheduler.model.text.printable import printable

__all__ = ["snapshot_from_objects"]

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
