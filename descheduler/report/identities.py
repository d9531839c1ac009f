"""Pods, policies and snapshots as documents name them."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.policy.types import Policy
from descheduler.report.document import (
    PodReference,
    PolicyIdentity,
    SchedulerFileIdentity,
    ShardIdentity,
    SnapshotIdentity,
)


class _Named(Protocol):
    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def uid(self) -> str: ...


def reference(pod: _Named) -> PodReference:
    """Which pod it is, or which one an object names."""
    return PodReference(namespace=pod.namespace, name=pod.name, uid=pod.uid)


def policy_identity(policy: Policy) -> PolicyIdentity:
    """Which policy it is."""
    files = policy.scheduler_files.values()
    return PolicyIdentity(
        path=policy.path,
        digest=policy.digest,
        kind=policy.kind,
        compatibility=policy.compatibility,
        scheduler_files=tuple(SchedulerFileIdentity(path=file.path, digest=file.digest) for file in files),
    )


def snapshot_identity(snapshot: Snapshot, now: datetime) -> SnapshotIdentity:
    """Which view of the cluster it is, and how old at `now`."""
    taken_at = snapshot.taken_at
    return SnapshotIdentity(
        source=snapshot.source,
        resource_version=snapshot.resource_version,
        taken_at=taken_at,
        age_seconds=None if taken_at is None else (now - taken_at).total_seconds(),
        num_nodes=len(snapshot.nodes),
        num_pods=len(snapshot.pods),
        skipped_objects=snapshot.skipped,
        missing_kinds=snapshot.missing_kinds,
        shard=shard_identity(snapshot),
    )


def shard_identity(snapshot: Snapshot) -> ShardIdentity | None:
    """The part of the cluster that a run over `snapshot` may change; None for all of it."""
    shard = snapshot.shard
    if shard.is_whole:
        return None
    return ShardIdentity(
        index=shard.index,
        count=shard.count,
        label=shard.label,
        turn=shard.turn,
        num_nodes=shard.num_owned(snapshot.nodes),
    )


def shard_of(named: ShardIdentity | None) -> Shard:
    """The part of the cluster that a document names. Raises ValueError where there is no such shard."""
    return WHOLE_CLUSTER if named is None else Shard(named.index, named.count, named.label, named.turn)
