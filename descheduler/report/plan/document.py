"""The document `Plan`: every decision of one cycle, with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec

from descheduler.documents.fields import Fields
from descheduler.plan.decisions import Failure
from descheduler.report.document import ApiVersion, PodReference, PolicyIdentity, SnapshotIdentity
from descheduler.report.facts import ReportedFacts
from descheduler.report.plan.figures import Figures
from descheduler.report.plan.goal import PlannedGoal
from descheduler.report.plan.wave_times import PlannedWave
from descheduler.report.plan.workloads import PlannedWorkload

LandingWord = Literal["lands", "lands_if", "likely", "unknown", "no"]
"""The verdicts, from the best to the worst."""
ReturnsWord = Literal["at once", "when gone", "later", "on its own node", "not created", "owner ends"]
"""When and where the owner of an evicted pod creates the next one, or that it does not."""


class PlanMove(Fields, frozen=True):
    """A pod that leaves its node, once, in the order in which moves are decided.

    `to_node` is where its replacement is scheduled, null when no node is predicted or when that was not looked up;
    with `holds_target` the plan has chosen that node, and a Reservation holds room for the replacement there before the
    eviction. Once the pod has left, room is held for those in `room_for`. `landing` says how sure that is. `wave`
    numbers the moves that may run together, from 1: those of the next wave need room that these leave. `cost` is what
    the disruption of the pod costs for the planner that chose it, in thousandths of an ordinary eviction, null for
    moves of other plugins.
    """

    pod: PodReference
    from_node: str = msgspec.field(name="from")
    to_node: str | None = msgspec.field(name="to")
    holds_target: bool
    room_for: tuple[PlanRoom, ...]
    landing: PlannedLanding | None
    profile: str
    plugin: str
    reason: str
    wave: int
    cost: int | None


class PlanRoom(Fields, frozen=True):
    """Room on `node` that is held for `pod`, which is pending, or, where it leaves later, for its replacement."""

    pod: PodReference
    node: str


class PlannedAllocation(Fields, frozen=True):
    """Something on the expected node that a scheduling plugin allocates to the replacement pod, such as a GPU.

    `kind` says what it is, such as `gpu` or `reservation`; `name` tells it from others of its kind on the node, such as
    the minor of a device. `resources` are the amounts of it in the units of requests, by resource name.
    """

    plugin: str
    kind: str
    name: str
    resources: Mapping[str, int]


class PlannedLanding(Fields, frozen=True):
    """Where the replacement pod would be scheduled.

    `verdict` is `lands` (it can be scheduled), `lands_if` (only under `conditions`), `likely` (every modelled filter
    passes on `to`, and some check of the scheduler is not modelled), `unknown` or `no`; `message` says why for the last
    three, and repeats `node_cause`. `cause` names, for likely and unknown, what was not checked, in the words of
    `LandingTotals.causes`; it is empty otherwise. `cold` is the verdict while the evicted pod is terminating, `settled`
    once it is deleted. `nodes` are those that the scheduler ranks first together with `to`, or may rank first where
    some scores are not modelled; `margin` is their lead over the next one, null without any. `node_cause` says why
    nothing is known of the scheduler's choice, so that `nodes` are all that pass; it is empty otherwise.
    `returns_to_source` is set when it would be scheduled onto the same node again. `allocations` are what it gets on
    `to`.

    `returns` says what the owner does: it creates the pod `at once` (while the evicted one is terminating), `when
    gone`, `later` (after a back-off, or once something else has happened), `on its own node` (a DaemonSet), or it is
    `not created`, as the owner does not need it or nothing creates it. `owner ends`: the eviction fails or ends the Job
    of the pod, or its index; `message` says which.
    """

    verdict: LandingWord
    returns: ReturnsWord
    cold: LandingWord
    settled: LandingWord
    nodes: tuple[str, ...]
    margin: int | None
    node_cause: str
    returns_to_source: bool
    conditions: tuple[str, ...]
    message: str
    cause: str
    allocations: tuple[PlannedAllocation, ...]


class LandingCause(Fields, frozen=True):
    """Something that was not checked, and for how many replacements: those of one `verdict`, `likely` or `unknown`."""

    verdict: Literal["likely", "unknown"]
    cause: str
    num_pods: int = msgspec.field(name="pods")


class Target(Fields, frozen=True):
    """The expected node of a replacement. `node` is "" when no node is expected; the other fields are as in
    `PlannedLanding`."""

    node: str
    verdict: LandingWord
    returns: ReturnsWord
    returns_to_source: bool
    conditions: tuple[str, ...]


class LandingTotals(Fields, frozen=True):
    """Replacements of the evicted pods by verdict, each pod once. `num_assessed` of them were predicted.

    `not_created` of `lands` are not created at all: their owner has enough pods without them. `owner_ends` of `no` are
    not created because the eviction fails or ends their Job, or their index of it.
    `is_verified` is true when every profile enables PlacementVerification.
    `causes` say why verdicts are `likely`, and then why they are `unknown`, the most frequent first; they add up to
    `likely` and `unknown`. `together` is the verdict on all of them at once, in any order, under `conditions`; null
    when it was not computed. `certificate` is the proof of a `no`.
    """

    is_verified: bool = msgspec.field(name="verified")
    num_evicted: int = msgspec.field(name="evicted")
    num_assessed: int = msgspec.field(name="assessed")
    lands: int
    lands_if: int
    likely: int
    unknown: int
    no: int
    causes: tuple[LandingCause, ...]
    returns_to_source: int
    not_created: int
    owner_ends: int
    together: LandingWord | None
    conditions: tuple[str, ...]
    certificate: str


class _Request(Fields, frozen=True):
    pod: PodReference
    node: str
    profile: str
    plugin: str
    reason: str


class BackgroundEviction(_Request, frozen=True):
    """A pod whose eviction another controller would carry out."""


class RepeatedRequest(_Request, frozen=True):
    """A further request for a pod that a move already evicts. The pod is evicted once."""


class RefusedAlso(Fields, frozen=True, gc=False):
    """A further refusal of a pod that is not evicted."""

    profile: str
    plugin: str
    code: str
    message: str


class ApiAnswer(Fields, frozen=True):
    """What the eviction API would answer: HTTP status, text of its cause, and Retry-After in seconds, if it has one."""

    code: int
    cause: str
    retry_after_seconds: int | None


class PlannedRefusal(Fields, frozen=True, gc=False):
    """A pod that a plugin selected and that is not evicted, once.

    `reason` says why the plugin selected it, empty when it gave no reason. `message` says what blocks the eviction,
    `subject` names the object that blocks it, and `limit` the key of the policy whose limit is reached, empty where it
    is something else. `is_attempt` tells whether the eviction was requested in the run; a limit can have stopped the
    plugin before, or a filter excluded the pod. `others` are further refusals of the pod. `apiAnswer` is what the
    eviction API would answer, where a PodDisruptionBudget is why the pod is not evicted, null otherwise.
    """

    pod: PodReference
    node: str
    profile: str
    plugin: str
    reason: str
    code: str
    message: str
    subject: str
    limit: str
    is_attempt: bool = msgspec.field(name="attempt")
    others: tuple[RefusedAlso, ...]
    api_answer: ApiAnswer | None


class RefusalCount(Fields, frozen=True):
    """How many entries of `refusals`, each a pod, have one code, and what the code means.

    The eviction of `num_attempts` of them was requested in the run. `key` is that of the policy, or of the arguments of
    a plugin, which decides; it is empty where the policy does not, and for limits, which `limits` of the plan names.
    """

    code: str
    summary: str
    key: str
    num_refusals: int = msgspec.field(name="count")
    num_attempts: int = msgspec.field(name="attempts")


class ReachedLimit(Fields, frozen=True):
    """A limit of `value` evictions that is reached, and how many entries of `refusals` it blocks.

    `limit` is its key in the policy, or in the arguments of a plugin. `scope` is the node or namespace that it is
    reached for, empty for the run. `percentage` is what the policy says where that is not a number, such as `10%`, and
    empty otherwise.
    """

    limit: str
    value: int
    scope: str
    percentage: str
    num_pods: int = msgspec.field(name="pods")


class PluginFigures(Fields, frozen=True):
    """How many pods one plugin of one profile evicts, and how many it selected that are not evicted, by code.

    `evicted` counts entries of `moves`, and `refused` entries of `refusals` and their `others`. `facts` are null for a
    plugin that failed.
    """

    profile: str
    plugin: str
    evicted: int
    background: int
    refused: Mapping[str, int]
    facts: ReportedFacts | None


class Plan(Fields, frozen=True):
    """Everything one cycle decided. `now` is the instant that all ages were taken at. Equal plans have one `plan_id`,
    which is made of the policy, the moves and the shard.

    `skipped` says why no plugin ran, and is empty when they did. `goal` is null where no planner ran.
    With `keeps_waves` a run begins a wave of `moves` when the one before has ended; a DeschedulerPolicy evicts at
    upstream's pace, without a wait between waves.
    `num_background` counts the evictions in `background` and those that other controllers had begun before.
    `num_more_matching` counts the entries of `refusals` that a limit blocks; with `is_lower_bound` more pods match,
    which were not looked for.
    """

    api_version: ApiVersion
    kind: Literal["Plan"]
    plan_id: str
    now: datetime
    policy: PolicyIdentity
    snapshot: SnapshotIdentity
    skipped: str
    keeps_waves: bool
    moves: tuple[PlanMove, ...]
    repeated_requests: tuple[RepeatedRequest, ...]
    goal: PlannedGoal | None
    landings: LandingTotals
    background: tuple[BackgroundEviction, ...]
    num_background: int
    refusals: tuple[PlannedRefusal, ...]
    refusal_counts: tuple[RefusalCount, ...]
    limits: tuple[ReachedLimit, ...]
    num_more_matching: int = msgspec.field(name="moreMatching")
    is_lower_bound: bool = msgspec.field(name="moreMatchingIsLowerBound")
    plugins: tuple[PluginFigures, ...]
    workloads: tuple[PlannedWorkload, ...]
    waves: tuple[PlannedWave, ...]
    figures: Figures
    failures: tuple[Failure, ...]
    warnings: tuple[str, ...]
