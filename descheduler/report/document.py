"""What the documents of this program have in common, and the identities they name."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from descheduler.documents.fields import Fields

ApiVersion = Literal["descheduler.plan/v1"]

API_VERSION: ApiVersion = "descheduler.plan/v1"
"""Grows with every change that a reader of the documents could notice."""


class PodReference(Fields, frozen=True, gc=False):
    """One pod of the snapshot. `uid` tells it from a later pod of the same name."""

    namespace: str
    name: str
    uid: str


class SchedulerFileIdentity(Fields, frozen=True):
    """A scheduler configuration that the policy names. `digest` is like that of the policy."""

    path: str
    digest: str


class PolicyIdentity(Fields, frozen=True):
    """The policy that was run. `digest` is the SHA-256 of its content, independent of layout and comments.

    `scheduler_files` were read together with it.
    """

    path: str
    digest: str
    kind: Literal["DeschedulerPolicy", "DeschedulerConfiguration"]
    compatibility: Literal["upstream", "fixed"]
    scheduler_files: tuple[SchedulerFileIdentity, ...]


class ShardIdentity(Fields, frozen=True):
    """The part of the cluster that a run may change: `index` of `count` shards, counted from 0, with `num_nodes` nodes.

    Nodes with the same value of `label` are in one shard; with "" those of one node pool are. `turn` is what
    --shard-turn was.
    """

    index: int
    count: int
    label: str
    turn: str
    num_nodes: int


class SnapshotIdentity(Fields, frozen=True):
    """The state of the cluster that the run decided on. `age_seconds` is its age at that time.

    `taken_at` and `age_seconds` are null for a dump that does not say when it was made. `skipped_objects` are the
    invalid objects that were skipped on request, one sentence each; `missing_kinds` are the kinds that a plugin reads,
    that the dump lacks and that can change the result, such as `csinodes.storage.k8s.io`. `shard` is the part of the
    cluster that the run may change, null for all of it.
    """

    source: str
    resource_version: str
    taken_at: datetime | None
    age_seconds: float | None
    num_nodes: int
    num_pods: int
    skipped_objects: tuple[str, ...]
    missing_kinds: tuple[str, ...]
    shard: ShardIdentity | None

    @property
    def is_live(self) -> bool:
        """Whether it is of a cluster, not of a dump."""
        return self.source.startswith(("http://", "https://"))
