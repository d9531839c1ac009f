"""A plan or a simulation in Markdown, for a pull request or a change ticket; the same content as the page.

The drawings of the page of a plan are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from descheduler.model.text.amounts import rounded_percent
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.report.pictures.charts import group_shares
from descheduler.report.pictures.review import Review, WorkloadReview, review_of
from descheduler.report.pictures.simulation_review import CycleMoves, PolicyReview, Series, simulation_review
from descheduler.report.plan.document import Plan, PlanMove
from descheduler.report.plan.goal import objective_title, pending_of, pending_title
from descheduler.report.plan.strips import block, main_resource, strip_lines
from descheduler.report.simulation_document import Simulation
from descheduler.report.tables.columns import Toned
from descheduler.report.tables.simulation_table import DIFFERENCES_HEADER
from descheduler.report.tables.summary import wave_text
from descheduler.version import VERSION

_SPECIAL = re.compile(r"([\\`*_\[\]|~$]|^[#+-])")
_LINK = re.compile(r":(?=//|[\w+-]+:)|(?<=\bwww)\.")
"""What makes a link of a bare URL, or a picture of `:name:`."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
"""`@name` would tell somebody."""
_STRIP_WIDTH = 72
_MOST_PODS = 20
"""Pods of one workload that are listed, and pending pods."""


def escaped(text: str) -> str:
    """`text` as Markdown that shows exactly it, on one line."""
    whole = "".join(_ENTITIES.get(character, character) for character in printable(text))
    return _LINK.sub(lambda found: f"&#{ord(found[0])};", _SPECIAL.sub(r"\\\1", whole))


def markdown_lines(plan: Plan) -> Iterator[str]:
    """The lines that show `plan`, each with its newline."""
    review = review_of(plan)
    for line in (
        *_head(review),
        *_nodes(plan),
        *_goal(plan),
        *_pending(plan),
        *_workloads(review),
        *_waves(review),
        *_not_done(review),
        *_risks(review),
        *command_lines(review.commands),
    ):
        yield f"{line}\n"


def _head(review: Review) -> Iterator[str]:
    first, *others = review.verdict
    yield f"# {escaped(first)}"
    yield ""
    yield from (line for sentence in others for line in (escaped(sentence), ""))
    facts = [(label, text) for label, text in review.identity.items() if text]
    yield from table_lines(("", ""), [*facts, ("Made by", f"descheduler {VERSION}")])
    yield from (
        f"**Failed**: {escaped(f'{each.profile}/{each.plugin}: {each.message}')}\n" for each in review.plan.failures
    )


def _nodes(plan: Plan) -> Iterator[str]:
    groups = list(group_shares(plan.figures))
    if not groups:
        return
    resource = main_resource(plan.figures)
    before, after = strip_lines(plan.figures, _STRIP_WIDTH)
    yield from ("## Nodes before and after", "")
    yield f"Share of {resource} that pods request, the fullest nodes before the plan first:"
    yield from ("", "```text", f"before {before}", f"after  {after}", "```", "")
    names = [each.resource for each in plan.figures.balance]
    rows = [
        (each.title, f"{each.num_nodes:,}", *(" → ".join(each.shares.get(name, ("-",))) for name in names))
        for each in groups
    ]
    yield from table_lines(("Zone and pool", "Nodes", *names), rows)
    for each in plan.figures.balance:
        mean = f"{rounded_percent(each.mean_before)} → {rounded_percent(each.mean_after)}"
        deviation = f"{rounded_percent(each.deviation_before)} → {rounded_percent(each.deviation_after)}"
        yield f"- {each.resource}: mean {mean}, standard deviation {deviation}"
    yield ""


def _goal(plan: Plan) -> Iterator[str]:
    if plan.goal is None:
        return
    rows = [
        (
            objective_title(plan.goal, objective),
            level.counts,
            *(f"{figure:,}" for figure in (level.before, level.after, level.bound, objective.evictions)),
            "not proven" if objective.bound is None else f"{objective.bound:,}",
        )
        for objective in plan.goal.objectives
        for level in objective.levels
    ]
    yield from ("## Goal", "")
    yield from table_lines(("Objective", "Counts", "Before", "After", "Best possible", "Evictions", "At least"), rows)


