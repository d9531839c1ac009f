"""The document `Outcome`: what became of a plan that was carried out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from descheduler.documents.fields import Fields
from descheduler.plan.goals import ReachedGoal
from descheduler.report.document import ApiVersion, PodReference
from descheduler.report.outcome.predictions import Predictions
from descheduler.report.plan.document import LandingTotals, Plan, Target
from descheduler.report.plan.figures import Figures
from descheduler.report.plan.goal import in_units

ResultKind = Literal["evicted", "gone", "refused", "background", "failed", "not-attempted"]


class EvictionResult(Fields, frozen=True):
    """How one eviction ended that the plan or a user asked for; there is one for each pod of the plan, and for each
    PodMigrationJob of a user that is not paused.

    `reason` is why the plugin selected the pod, `target` where its replacement was expected, null when it was not
    predicted, and `landed_on` the node on which it was seen ready, "" when it was not. `message` is the cause, "" for a
    pod that was evicted for certain. `status_code` is 0 when no answer came, `num_attempts` counts the calls made.
    `job` is the name of the PodMigrationJob of a user, for which there is no `plugin`; "" for an eviction of the plan.
    If a check of the policy blocks the job, `check` is the reason code, as in `refusals` of a plan, and `subject` the
    object that blocks the eviction; both are "" otherwise.
    """

    pod: PodReference
    node: str
    target: Target | None
    landed_on: str
    profile: str
    plugin: str
    reason: str
    result: ResultKind
    code: str
    message: str
    status_code: int
    num_attempts: int = msgspec.field(name="attempts")
    job: str
    check: str
    subject: str

    @property
    def asked_by(self) -> str:
        """The plugin, or the PodMigrationJob of a user."""
        return f"PodMigrationJob {self.job}" if self.job else self.plugin

    @property
    def why(self) -> str:
        """Why the pod was to be evicted."""
        return ": ".join(filter(None, (self.asked_by, self.reason))) if self.job else self.reason


class NotAttempted(Fields, frozen=True):
    """How many evictions were not attempted for one cause, with the `code` and `message` of their results."""

    code: str
    message: str
    count: int


class PluginResults(Fields, frozen=True):
    """How the evictions of one plugin of one profile ended, in pods. `counts` has every kind. `plugin` is "" for those
    of PodMigrationJobs of users."""

    profile: str
    plugin: str
    counts: Mapping[ResultKind, int]


class OutcomeDocument(Fields, frozen=True):
    """A plan and what became of it. `results` begin with PodMigrationJobs of users and go on in the order of the plan;
    `counts` has every kind.

    `unconfirmed` of the evicted pods have code `outcome-unknown`: there was no clear answer, and they count as evicted.
    `not_attempted` says why the results of that kind were left, `stopped_by` what ended the run early ("" when nothing
    did). `landings`, `predictions` and `figures` are of the evicted pods alone; those of everything that was planned
    are in `plan`.
    `landings.together` is null, as it is computed for a whole plan only. `goals` has an entry for each objective of the
    planners.
    """

    api_version: ApiVersion
    kind: Literal["Outcome"]
    plan: Plan
    stopped_by: str
    results: tuple[EvictionResult, ...]
    counts: Mapping[ResultKind, int]
    unconfirmed: int
    not_attempted: tuple[NotAttempted, ...]
    plugins: tuple[PluginResults, ...]
    landings: LandingTotals
    predictions: Predictions
    goals: tuple[ReachedObjective, ...]
    figures: Figures

    @property
    def may_have_evicted(self) -> bool:
        """Whether any pod left, may have left, or is left to another controller that evicts it."""
        return bool(self.counts["evicted"] or self.counts["background"])


class ReachedObjective(Fields, frozen=True):
    """The figure of an objective of a planner, the lower the better: what it `counts`.

    It was `before` the run, the plan brings it to `planned`, and the evictions that were made to `reached`, where
    their replacements are on the expected nodes. No plan is below `bound`; `left` is how far `reached` is above it.
    `reached` and `left` are null where the run had no time to compute them.
    """

    profile: str
    plugin: str
    objective: str
    counts: str
    before: int | float
    planned: int | float
    reached: int | float | None
    bound: int | float
    left: int | float | None


def reached_objectives(goals: Iterable[ReachedGoal]) -> tuple[ReachedObjective, ...]:
    """The same in the units that people count in."""
    return tuple(map(_objective, goals))


def _objective(goal: ReachedGoal) -> ReachedObjective:
    level, reached = goal.level, goal.reached
    return ReachedObjective(
        profile=goal.profile,
        plugin=goal.plugin,
        objective=goal.objective,
        counts=level.counts,
        before=in_units(goal.before, level.scale),
        planned=in_units(level.after, level.scale),
        reached=None if reached is None else in_units(reached, level.scale),
        bound=in_units(level.bound, level.scale),
        left=None if reached is None else in_units(reached - level.bound, level.scale),
    )


def goal_text(objective: ReachedObjective) -> str:
    """Such as `nodes over target: 6 → 2 (planned: 0, best possible: 0)`."""
    reached = "unknown" if objective.reached is None else f"{objective.reached:,}"
    beside = [] if objective.reached == objective.planned else [f"planned: {objective.planned:,}"]
    beside += [] if objective.reached == objective.bound else [f"best possible: {objective.bound:,}"]
    said = f" ({', '.join(beside)})" if beside else ""
    return f"{objective.counts}: {objective.before:,} → {reached}{said}"
