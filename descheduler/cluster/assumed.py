"""A snapshot with objects that are not created yet: pods, and what devices are told by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.resource_claims import DEVICE_KINDS

__all__ = ["with_assumed"]


def with_assumed(snapshot: Snapshot, objects: Sequence[Mapping[str, object]], request: SnapshotRequest) -> Snapshot:
    """`snapshot`, which was read by `request`, as if pods and objects of devices had been created.

    One of the same name is replaced, unless it is a pod that runs. Raises SnapshotError for what is no such object.
    """
    if not objects:
        return snapshot
    found = snapshot_from_objects(objects, request)
    wanted = {pod.key: pod for pod in found.pods}
    others = (pod for pod in snapshot.pods if pod.node_name or pod.key not in wanted)
    added = {kind: tuple(_merged(snapshot.objects.get(kind, ()), found.objects.get(kind, ()))) for kind in DEVICE_KINDS}
    named = {kind: merged for kind, merged in added.items() if found.objects.get(kind)}
    return replace(
        snapshot,
        pods=tuple(sorted((*others, *wanted.values()), key=lambda pod: (pod.namespace, pod.name))),
        objects={**snapshot.objects, **named},
        kinds=snapshot.kinds | named.keys(),
    )


def _merged(stored: Iterable[object], assumed: Iterable[object]) -> Iterator[object]:
    identity = attrgetter("name")
    names = {(getattr(each, "namespace", ""), identity(each)) for each in assumed}
    yield from (each for each in stored if (getattr(each, "namespace", ""), identity(each)) not in names)
    yield from assumed
