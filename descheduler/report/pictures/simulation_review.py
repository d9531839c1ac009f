"""What a reader of a simulation looks for, put together once for the page and for Markdown."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

import msgspec

from descheduler.model.text.amounts import rounded_percent
from descheduler.model.text.counted import counted
from descheduler.model.text.duration import format_duration
from descheduler.report.pictures.charts import STRIP_HEIGHT, Bar, level_of
from descheduler.report.pictures.review import cluster_text, dump_flags, time_of
from descheduler.report.simulation_document import ClusterFigures, SimulatedMove, SimulatedPolicy, Simulation
from descheduler.report.tables.columns import TIE, Row
from descheduler.report.tables.simulation_table import cycle_rows, difference_row, remaining_texts

_WIDTH = 640.0
_WIDEST_STEP = 48.0
_COUNT_LEVEL = 6
_MOST_MOVES = 200
"""Moves of one cycle that are listed."""
_MOST_OF_ALL = 3000
"""The same of all cycles of a policy; each has its part of them."""


class Series(msgspec.Struct, frozen=True):
    """One figure before the first cycle and after each, as bars; `change` is how it began and ended, in words."""

    title: str
    change: str
    values: Sequence[float]
    bars: Sequence[Bar]


class CycleMoves(msgspec.Struct, frozen=True):
    """The evictions of one cycle, and how many more there are than those that are listed."""

    title: str
    goals: Sequence[str]
    moves: Sequence[SimulatedMove]
    num_more: int


class PolicyReview(msgspec.Struct, frozen=True):
    """What one policy does. `ticks` are the places of the cycles' numbers on the time line."""

    name: str
    sentence: str
    series: Sequence[Series]
    width: float
    ticks: Sequence[tuple[float, str]]
    header: Sequence[str]
    rows: Sequence[Row]
    cycles: Sequence[CycleMoves]
    back_and_forth: Sequence[Sequence[str]]
    failures: Sequence[str]
    warnings: Sequence[str]


class SimulationReview(msgspec.Struct, frozen=True):
    """A simulation as a reader takes it in, from the verdict to the commands."""

    verdict: Sequence[str]
    identity: Mapping[str, str]
    policies: Sequence[PolicyReview]
    differences: Sequence[Row]
    commands: Mapping[str, str]


def simulation_review(simulation: Simulation) -> SimulationReview:
    """The review of `simulation`. Its texts are as they are in the cluster; who shows them escapes them."""
    policies = simulation.policies
    sentences = policies[0].sentence.split("; ")
    named = [f"{each.policy.path}: {each.sentence}" for each in policies]
    remaining = {label: text.replace(TIE, " ") for each in remaining_texts(simulation) for label, text in each.items()}
    return SimulationReview(
        verdict=sentences if len(policies) == 1 else ["Two policies compared", *named],
        identity={
            "Policy": " and ".join(f"{p.policy.path} (digest {p.policy.digest[:12]})" for p in policies),
            "Cluster": cluster_text(simulation.snapshot),
            "First cycle at": time_of(simulation.now),
            "Time between cycles": format_duration(timedelta(seconds=simulation.every_seconds)),
            **remaining,
        },
        policies=[_policy(policy) for policy in policies],
        differences=[difference_row(each) for each in simulation.differences],
        commands=_commands(simulation),
    )


def _policy(policy: SimulatedPolicy) -> PolicyReview:
    header, rows = cycle_rows(policy)
    step = min(_WIDEST_STEP, _WIDTH / (len(policy.cycles) + 1))
    every = max(1, round(24 / step))
    numbers = range(0, len(policy.cycles) + 1, every)
    return PolicyReview(
        name=policy.policy.path,
        sentence=policy.sentence,
        series=list(_series(policy, step)),
        width=round(step * (len(policy.cycles) + 1), 2),
        ticks=[(round((number + 0.43) * step, 2), f"{number}" if number else "start") for number in numbers],
        header=header,
        rows=rows,
        cycles=list(_cycles(policy)),
        back_and_forth=[
            (
                each.workload,
                f"{each.from_cycle}",
                f"{each.evictions:,}",
                f"{each.returned:,}",
                ", ".join(each.nodes[:8]),
            )
            for each in policy.back_and_forth
        ],
        failures=[f"{each.profile}/{each.plugin} in cycle {each.cycle}: {each.message}" for each in policy.failures],
        warnings=policy.warnings,
    )


