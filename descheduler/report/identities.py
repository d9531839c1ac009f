"""Pods, policies and snapshots as documents name them."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from descheduler.cluster.snapshot import Snapshot
from descheduler.policy.types import Policy
from descheduler.report.document import PodReference, PolicyIdentity, SchedulerFileIdentity, SnapshotIdentity

__all__ = ["policy_identity", "reference", "snapshot_identity"]


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
    )
