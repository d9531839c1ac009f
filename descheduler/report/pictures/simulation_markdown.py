"""A simulation in Markdown, for a pull request or a change ticket; the same content as its page."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.text.counted import counted
from descheduler.report.pictures.markdown import command_lines, escaped, table_lines
from descheduler.report.pictures.simulation_review import CycleMoves, PolicyReview, Series, simulation_review
from descheduler.report.plan.strips import block
from descheduler.report.simulation_document import Simulation
from descheduler.report.tables.columns import Toned
from descheduler.report.tables.simulation_table import DIFFERENCES_HEADER
from descheduler.version import VERSION

__all__ = ["simulation_markdown"]

_MOST_MOVES = 50
"""Evictions of one cycle that are listed."""


def simulation_markdown(simulation: Simulation) -> Iterator[str]:
    """The lines that show `simulation`, each with its newline."""
    review = simulation_review(simulation)
    first, *others = review.verdict
    facts = [(label, text) for label, text in review.identity.items() if text]
    lines = [
        *(f"# {escaped(first)}", "", *(line for each in others for line in (escaped(each), ""))),
        *table_lines(("", ""), [*facts, ("Made by", f"descheduler {VERSION}")]),
        *(line for policy in review.policies for line in _policy(policy)),
    ]
    if review.differences:
        rows = [[cell.text if isinstance(cell, Toned) else cell for cell in row] for row in review.differences]
        lines += ["## Differences at the end", "", *table_lines(DIFFERENCES_HEADER, rows)]
    lines += command_lines(review.commands)
    yield from (f"{line}\n" for line in lines)


def _policy(policy: PolicyReview) -> Iterator[str]:
    yield from (f"## {escaped(policy.name)}", "")
    yield from (f"**Failed**: {escaped(each)}\n" for each in policy.failures)
    yield from ("```text", *map(_line, policy.series), "```", "")
    rows = [[(cell.text if isinstance(cell, Toned) else cell) or "-" for cell in row] for row in policy.rows]
    yield from table_lines(policy.header, rows)
    if policy.back_and_forth:
        yield from ("### Pods that return to their nodes", "")
        header = ("Workload", "From cycle", "Evictions", "Returned at once", "Nodes")
        yield from table_lines(header, policy.back_and_forth)
    if policy.cycles:
        yield from ("<details><summary>Evictions</summary>", "")
        yield from (line for cycle in policy.cycles for line in _cycle(cycle))
        yield from ("", "</details>", "")
    yield from (f"- {escaped(warning)}" for warning in policy.warnings)
    yield ""


def _line(series: Series) -> str:
    """One figure as a character a cycle, relative to its highest value."""
    most = max(series.values) or 1
    return f"{series.title:<38}{''.join(block(100 * value / most) for value in series.values)}  {series.change}"


def _cycle(cycle: CycleMoves) -> Iterator[str]:
    yield f"- {escaped(cycle.title)}"
    yield from (f"  - {escaped(goal)}" for goal in cycle.goals)
    for move in cycle.moves[:_MOST_MOVES]:
        where = f"{move.from_node} → {move.to_node or move.replacement}"
        yield f"  - {escaped(f'{move.namespace}/{move.name}: {where} ({move.plugin})')}"
    if (num_more := len(cycle.moves) - _MOST_MOVES + cycle.num_more) > 0:
        yield f"  - {counted(num_more, 'more pod')}"
