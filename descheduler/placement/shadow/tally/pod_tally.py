"""How many pods of given labels each node holds, kept up to date change by change.

Pods of equal namespace and labels are one group, of which it is known how many are on which node. What rules ask for,
the pods that some selectors match, is mostly a group or two, whose nodes are looked up; see PodColumns for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.model.pod import Pod
from descheduler.model.selection.labels import LabelSelector
from descheduler.placement.shadow.tally.label_columns import LabelColumns
from descheduler.placement.shadow.tally.pod_columns import GroupWeights, PodColumns

_FEW_GROUPS = 8
_FEW_NODES = 256
"""Queries that find no more groups, on no more nodes, are answered from these groups each time."""
_MOST_ANSWERS = 8192
"""Queries whose groups are kept: a kilobyte each, or a byte for each group where they find many."""
_LEAST_SCOPES = 16


class FoundPods(msgspec.Struct, frozen=True, gc=False):
    """Pods by node: the `nodes` that have some, each once and in any order, and how many are there.

    Not to be written to; valid until the next change.
    """

    nodes: NDArray[np.intp]
    numbers: NDArray[np.int64]

    def on(self, node: int) -> int:
        return int(self.numbers[self.nodes == node].sum())


class _LabelSetPods:
    """How many pods of a group are on which node, those being deleted included; `ending` are these alone.

    `version` grows with each change.
    """

    __slots__ = ("all_pods", "ending", "labels", "namespace", "version")

    def __init__(self, namespace: str, labels: Mapping[str, str]) -> None:
        self.namespace = namespace
        self.labels = labels
        self.all_pods: dict[int, int] = {}
        self.ending: dict[int, int] = {}
        self.version = 0

    def change(self, node: int, by: int, *, is_terminating: bool) -> None:
        """Counts `by` pods more on `node`, or fewer."""
        self.version += 1
        _add(self.all_pods, node, by)
        if is_terminating:
            _add(self.ending, node, by)


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


class PodSum:
    """Many queries as one: a pod counts with the sum of the weights of those that find it. Keep it to ask it again.

    All of them count pods that are being deleted.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: Iterable[tuple[int, PodQuery]]) -> None:
        self.parts = tuple(parts)


class _Answer:
    """What is known of a query: the groups that it finds, each with its weight, or else the `weights` of all groups.

    `found` is what it found when the versions of its groups summed up to `version`.
    """

    __slots__ = ("counts_terminating", "found", "groups", "num_known", "version", "weights")

    def __init__(self, weights: GroupWeights, groups: list[_LabelSetPods], *, counts_terminating: bool) -> None:
        self.counts_terminating = counts_terminating
        self.num_known = len(weights)
        places = weights.nonzero()[0].tolist()
        is_narrow = len(places) <= _FEW_GROUPS and sum(len(groups[place].all_pods) for place in places) <= _FEW_NODES
        self.weights = None if is_narrow else weights
        self.groups = [(groups[place], int(weights[place])) for place in places] if is_narrow else []
        self.version = -1
        self.found: FoundPods | None = None

    def sum_up(self) -> FoundPods:
        """What the groups have, which are few."""
        version = sum([group.version for group, _ in self.groups])
        if self.found is None or version != self.version:
            self.version = version
            self.found = _found_in(self.groups, counts_terminating=self.counts_terminating)
        return self.found


