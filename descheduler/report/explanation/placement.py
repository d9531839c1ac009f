"""The part of an `Explanation` about nodes: which of them take a pod, and what the others have against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from descheduler.documents.fields import Fields
from descheduler.report.explanation.quota import QuotaFacts

__all__ = ["Deficit", "NearMiss", "NodeObstacle", "ObstacleCount", "PlacementAnalysis", "PodRefusal", "RankedNode"]

Finality = Literal["unschedulable", "unresolvable", "unknown"]
"""Whether preemption might help, cannot help, or the snapshot cannot tell."""


class PodRefusal(Fields, frozen=True):
    """A plugin that refuses the pod before any node is examined."""

    plugin: str
    finality: Finality
    reasons: tuple[str, ...]


class ObstacleCount(Fields, frozen=True):
    """How many nodes one reason of one plugin excludes; on `num_alone` of them it is the only reason."""

    plugin: str
    reason: str
    num_nodes: int = msgspec.field(name="nodes")
    num_alone: int = msgspec.field(name="alone")


class Deficit(Fields, frozen=True):
    """A resource that a node is short of: cpu in milli cores, all else in whole units.

    `missing` is how much more would have to be free, `requested` what the pod requests, `free` what is left, which is
    below zero on an over-committed node.
    """

    resource: str
    missing: int
    requested: int
    free: int
    allocatable: int


class NodeObstacle(Fields, frozen=True):
    """Why one plugin excludes one node.

    `reasons` are the scheduler's words; `details` name what is missing or which pod blocks it, if that is known.
    """

    plugin: str
    finality: Finality
    reasons: tuple[str, ...]
    details: tuple[str, ...]
    deficits: tuple[Deficit, ...]


class NearMiss(Fields, frozen=True):
    """A node that is excluded by few plugins only."""

    node: str
    is_source: bool = msgspec.field(name="source")
    obstacles: tuple[NodeObstacle, ...]


class RankedNode(Fields, frozen=True):
    """A node that passes all filters, and its score: `scores` by plugin, weighted, add up to `total`.

    `is_best` marks the nodes of which the scheduler chooses one, `is_source` the current node of the pod.
    """

    node: str
    total: int
    is_best: bool = msgspec.field(name="best")
    is_source: bool = msgspec.field(name="source")
    scores: Mapping[str, int]


class PlacementAnalysis(Fields, frozen=True):
    """The scheduler's filters and scores for one pod, on every node.

    `summary` is what the scheduler would say in its event, or how many nodes are available. `is_queued` is false for a
    pod with scheduling gates. `refusals` are set when the pod is refused before any node is examined.
    `obstacles` count reasons over all nodes.

    `misses` are nodes with the fewest obstacles: those that lack resources by the size of the deficit, then the others,
    then those that are too small for the pod; of each kind of obstacle the first few. `num_misses` counts all that have
    as few. `ranking` holds the best nodes in order, and the current node of the pod. `margin` is the lead of the
    best over the next, null without a next. `notes` are assumptions of the answer. `quota` is the elastic quota that
    the scheduler charges the pod to, null without one.
    """

    scheduler: str
    summary: str
    num_nodes: int = msgspec.field(name="nodes")
    num_feasible: int = msgspec.field(name="feasible")
    is_queued: bool = msgspec.field(name="queued")
    refusals: tuple[PodRefusal, ...]
    obstacles: tuple[ObstacleCount, ...]
    misses: tuple[NearMiss, ...]
    num_misses: int
    ranking: tuple[RankedNode, ...]
    margin: int | None
    score_error: str
    notes: tuple[str, ...]
    quota: QuotaFacts | None
