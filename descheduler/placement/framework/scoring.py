"""The scores that the plugins of a profile give to nodes, and the node that comes out first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.evaluation import Choice, PluginScores, PodEvaluation, ScoreTable
from descheduler.placement.framework.extension_points import (
    PartlyUnknownScore,
    RangedScore,
    ScoreError,
    ScorePlugin,
    Scores,
)
from descheduler.placement.framework.foreign.plugin import ForeignPlugin
from descheduler.placement.framework.foreign.rows import guarded_row
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import NodeTable, SomeNodes
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.roles import implements
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

_MOST_CELLS = 1_000_000
"""Columns together have no more cells than this (8 MB); the one that was not asked for longest gives way."""
_LEAST_COLUMNS = 4

Compute = Callable[[SomeNodes], NDArray[Any]]
"""The cells of these nodes."""


class KeptColumns:
    """Columns by what they are the answer to: pods that ask for the same share one, however many classes they are.

    A column that is asked for again is brought up to date where pods came or went.
    """

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._most = max(_LEAST_COLUMNS, _MOST_CELLS // max(1, len(table)))
        self._kept: dict[Hashable, tuple[NDArray[Any], int]] = {}

    def column(self, key: Hashable, compute: Compute) -> NDArray[Any]:
        """What `compute` says of all nodes. Not to be written to; valid until the cluster changes."""
        column, num_seen = self._kept.pop(key, (None, 0))
        num_changes = self._table.num_changes
        if column is None or num_seen < num_changes:
            column = self._brought_up_to_date(column, num_seen, compute)
        if len(self._kept) >= self._most:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = column, num_changes
        return column

    def _brought_up_to_date(self, column: NDArray[Any] | None, num_seen: int, compute: Compute) -> NDArray[Any]:
        changed = None if column is None else self._table.changed_since(num_seen)
        if column is None or changed is None:
            return compute(self._table.everywhere())
        column[changed.nodes] = compute(changed)
        return column


Amounts = tuple[tuple[str, int], ...]
"""Resources by name, and how much of each."""


class OwnNodeScore(ABC):
    """A plugin whose scores hang on their own node and on what the pod asks for, and not on which nodes are feasible.

    So they are the same for all pods that ask for the same, and where nothing came or went they stay what they were.
    """

    name: str

    @abstractmethod
    def asked_by(self, pod: PlacementClass) -> Amounts | None:
        """What the scores hang on of a pod; None for one that has a score of 0 everywhere."""

    @abstractmethod
    def of_nodes(self, asked: Amounts, some: SomeNodes) -> NDArray[np.int64]:
        """The scores of some nodes, 0..100, for pods that ask for this."""

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """The scores of all nodes."""
        asked = self.asked_by(cycle.pod)
        return None if asked is None else Scores(self.of_nodes(asked, cycle.cluster.table.everywhere()))


class KeptTotals:
    """The weighted sums of the scores of `scorers`, kept for whatever pods ask for."""

    def __init__(self, table: NodeTable, scorers: Sequence[tuple[OwnNodeScore, int]]) -> None:
        self._scorers = scorers
        self._kept = KeptColumns(table)
        self._asked: dict[PlacementClass, tuple[Amounts | None, ...]] = {}

    def of(self, pod: PlacementClass) -> NDArray[np.int64]:
        """The sums by node. Not to be written to; valid until the cluster changes."""
        asked = self._asked.get(pod)
        if asked is None:
            asked = self._asked[pod] = tuple([plugin.asked_by(pod) for plugin, _ in self._scorers])
        return self._kept.column(asked, lambda some: self._sums(asked, some))

    def _sums(self, asked: tuple[Amounts | None, ...], some: SomeNodes) -> NDArray[np.int64]:
        total: NDArray[np.int64] | None = None
        for (plugin, weight), each in zip(self._scorers, asked, strict=True):
            if each is not None:
                scores = plugin.of_nodes(each, some)
                weighted = scores if weight == 1 else scores * weight
                total = weighted if total is None else total + weighted
        return np.zeros(len(some.nodes), dtype=np.int64) if total is None else total


_MOST_SCORE = 100
_LEAST_TOTAL = np.iinfo(np.int64).min


class Scoring:
    """The plugins of `profile` that score, over one shadow cluster.

    Where more than `num_nodes_to_find` nodes are feasible the scheduler does not look at all of them.
    """

    def __init__(
        self,
        cluster: ShadowCluster,
        profile: SchedulerProfile,
        plugins: Mapping[str, SchedulingPlugin],
        num_nodes_to_find: int,
    ) -> None:
        self._profile = profile
        self._num_nodes_to_find = num_nodes_to_find
        self._scorers: list[tuple[ScorePlugin, int]] = []
        for name, weight in profile.scores:
            found = plugins.get(name)
            row = None if found is None else guarded_row(name, found)
            if row is not None and row.score is not None and weight:
                self._scorers.append((row.score(cluster, profile), weight))
        self.guards = [plugin for plugin, _ in self._scorers if isinstance(plugin, ForeignPlugin)]
        """The plugins that are not of this program."""
        own = [(plugin, weight) for plugin, weight in self._scorers if isinstance(plugin, OwnNodeScore)]
        self._kept_totals = KeptTotals(cluster.table, own)
        self._open_scorers = [(each, weight) for each, weight in self._scorers if implements(each, PartlyUnknownScore)]
        self._ranged_scorers = [(each, weight) for each, weight in self._scorers if implements(each, RangedScore)]
        self._other_scorers = [each for each in self._scorers if not isinstance(each[0], OwnNodeScore)]

    def scores(self, evaluation: PodEvaluation) -> ScoreTable:
        """As `SchedulerModel.scores`."""
        nodes = evaluation.nodes
        with evaluation.cycle.view():
            by_plugin = {
                name: PluginScores(scores.final[nodes] * weight, None if scores.raw is None else scores.raw()[nodes])
                for name, scores, weight in self._given(evaluation)
            }
        totals = np.zeros(len(nodes), dtype=np.int64)
        for weighted in by_plugin.values():
            totals += weighted.final
        return ScoreTable(nodes, by_plugin, totals)

    def choose(self, evaluation: PodEvaluation) -> Choice | None:
        """The node that is taken after `evaluation`; None when no node passes, or when the pod cannot be scored."""
        num_nodes = evaluation.num_nodes
        if not num_nodes:
            return None
        if num_nodes == 1:
            node = int(evaluation.feasible.argmax())
            return Choice(node, 0, (node,), None, is_sampled=False)
        try:
            with evaluation.cycle.view():
                totals, level = self._totals(evaluation)
                is_sampled, ranges = num_nodes > self._num_nodes_to_find, list(self._ranges(evaluation))
        except ScoreError:
            return None
        if ranges and (found := _open_choice(totals + level, evaluation.feasible, ranges, is_sampled=is_sampled)):
            return found
        np.copyto(totals, _LEAST_TOTAL, where=~evaluation.feasible)
        total = int(totals[totals.argmax()])
        is_best = (totals == total).nonzero()[0]
        ties = is_best.tolist()
        totals[is_best] = _LEAST_TOTAL
        return Choice(
            node=ties[0],
            total=total + level,
            ties=tuple(ties),
            margin=total - int(totals[totals.argmax()]) if len(ties) < num_nodes else None,
            is_sampled=is_sampled,
        )

    def opened(self, choice: Choice, evaluation: PodEvaluation, cause: str) -> Choice:
        """`choice` where for `cause` any node that passes may be taken: all of them, the highest totals first."""
        if evaluation.num_nodes == 1:
            return choice
        table = self.scores(evaluation)
        ties = tuple(table.nodes[np.argsort(-table.totals, kind="stable")].tolist())
        return msgspec.structs.replace(choice, node=ties[0], ties=ties, margin=None, is_open=True, cause=cause)

    def _given(self, evaluation: PodEvaluation) -> Iterator[tuple[str, Scores, int]]:
        """What each plugin gives to the nodes, by name, and its weight. Raises ScoreError."""
        self._check_scorers()
        for plugin, weight in self._scorers:
            scores = plugin.score(evaluation.cycle, evaluation.feasible)
            if scores is not None:
                yield plugin.name, scores, weight

    def _totals(self, evaluation: PodEvaluation) -> tuple[NDArray[np.int64], int]:
        """The totals of all nodes, to be written to, and what each of them has beside. They mean nothing of nodes that
        are not feasible. Raises ScoreError."""
        self._check_scorers()
        totals, level = self._kept_totals.of(evaluation.cycle.pod).copy(), 0
        for plugin, weight in self._other_scorers:
            scores = plugin.score(evaluation.cycle, evaluation.feasible)
            if scores is None:
                continue
            if scores.level is None:
                totals += scores.final if weight == 1 else scores.final * weight
            else:
                level += scores.level * weight
        return totals, level

    def _ranges(self, evaluation: PodEvaluation) -> Iterator[_TotalRange]:
        """Where totals are not known. Raises ScoreError."""
        for plugin, weight in self._open_scorers:
            mask = plugin.unknown(evaluation.cycle)
            if mask is None:
                continue
            scores = plugin.score(evaluation.cycle, evaluation.feasible)
            if scores is not None:
                nodes = (mask & evaluation.feasible).nonzero()[0]
                own = scores.final[nodes] * weight
                yield _TotalRange(nodes, own, _MOST_SCORE * weight - own)
        for ranged, weight in self._ranged_scorers:
            found = ranged.ranges(evaluation.cycle)
            if found is not None:
                of_feasible = evaluation.feasible[found.nodes]
                above = (found.most - found.least)[of_feasible] * weight
                yield _TotalRange(found.nodes[of_feasible], np.zeros_like(above), above)

    def _check_scorers(self) -> None:
        """Raises ScoreError when a plugin fails at every pod."""
        unprepared = self._profile.unprepared_scorers
        if unprepared:
            raise ScoreError(f"{', '.join(unprepared)}: runs at score without its preScore, which fails every pod")


class _TotalRange(NamedTuple):
    """Feasible nodes whose total is not known: how much it may be `below` and `above` what it is taken for."""

    nodes: NDArray[np.intp]
    below: NDArray[np.int64]
    above: NDArray[np.int64]


def _open_choice(
    totals: NDArray[np.int64], feasible: BoolMask, ranges: Sequence[_TotalRange], *, is_sampled: bool
) -> Choice | None:
    """The choice where not all totals are known; None where no feasible node is concerned."""
    concerned = np.zeros(len(totals), dtype=bool)
    least, most = totals.copy(), totals.copy()
    for each in ranges:
        concerned[each.nodes] = True
        least[each.nodes] -= each.below
        most[each.nodes] += each.above
    if not concerned.any():
        return None
    best = int(least[feasible].max())
    may_win = feasible & (most >= best)
    order = sorted(may_win.nonzero()[0].tolist(), key=lambda node: (bool(concerned[node]), -int(totals[node]), node))
    others = most[feasible & ~may_win]
    margin = best - int(others.max()) if len(others) else None
    is_open = len(order) > 1 and bool(concerned[may_win].any())
    return Choice(order[0], int(totals[order[0]]), tuple(order), margin, is_sampled=is_sampled, is_open=is_open)
