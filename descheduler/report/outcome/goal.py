"""The part of an outcome about the goals of planners: before the run, as planned, and as reached."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.documents.fields import Fields
from descheduler.plan.goals import ReachedGoal
from descheduler.report.plan.goal import in_units

__all__ = ["ReachedObjective", "goal_text", "reached_objectives"]


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
