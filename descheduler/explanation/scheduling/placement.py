"""What the scheduler makes of a pod on every node, as it is published and as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from descheduler.documents.fields import Fields
from descheduler.explanation.scheduling.quotas import QuotaFacts, quota_table
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.report.tables.table_style import TableStyle

Finality = Literal["unschedulable", "unresolvable", "unknown", "error"]
"""Whether preemption might help, cannot help, the snapshot cannot tell, or the scheduler gives up the whole attempt."""


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


_MOST_SHOWN_OF_A_KIND = 2
_MOST_RANKED = 5


def placement_table(placement: PlacementAnalysis, style: TableStyle, lead: str) -> Iterator[str]:
    """Lines about the pod that `lead` names."""
    available, _, causes = placement.summary.partition(": ") if placement.obstacles else (placement.summary, "", "")
    yield from style.heading(f"placement of {lead}: {available}")
    if causes:
        # The table of obstacles counts a node for every plugin that rejects it.
        lead_in = "As in the FailedScheduling Event (each node counted once)"
        yield from style.paragraph(f"{lead_in}: {causes}")
    for note in placement.notes:
        yield from style.paragraph(note)
    yield ""
    rows = [[refusal.plugin, ", ".join(refusal.reasons)] for refusal in placement.refusals]
    yield from style.table(["BLOCKED BY", "REASON"], rows)
    if placement.quota is not None:
        yield from quota_table(placement.quota, style)
    yield from _ranking(placement, style)
    yield from _obstacles(placement, style)
    yield from _misses(placement, style)


def _obstacles(placement: PlacementAnalysis, style: TableStyle) -> Iterator[str]:
    rows = [[str(o.num_nodes), str(o.num_alone), o.plugin, o.reason] for o in placement.obstacles]
    yield from style.table(["NODES", "ONLY REASON", "PLUGIN", "REASON"], rows)


def _misses(placement: PlacementAnalysis, style: TableStyle) -> Iterator[str]:
    shown = placement.misses if style.is_wide else tuple(_first_of_each_kind(placement.misses))
    rows = []
    for miss in shown:
        for obstacle in miss.obstacles:
            source = " (current)" if miss.is_source else ""
            why = "; ".join(obstacle.details) or ", ".join(obstacle.reasons)
            rows.append([f"{miss.node}{source}", obstacle.plugin, why])
    yield from style.table(["NODE THAT NEARLY FITS", "PLUGIN", "REASON"], rows)
    if placement.num_misses > len(shown):
        wide = "" if style.is_wide or len(shown) == len(placement.misses) else " (-o wide shows more)"
        more = counted(placement.num_misses - len(shown), "more node is", "more nodes are")
        yield f"{more} blocked by {counted(len(shown[0].obstacles), 'plugin')}{wide}"
        yield ""


def _first_of_each_kind(misses: Sequence[NearMiss]) -> Iterator[NearMiss]:
    seen: Counter[tuple[str, ...]] = Counter()
    for miss in misses:
        kind = tuple(f"{o.plugin}: {reason}" for o in miss.obstacles for reason in o.reasons)
        seen[kind] += 1
        if seen[kind] <= _MOST_SHOWN_OF_A_KIND or miss.is_source:
            yield miss


def _ranking(placement: PlacementAnalysis, style: TableStyle) -> Iterator[str]:
    """The best nodes; of plugins that give all nodes the same only wide tables speak."""
    if placement.score_error:
        yield style.palette.failure(f"the pod cannot be scored: {printable(placement.score_error)}")
        yield ""
    ranking = placement.ranking
    plugins = [
        plugin
        for plugin in (ranking[0].scores if ranking else ())
        if style.is_wide or len({node.scores[plugin] for node in ranking}) > 1
    ]
    shown = [node for index, node in enumerate(ranking) if style.is_wide or index < _MOST_RANKED or node.is_source]
    rows = [[node.node, str(node.total), *(str(node.scores[p]) for p in plugins), _remark(node)] for node in shown]
    yield from style.table(["AVAILABLE NODE", "TOTAL", *plugins, "REMARK"], rows)
    num_others = placement.num_feasible - len(shown)
    if num_others > 0:
        yield f"and {counted(num_others, 'more available node')}" if shown else counted(num_others, "available node")
        yield ""


def _remark(node: RankedNode) -> str:
    parts = ["best"] if node.is_best else []
    return ", ".join([*parts, "current node"] if node.is_source else parts)
