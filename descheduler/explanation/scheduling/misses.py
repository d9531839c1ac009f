"""The nodes that would take a pod but for little, and what exactly that little is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from descheduler.explanation.scheduling.placement import Deficit, Finality, NearMiss, NodeObstacle
from descheduler.placement.framework.obstacle import Code, Obstacle, Shortage
from descheduler.placement.framework.refused_node import Configured, RefusedNode
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.shadow.shadow_cluster import Cycle

_FINALITY: dict[Code, Finality] = {
    Code.UNSCHEDULABLE: "unschedulable",
    Code.UNRESOLVABLE: "unresolvable",
    Code.UNDECIDED: "unknown",
    Code.ERROR: "error",
}


def finality(code: Code) -> Finality:
    """The word for `code`."""
    return _FINALITY[code]


_MOST_OF_A_KIND = 5
"""Nodes shown of each kind of obstacle: in a large cluster the next hundred would say the same."""


class _Distance(NamedTuple):
    """How far a node is from taking the pod; sorts the nearest first.

    Nodes that could never hold it come last, and before them those that lack nothing that can be measured.
    """

    is_too_small: bool
    is_unmeasured: bool
    shortage: float
    kind: tuple[str, ...]
    node: int


class Blocked(NamedTuple):
    """A node that does not take the pod, and everything against it in running order."""

    node: int
    obstacles: tuple[Obstacle, ...]


def num_nearest(blocked: Sequence[Blocked]) -> int:
    """How many nodes have as few obstacles as any."""
    return len(_nearest(blocked))


def nearest_misses(
    blocked: Sequence[Blocked],
    cycle: Cycle,
    scheduler: Configured,
    source: str,
    plugins: Mapping[str, SchedulingPlugin],
) -> tuple[NearMiss, ...]:
    """The nodes with the fewest of `plugins` against the pod, in the order of `PlacementAnalysis.misses`."""
    by_kind: dict[tuple[str, ...], list[tuple[_Distance, Blocked]]] = {}
    for each in _nearest(blocked):
        kind = tuple(f"{obstacle.plugin}: {reason}" for obstacle in each.obstacles for reason in obstacle.reasons)
        by_kind.setdefault(kind, []).append((_distance(each, kind, cycle), each))
    chosen = [entry for entries in by_kind.values() for entry in sorted(entries)[:_MOST_OF_A_KIND]]
    with cycle.view():
        return tuple(
            _miss(RefusedNode(cycle, scheduler, each.node), each, source, plugins) for _, each in sorted(chosen)
        )


def _nearest(blocked: Sequence[Blocked]) -> list[Blocked]:
    fewest = min((len(each.obstacles) for each in blocked), default=0)
    return [each for each in blocked if len(each.obstacles) == fewest]


def _distance(blocked: Blocked, kind: tuple[str, ...], cycle: Cycle) -> _Distance:
    deficits = [deficit for obstacle in blocked.obstacles for deficit in _deficits_of(obstacle)]
    is_too_small = any(deficit.requested > deficit.allocatable for deficit in deficits)
    return _Distance(is_too_small, not deficits, _shortage(deficits), kind, blocked.node)


def node_obstacles(
    refused: RefusedNode, blocked: Blocked, plugins: Mapping[str, SchedulingPlugin]
) -> tuple[NodeObstacle, ...]:
    """All that `plugins` have against the pod on the node, while its cycle is in view."""
    return tuple(_obstacle(refused, each, plugins) for each in blocked.obstacles)


def _miss(refused: RefusedNode, blocked: Blocked, source: str, plugins: Mapping[str, SchedulingPlugin]) -> NearMiss:
    name = refused.node.name
    return NearMiss(node=name, is_source=name == source, obstacles=node_obstacles(refused, blocked, plugins))


def _obstacle(refused: RefusedNode, obstacle: Obstacle, plugins: Mapping[str, SchedulingPlugin]) -> NodeObstacle:
    row, deficits = plugins.get(obstacle.plugin), _deficits_of(obstacle)
    said = () if row is None or row.explain is None else tuple(row.explain(refused, obstacle))
    return NodeObstacle(
        plugin=obstacle.plugin,
        finality=finality(obstacle.code),
        reasons=obstacle.reasons,
        details=(*said, *_held_room(refused, deficits, plugins)),
        deficits=deficits,
    )


def _held_room(
    refused: RefusedNode, deficits: Sequence[Deficit], plugins: Mapping[str, SchedulingPlugin]
) -> Iterator[str]:
    """What plugins of the scheduler hold of the resources that a node has too little of, and might have enough of."""
    short = frozenset(each.resource for each in deficits if each.requested <= each.allocatable)
    for name, row in sorted(plugins.items()) if short else ():
        if row.explain_shortage is not None and refused.scheduler.runs(name):
            yield from row.explain_shortage(refused, short)


def _deficits_of(obstacle: Obstacle) -> tuple[Deficit, ...]:
    """What a node is short of, in the order of the reasons; nothing where that cannot be measured."""
    return tuple(
        Deficit(
            resource=fact.resource,
            missing=fact.requested - fact.free,
            requested=fact.requested,
            free=fact.free,
            allocatable=fact.allocatable,
        )
        for fact in obstacle.facts
        if isinstance(fact, Shortage)
    )


def _shortage(deficits: Iterable[Deficit]) -> float:
    """How much is missing, as a share of what the pod asks for, summed over the resources."""
    return sum(deficit.missing / max(1, deficit.requested) for deficit in deficits)
