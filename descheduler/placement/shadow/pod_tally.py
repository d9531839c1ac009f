"""How many pods of given labels each node holds, kept up to date change by change.

Pods of equal namespace and labels are one group. What rules ask for, the pods that some selectors match, is a column
over nodes. A column is summed up from the cells (group, node) at its first use; later changes are a log, from which a
column takes what it missed when it is asked again. So neither a change nor a new column costs more because there are
many columns, which matters where one tenant states thousands of selectors.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.labels import LabelSelector
from descheduler.model.pod import Pod
from descheduler.placement.shadow.label_columns import LabelColumns

__all__ = ["FoundPods", "PodQuery", "PodSum", "PodTally", "PodsPerNode"]

PodsPerNode = NDArray[np.integer[Any]]
"""A number of pods a node."""

_Weights = NDArray[Any]  # whether a pod of each group counts, or how much

_MOST_CELLS = 8_000_000
"""Columns together have no more cells than this (32 MB); the one that was not asked for longest gives way."""
_LEAST_COLUMNS = 16
_LONGEST_LOG = 2048
_FEW = 16
"""The cells of so many groups are looked up group by group, which is faster than looking at all cells."""
_WIDTH = 4
"""A change is a group, a node, by how many pods, and whether they are being deleted."""


class PodQuery(NamedTuple):
    """Which pods count: those of `namespaces` (None: of all) that every selector matches.

    Topology spread leaves out pods that are being deleted, inter-pod affinity does not.
    """

    namespaces: frozenset[str] | None
    selectors: tuple[LabelSelector, ...]
    counts_terminating: bool

    def covers(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether pods of this namespace and these labels count."""
        if self.namespaces is not None and namespace not in self.namespaces:
            return False
        for selector in self.selectors:
            if not selector.matches(labels):
                return False
        return True


class FoundPods(NamedTuple):
    """The pods that a query finds: `nodes` that have some, each once, and how many. Valid until the next change."""

    nodes: NDArray[np.intp]
    numbers: NDArray[np.int64]


