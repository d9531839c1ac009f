"""Weighted numbers of pods by node, for whoever means so many pods that looking at them one by one takes too long.

A column is summed up from the cells (group of pods, node) at its first use; later changes are a log, from which a
column takes what it missed when it is asked again. So neither a change nor a new column costs more because there are
many columns, which matters where one tenant states thousands of selectors.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

PodsPerNode = NDArray[np.integer[Any]]
"""A number of pods a node."""

GroupWeights = NDArray[Any]
"""Whether a pod of each group counts, or how much."""

_MOST_CELLS = 8_000_000
"""Columns together have no more cells than this (32 MB); the one that was not asked for longest gives way."""
_LEAST_COLUMNS = 16
_LONGEST_LOG = 2048
_FEW = 16
"""The cells of so many groups are looked up group by group, which is faster than looking at all cells."""
_WIDTH = 4
"""A change is a group, a node, by how many pods, and whether they are being deleted."""


class _Column:
    """Pods by node, what a pod of each group counts in it, and how much of the log is in it."""

    __slots__ = ("counts", "counts_terminating", "num_seen", "weights")

    def __init__(self, weights: GroupWeights, counts: PodsPerNode, *, counts_terminating: bool) -> None:
        self.weights = weights
        self.counts = counts
        self.counts_terminating = counts_terminating
        self.num_seen = 0

    def change(self, group: int, node: int, by: int, is_terminating: int) -> None:
        """Takes in one change."""
        if self.counts_terminating or not is_terminating:
            self.counts[node] += by * self.weights[group]

    def change_all(self, changes: NDArray[np.int64]) -> None:
        """Takes in the changes, a row each, of which a few cost less one by one."""
        felt = changes[np.flatnonzero(self.weights[changes[:, 0]])]
        if len(felt) <= _FEW:
            for change in felt.tolist():
                self.change(*change)
            return
        if not self.counts_terminating:
            felt = felt[felt[:, 3] == 0]
        groups, nodes, by, _ = felt.T
        np.add.at(self.counts, nodes, by * self.weights[groups])


class PodColumns:
    """Columns over `num_nodes` nodes. `changes` (group, node, by how many pods, whether they are being deleted) make
    up what is there from the start."""

    def __init__(self, num_nodes: int, changes: Iterable[tuple[int, int, int, int]]) -> None:
        self._num_nodes = num_nodes
        self._log = array("q")
        self._cells = _Cells(np.array(list(changes), dtype=np.int64).reshape(-1, _WIDTH))
        self._columns: dict[Hashable, _Column] = {}

    def change(self, group: int, node: int, by: int, *, is_terminating: bool) -> None:
        """Takes in that `by` pods of `group` came to `node`, or left it."""
        if self._log[-_WIDTH:] == array("q", (group, node, -by, is_terminating)):
            self._take_back()
        else:
            self._log.extend((group, node, by, is_terminating))

    def counts(self, query: Hashable, weights: GroupWeights, *, counts_terminating: bool) -> PodsPerNode:
        """Pods a node with the weights of their groups; `query` stands for the weights, to which new groups may be
        added. Not to be written to; valid until the next change."""
        if self._num_logged > _LONGEST_LOG:
            self._settle()
        column = self._columns.pop(query, None)
        if column is None:
            column = self._new_column(weights, counts_terminating=counts_terminating)
        self._columns[query] = column  # at the end: the first one is the one not asked for longest
        column.weights = weights
        self._follow(column)
        return column.counts

    def _take_back(self) -> None:
        """Takes the last change off the log: what was only tried would make it long, and all columns slow to follow."""
        group, node, by, is_terminating = self._log[-_WIDTH:]
        del self._log[-_WIDTH:]
        # Those that have seen it are among those that were asked for last.
        for column in reversed(self._columns.values()):
            if column.num_seen <= self._num_logged:
                break
            column.num_seen = self._num_logged
            column.change(group, node, -by, is_terminating)

    def _new_column(self, weights: GroupWeights, *, counts_terminating: bool) -> _Column:
        num_cells = 1 + self._num_nodes + len(weights) // 4  # those are a byte each
        while len(self._columns) >= max(_LEAST_COLUMNS, _MOST_CELLS // num_cells):
            del self._columns[next(iter(self._columns))]
        counts = self._cells.sums(weights, self._num_nodes, counts_terminating=counts_terminating)
        return _Column(weights, counts, counts_terminating=counts_terminating)

    def _follow(self, column: _Column) -> None:
        """Takes in the changes that the column has not seen."""
        if column.num_seen < self._num_logged:
            column.change_all(self._changes(column.num_seen))
        column.num_seen = self._num_logged

    @property
    def _num_logged(self) -> int:
        return len(self._log) // _WIDTH

    def _changes(self, start: int) -> NDArray[np.int64]:
        """The log from the change `start` on, as a copy: a log that somebody looks at cannot grow."""
        return np.frombuffer(self._log, dtype=np.int64)[start * _WIDTH :].copy().reshape(-1, _WIDTH)

    def _settle(self) -> None:
        """Moves the log into the cells. Columns that were not told of all groups in it are to be summed up anew."""
        changes = self._changes(0)
        num_groups = int(changes[:, 0].max()) + 1
        self._columns = {query: each for query, each in self._columns.items() if len(each.weights) >= num_groups}
        for column in self._columns.values():
            self._follow(column)
            column.num_seen = 0
        self._cells = _Cells(np.concatenate((self._cells.rows(), changes)))
        self._log = array("q")


class _Cells:
    """Pods by group and node, those being deleted included in `all_pods` and not in `lasting`; in order of groups."""

    def __init__(self, changes: NDArray[np.int64]) -> None:
        by_place = np.lexsort((changes[:, 1], changes[:, 0]))
        groups, nodes, by, is_terminating = changes[by_place].T
        is_first = np.ones(len(groups), dtype=bool)
        is_first[1:] = (groups[1:] != groups[:-1]) | (nodes[1:] != nodes[:-1])
        starts = np.flatnonzero(is_first)
        all_pods = np.add.reduceat(by, starts) if len(starts) else by
        lasting = np.add.reduceat(by * (1 - is_terminating), starts) if len(starts) else by
        is_held = (all_pods != 0) | (lasting != 0)
        self.groups, self.nodes = groups[starts][is_held], nodes[starts][is_held]
        self.all_pods, self.lasting = all_pods[is_held], lasting[is_held]

    def rows(self) -> NDArray[np.int64]:
        """The cells as changes of an empty cluster."""
        ending = self.all_pods - self.lasting
        return np.concatenate(
            [
                np.stack((self.groups, self.nodes, number, np.full(len(number), is_terminating)), axis=1)
                for number, is_terminating in ((self.lasting, 0), (ending, 1))
            ]
        )

    def sums(self, weights: GroupWeights, num_nodes: int, *, counts_terminating: bool) -> PodsPerNode:
        """By node, the pods with the weights of their groups. Groups beyond the cells have no pods in them."""
        numbers = self.all_pods if counts_terminating else self.lasting
        felt = np.flatnonzero(weights)
        if len(felt) <= _FEW:
            bounds = np.searchsorted(self.groups, np.stack((felt, felt + 1)))
            cells = np.concatenate([np.arange(start, end) for start, end in bounds.T]) if len(felt) else felt
        else:
            cells = np.flatnonzero(weights[self.groups])
        counts: PodsPerNode = np.zeros(num_nodes, dtype=np.int32 if weights.dtype == bool else np.int64)
        np.add.at(counts, self.nodes[cells], (weights[self.groups[cells]] * numbers[cells]).astype(counts.dtype))
        return counts
