"""A simulation as tables: a row for each cycle, in what two policies differ, and last what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from descheduler.model.text.amounts import rounded_percent
from descheduler.model.text.counted import counted
from descheduler.model.text.duration import format_duration
from descheduler.model.text.printable import printable
from descheduler.policy.plugin_faults import failure_words
from descheduler.report.simulation_document import (
    ClusterFigures,
    Difference,
    Fate,
    SimulatedCycle,
    SimulatedMove,
    SimulatedPolicy,
    Simulation,
    Utilization,
)
from descheduler.report.tables.columns import TIE, Row
from descheduler.report.tables.table_style import TableStyle

_FIGURES_HEADER = (
    "PENDING",
    "OVER TARGET",
    "CPU MAX",
    "CPU STDDEV",
    "MEMORY MAX",
    "MEMORY STDDEV",
)
_MOVES_HEADER = ("CYCLE", "NAMESPACE", "POD", "NODE", "TARGET", "PLUGIN")
DIFFERENCES_HEADER = ("FIGURE", "FIRST POLICY", "SECOND POLICY", "DIFFERENCE")


def simulation_table(simulation: Simulation, style: TableStyle) -> Iterator[str]:
    """A table for each policy, with its evictions where all is shown; then differences, warnings and the sentences."""
    every = format_duration(timedelta(seconds=simulation.every_seconds))
    for policy in simulation.policies:
        yield from _cycles(policy, every, style)
        if style.is_wide:
            yield from _moves(policy, style)
    if len(simulation.policies) > 1:
        yield from _differences(simulation, style)
    for policy in simulation.policies:
        yield from _messages(policy, style)
    remaining = {label: text for each in remaining_texts(simulation) for label, text in each.items()}
    yield from style.labelled(remaining | {_name(policy): policy.sentence for policy in simulation.policies})


def _cycles(policy: SimulatedPolicy, every: str, style: TableStyle) -> Iterator[str]:
    """The cycles, and what planners say of them."""
    header, rows = cycle_rows(policy)
    yield from style.figures(header, rows, title=f"{_name(policy)}: requests after each cycle, one every {every}")
    goals = [f"Goal in cycle {cycle.cycle}: {goal}" for cycle in policy.cycles for goal in cycle.goals]
    for goal in goals:
        yield from style.paragraph(goal, indent="  ")
    if goals:
        yield ""


def cycle_rows(policy: SimulatedPolicy) -> tuple[Sequence[str], list[Row]]:
    """Header and a row a cycle; several in which nothing changes share one. A column that says nothing is left out."""
    lost = any(cycle.replacements.get("not created") for cycle in policy.cycles)
    header = ["CYCLE", "EVICTED", "SCHEDULED", *(["NOT CREATED"] if lost else []), *_FIGURES_HEADER]
    rows: list[Row] = [["start", "", "", *([""] if lost else []), *_figures(policy.before)]]
    for cycles in _in_groups(policy.cycles):
        rows.append([_numbers(cycles), *_counts(cycles[0], has_lost=lost), *_figures(cycles[0].after)])
    return header, rows


def _in_groups(cycles: Sequence[SimulatedCycle]) -> list[list[SimulatedCycle]]:
    """The cycles in order; those in a row in which nothing is evicted and nothing changes are one group."""
    groups: list[list[SimulatedCycle]] = []
    for cycle in cycles:
        last = groups[-1][-1] if groups else None
        if last is not None and not (cycle.evictions or last.evictions) and cycle.after == last.after:
            groups[-1].append(cycle)
        else:
            groups.append([cycle])
    return groups


def _numbers(cycles: Sequence[SimulatedCycle]) -> str:
    return f"{cycles[0].cycle}" if len(cycles) == 1 else f"{cycles[0].cycle}-{cycles[-1].cycle}"


def _counts(cycle: SimulatedCycle, *, has_lost: bool) -> list[str]:
    fates: list[Fate] = ["scheduled", "not created"] if has_lost else ["scheduled"]
    return [f"{cycle.evictions:,}", *(f"{cycle.replacements.get(fate, 0):,}" for fate in fates)]


def _figures(figures: ClusterFigures) -> list[str]:
    over = figures.nodes_over_target
    return [
        f"{figures.pending:,}",
        "" if over is None else f"{over:,}",
        *_percents(figures.cpu),
        *_percents(figures.memory),
    ]


def _percents(utilization: Utilization) -> tuple[str, str]:
    return rounded_percent(utilization.highest_percent), rounded_percent(utilization.deviation_percent)


def _moves(policy: SimulatedPolicy, style: TableStyle) -> Iterator[str]:
    rows = [_move_row(cycle, move) for cycle in policy.cycles for move in cycle.moves]
    yield from style.table(_MOVES_HEADER, rows, title=f"{_name(policy)}: {counted(policy.evictions, 'eviction')}")


def _move_row(cycle: SimulatedCycle, move: SimulatedMove) -> Row:
    target = move.to_node or move.replacement
    return [f"{cycle.cycle}", move.namespace, move.name, move.from_node, target, move.plugin]


def _differences(simulation: Simulation, style: TableStyle) -> Iterator[str]:
    rows = [difference_row(each) for each in simulation.differences]
    yield from style.table(DIFFERENCES_HEADER, rows, title="Differences at the end")
    if not rows:
        yield "No difference at the end"
        yield ""


def difference_row(difference: Difference) -> Row:
    """A figure of both policies, and by how much they differ."""
    first, second = difference.first, difference.second
    change = "" if first is None or second is None else f"{second - first:+,.4g}"
    return [difference.figure, _number(first), _number(second), change]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,}"


def _messages(policy: SimulatedPolicy, style: TableStyle) -> Iterator[str]:
    for each in policy.failures:
        said = failure_words(each.plugin, each.message)
        text = f"{each.profile}/{each.plugin} in cycle {each.cycle}: {said}"
        yield style.palette.failure(f"Failed: {printable(text)}")
    for warning in policy.warnings:
        yield style.palette.warning(f"Warning: {printable(warning)}")
    if policy.failures or policy.warnings:
        yield ""


def remaining_texts(simulation: Simulation) -> Iterator[Mapping[str, str]]:
    """What a further run of each policy does not evict, and why it evicts nothing."""
    whose = [""] if len(simulation.policies) == 1 else [", first policy", ", second policy"]
    for policy, suffix in zip(simulation.policies, whose, strict=True):
        by_code = ", ".join(f"{code}{TIE}{number:,}" for code, number in policy.not_evicted.items())
        number = sum(policy.not_evicted.values())
        yield {
            f"Not evicted{suffix}": f"{counted(number, 'pod')} ({by_code})" if number else "",
            f"Why nothing{suffix}": printable(_why_nothing_beside_goals(policy)),
        }


def _why_nothing_beside_goals(policy: SimulatedPolicy) -> str:
    """Empty where the goals of the last cycle, which the table has above, are the whole reason."""
    goals = "; ".join(policy.cycles[-1].goals) if policy.cycles else ""
    _, _, reason = policy.why_nothing.partition(": ")
    return "" if goals and reason == goals else policy.why_nothing


def _name(policy: SimulatedPolicy) -> str:
    return printable(policy.policy.path)
