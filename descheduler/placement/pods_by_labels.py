"""Which nodes hold active pods with given labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from descheduler.model.labels import LabelSelector
from descheduler.model.pod import Pod
from descheduler.placement.cluster_view import ClusterView
from descheduler.placement.label_index import LabelGroup, LabelIndex

__all__ = ["PodsByLabels"]


class PodsByLabels:
    """Active pods of the known nodes in groups of equal namespace and labels; built at the first question."""

    def __init__(self, view: ClusterView, node_index: Mapping[str, int]) -> None:
        self._view = view
        self._node_index = node_index
        self._indexes: dict[str, LabelIndex] | None = None
        self._counts: dict[int, Counter[int]] = {}
        self._answers: dict[tuple[LabelSelector, frozenset[str]], NDArray[np.bool_]] = {}

    def nodes_with(self, selector: LabelSelector, namespaces: frozenset[str]) -> NDArray[np.bool_]:
        """Nodes that hold at least one active pod of `namespaces` that `selector` matches."""
        key = (selector, namespaces)
        known = self._answers.get(key)
        if known is None:
            known = self._answers[key] = np.zeros(len(self._node_index), dtype=bool)
            indexes = self._built()
            for namespace in namespaces & indexes.keys():
                for group in indexes[namespace].groups(selector):
                    known[list(self._counts[id(group)])] = True
        return known

    def remove(self, pod: Pod) -> None:
        """Forgets an active pod that left its node."""
        index = self._node_index.get(pod.node_name)
        if self._indexes is None or index is None or pod.is_terminal:
            return
        counts = self._counts[id(self._indexes[pod.namespace].group_of(pod))]
        counts[index] -= 1
        if not counts[index]:
            del counts[index]
            self._answers.clear()

    def _built(self) -> Mapping[str, LabelIndex]:
        if self._indexes is None:
            by_namespace: dict[str, list[Pod]] = {}
            for node_name in self._node_index:
                for pod in self._view.active_pods_on(node_name):
                    by_namespace.setdefault(pod.namespace, []).append(pod)
            self._indexes = {namespace: LabelIndex(pods) for namespace, pods in by_namespace.items()}
            groups = (group for index in self._indexes.values() for group in index)
            self._counts = {id(group): self._count(group) for group in groups}
        return self._indexes

    def _count(self, group: LabelGroup) -> Counter[int]:
        """Node index → how many pods of `group` it holds."""
        return Counter(self._node_index[pod.node_name] for pod in group.pods)
