"""What limits that are percentages come to in a cluster, in words for operators."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.migration_controller.profiles import migration_controllers
from descheduler.eviction.pod_counts import ClusterCounts, count_pods
from descheduler.model.eviction_limits import EvictionLimit
from descheduler.model.text.counted import counted
from descheduler.model.text.int_or_percent import share_of
from descheduler.policy.types import Policy

__all__ = ["limit_notes"]

_Limit = tuple[str, int | str | None, str]
"""Its key, its value, and what it is counted for: "node", "namespace", or "" for the cluster."""


def limit_notes(policy: Policy, snapshot: Snapshot) -> tuple[str, ...]:
    """A sentence for each percentage among the limits of the policy and of its MigrationControllers."""
    percentages = [limit for limit in _limits(policy) if isinstance(limit[1], str)]
    if not percentages:
        return ()
    pods = count_pods(snapshot)
    return tuple(_sentence(limit, pods) for limit in percentages)


def _limits(policy: Policy) -> Iterator[_Limit]:
    yield EvictionLimit.TOTAL.value, policy.max_evictions_total, ""
    yield EvictionLimit.NODE.value, policy.max_evictions_per_node, "node"
    yield EvictionLimit.NAMESPACE.value, policy.max_evictions_per_namespace, "namespace"
    for name, args in migration_controllers(policy).items():
        yield f"profile {name}: maxMigratingGlobally", args.max_migrating_globally, ""
        yield f"profile {name}: maxMigratingPerNode", args.max_migrating_per_node, "node"
        yield f"profile {name}: maxMigratingPerNamespace", args.max_migrating_per_namespace, "namespace"


def _sentence(limit: _Limit, pods: ClusterCounts) -> str:
    key, written, scope = limit
    if not scope:
        return f"{key} ({written}) is {share_of(written or 0, pods.total):,} of {counted(pods.total, 'pod')}"
    counts = pods.by_node if scope == "node" else pods.by_namespace
    return f"{key} ({written}) is {_shares(written, counts.values(), scope)}"


def _shares(written: int | str | None, counts: Collection[int], scope: str) -> str:
    """The least and the most that it comes to for a node or a namespace."""
    shares = {share_of(written or 0, count) for count in counts} or {share_of(written or 0, 0)}
    least, most = min(shares), max(shares)
    if least == most:
        return f"{counted(most, 'pod')} for each {scope}"
    return f"{least:,} to {counted(most, 'pod')}, depending on the {scope}"
