"""The lines that sum a plan or an outcome up; they come last, where the prompt is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import groupby
from math import ceil

from descheduler.model.text.counted import counted, first_names
from descheduler.model.text.duration import format_duration
from descheduler.model.text.printable import printable
from descheduler.report.nothing import why_nothing
from descheduler.report.outcome.document import OutcomeDocument, ResultKind, goal_text
from descheduler.report.outcome.predictions import hit_rate_text
from descheduler.report.plan.document import LandingTotals, Plan, ReachedLimit
from descheduler.report.plan.figures import Figures, TotalFigures
from descheduler.report.plan.goal import goal_texts
from descheduler.report.plan.strips import main_resource, strip_lines
from descheduler.report.tables.columns import TIE
from descheduler.report.tables.table_style import TableStyle

_GIB = 2**30
_MOST_WAVES = 8
"""Waves whose pods are counted in a line."""
_MOST_SCOPES = 3
"""Names of nodes or namespaces that one line lists."""

_TOGETHER = {
    "lands": "all fit together in every order tried",
    "likely": "all are likely to fit together",
    "lands_if": "in some orders, or if a condition fails, some of them would stay pending",
    "no": "not all of them fit together",
}
_TOGETHER_VERIFIED = _TOGETHER | {
    "lands": "all that are evicted together fit in every order",
    "lands_if": "if a condition fails, some of them would stay pending",
}
_WAY_OUT = "enable PlacementVerification to evict only pods whose replacements can be scheduled"

_RESULTS: Mapping[ResultKind, str] = {
    "gone": "already gone",
    "refused": "refused by the API server",
    "background": "being evicted by another controller",
    "failed": "failed",
    "not-attempted": "not attempted",
}


def plan_summary(plan: Plan, style: TableStyle) -> Iterator[str]:
    """The headline of a plan, and a line for each thing that there is something to say of."""
    yield style.palette.heading(plan_headline(plan))
    if plan.skipped:
        return
    yield from style.labelled(
        {
            "By plugin": _by_plugin(plan, [(move.profile, move.plugin) for move in plan.moves]),
            **_goal_and_why(plan),
            "Search ended by": _search_end(plan),
            "Waves": _waves(plan),
            "Estimated time": time_text(plan),
            "Replacement pods": landing_summary(plan.landings),
            **_left_aside(plan),
            "Requests": _requested(plan.figures.total),
        }
    )
    if plan.moves and style.width is not None:
        yield from _strip(plan.figures, style.width)


def _strip(figures: Figures, width: int) -> Iterator[str]:
    """The nodes before and after, one above the other."""
    labels = [f"Nodes by {main_resource(figures)} before: ", "after: "]
    room = max(map(len, labels))
    for label, cells in zip(labels, strip_lines(figures, width - room), strict=True):
        yield f"{label:>{room}}{cells}"


def outcome_summary(outcome: OutcomeDocument, style: TableStyle) -> Iterator[str]:
    """The headline of an outcome, and a line for each thing that there is something to say of."""
    yield style.palette.heading(outcome_headline(outcome))
    if outcome.plan.skipped and not outcome.results:
        return
    left = ", ".join(f"{counted(each.count, 'pod')} ({printable(each.message)})" for each in outcome.not_attempted)
    yield from style.labelled(
        {
            "By plugin": _by_plugin(
                outcome.plan, [(r.profile, r.plugin) for r in outcome.results if r.result == "evicted"]
            ),
            **_goal_and_why(outcome.plan),
            "Goal after the run": "; ".join(map(goal_text, outcome.goals)),
            "Search ended by": _search_end(outcome.plan),
            "Skipped": printable(outcome.plan.skipped),
            "Stopped by": printable(outcome.stopped_by),
            "Not attempted": left,
            "Replacement pods": landing_summary(outcome.landings),
            "Scheduled": hit_rate_text(outcome.predictions),
            **_left_aside(outcome.plan),
            "Requests": _requested(outcome.figures.total),
        }
    )


def _waves(plan: Plan) -> str:
    """How many pods each wave evicts; empty where all are evicted together."""
    sizes = Counter(move.wave for move in plan.moves)
    if len(sizes) < 2:
        return ""
    numbers = [f"{sizes[wave]:,}" for wave in sorted(sizes)]
    more = [counted(len(numbers) - _MOST_WAVES, "more wave")] if len(numbers) > _MOST_WAVES else []
    *first, last = [*numbers[:_MOST_WAVES], *more]
    unit = "" if more else " pods"
    return f"{len(sizes):,}, of {', '.join(first)} and {last}{unit}; {wave_text(plan)}"


def wave_text(plan: Plan) -> str:
    """When a wave of `plan` begins."""
    if plan.keeps_waves:
        return "a wave starts when the wave before has ended"
    return "a DeschedulerPolicy does not wait between waves, a DeschedulerConfiguration does"


def time_text(plan: Plan) -> str:
    """How long the evictions take by pace and grace periods; "" without any."""
    if not plan.waves:
        return ""
    if plan.keeps_waves:
        seconds = sum(wave.seconds for wave in plan.waves)
    else:
        seconds = sum(wave.pace_seconds for wave in plan.waves) + max(wave.grace_seconds for wave in plan.waves)
    return f"{seconds_text(seconds)} for pace and grace periods, plus the start of replacement pods"


def seconds_text(seconds: float) -> str:
    """Such as `1m13s`, rounded up to whole seconds."""
    return format_duration(timedelta(seconds=ceil(seconds)))


def _goal_and_why(plan: Plan) -> Mapping[str, str]:
    """What planners were asked for and what came of it, and why nothing is evicted; once where that is the same.

    Several goals have a line each: a clause of one could be read as one of the next.
    """
    texts = () if plan.goal is None else goal_texts(plan.goal)
    if len(texts) > 1:
        goals = {f"Goal {number}": text for number, text in enumerate(texts, start=1)}
        return {**goals, "Why": printable(why_nothing(plan, beside_goals=True))}
    goal, why = "".join(texts), printable(why_nothing(plan))
    return {"Goal": "" if goal in why else goal, "Why": why}


def _search_end(plan: Plan) -> str:
    """What ended the search of planners where another run may find another plan; empty otherwise."""
    end = "" if plan.goal is None else plan.goal.search_ended_by
    return f"{end} (not reproducible)" if end in ("timeLimit", "interrupt") else ""


def plan_headline(plan: Plan) -> str:
    """Such as `12 pods would be evicted`."""
    if plan.skipped:
        return f"Skipped: {plan.skipped}"
    return f"{counted(len(plan.moves), 'pod')} would be evicted"


def outcome_headline(outcome: OutcomeDocument) -> str:
    """Such as `10 pods evicted, 1 refused by the API server, 1 not attempted`.

    Jobs of users are carried out also where no plugin runs.
    """
    if outcome.plan.skipped and not outcome.results:
        return f"Skipped: {outcome.plan.skipped}"
    return results_text(outcome.counts, outcome.unconfirmed)


def results_text(counts: Mapping[ResultKind, int], num_unconfirmed: int) -> str:
    """How evictions ended, in pods."""
    unconfirmed = f", {num_unconfirmed:,} of them unconfirmed" if num_unconfirmed else ""
    parts = [f"{counted(counts.get('evicted', 0), 'pod')} evicted{unconfirmed}"]
    parts += [f"{number:,} {text}" for kind, text in _RESULTS.items() if (number := counts.get(kind, 0))]
    return ", ".join(parts)


def landing_summary(totals: LandingTotals) -> str:
    """Whether the pods that are created instead can be scheduled; empty when nothing was looked up."""
    if not totals.num_assessed:
        return ""
    can = totals.lands - totals.not_created
    parts = {
        "can be scheduled": can,
        "not created again": totals.not_created,
        "likely": totals.likely,
        "can be scheduled under a condition": totals.lands_if,
        "would stay pending": totals.no - totals.owner_ends,
        "not created because the eviction fails or ends the Job": totals.owner_ends,
        "unknown": totals.unknown,
    }
    said = ", ".join(f"{number:,} {text}" for text, number in parts.items() if number)
    of_all = f" (the first {totals.num_assessed:,})" if totals.num_assessed < totals.num_evicted else ""
    causes = ", ".join(f"{cause.cause} ({counted(cause.num_pods, 'pod')})" for cause in totals.causes)
    together = (_TOGETHER_VERIFIED if totals.is_verified else _TOGETHER).get(totals.together or "", "")
    sentences = [
        f"{said}{of_all}",
        *([f"{totals.returns_to_source:,} of them onto the same node again"] if totals.returns_to_source else []),
        *([f"not checked: {causes}"] if causes else []),
        *([together] if together and totals.num_assessed > 1 else []),
        *([_WAY_OUT] if not totals.is_verified and (totals.no or totals.returns_to_source) else []),
    ]
    return "; ".join(sentences)


def _left_aside(plan: Plan) -> Mapping[str, str]:
    """What is not in the plan although it matches the policy."""
    by_code = ", ".join(f"{count.code}{TIE}{count.num_refusals:,}" for count in plan.refusal_counts)
    repeated = len({each.pod for each in plan.repeated_requests})
    return {
        "Other controllers": f"{counted(plan.num_background, 'pod')} being evicted by them"
        if plan.num_background
        else "",
        "Not evicted": f"{counted(len(plan.refusals), 'pod')} ({by_code})" if plan.refusals else "",
        "Limits reached": "; ".join(limit_texts(plan)),
        "Selected twice": f"{counted(repeated, 'pod')} (evicted and counted once)" if repeated else "",
    }


def limit_texts(plan: Plan) -> Iterator[str]:
    """Each limit once, with the nodes or namespaces that reached it, and what it kept back."""
    for shown, group in groupby(plan.limits, key=_shown):
        yield f"{shown}{_scopes(list(group))}"
    if plan.num_more_matching:
        at_least = "at least " if plan.is_lower_bound else ""
        yield f"{at_least}{counted(plan.num_more_matching, 'more pod matches', 'more pods match')}"


def _shown(reached: ReachedLimit) -> str:
    written = f"{reached.percentage}: " if reached.percentage else ""
    return f"{reached.limit} ({written}{reached.value:,})"


def _scopes(reached: list[ReachedLimit]) -> str:
    names = [each.scope for each in reached if each.scope]
    if not names:
        return ""
    return printable(f" for {first_names(names, _MOST_SCOPES)}")


def _requested(total: TotalFigures) -> str:
    """What all pods request of what nodes can allocate, and how much of that the evicted pods request."""
    displaced = f"{_cores(total.displaced.cpu_milli)} CPU and {_gib(total.displaced.memory_bytes)} GiB"
    return (
        f"{_cores(total.before.cpu_milli)} of {_cores(total.allocatable.cpu_milli)} CPU, "
        f"{_gib(total.before.memory_bytes)} of {_gib(total.allocatable.memory_bytes)} GiB memory "
        f"({counted(total.before.pods, 'pod')} on {counted(total.num_nodes, 'node')})"
        + (f"; evicted pods: {displaced}" if total.displaced.pods else "")
    )


def _by_plugin(plan: Plan, selected: Iterable[tuple[str, str]]) -> str:
    """How many of the `selected` pods each profile and plugin evicts."""
    counts = Counter(plugin_title(plan, *each) for each in selected)
    return ", ".join(f"{plugin}{TIE}{number:,}" for plugin, number in counts.items())


def plugin_title(plan: Plan, profile: str, plugin: str) -> str:
    """The plugin, with its profile where several could be meant; without one users' jobs are meant."""
    if not plugin:
        return "PodMigrationJobs of users"
    several = len({figures.profile for figures in plan.plugins}) > 1
    return printable(f"{plugin} (profile {profile})" if several else plugin)


def _cores(cpu_milli: int) -> str:
    return f"{cpu_milli / 1000:,.1f}"


def _gib(memory_bytes: int) -> str:
    return f"{memory_bytes / _GIB:,.1f}"
