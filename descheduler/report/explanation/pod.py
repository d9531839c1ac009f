"""The part of an `Explanation` about a pod: what it is, what the run decides about it, and where it would land."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from descheduler.report.document import Fields, PodReference
from descheduler.report.explanation.placement import PlacementAnalysis
from descheduler.report.plan.document import PlannedAllocation, ReturnsWord

__all__ = [
    "ExplainedLanding",
    "FilterAnswer",
    "GangFacts",
    "PluginAnswer",
    "PluginMiss",
    "PodDecision",
    "PodExplanation",
    "PodFacts",
    "Verdict",
]

Verdict = Literal["lands", "lands_if", "likely", "unknown", "no"]


class GangFacts(Fields, frozen=True):
    """The gang of a pod (Koordinator, Volcano or scheduler-plugins), by its `name` `namespace/name`.

    At least `min_member` of its pods are bound together, with those of the other gangs of `group`; null where there
    is no PodGroup and no pod with a valid number. `pending` pods wait for a node or start on one, and `missing` ones
    do not exist. `waiting_time_seconds` is how long pods wait for each other; it, `mode` and `match_policy` are known
    of gangs of Koordinator only.
    """

    name: str
    group: tuple[str, ...]
    min_member: int | None
    mode: str
    match_policy: str
    waiting_time_seconds: float
    num_running: int = msgspec.field(name="running")
    num_pending: int = msgspec.field(name="pending")
    num_missing: int = msgspec.field(name="missing")


class PodFacts(Fields, frozen=True):
    """The pod as the snapshot has it. `owner` is `Kind/name` of its controller, empty without one.

    `node` is null while it is unbound, `age_seconds` when the object has no creation time. `requests` are the
    effective ones as the scheduler counts them: cpu in milli cores, all else in whole units. `gang` is null for a pod
    without one.
    """

    pod: PodReference
    node: str | None
    owner: str
    priority: int | None
    qos_class: str
    phase: str
    is_terminating: bool = msgspec.field(name="terminating")
    age_seconds: float | None
    scheduler: str
    requests: Mapping[str, int]
    gang: GangFacts | None


class PluginAnswer(Fields, frozen=True):
    """One plugin that selected the pod, and the result.

    `result` is `refused` for an eviction that was requested, `kept` for a candidate whose eviction was not requested.
    `reason` is the plugin's own sentence, empty when it gave none; `code`, `message` and `subject` say what blocks it.
    """

    profile: str
    plugin: str
    result: Literal["evicted", "refused", "kept"]
    reason: str
    code: str
    message: str
    subject: str


class PluginMiss(Fields, frozen=True):
    """One plugin that does not select the pod, and why."""

    profile: str
    plugin: str
    message: str


class FilterAnswer(Fields, frozen=True):
    """The result of the filters of a profile for the pod at the end of the run; `code` is empty when they pass."""

    profile: str
    code: str
    message: str
    subject: str


class PodDecision(Fields, frozen=True):
    """What one run of the policy decides about the pod, in one sentence and in detail.

    `outcome` is `evicted`, `kept` (selected but not evicted), `unwanted` (not selected by any plugin) or `unjudged` (no
    plugin ran). `answers` has an entry for each plugin that selected the pod; when the pod is not evicted, the first
    one names what blocks its eviction. `not_selected` says why the other plugins do not select it. `num_moves_before`
    counts the pods that the run evicts before it. `filters` is empty for a pod without a node, which is not evicted.
    `wave` is that of an evicted pod, as in `Move`, and null for all others; the run has `num_waves`.
    """

    outcome: Literal["evicted", "kept", "unwanted", "unjudged"]
    summary: str
    answers: tuple[PluginAnswer, ...]
    not_selected: tuple[PluginMiss, ...]
    filters: tuple[FilterAnswer, ...]
    num_moves_before: int = msgspec.field(name="movesBefore")
    wave: int | None
    num_waves: int = msgspec.field(name="waves")


class ExplainedLanding(Fields, frozen=True):
    """Where the replacement pod would be scheduled; fields as in `PlannedLanding`.

    `summary` is one sentence. `source` says what the replacement was made from: the owner's template, a copy of the
    live pod, or `none` when no replacement is created. `returns` is as in `PlannedLanding`. `verdict`, `cold` and
    `settled` are null when no replacement is created. `node` is the predicted one of `nodes`; `sampled` is set when the
    scheduler examines only some of the nodes and can miss it.
    """

    summary: str
    source: Literal["template", "live", "none"]
    returns: ReturnsWord
    verdict: Verdict | None
    cold: Verdict | None
    settled: Verdict | None
    node: str | None
    nodes: tuple[str, ...]
    total: int
    margin: int | None
    node_cause: str
    is_sampled: bool = msgspec.field(name="sampled")
    returns_to_source: bool
    conditions: tuple[str, ...]
    message: str
    cause: str
    allocations: tuple[PlannedAllocation, ...]
    notes: tuple[str, ...]


class PodExplanation(Fields, frozen=True):
    """Everything about one pod. `decision` is null without a policy, `landing` for a pod that is not scheduled yet.

    `placement` is that of the replacement with the pod gone, or of the pod itself while it is pending; null when no pod
    is to be scheduled.
    """

    facts: PodFacts
    decision: PodDecision | None
    landing: ExplainedLanding | None
    placement: PlacementAnalysis | None