class PodTally:
    """Counts pods on `num_nodes` nodes, which are known by index."""

    def __init__(self, num_nodes: int) -> None:
        self._num_nodes = num_nodes
        # The labels are kept as well: an identity stands for them only as long as they live.
        self._by_identity: dict[tuple[str, int], tuple[Mapping[str, str], int]] = {}
        self._by_content: dict[tuple[str, frozenset[tuple[str, str]]], int] = {}
        self._groups: list[_LabelSetPods] = []
        self._labels = LabelColumns()
        self._by_namespace: dict[str, list[int]] = {}
        self._scopes: dict[frozenset[str], NDArray[np.bool_]] = {}
        self._answers: dict[PodQuery | PodSum, _Answer] = {}
        self._columns: PodColumns | None = None

    def change(self, pod: Pod, node: int, by: int, *, is_terminating: bool) -> None:
        """Counts `by` pods more like `pod` on `node`, or fewer."""
        known = self._by_identity.get((pod.namespace, id(pod.labels)))
        number = self._new_identity(pod) if known is None else known[1]
        self._groups[number].change(node, by, is_terminating=is_terminating)
        if self._columns is not None:
            self._columns.change(number, node, by, is_terminating=is_terminating)

    def found(self, query: PodQuery | PodSum) -> FoundPods:
        """The pods that `query` finds, by node; of a PodSum the sums that are not 0."""
        answer = self._answer(query)
        if answer.weights is None:
            return answer.sum_up()
        if self._columns is None:
            self._columns = PodColumns(self._num_nodes, self._changes())
        terminating = answer.counts_terminating
        counts = self._columns.counts(query, answer.weights, counts_terminating=terminating)
        nodes = counts.nonzero()[0]
        return FoundPods(nodes, counts[nodes].astype(np.int64))

    def weight(self, query: PodQuery | PodSum, pod: Pod) -> int:
        """What `pod`, which must have been counted before, counts in `query`."""
        answer = self._answer(query)
        _, number = self._by_identity[pod.namespace, id(pod.labels)]
        if answer.weights is not None:
            return int(answer.weights[number])
        return next((weight for group, weight in answer.groups if group is self._groups[number]), 0)

    def held(self) -> Iterable[tuple[str, Mapping[str, str], int, int, int]]:
        """Namespace, labels, node, number of pods and of those being deleted."""
        for group in self._groups:
            for node, number in group.all_pods.items():
                yield group.namespace, group.labels, node, number, group.ending.get(node, 0)

    def _changes(self) -> Iterable[tuple[int, int, int, int]]:
        """What is counted, as changes of an empty cluster."""
        for number, group in enumerate(self._groups):
            for node, pods in group.all_pods.items():
                ending = group.ending.get(node, 0)
                yield number, node, pods - ending, 0
                if ending:
                    yield number, node, ending, 1

    def _new_identity(self, pod: Pod) -> int:
        """The group of labels that were not seen as this object before."""
        content = pod.namespace, frozenset(pod.labels.items())
        number = self._by_content.get(content)
        if number is None:
            number = self._by_content[content] = len(self._groups)
            self._groups.append(_LabelSetPods(pod.namespace, pod.labels))
            self._labels.add(pod.labels)
            self._by_namespace.setdefault(pod.namespace, []).append(number)
            self._scopes.clear()
        self._by_identity[pod.namespace, id(pod.labels)] = pod.labels, number
        return number

    def _answer(self, query: PodQuery | PodSum) -> _Answer:
        """What is known of `query`, for which all groups were looked at."""
        answer = self._answers.get(query)
        if answer is None:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            return self._renew(query, self._weights(query))
        if answer.num_known < len(self._groups):
            new = self._weights_of(query, self._groups[answer.num_known :])
            if answer.weights is not None:
                dtype = answer.weights.dtype
                return self._renew(query, np.concatenate((answer.weights, np.array(new, dtype=dtype))))
            if any(new):
                return self._renew(query, self._weights(query))
            answer.num_known = len(self._groups)
        return answer

    def _renew(self, query: PodQuery | PodSum, weights: GroupWeights) -> _Answer:
        terminating = isinstance(query, PodSum) or query.counts_terminating
        answer = self._answers[query] = _Answer(weights, self._groups, counts_terminating=terminating)
        return answer

    def _weights_of(self, query: PodQuery | PodSum, groups: Iterable[_LabelSetPods]) -> list[int]:
        """What a pod of each of a few groups counts."""
        parts = query.parts if isinstance(query, PodSum) else ((1, query),)
        return [sum(weight for weight, part in parts if part.covers(each.namespace, each.labels)) for each in groups]

    def _weights(self, query: PodQuery | PodSum) -> GroupWeights:
        """What a pod of each group counts."""
        if isinstance(query, PodQuery):
            return self._found_by(query)
        weights = np.zeros(len(self._groups), dtype=np.int64)
        for weight, part in query.parts:
            weights[self._found_by(part)] += weight
        return weights

    def _found_by(self, query: PodQuery) -> NDArray[np.bool_]:
        found = None if query.namespaces is None else self._scope(query.namespaces)
        for selector in query.selectors:
            selected = self._labels.selected(selector)
            found = selected if found is None else found & selected
        return np.ones(len(self._groups), dtype=bool) if found is None else found

    def _scope(self, namespaces: frozenset[str]) -> NDArray[np.bool_]:
        """The groups of some namespaces. Not to be written to."""
        known = self._scopes.get(namespaces)
        if known is None:
            if len(self._scopes) >= _LEAST_SCOPES:
                self._scopes.clear()
            known = self._scopes[namespaces] = np.zeros(len(self._groups), dtype=bool)
            for namespace in namespaces & self._by_namespace.keys():
                known[self._by_namespace[namespace]] = True
        return known


def _found_in(groups: Sequence[tuple[_LabelSetPods, int]], *, counts_terminating: bool) -> FoundPods:
    """The pods of some groups, by node, each pod with the weight of its group; sums of 0 are left out."""
    if len(groups) == 1 and groups[0][1] == 1 and (counts_terminating or not groups[0][0].ending):
        return _found(groups[0][0].all_pods)
    sums: dict[int, int] = {}
    for group, weight in groups:
        for node, number in group.all_pods.items():
            lasting = number if counts_terminating else number - group.ending.get(node, 0)
            sums[node] = sums.get(node, 0) + weight * lasting
    return _found({node: number for node, number in sums.items() if number})


def _found(by_node: Mapping[int, int]) -> FoundPods:
    return FoundPods(np.fromiter(by_node, np.intp, len(by_node)), np.fromiter(by_node.values(), np.int64, len(by_node)))


def _add(by_node: dict[int, int], node: int, by: int) -> None:
    number = by_node.get(node, 0) + by
    if number:
        by_node[node] = number
    else:
        del by_node[node]
