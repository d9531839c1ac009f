"""The charts of a page as geometry: where bars stand, how high they are, and what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from descheduler.model.text.amounts import rounded_percent
from descheduler.model.text.counted import counted
from descheduler.report.plan.document import Plan
from descheduler.report.plan.figures import NUM_STEPS, Figures, GroupFigures, shares_of
from descheduler.report.plan.goal import PlannedObjective
from descheduler.report.plan.strips import Cell, histogram, node_cells

STRIP_HEIGHT = 44
"""Of 100 percent, in units of the drawing."""
_STRIP_WIDTH = 1080.0
_WIDEST_BAR = 24.0
_LEVELS = 9
"""Shades, from empty to full."""
_HISTOGRAM_HEIGHT = 120
_SEARCH_WIDTH, _SEARCH_HEIGHT = 400, 100


class Bar(msgspec.Struct, frozen=True):
    """A bar from the ground up, and its words; "" for none."""

    x: float
    width: float
    height: float
    level: int
    words: str


class Strip(msgspec.Struct, frozen=True):
    """The nodes of one zone and pool before and after, in one order. The bars of nodes that do not change are one path
    a shade, as there may be thousands of them, and so are those of nodes that change where they are not named."""

    title: str
    width: float
    before: Sequence[Bar]
    after: Sequence[Bar]
    unchanged: Mapping[int, str]
    unnamed_before: Mapping[int, str]
    unnamed_after: Mapping[int, str]


class Histogram(msgspec.Struct, frozen=True):
    """Numbers of nodes by steps of 5 percent; heights are of `height`."""

    before: Sequence[Bar]
    after: Sequence[Bar]
    most_words: str
    height: int = _HISTOGRAM_HEIGHT


class SearchChart(msgspec.Struct, frozen=True):
    """The figure of the best plan and the bound over the time of a search, as paths."""

    figure: str
    bound: str
    seconds: float
    most: float
    width: int = _SEARCH_WIDTH
    height: int = _SEARCH_HEIGHT


class GroupShares(msgspec.Struct, frozen=True):
    """A zone and pool, and the share of each resource before and after, in words."""

    title: str
    num_nodes: int
    shares: Mapping[str, tuple[str, str]]


def strips_of(figures: Figures, resource: str, *, names_nodes: bool = True) -> Iterator[Strip]:
    """A strip for each zone and pool whose nodes have the resource."""
    for group in figures.groups:
        if cells := node_cells(figures, group, resource):
            yield _strip(_title(group), cells, names_nodes=names_nodes)


class _Paths:
    """Bars without names, as one path for each shade."""

    def __init__(self, width: float) -> None:
        self._width = width
        self._parts: dict[int, list[str]] = {}

    def add(self, x: float, percent: float) -> None:
        height = _height(percent)
        path = f"M{x:g} {STRIP_HEIGHT - height:g}v{height:g}h{self._width:.2f}v{-height:g}z"
        self._parts.setdefault(level_of(percent), []).append(path)

    def by_level(self) -> Mapping[int, str]:
        return {level: "".join(parts) for level, parts in sorted(self._parts.items())}


def _strip(title: str, cells: Sequence[Cell], *, names_nodes: bool) -> Strip:
    step = min(_WIDEST_BAR, _STRIP_WIDTH / len(cells))
    width = step * 0.86
    before, after = list[Bar](), list[Bar]()
    unchanged, unnamed_before, unnamed_after = (_Paths(width) for _ in range(3))
    for place, cell in enumerate(cells):
        x = round(place * step, 2)
        if not cell.name:
            unchanged.add(x, cell.before)
            continue
        if not names_nodes:
            unnamed_before.add(x, cell.before)
            unnamed_after.add(x, cell.after)
            continue
        words = f"{cell.name}: {rounded_percent(cell.before)} → {rounded_percent(cell.after)}"
        before.append(Bar(x, round(width, 2), _height(cell.before), level_of(cell.before), words))
        after.append(Bar(x, round(width, 2), _height(cell.after), level_of(cell.after), words))
    return Strip(
        f"{title}, {counted(len(cells), 'node')}",
        round(step * len(cells), 2),
        before,
        after,
        unchanged.by_level(),
        unnamed_before.by_level(),
        unnamed_after.by_level(),
    )


def histogram_of(figures: Figures, resource: str) -> Histogram:
    """How many nodes are how full."""
    before, after = histogram(figures, resource)
    most = max((*before, *after), default=0) or 1
    return Histogram(_columns(before, most, 0), _columns(after, most, 1), counted(most, "node"))


def _columns(numbers: Sequence[int], most: int, place: int) -> list[Bar]:
    return [
        Bar(
            x=step * 30.0 + place * 12,
            width=11,
            height=round(number * _HISTOGRAM_HEIGHT / most, 1),
            level=min(_LEVELS - 1, step * _LEVELS // 20),
            words=f"{counted(number, 'node')} {'after' if place else 'before'} at {_range(step)}",
        )
        for step, number in enumerate(numbers)
        if number
    ]


def _range(step: int) -> str:
    return f"{step * 5}% or more" if step == NUM_STEPS - 1 else f"{step * 5}-{step * 5 + 5}%"


def search_of(objective: PlannedObjective) -> SearchChart | None:
    """How the search of an objective went; None where nothing happened in it that can be drawn."""
    points = objective.history
    most = max((max(point.figure, point.bound) for point in points), default=0)
    last = points[-1].seconds if points else 0
    if len(points) < 2 or not most or not last:
        return None
    return SearchChart(
        figure=_steps((point.seconds / last, point.figure / most) for point in points),
        bound=_steps((point.seconds / last, point.bound / most) for point in points),
        seconds=last,
        most=most,
    )


def _steps(points: Iterable[tuple[float, float]]) -> str:
    """The path of a figure that holds until the next point; right and up are 1."""
    path = ""
    for right, up in points:
        x, y = round(right * _SEARCH_WIDTH, 1), round((1 - up) * _SEARCH_HEIGHT, 1)
        path += f"H{x:g}V{y:g}" if path else f"M{x:g} {y:g}"
    return path


def group_shares(figures: Figures) -> Iterator[GroupShares]:
    """The balance of zones and pools."""
    for group in figures.groups:
        before, after = shares_of(group.before, group.allocatable), shares_of(group.after, group.allocatable)
        shares = {name: (rounded_percent(share), rounded_percent(after[name])) for name, share in before.items()}
        yield GroupShares(_title(group), group.num_nodes, shares)


def targets_of(plan: Plan, resource: str) -> Sequence[float]:
    """The shares in percent that plugins bring nodes below."""
    facts = [each.facts.nodes for each in plan.plugins if each.facts is not None and each.facts.nodes is not None]
    stated = [nodes.target_thresholds for nodes in facts]
    stated += [objective.targets for objective in plan.goal.objectives] if plan.goal is not None else []
    return sorted({targets[resource] for targets in stated if resource in targets})


def _title(group: GroupFigures) -> str:
    parts = [*([f"zone {group.zone}"] if group.zone else []), *([f"pool {group.pool}"] if group.pool else [])]
    return ", ".join(parts) or "all zones and pools"


def _height(percent: float) -> float:
    return round(min(percent, 100) * STRIP_HEIGHT / 100, 1)


def level_of(percent: float) -> int:
    """The shade of a share in percent."""
    return min(_LEVELS - 1, int(percent * _LEVELS / 100))
