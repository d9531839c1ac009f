"""Controllers of pods, as far as they decide what comes after an eviction."""

from __future__ import annotations

from datetime import datetime

import msgspec

from descheduler.model.pod import Owner, Pod
from descheduler.model.selection.labels import NOTHING, LabelSelector
from descheduler.model.volume_sources import ClaimTemplate

DEFAULT_BACKOFF_LIMIT = 6


class FailureRule(msgspec.Struct, frozen=True):
    """One rule of a Job's `podFailurePolicy`: exit codes that are `In` or `NotIn`, or conditions as (type, status)."""

    action: str
    operator: str = ""
    exit_codes: frozenset[int] = frozenset()
    conditions: tuple[tuple[str, str], ...] = ()


class JobFacts(msgspec.Struct, frozen=True):
    """The facts of a Job that decide about its pods. Limits are None where there is none; indexes are done ones.

    `num_failed` are the failures that count against `backoff_limit`. `conditions` are those that are true.
    """

    completions: int | None = None
    is_indexed: bool = False
    backoff_limit: int = DEFAULT_BACKOFF_LIMIT
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    active_deadline_seconds: int | None = None
    is_suspended: bool = False
    managed_by: str = ""
    failure_rules: tuple[FailureRule, ...] = ()
    started_at: datetime | None = None
    num_succeeded: int = 0
    num_failed: int = 0
    completed_indexes: frozenset[int] = frozenset()
    failed_indexes: frozenset[int] = frozenset()
    conditions: frozenset[str] = frozenset()


class StatefulSetFacts(msgspec.Struct, frozen=True):
    """The facts of a StatefulSet that decide about ordinals and revisions.

    `partition` is None with `updateStrategy: OnDelete`. Revisions are names of ControllerRevisions.
    """

    first_ordinal: int = 0
    partition: int | None = 0
    current_revision: str = ""
    update_revision: str = ""


class Workload(msgspec.Struct, frozen=True):
    """A controller of pods: ReplicaSet, Deployment, StatefulSet, DaemonSet, ReplicationController, Job or CloneSet.

    `template` is the pod that it will make next, without name and node, as the API server would store it; None in a
    snapshot taken without templates. `revision` counts the templates of a Deployment, 0 where unknown. The two
    policies are those of a StatefulSet and a Job. `replicas` of a Job is its parallelism, of a DaemonSet 0.
    `priority_class` and `runtime_class` are named by the template; what they mean for it is not worked in. `is_unseen`
    says that its controller has not acted on the latest change of its spec. `surges` is that of a DaemonSet which
    starts a pod before the old one is gone. `job` and `stateful_set` are None for other kinds.
    """

    kind: str
    namespace: str
    name: str
    uid: str
    replicas: int
    owners: tuple[Owner, ...] = ()
    selector: LabelSelector = NOTHING
    template: Pod | None = None
    revision: int = 0
    pod_management_policy: str = ""
    pod_replacement_policy: str = ""
    claim_templates: tuple[ClaimTemplate, ...] = ()
    priority_class: str = ""
    runtime_class: str = ""
    is_deleting: bool = False
    min_ready_seconds: int = 0
    is_unseen: bool = False
    surges: bool = False
    job: JobFacts | None = None
    stateful_set: StatefulSetFacts | None = None

    @property
    def are_replicas_known(self) -> bool:
        """Whether what was read of it says how many pods it has to have."""
        return True

    @property
    def succeeded_are_available(self) -> bool:
        """Whether pods that have succeeded are no unavailable ones: Koordinator takes those of all kinds for such."""
        return False


class PodRevision(msgspec.Struct, frozen=True):
    """A ControllerRevision: a template that a StatefulSet had, and may still make pods from.

    `template`, `priority_class` and `runtime_class` are as in `Workload`.
    """

    namespace: str
    name: str
    number: int
    owner_uid: str = ""
    template: Pod | None = None
    priority_class: str = ""
    runtime_class: str = ""
