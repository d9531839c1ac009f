"""How full each node is before and after a plan, and how many nodes are how full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from descheduler.report.plan.figures import NUM_STEPS, Figures, GroupFigures, NodeFigures, shares_of, step_of

_BLOCKS = "▁▂▃▄▅▆▇█"
_EMPTY = "·"
_STEP_PERCENT = 5


class Cell(NamedTuple):
    """One node: its shares of a resource in percent before and after, and its name; "" for a node whose pods do not
    change, of which only the step of 5 percent is known."""

    before: float
    after: float
    name: str = ""


def main_resource(figures: Figures) -> str:
    """The resource that pictures show first: `gpu` where pods move that request as large a share of the GPUs as of the
    CPUs, else `cpu`, or what there is."""
    known = [each.resource for each in figures.balance]
    leaving, coming = (
        shares_of(amounts, figures.total.allocatable) for amounts in (figures.total.displaced, figures.total.landing)
    )
    moved = {name: max(share, coming[name]) for name, share in leaving.items()}
    gpus = moved.get("gpu", 0)
    wanted = ("gpu", "cpu", "memory") if gpus and gpus >= moved.get("cpu", 0) else ("cpu", "memory", "gpu")
    return next((name for name in wanted if name in known), "cpu")


def node_cells(figures: Figures, group: GroupFigures, resource: str) -> list[Cell]:
    """The nodes of `group` that have the resource, the fullest before the plan first."""
    changed = (node for node in figures.nodes if (node.zone, node.pool) == (group.zone, group.pool))
    cells = [*_changed(changed, resource), *_unchanged(group, resource)]
    return sorted(cells, key=lambda cell: (-cell.before, -cell.after, cell.name))


def _changed(nodes: Iterable[NodeFigures], resource: str) -> Iterator[Cell]:
    for node in nodes:
        before, after = shares_of(node.before, node.allocatable), shares_of(node.after, node.allocatable)
        if resource in before:
            yield Cell(before[resource], after[resource], node.name)


def _unchanged(group: GroupFigures, resource: str) -> Iterator[Cell]:
    for step, number in enumerate(group.unchanged.get(resource, ())):
        share = (step + 0.5) * _STEP_PERCENT if step < NUM_STEPS - 1 else 100.0
        yield from [Cell(share, share)] * number


def histogram(figures: Figures, resource: str) -> tuple[Sequence[int], Sequence[int]]:
    """How many nodes are in each step of 5 percent, before and after."""
    before, after = [0] * NUM_STEPS, [0] * NUM_STEPS
    for group in figures.groups:
        for step, number in enumerate(group.unchanged.get(resource, ())):
            before[step] += number
            after[step] += number
    for cell in _changed(figures.nodes, resource):
        before[step_of(cell.before)] += 1
        after[step_of(cell.after)] += 1
    return before, after


def strip_lines(figures: Figures, width: int) -> tuple[str, str]:
    """The nodes before and after, the fullest before first, as two lines of at most `width` characters; a character
    stands for several nodes of one share on average where there are more nodes. Empty without nodes."""
    resource = main_resource(figures)
    cells = [cell for group in figures.groups for cell in node_cells(figures, group, resource)]
    cells.sort(key=lambda cell: (-cell.before, -cell.after))
    if not cells or width < 1:
        return "", ""
    size = -(-len(cells) // width)
    parts = [cells[start : start + size] for start in range(0, len(cells), size)]
    before = "".join(block(sum(cell.before for cell in part) / len(part)) for part in parts)
    after = "".join(block(sum(cell.after for cell in part) / len(part)) for part in parts)
    return before, after


def block(percent: float) -> str:
    """A character as high as the share; a dot for nothing."""
    return _BLOCKS[min(len(_BLOCKS) - 1, int(percent * len(_BLOCKS) / 100))] if percent else _EMPTY
