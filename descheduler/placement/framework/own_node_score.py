"""Scores of a node that hang on what the node table has of that node alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.framework.extension_points import Scores
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import NodeTable, SomeNodes
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle

__all__ = ["Amounts", "KeptColumns", "KeptTotals", "OwnNodeScore"]

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
