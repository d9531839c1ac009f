"""The part of a plan about what a planner was asked for, and how near it came."""

from __future__ import annotations

from collections.abc import Container
from typing import Literal

import msgspec

from descheduler.documents.fields import Fields
from descheduler.plan import goals
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Goal, Level
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.report.document import PodReference
from descheduler.report.identities import reference

__all__ = ["GoalLevel", "PendingPod", "PlannedGoal", "PlannedObjective", "goal_of"]

_WORST = ("nothing", "optimal", "feasible")
_MILLION = 10**6


class GoalLevel(Fields, frozen=True):
    """One figure of an objective, the lower the better: what it `counts`, and `bound`, which no plan is below.

    What is not whole is rounded down to millionths.
    """

    counts: str
    before: int | float
    after: int | float
    bound: int | float


class PendingPod(Fields, frozen=True):
    """A pending pod that fits on no node without evictions. After them it can be scheduled onto `to_node`.

    `to_node` is null where it stays pending. With `holds_target` the plan has chosen that node, and a Reservation holds
    room for the pod there; without, another pod may take the room first.
    """

    pod: PodReference
    to_node: str | None = msgspec.field(name="to")
    holds_target: bool


class PlannedObjective(Fields, frozen=True):
    """One objective of a planner, in the order of the policy. `sentence` says what came of it.

    `cost` is that of the evictions in thousandths of ordinary ones; no plan that reaches the bounds of all `levels`
    costs less than `cost_bound`. `pending_pods` are those of makeRoom, empty for other objectives.
    """

    profile: str
    plugin: str
    objective: str
    levels: tuple[GoalLevel, ...]
    evictions: int
    bound: int
    cost: int
    cost_bound: int
    sentence: str
    pending_pods: tuple[PendingPod, ...]


class PlannedGoal(Fields, frozen=True):
    """What planners were asked for, and how near the plan comes.

    To reach the bounds of all `levels` at least `bound` evictions are needed, by proof. `gap` is the share of that by
    which `evictions` are more, null where some level is not at its bound, and where no number is proven (`bound` 0).
    `status` is `optimal` where no plan is
    better, `feasible` where one may be, and `nothing` where there was nothing to do. `seconds` is how long was
    searched, and `work` the same in units that are equal on every machine; all but `seconds` is the same for equal
    input where a limit of work ended the search.
    """

    objectives: tuple[PlannedObjective, ...]
    evictions: int
    bound: int
    gap: float | None
    status: Literal["optimal", "feasible", "nothing"]
    seconds: float
    work: float


def goal_of(decisions: Decisions) -> PlannedGoal | None:
    """What the planners of a cycle were asked for; None where none ran."""
    found = [(profile, plugin, goal) for (profile, plugin), facts in decisions.facts.items() for goal in facts.goals]
    if not found:
        return None
    held = {identity_of(room.pod) for move in decisions.moves for room in move.rooms}
    evictions, bound = sum(goal.evictions for *_, goal in found), sum(goal.bound for *_, goal in found)
    status: Literal["optimal", "feasible", "nothing"] = max((goal.status for *_, goal in found), key=_WORST.index)
    return PlannedGoal(
        objectives=tuple(
            PlannedObjective(
                profile=profile,
                plugin=plugin,
                objective=goal.objective,
                levels=tuple(map(_level, goal.levels)),
                evictions=goal.evictions,
                bound=goal.bound,
                cost=goal.cost,
                cost_bound=goal.cost_bound,
                sentence=goal.sentence,
                pending_pods=tuple(_pending_pod(each, held) for each in goal.pending_pods),
            )
            for profile, plugin, goal in found
        ),
        evictions=evictions,
        bound=bound,
        gap=_gap(evictions, bound) if all(goal.is_reached and _is_proven(goal) for *_, goal in found) else None,
        status=status,
        seconds=round(sum(goal.seconds for *_, goal in found), 3),
        work=round(sum(goal.work for *_, goal in found), 6),
    )


def _level(level: Level) -> GoalLevel:
    before, after, bound = (_in_units(figure, level.scale) for figure in (level.before, level.after, level.bound))
    return GoalLevel(counts=level.counts, before=before, after=after, bound=bound)


def _pending_pod(each: goals.UnscheduledPod, held: Container[PodIdentity]) -> PendingPod:
    return PendingPod(pod=reference(each.pod), to_node=each.node or None, holds_target=identity_of(each.pod) in held)


def _in_units(figure: int, scale: int) -> int | float:
    """Rounded down, all alike, so that a bound stays one and what is at it is seen to be."""
    whole, rest = divmod(figure, scale)
    return figure * _MILLION // scale / _MILLION if rest else whole


def _is_proven(goal: Goal) -> bool:
    """Whether it is known how many evictions are needed at least; none are needed where there are none."""
    return bool(goal.bound) or not goal.evictions


def _gap(evictions: int, bound: int) -> float:
    return round((evictions - bound) / max(bound, 1), 6)
