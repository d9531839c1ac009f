"""The part of an `Explanation` about a pod: what it is, what the run decides about it, and where it would land."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from descheduler.report.document import Fields, PodReference
from descheduler.report.explanation.placement import PlacementAnalysis

__all__ = [
    "ExplainedLanding",
    "FilterAnswer",
    "PluginAnswer",
    "PluginMiss",
    "PodDecision",
    "PodExplanation",
    "PodFacts",
    "Verdict",
]

Verdict = Literal["lands", "lands_if", "likely", "unknown", "no"]


class PodFacts(Fields, frozen=True):
    """The pod as the snapshot has it. `owner` is `Kind/name` of its controller, empty without one.

    `node` is null while it is unbound, `age_seconds` when the object does not say when it was made. `requests` are the
    effective ones as the scheduler counts them: cpu in milli cores, all else in whole units.
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


class PluginAnswer(Fields, frozen=True):
    """One plugin that selected the pod, and the answer to that.

    `result` is refused for an eviction that was asked for, kept for a candidate that was not even asked for. `reason`
    is the plugin's own sentence, empty where it gave none; `code`, `message` and `subject` say what blocks it.
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
    """What the filters of a profile say of the pod at the end of the run; an empty `code` lets it go."""

    profile: str
    code: str
    message: str
    subject: str


class PodDecision(Fields, frozen=True):
    """What one run of the policy decides about the pod, in one sentence and in detail.

    `outcome` is evicted, kept (selected, and not evicted), unwanted (not selected by any plugin) or unjudged (no plugin
    ran). `answers` are those to the plugins that selected the pod; of a kept pod the first one names what blocks its
    eviction. `not_selected` says of the other plugins why they do not select it. `num_moves_before` counts the pods
    that the run evicts before it.
    """

    outcome: Literal["evicted", "kept", "unwanted", "unjudged"]
    summary: str
    answers: tuple[PluginAnswer, ...]
    not_selected: tuple[PluginMiss, ...]
    filters: tuple[FilterAnswer, ...]
    num_moves_before: int = msgspec.field(name="movesBefore")


class ExplainedLanding(Fields, frozen=True):
    """What becomes of the pod that the owner creates instead; fields as in a plan's landing.

    `summary` is one sentence. `source` says what the replacement was made from: the owner's template, a copy of the
    live pod, or none when nothing comes back. `returns` says when it is created. `verdict` and the two clocks are null
    when nothing comes back. `node` is the predicted one of `nodes`, and `sampled` says that the scheduler may miss it
    because it stops looking before it has seen every node.
    """

    summary: str
    source: Literal["template", "live", "none"]
    returns: Literal["at once", "when gone"]
    verdict: Verdict | None
    cold: Verdict | None
    settled: Verdict | None
    node: str | None
    nodes: tuple[str, ...]
    total: int
    margin: int | None
    is_sampled: bool = msgspec.field(name="sampled")
    returns_to_source: bool
    conditions: tuple[str, ...]
    message: str
    cause: str
    notes: tuple[str, ...]


class PodExplanation(Fields, frozen=True):
    """Everything about one pod. `decision` is null without a policy, `landing` for a pod that has no node yet.

    `placement` is that of the replacement with the pod gone, or of the pod itself while it is pending; null when there
    is nothing to place.
    """

    facts: PodFacts
    decision: PodDecision | None
    landing: ExplainedLanding | None
    placement: PlacementAnalysis | None
