"""The part of an `Explanation` about the pods of a workload or a namespace."""

from __future__ import annotations

from typing import Literal

import msgspec

from descheduler.documents.fields import Fields
from descheduler.report.document import PodReference
from descheduler.report.explanation.pod import Verdict
from descheduler.report.plan.document import LandingCause

__all__ = ["ExplainedPod", "GroupExplanation", "LandingCount"]


class LandingCount(Fields, frozen=True):
    """How many replacement pods get one verdict; it is null for pods after which no replacement is created."""

    verdict: Verdict | None
    num_pods: int = msgspec.field(name="pods")


class ExplainedPod(Fields, frozen=True):
    """One of the pods: what the run decides about it, and where its replacement would be scheduled.

    `outcome` is as in `PodDecision`, null without a policy. `plugin` and `reason` are those of the plugin that selected
    it, `code` and `message` say what blocks its eviction, and `subject` names the object that does. With a policy
    `landing`, `to` and `landing_message` are those of the run, for an evicted pod only; without one they are those of
    this pod evicted alone.
    """

    pod: PodReference
    node: str | None
    outcome: Literal["evicted", "kept", "unwanted", "unjudged"] | None
    plugin: str
    reason: str
    code: str
    message: str
    subject: str
    landing: Verdict | None
    to_node: str | None = msgspec.field(name="to")
    landing_message: str


class GroupExplanation(Fields, frozen=True):
    """The pods of a workload (`kind`, `namespace` and `name`) or of a namespace, which have not finished.

    `unjudged` says why no plugin ran, else it is empty. `landing_counts` and `causes` count the landings in `pods`.
    """

    kind: str
    namespace: str
    name: str
    unjudged: str
    pods: tuple[ExplainedPod, ...]
    landing_counts: tuple[LandingCount, ...]
    causes: tuple[LandingCause, ...]