def _pending(plan: Plan) -> Iterator[str]:
    pods = pending_of(plan.goal) if plan.moves else ()
    if not pods:
        return
    yield from (f"{pending_title(pods)}:", "")
    rows = [
        (f"{each.pod.namespace}/{each.pod.name}", each.to_node or "pending", "yes" if each.holds_target else "no")
        for each in pods[:_MOST_PODS]
    ]
    yield from table_lines(("Pod", "Target", "Room held"), rows)
    if len(pods) > _MOST_PODS:
        yield from (counted(len(pods) - _MOST_PODS, "more pod"), "")


def _workloads(review: Review) -> Iterator[str]:
    if not review.workloads:
        return
    yield from ("## Workloads", "")
    rows = [
        (f"{each.kind} {each.name}", f"{each.moved:,}", f"{each.replicas:,}", f"{each.most_down:,}", each.budget)
        for each in review.workloads
    ]
    yield from table_lines(("Workload", "Moved", "Replicas", "Most down at once", "Budget left before"), rows)
    yield from ("<details><summary>Pods</summary>", "")
    for each in review.workloads:
        yield from _pods(each)
    yield from ("", "</details>", "")


def _pods(workload: WorkloadReview) -> Iterator[str]:
    yield f"- {escaped(f'{workload.kind} {workload.name}')}"
    yield from (f"  - {_move(move)}" for move in workload.moves[:_MOST_PODS])
    if len(workload.moves) > _MOST_PODS:
        yield f"  - {counted(len(workload.moves) - _MOST_PODS, 'more pod')}"


def _move(move: PlanMove) -> str:
    landing = move.landing
    verdict = f" ({landing.verdict})" if landing is not None and landing.verdict != "lands" else ""
    conditions = "".join(f"; if {condition}" for condition in landing.conditions) if landing is not None else ""
    return escaped(
        f"{move.pod.name}: {move.from_node} → {move.to_node or 'unknown'}{verdict}{conditions}: {move.reason}"
    )


def _waves(review: Review) -> Iterator[str]:
    if len(review.waves) < 2:
        return
    text = wave_text(review.plan)
    yield from ("## Waves", "", f"{text[0].upper()}{text[1:]}.", "")
    rows = [
        (
            f"{wave.number:,}",
            f"{wave.evictions:,}",
            wave.time or "-",
            ", ".join(f"{name} {pods}" for name, pods in wave.workloads[:8]),
        )
        for wave in review.waves
    ]
    yield from table_lines(("Wave", "Pods", "Time", "Down at once"), rows)


def _not_done(review: Review) -> Iterator[str]:
    if not review.not_done:
        return
    yield from ("## Not evicted, by reason", "")
    rows = [
        (f"{each.number:,}", each.code, each.meaning, each.key or "-", ", ".join(each.pods)) for each in review.not_done
    ]
    yield from table_lines(("Pods", "Reason", "Meaning", "Policy key", "Such as"), rows)


def _risks(review: Review) -> Iterator[str]:
    warnings = [each for each in review.plan.warnings if each not in review.risks]
    if review.risks or warnings:
        yield from ("## Risks and warnings", "")
        yield from (f"- {escaped(text)}" for text in (*review.risks, *warnings))
        yield ""


def command_lines(commands: Mapping[str, str]) -> Iterator[str]:
    """The section with `commands`; nothing without any."""
    if not commands:
        return
    yield from ("## Commands", "", "```sh")
    # A name of the cluster is quoted for the shell, and what would end the block does not print in it.
    yield from (printable(command).replace("```", "'''") for command in commands.values() if command)
    yield "```"


def table_lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows as a table, every cell escaped."""
    yield f"| {' | '.join(map(escaped, header))} |"
    yield f"|{' --- |' * len(header)}"
    yield from (f"| {' | '.join(map(escaped, row))} |" for row in rows)
    yield ""


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