class PodSum:
    """Many queries as one: a pod counts with the sum of the weights of those that find it. Keep it to ask it again.

    All of them count pods that are being deleted.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: Iterable[tuple[int, PodQuery]]) -> None:
        self.parts = tuple(parts)


class _Column:
    """The answer to a query: what a pod of each group counts, pods by node, and how much of the log is in it."""

    __slots__ = ("counts", "counts_terminating", "num_seen", "weights")

    def __init__(self, weights: _Weights, counts: PodsPerNode, *, counts_terminating: bool) -> None:
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


class PodTally:
    """Counts pods on `num_nodes` nodes, which are known by index."""

    def __init__(self, num_nodes: int) -> None:
        self._num_nodes = num_nodes
        self._groups: dict[tuple[str, int], int] = {}
        # Kept not only for their content: groups are found by the identity of labels, which must not be reused.
        self._members: list[tuple[str, Mapping[str, str]]] = []
        self._labels = LabelColumns()
        self._by_namespace: dict[str, list[int]] = {}
        self._scopes: dict[frozenset[str], NDArray[np.bool_]] = {}
        self._log = array("q")
        self._cells = _Cells(np.empty((0, _WIDTH), dtype=np.int64))
        self._columns: dict[PodQuery | PodSum, _Column] = {}

    def change(self, pod: Pod, node: int, by: int, *, is_terminating: bool) -> None:
        """Counts `by` pods more like `pod` on `node`, or fewer."""
        group = self._groups.get((pod.namespace, id(pod.labels)))
        if group is None:
            group = self._new_group(pod)
        if self._log[-_WIDTH:] == array("q", (group, node, -by, is_terminating)):
            self._take_back()
        else:
            self._log.extend((group, node, by, is_terminating))

    def counts(self, query: PodQuery | PodSum) -> PodsPerNode:
        """Pods a node that `query` finds. Not to be written to; valid until the next change."""
        if self._num_logged > _LONGEST_LOG:
            self._settle()
        column = self._columns.pop(query, None)
        if column is None:
            column = self._new_column(query)
        self._columns[query] = column  # at the end: the first one is the one not asked for longest
        self._follow(column, query)
        return column.counts

    def weight(self, query: PodQuery | PodSum, pod: Pod) -> int:
        """What `pod`, which must have been counted before, counts in `query`."""
        self.counts(query)
        return int(self._columns[query].weights[self._groups[pod.namespace, id(pod.labels)]])

    def held(self) -> Iterable[tuple[str, Mapping[str, str], int, int, int]]:
        """Namespace, labels, node, number of pods and of those being deleted; equal labels may come more than once."""
        self._settle()
        cells = self._cells
        numbers = zip(cells.groups, cells.nodes, cells.all_pods, cells.lasting, strict=True)
        for group, node, pods, lasting in numbers:
            yield *self._members[group], int(node), int(pods), int(pods - lasting)

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

    def _new_group(self, pod: Pod) -> int:
        group = self._groups[pod.namespace, id(pod.labels)] = len(self._members)
        self._members.append((pod.namespace, pod.labels))
        self._labels.add(pod.labels)
        self._by_namespace.setdefault(pod.namespace, []).append(group)
        self._scopes.clear()
        return group

    def _new_column(self, query: PodQuery | PodSum) -> _Column:
        num_cells = 1 + self._num_nodes + len(self._members) // 4  # those are a byte each
        while len(self._columns) >= max(_LEAST_COLUMNS, _MOST_CELLS // num_cells):
            del self._columns[next(iter(self._columns))]
        counts_terminating = isinstance(query, PodSum) or query.counts_terminating
        weights = self._weights(query)
        counts = self._cells.sums(weights, self._num_nodes, counts_terminating=counts_terminating)
        return _Column(weights, counts, counts_terminating=counts_terminating)

    def _weights(self, query: PodQuery | PodSum) -> _Weights:
        """What a pod of each group counts."""
        if isinstance(query, PodQuery):
            return self._found_by(query)
        weights = np.zeros(len(self._members), dtype=np.int64)
        for weight, part in query.parts:
            weights[self._found_by(part)] += weight
        return weights

    def _found_by(self, query: PodQuery) -> NDArray[np.bool_]:
        found = None if query.namespaces is None else self._scope(query.namespaces)
        for selector in query.selectors:
            selected = self._labels.selected(selector)
            found = selected if found is None else found & selected
        return np.ones(len(self._members), dtype=bool) if found is None else found

    def _scope(self, namespaces: frozenset[str]) -> NDArray[np.bool_]:
        """The groups of some namespaces. Not to be written to."""
        known = self._scopes.get(namespaces)
        if known is None:
            if len(self._scopes) >= _LEAST_COLUMNS:
                self._scopes.clear()
            known = self._scopes[namespaces] = np.zeros(len(self._members), dtype=bool)
            for namespace in namespaces & self._by_namespace.keys():
                known[self._by_namespace[namespace]] = True
        return known

    def _follow(self, column: _Column, query: PodQuery | PodSum) -> None:
        """Takes in the groups and the changes that the column has not seen."""
        num_known = len(column.weights)
        if num_known < len(self._members):
            parts = query.parts if isinstance(query, PodSum) else ((1, query),)
            new = [sum(w for w, part in parts if part.covers(*member)) for member in self._members[num_known:]]
            column.weights = np.concatenate((column.weights, np.array(new, dtype=column.weights.dtype)))
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
        """Moves the log into the cells."""
        if self._log:
            for query, column in self._columns.items():
                self._follow(column, query)
                column.num_seen = 0
            self._cells = _Cells(np.concatenate((self._cells.rows(), self._changes(0))))
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

    def sums(self, weights: _Weights, num_nodes: int, *, counts_terminating: bool) -> PodsPerNode:
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