def _series(policy: SimulatedPolicy, step: float) -> Iterator[Series]:
    """The figures that have any value, one below the other on one time line."""
    points: Sequence[ClusterFigures] = [policy.before, *(cycle.after for cycle in policy.cycles)]
    evictions = [0, *(cycle.evictions for cycle in policy.cycles)]
    yield _counts("Evictions", evictions, step, f"{sum(evictions):,} in all")
    pending = [point.pending for point in points]
    yield _counts("Pods pending", pending, step, f"{pending[0]:,} → {pending[-1]:,}")
    over = [point.nodes_over_target for point in points]
    if None not in over:
        known = [number or 0 for number in over]
        yield _counts("Nodes over target", known, step, f"{known[0]:,} → {known[-1]:,}")
    for name, figures in (("CPU", [p.cpu for p in points]), ("memory", [p.memory for p in points])):
        yield _percents(f"Highest {name} requests of a node", [f.highest_percent for f in figures], step)
        yield _percents(f"Standard deviation of {name} requests", [f.deviation_percent for f in figures], step)


def _counts(title: str, values: Sequence[int], step: float, change: str) -> Series:
    most = max(values) or 1
    bars = [
        _bar(number, value * STRIP_HEIGHT / most, step, _COUNT_LEVEL, f"{value:,}")
        for number, value in enumerate(values)
    ]
    return Series(title, change, values, bars)


def _percents(title: str, values: Sequence[float], step: float) -> Series:
    bars = [
        _bar(number, min(value, 100) * STRIP_HEIGHT / 100, step, level_of(value), rounded_percent(value))
        for number, value in enumerate(values)
    ]
    return Series(title, f"{rounded_percent(values[0])} → {rounded_percent(values[-1])}", values, bars)


def _bar(number: int, height: float, step: float, level: int, words: str) -> Bar:
    when = f"after cycle {number}" if number else "at the start"
    return Bar(round(number * step, 2), round(step * 0.86, 2), round(height, 1), level, f"{words} {when}")


def _cycles(policy: SimulatedPolicy) -> Iterator[CycleMoves]:
    most = min(_MOST_MOVES, _MOST_OF_ALL // max(1, len(policy.cycles)))
    for cycle in policy.cycles:
        if cycle.evictions or cycle.goals:
            moves = cycle.moves[:most]
            title = f"Cycle {cycle.cycle}: {counted(cycle.evictions, 'eviction')}"
            yield CycleMoves(title, cycle.goals, moves, len(cycle.moves) - len(moves))


def _commands(simulation: Simulation) -> Mapping[str, str]:
    """What to run next, for a shell; nothing of several dumps, whose names are one text."""
    snapshot = simulation.snapshot
    if ", " in snapshot.source:
        return {}
    first, *others = (shlex.quote(each.policy.path) for each in simulation.policies)
    compared = "".join(f" --compare {other}" for other in others)
    source = "" if snapshot.is_live else dump_flags(snapshot, simulation.now)
    num_cycles = max(1, *(len(each.cycles) for each in simulation.policies))
    every = format_duration(timedelta(seconds=simulation.every_seconds))
    steps = f"--cycles {num_cycles} --every {every}"
    return {
        "Simulate again": f"descheduler simulate --policy-config-file {first}{compared}{source} {steps}",
        "Plan the first cycle": f"descheduler plan --policy-config-file {first}{source} --out plan.json",
    }
