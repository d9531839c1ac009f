"""Which nodes hold active pods with given labels."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.pod import Pod
from descheduler.placement.shadow.tally.pod_tally import FoundPods, PodSum, PodTally

__all__ = ["PodsByLabels"]


class PodsByLabels:
    """Active pods of the known nodes in groups of equal namespace and labels; built at the first question."""

    def __init__(self, view: ClusterView, node_index: Mapping[str, int]) -> None:
        self._view = view
        self._node_index = node_index
        self._tally: PodTally | None = None

    def found(self, query: PodSum) -> FoundPods:
        """The active pods that `query` finds, by node. Not to be written to; valid until a pod leaves or comes."""
        return self._built().found(query)

    def weight(self, query: PodSum, pod: Pod) -> int:
        """What an active pod counts in `query`."""
        return self._built().weight(query, pod)

    def change(self, pod: Pod, number: int) -> None:
        """Takes in a pod that came to its node (1) or left it (-1); one that has finished does not count."""
        index = self._node_index.get(pod.node_name)
        if self._tally is not None and index is not None and not pod.is_terminal:
            self._tally.change(pod, index, number, is_terminating=False)

    def _built(self) -> PodTally:
        if self._tally is None:
            self._tally = PodTally(len(self._node_index))
            for node_name, index in self._node_index.items():
                for pod in self._view.active_pods_on(node_name):
                    self._tally.change(pod, index, 1, is_terminating=False)
        return self._tally
