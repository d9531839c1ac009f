"""Which pods stand on which node, for the sentences that name them.

Everything else about placed pods is counted; only an explanation asks who they are.
"""

from __future__ import annotations

from descheduler.model.pod import Pod
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["PlacedPods"]


class PlacedPods:
    """A follower that keeps the pods of each node, those that were placed in a what-if included."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._pods: list[list[Pod]] = [[] for _ in cluster.table.nodes]

    def on(self, node: int) -> tuple[Pod, ...]:
        """The pods that take room on a node, in namespace and name order."""
        return tuple(sorted(self._pods[node], key=lambda pod: (pod.namespace, pod.name)))

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Takes `pod` in."""
        del is_terminating
        if node >= 0:
            self._pods[node].append(pod)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """The inverse of `pod_added`. Equal replicas may be one object, of which it does not matter which one goes."""
        del is_terminating
        if node >= 0:
            pods = self._pods[node]
            del pods[next(index for index, known in enumerate(pods) if known is pod)]

    def fingerprint(self) -> object:
        """The names of the pods by node."""
        return [[pod.key for pod in self.on(node)] for node in range(len(self._pods))]
