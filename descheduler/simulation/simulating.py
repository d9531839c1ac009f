"""Policies and a cluster in, the document `Simulation` out. No I/O; the same input gives the same document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.eviction.checks.scope import EVERYWHERE, Scope
from descheduler.eviction.placement_verification.placement_verification import requires_gain
from descheduler.model.text.counted import counted
from descheduler.plan.decisions import Decisions
from descheduler.plan.run_memory import RunMemory
from descheduler.plan.search_watch import UNWATCHED, SearchWatch
from descheduler.policy.types import Policy
from descheduler.report.identities import policy_identity, snapshot_identity
from descheduler.report.nothing import why_nothing
from descheduler.report.plan.making import make_plan
from descheduler.report.simulation_document import (
    SIMULATION_VERSION,
    BackAndForth,
    ClusterFigures,
    Difference,
    Ending,
    SimulatedCycle,
    SimulatedFailure,
    SimulatedPolicy,
    Simulation,
)
from descheduler.simulation.closed_loop import Course, run_cycles
from descheduler.simulation.endings import back_and_forth, repeated_from, waiting_pods

_SAMPLES = "the samples of Prometheus stay as they were measured, whatever moves"


class SimulationOptions(msgspec.Struct, frozen=True):
    """How a simulation goes: at most so many cycles, each `every` after the one before. For `scope` see `decide`.

    `search` is told of each cycle, and of the searches within, until its policy has run to its end.
    """

    most_cycles: int = 10
    every: timedelta = timedelta(minutes=5)
    scope: Scope = EVERYWHERE
    search: SearchWatch = UNWATCHED


class Start(msgspec.Struct, frozen=True):
    """A policy, the cluster as it is read for it, and what earlier runs of it have left."""

    policy: Policy
    snapshot: Snapshot
    memory: RunMemory = msgspec.field(default_factory=RunMemory)


def simulate(starts: Sequence[Start], *, now: datetime, options: SimulationOptions) -> Simulation:
    """What becomes of one or two policies, each on its own copy of the same cluster, from `now` on.

    Raises PolicyError as `decide` does.
    """
    policies = tuple(_simulated(start, now, options) for start in starts)
    return Simulation(
        api_version=SIMULATION_VERSION,
        kind="Simulation",
        snapshot=snapshot_identity(starts[0].snapshot, now),
        now=now,
        every_seconds=options.every.total_seconds(),
        policies=policies,
        differences=tuple(_differences(*policies)) if len(policies) > 1 else (),
    )


def _simulated(start: Start, now: datetime, options: SimulationOptions) -> SimulatedPolicy:
    num_cycles = count()

    def decide_on(snapshot: Snapshot, at: datetime, memory: RunMemory) -> Decisions:
        cycles = f"{next(num_cycles)} of at most {counted(options.most_cycles, 'cycle')}"
        search = options.search.within(f"Simulating {start.policy.path}: {cycles} done")
        setting = RunSetting(scope=options.scope, memory=memory, search=search)
        this_round = Round(most_assessed=len(snapshot.pods), most_proved=0)
        return decide(start.policy, snapshot, now=at, setting=setting, this_round=this_round)

    try:
        course = run_cycles(
            start.snapshot, decide_on, now=now, memory=start.memory, every=options.every, most=options.most_cycles
        )
    finally:
        options.search.note(None)
    return _document(course)


def _document(course: Course) -> SimulatedPolicy:
    cycles, last = course.cycles, course.runs[-1]
    repeated = _back_and_forth(course)
    waiting = waiting_pods(last) if course.ending == "waits" else {}
    end = cycles[-1].after if cycles else course.before
    plan = make_plan(last)
    return SimulatedPolicy(
        policy=policy_identity(last.policy),
        ending=course.ending,
        sentence=_sentence_of(course.ending, cycles, end, repeated, waiting, requires_gain=requires_gain(last.policy)),
        evictions=sum(cycle.evictions for cycle in cycles),
        waiting=waiting,
        not_evicted={count.code: count.num_refusals for count in plan.refusal_counts},
        why_nothing=why_nothing(plan),
        back_and_forth=repeated,
        before=course.before,
        cycles=cycles,
        failures=tuple(_failures(course.runs)),
        warnings=tuple(dict.fromkeys(_warnings(course))),
    )


def _back_and_forth(course: Course) -> tuple[BackAndForth, ...]:
    """Of the cycles that are repeated, or of all where the policy still evicts after the last one."""
    if course.ending not in ("repeats", "unfinished"):
        return ()
    first = repeated_from(course.found) or 1
    return back_and_forth([cycle.moves for cycle in course.cycles[first - 1 :]], first)


def _failures(runs: Sequence[Decisions]) -> Iterator[SimulatedFailure]:
    known = set()
    for number, decisions in enumerate(runs, start=1):
        for each in decisions.failures:
            if (each.profile, each.plugin) not in known:
                known.add((each.profile, each.plugin))
                yield SimulatedFailure(cycle=number, profile=each.profile, plugin=each.plugin, message=each.message)


def _warnings(course: Course) -> Iterator[str]:
    first = course.runs[0]
    yield from map(str, first.policy.warnings)
    if not first.snapshot.shard.is_whole:
        yield f"only {first.snapshot.shard} is simulated: the other shards evict nothing"
    for decisions in course.runs:
        yield from decisions.notes
        if decisions.skipped:
            yield f"no plugin runs: {decisions.skipped}"
    yield from first.snapshot.warnings
    for why, number in course.undecided.items():
        yield f"unknown where {counted(number, 'pending pod')} can be scheduled: {why}"
    if first.snapshot.node_samples:
        yield _SAMPLES


def _differences(first: SimulatedPolicy, second: SimulatedPolicy) -> Iterator[Difference]:
    """Figures of the end, where they differ."""
    others = _end_figures(second)
    for figure, number in _end_figures(first).items():
        if number != others[figure]:
            yield Difference(figure=figure, first=number, second=others[figure])


def _end_figures(policy: SimulatedPolicy) -> dict[str, float | None]:
    end = policy.cycles[-1].after if policy.cycles else policy.before
    return {
        "cycles": sum(cycle.evictions > 0 for cycle in policy.cycles),
        "evictions": policy.evictions,
        "pods pending": end.pending,
        "nodes over target": end.nodes_over_target,
        "highest CPU requests (%)": end.cpu.highest_percent,
        "standard deviation of CPU requests (%)": end.cpu.deviation_percent,
        "highest memory requests (%)": end.memory.highest_percent,
        "standard deviation of memory requests (%)": end.memory.deviation_percent,
    }


_MOST_NAMED = 3
_WAY_OUT = "enable PlacementVerification with requireGain: true, which blocks evictions that gain nothing"


def _sentence_of(
    ending: Ending,
    cycles: Sequence[SimulatedCycle],
    end: ClusterFigures,
    back_and_forth: Sequence[BackAndForth],
    waiting: Mapping[str, int],
    *,
    requires_gain: bool,
) -> str:
    """One sentence on `cycles`, after which the cluster is as in `end`; without gain a policy may go on for ever."""
    evictions = counted(sum(cycle.evictions for cycle in cycles), "eviction")
    totals = f"{evictions}, {_left(end)}"
    latest = max((cycle.cycle for cycle in cycles if cycle.evictions), default=0)
    match ending:
        case "converges" if latest == 0:
            return f"nothing is evicted, {_left(end)}"
        case "converges":
            return f"converges after {counted(latest, 'cycle')}: {totals}"
        case "waits":
            return f"nothing is evicted {_since(latest)}, but {_waiting(waiting)}: {totals}"
        case "repeats":
            in_cycles = f"{evictions} in {counted(len(cycles), 'cycle')}, {_left(end)}"
            way_out = "" if requires_gain else f"; {_WAY_OUT}"
            return f"does not converge: {_repeats(back_and_forth, cycles)}; {in_cycles}{way_out}"
        case "unfinished":
            return f"has not converged after {counted(len(cycles), 'cycle')}: {totals}; {_busiest(cycles)}"


def _left(end: ClusterFigures) -> str:
    """What is left to do in the end."""
    unknown = f" ({end.unknown:,} of them unknown)" if end.unknown else ""
    pending = f"{counted(end.pending, 'pod')} pending{unknown}"
    over = end.nodes_over_target
    return pending if over is None else f"{pending}, {counted(over, 'node')} over target"


def _since(latest: int) -> str:
    return f"after cycle {latest}" if latest else "so far"


def _waiting(waiting: Mapping[str, int]) -> str:
    number = sum(waiting.values())
    codes = ", ".join(f"{code} {each:,}" for code, each in waiting.items())
    return f"{counted(number, 'pod')} {'is' if number == 1 else 'are'} not evicted yet ({codes})"


def _repeats(back_and_forth: Sequence[BackAndForth], cycles: Sequence[SimulatedCycle]) -> str:
    """Who moves without end. In a cycle that is repeated every workload comes back to where it was."""
    shown = "; ".join(f"pods of {each.workload} {_path(each)}" for each in back_and_forth[:_MOST_NAMED])
    first = back_and_forth[0].from_cycle if back_and_forth else len(cycles)
    more = len(back_and_forth) - _MOST_NAMED
    others = f"; and pods of {counted(more, 'more workload')}" if more > 0 else ""
    return f"from cycle {first} on, {shown or 'the same pods are evicted again'}{others}"


def _path(each: BackAndForth) -> str:
    nodes = f"{' and '.join(each.nodes)}" if len(each.nodes) < _MOST_NAMED else f"{len(each.nodes):,} nodes"
    if each.returned == each.evictions:
        return (
            f"are evicted from {nodes} and scheduled onto the same {'nodes' if len(each.nodes) > 1 else 'node'} again"
        )
    return f"go back and forth between {nodes}"


def _busiest(cycles: Sequence[SimulatedCycle]) -> str:
    moved = Counter(move.workload for cycle in cycles for move in cycle.moves)
    named = ", ".join(f"{workload} ({number:,})" for workload, number in moved.most_common(_MOST_NAMED))
    return f"most evictions: {named}"
