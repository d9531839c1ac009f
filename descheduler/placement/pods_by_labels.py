"""Which nodes hold active pods with given labels: pods grouped by what a selector can see of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from descheduler.model.labels import LabelSelector
from descheduler.model.pod import Pod
from descheduler.placement.shadow_cluster import ShadowCluster

__all__ = ["PodsByLabels"]


class PodsByLabels:
    """Active pods of the known nodes in groups of equal namespace and labels; built at the first question."""

    def __init__(self, shadow: ShadowCluster, node_index: Mapping[str, int]) -> None:
        self._shadow = shadow
        self._node_index = node_index
        self._groups: dict[str, dict[int, tuple[Mapping[str, str], Counter[int]]]] | None = None
        self._answers: dict[tuple[LabelSelector, frozenset[str]], NDArray[np.bool_]] = {}

    def nodes_with(self, selector: LabelSelector, namespaces: frozenset[str]) -> NDArray[np.bool_]:
        """Nodes that hold at least one active pod of `namespaces` that `selector` matches."""
        key = (selector, namespaces)
        known = self._answers.get(key)
        if known is None:
            known = self._answers[key] = np.zeros(len(self._node_index), dtype=bool)
            for labels, counts in self._groups_of(namespaces):
                if selector.matches(labels):
                    known[list(counts)] = True
        return known

    def remove(self, pod: Pod) -> None:
        """Forgets an active pod that left its node."""
        index = self._node_index.get(pod.node_name)
        if self._groups is None or index is None or pod.is_terminal:
            return
        counts = self._groups[pod.namespace][id(pod.labels)][1]
        counts[index] -= 1
        if not counts[index]:
            del counts[index]
            self._answers.clear()

    def _groups_of(self, namespaces: Iterable[str]) -> Iterable[tuple[Mapping[str, str], Counter[int]]]:
        if self._groups is None:
            self._groups = self._build()
        for namespace in namespaces:
            yield from self._groups.get(namespace, {}).values()

    def _build(self) -> dict[str, dict[int, tuple[Mapping[str, str], Counter[int]]]]:
        groups: dict[str, dict[int, tuple[Mapping[str, str], Counter[int]]]] = {}
        for node_name, index in self._node_index.items():
            for pod in self._shadow.active_pods_on(node_name):
                # Equal labels are one object in a snapshot, so identity groups them.
                group = groups.setdefault(pod.namespace, {}).setdefault(id(pod.labels), (pod.labels, Counter()))
                group[1][index] += 1
        return groups
