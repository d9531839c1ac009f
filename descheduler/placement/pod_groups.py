"""How many placed pods of given labels each node holds, kept up to date move by move.

Pods of equal namespace and labels are one group, which knows its pods by node. What rules ask for, the pods that some
selectors match, is a column over nodes that is summed up from the groups once and then follows every change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.labels import LabelSelector, Requirement
from descheduler.model.pod import Pod
from descheduler.placement.shadow_cluster import NO_NODE, ShadowCluster

__all__ = ["PodCounts", "PodGroups", "PodQuery"]

PodCounts = NDArray[np.int32]
"""A number of pods a node."""

_MOST_CELLS = 8_000_000
"""Columns together have no more cells than this (32 MB); the one that was not asked for longest gives way."""
_LEAST_COLUMNS = 16


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


class _Column:
    """The answer to a query: pods by node, and the groups it is the sum of."""

    __slots__ = ("counts", "counts_terminating", "groups")

    def __init__(self, groups: list[_Group], *, counts_terminating: bool, num_nodes: int) -> None:
        self.groups = groups
        self.counts_terminating = counts_terminating
        self.counts = _sum_up(groups, counts_terminating=counts_terminating, num_nodes=num_nodes)
        for group in groups:
            group.columns = (*group.columns, self)

    def forget(self) -> None:
        """Stops following the groups."""
        for group in self.groups:
            group.columns = tuple(column for column in group.columns if column is not self)


class _Group:
    """Placed pods of equal namespace and labels: node → number of all of them, and of those being deleted."""

    __slots__ = ("columns", "labels", "namespace", "pods", "terminating")

    def __init__(self, pod: Pod) -> None:
        self.namespace = pod.namespace
        # Kept not only for its content: groups are found by the identity of the labels, which must not be reused.
        self.labels = pod.labels
        self.pods: dict[int, int] = {}
        self.terminating: dict[int, int] | None = None
        self.columns: tuple[_Column, ...] = ()


class PodGroups:
    """Follower that answers how many placed pods a query finds on each node. Pods on unknown nodes are left out."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._num_nodes = len(cluster.table)
        self._most_columns = max(_LEAST_COLUMNS, _MOST_CELLS // max(1, self._num_nodes))
        self._groups: dict[tuple[str, int], _Group] = {}
        self._namespaces: dict[str, _NamespaceIndex] = {}
        self._columns: dict[PodQuery, _Column] = {}

    def counts(self, query: PodQuery) -> PodCounts:
        """Pods a node that `query` finds. Not to be written to; valid until the cluster changes."""
        column = self._columns.pop(query, None)
        if column is None:
            while len(self._columns) >= self._most_columns:
                self._columns.pop(next(iter(self._columns))).forget()
            groups = [group for index in self._indexes(query.namespaces) for group in index.matching(query)]
            column = _Column(groups, counts_terminating=query.counts_terminating, num_nodes=self._num_nodes)
        self._columns[query] = column  # at the end: the first one is the one not asked for longest
        return column.counts

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Counts `pod` on `node`."""
        if node != NO_NODE:
            self._count(pod, node, 1, is_terminating)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """The inverse of `pod_added`."""
        if node != NO_NODE:
            self._count(pod, node, -1, is_terminating)

    def fingerprint(self) -> object:
        """The pods by namespace, labels and node."""
        state: dict[object, list[tuple[int, int, int]]] = {}
        for group in self._groups.values():
            terminating = group.terminating or {}
            found = [(node, number, terminating.get(node, 0)) for node, number in group.pods.items()]
            if found:
                state.setdefault((group.namespace, tuple(sorted(group.labels.items()))), []).extend(found)
        return sorted((key, sorted(found)) for key, found in state.items())

    def _count(self, pod: Pod, node: int, change: int, is_terminating: bool) -> None:
        group = self._groups.get((pod.namespace, id(pod.labels))) or self._new_group(pod)
        _change(group.pods, node, change)
        if is_terminating:
            if group.terminating is None:
                group.terminating = {}
            _change(group.terminating, node, change)
        for column in group.columns:
            if column.counts_terminating or not is_terminating:
                column.counts[node] += change

    def _new_group(self, pod: Pod) -> _Group:
        group = self._groups[(pod.namespace, id(pod.labels))] = _Group(pod)
        index = self._namespaces.get(pod.namespace)
        if index is None:
            index = self._namespaces[pod.namespace] = _NamespaceIndex()
        index.add(group)
        for query, column in self._columns.items():
            if query.covers(group.namespace, group.labels):
                column.groups.append(group)
                group.columns = (*group.columns, column)
        return group

    def _indexes(self, namespaces: frozenset[str] | None) -> Collection[_NamespaceIndex]:
        if namespaces is None:
            return self._namespaces.values()
        return [self._namespaces[namespace] for namespace in namespaces if namespace in self._namespaces]


class _NamespaceIndex:
    """The groups of one namespace, by label value for the keys that some selector asked for."""

    __slots__ = ("_by_value", "_groups")

    def __init__(self) -> None:
        self._groups: list[_Group] = []
        self._by_value: dict[str, dict[str, list[_Group]]] = {}

    def add(self, group: _Group) -> None:
        self._groups.append(group)
        for key, by_value in self._by_value.items():
            _file_under(by_value, key, group)

    def matching(self, query: PodQuery) -> list[_Group]:
        """The groups that `query` covers. Those with the rarest of the values it asks for are looked at."""
        if any(selector.nothing for selector in query.selectors):
            return []
        wanted = [r for selector in query.selectors for r in selector.requirements if r.operator == "In"]
        likely = min((self._with_value(requirement) for requirement in wanted), key=len, default=self._groups)
        return [group for group in likely if query.covers(group.namespace, group.labels)]

    def _with_value(self, requirement: Requirement) -> list[_Group]:
        by_value = self._by_value.get(requirement.key)
        if by_value is None:
            by_value = self._by_value[requirement.key] = {}
            for group in self._groups:
                _file_under(by_value, requirement.key, group)
        if len(requirement.values) == 1:
            return by_value.get(next(iter(requirement.values)), [])
        return [group for value in requirement.values for group in by_value.get(value, ())]


def _file_under(by_value: dict[str, list[_Group]], key: str, group: _Group) -> None:
    value = group.labels.get(key)
    if value is not None:
        by_value.setdefault(value, []).append(group)


def _change(cells: dict[int, int], node: int, change: int) -> None:
    """Adds to a cell; one that is 0 is not there, so that equal states are equal dicts."""
    number = cells.get(node, 0) + change
    if number:
        cells[node] = number
    else:
        del cells[node]


def _sum_up(groups: Iterable[_Group], *, counts_terminating: bool, num_nodes: int) -> PodCounts:
    nodes: list[int] = []
    numbers: list[int] = []
    for group in groups:
        nodes.extend(group.pods)
        numbers.extend(group.pods.values())
        if group.terminating and not counts_terminating:
            nodes.extend(group.terminating)
            numbers.extend(-number for number in group.terminating.values())
    counts = np.zeros(num_nodes, dtype=np.int32)
    np.add.at(counts, np.array(nodes, dtype=np.intp), np.array(numbers, dtype=np.int32))
    return counts
