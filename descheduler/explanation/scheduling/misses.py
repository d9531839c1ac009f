"""The nodes that would take a pod but for little, and what exactly that little is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from descheduler.explanation.details.resources import deficits_of, shortage
from descheduler.explanation.details.site import Site
from descheduler.explanation.details.table import DETAILS
from descheduler.explanation.scheduling.finality import finality
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import Obstacle
from descheduler.placement.shadow.shadow_cluster import Cycle
from descheduler.report.explanation.placement import NearMiss, NodeObstacle

__all__ = ["Blocked", "nearest_misses", "num_nearest"]

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
    blocked: Sequence[Blocked], cycle: Cycle, profile: SchedulerProfile, source: str
) -> tuple[NearMiss, ...]:
    """The nodes with the fewest plugins against the pod, in the order of `PlacementAnalysis.misses`."""
    by_kind: dict[tuple[str, ...], list[tuple[_Distance, Blocked]]] = {}
    for each in _nearest(blocked):
        kind = tuple(f"{obstacle.plugin}: {reason}" for obstacle in each.obstacles for reason in obstacle.reasons)
        by_kind.setdefault(kind, []).append((_distance(each, kind, cycle), each))
    chosen = [entry for entries in by_kind.values() for entry in sorted(entries)[:_MOST_OF_A_KIND]]
    return tuple(_miss(each, cycle, profile, source) for _, each in sorted(chosen))


def _nearest(blocked: Sequence[Blocked]) -> list[Blocked]:
    fewest = min((len(each.obstacles) for each in blocked), default=0)
    return [each for each in blocked if len(each.obstacles) == fewest]


def _distance(blocked: Blocked, kind: tuple[str, ...], cycle: Cycle) -> _Distance:
    deficits = [deficit for obstacle in blocked.obstacles for deficit in deficits_of(obstacle)]
    is_too_small = any(deficit.requested > deficit.allocatable for deficit in deficits)
    return _Distance(is_too_small, not deficits, shortage(deficits), kind, blocked.node)


def _miss(blocked: Blocked, cycle: Cycle, profile: SchedulerProfile, source: str) -> NearMiss:
    site = Site(cycle, profile, blocked.node)
    return NearMiss(
        node=site.node.name,
        is_source=site.node.name == source,
        obstacles=tuple(_obstacle(site, obstacle) for obstacle in blocked.obstacles),
    )


def _obstacle(site: Site, obstacle: Obstacle) -> NodeObstacle:
    explain = DETAILS.get(obstacle.plugin)
    return NodeObstacle(
        plugin=obstacle.plugin,
        finality=finality(obstacle.code),
        reasons=obstacle.reasons,
        details=() if explain is None else tuple(explain(site, obstacle)),
        deficits=deficits_of(obstacle),
    )
