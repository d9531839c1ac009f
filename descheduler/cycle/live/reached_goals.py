"""What the goals of planners have come to by the evictions that were made, and the Event that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from descheduler.cycle.deciding.round import Round
from descheduler.cycle.options import RunResult
from descheduler.kube.client import KubeClient
from descheduler.kube.events import EventRecorder, PodEvent
from descheduler.kube.leases.held_lease import HeldLease
from descheduler.kube.leases.store import LEASE_API_VERSION
from descheduler.model.shard import Shard
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import ReachedGoal
from descheduler.report.outcome.document import goal_text, reached_objectives
from descheduler.supervision import RunStopped, Watch

_MOST_SECONDS = 30.0
_MOST_SECONDS_LATE = 1.5
"""Once the time of the run is over: what is left of it is for the report."""
_EVENT_SECONDS = 5.0

Measure = Callable[[Round], Decisions]
"""Decides for one round over the snapshot of the run."""


def reached_goals(
    decided: Sequence[Decisions], result: RunResult, measure: Measure, watch: Watch
) -> tuple[ReachedGoal, ...]:
    """The goals of a run with these decisions in all its rounds; none without a planner.

    Where not exactly the pods of the latest plan are evicted, the figures are computed for those that are, in no more
    than some seconds.
    """
    first, last = decided[0], result.decisions
    if not any(facts.goals for facts in last.facts.values()):
        return ()
    moves = {move.pod.uid: move for decisions in decided for move in decisions.leaving}.values()
    gone = {outcome.eviction.uid for outcome in result.outcomes if outcome.kind.uses_limits}
    made = [move for move in moves if move.pod.uid in gone]
    if gone == {move.pod.uid for move in last.leaving}:
        return tuple(_goals(first, last, last))
    this_round = Round(prior_moves=made, measures=True, most_assessed=0, most_proved=0)
    seconds = _MOST_SECONDS_LATE if watch.is_over else _MOST_SECONDS
    try:
        measured = watch.finish(
            "computing what the goal has come to", lambda: measure(this_round), most_seconds=seconds
        )
    except (RunStopped, TimeoutError):
        measured = None
    return tuple(_goals(first, last, measured))


def _goals(first: Decisions, last: Decisions, measured: Decisions | None) -> Iterator[ReachedGoal]:
    for (profile, plugin), facts in last.facts.items():
        began = first.facts[profile, plugin].goals if (profile, plugin) in first.facts else facts.goals
        reached = _figures(measured, profile, plugin)
        for number, (goal, before) in enumerate(zip(facts.goals, began, strict=True)):
            figure = reached[number] if number < len(reached) else None
            yield ReachedGoal(profile, plugin, goal.objective, before.levels[0].before, goal.levels[0], figure)


def _figures(measured: Decisions | None, profile: str, plugin: str) -> Sequence[int]:
    """The figure of each objective; none where they are not known."""
    facts = None if measured is None else measured.facts.get((profile, plugin))
    if facts is None:
        return ()
    return facts.figures or [goal.levels[0].after for goal in facts.goals]


def announce_goals(
    goals: Sequence[ReachedGoal], client: KubeClient, lease: HeldLease, watch: Watch, shard: Shard
) -> tuple[str, ...]:
    """Writes an Event on the Lease of the run, which is one of `shard`; a sentence if that fails."""
    objectives = reached_objectives(goals)
    is_reached = all(each.reached == each.planned for each in objectives)
    recorder = EventRecorder(client, shard=shard)
    recorder.record(
        PodEvent(
            lease.settings.namespace,
            lease.settings.name,
            lease.uid,
            "Normal" if is_reached else "Warning",
            "PlanCarriedOut" if is_reached else "PlanNotCarriedOut",
            "Descheduled",
            "; ".join(map(goal_text, objectives)),
            "Lease",
            LEASE_API_VERSION,
        )
    )
    totals = recorder.flush(watch.patience_seconds(_EVENT_SECONDS))
    return (
        () if totals.num_written else (f"the Event with the goal was not written: {totals.first_fault or 'no answer'}",)
    )
