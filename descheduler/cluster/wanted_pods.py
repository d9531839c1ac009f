"""A snapshot with pods that are not created yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot

__all__ = ["with_wanted_pods"]


def with_wanted_pods(snapshot: Snapshot, pods: Sequence[Mapping[str, object]], request: SnapshotRequest) -> Snapshot:
    """`snapshot`, which was read by `request`, as if `pods` had been created; one that is pending is replaced.

    Raises SnapshotError for what is no pod.
    """
    if not pods:
        return snapshot
    wanted = {pod.key: pod for pod in snapshot_from_objects(pods, request).pods}
    others = (pod for pod in snapshot.pods if pod.node_name or pod.key not in wanted)
    return replace(snapshot, pods=tuple(sorted((*others, *wanted.values()), key=lambda pod: (pod.namespace, pod.name))))
