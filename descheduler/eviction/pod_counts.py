"""How many pods there are, of which limits can be a percentage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from descheduler.cluster.snapshot import Snapshot

__all__ = ["NO_PODS", "ClusterCounts", "count_pods", "pods_for"]


class ClusterCounts(msgspec.Struct, frozen=True):
    """Pods that have not finished: in the cluster, by the node that they are bound to, and by namespace."""

    total: int = 0
    by_node: Mapping[str, int] = msgspec.field(default_factory=dict)
    by_namespace: Mapping[str, int] = msgspec.field(default_factory=dict)


NO_PODS = ClusterCounts()


def count_pods(snapshot: Snapshot) -> ClusterCounts:
    """The pods of `snapshot` that are neither Succeeded nor Failed, whether they can be evicted or not."""
    pods = [pod for pod in snapshot.pods if not pod.is_terminal]
    return ClusterCounts(
        total=len(pods),
        by_node=Counter(pod.node_name for pod in pods if pod.node_name),
        by_namespace=Counter(pod.namespace for pod in pods),
    )


def pods_for(limits: Iterable[int | str | None], snapshot: Snapshot) -> ClusterCounts:
    """The counts that `limits` need: none where all of them are numbers."""
    return count_pods(snapshot) if any(isinstance(limit, str) for limit in limits) else NO_PODS
