"""How many placed pods of given labels each node holds, through every move."""

from __future__ import annotations

from descheduler.model.pod import Pod
from descheduler.placement.shadow.follower import CountingFollower
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster
from descheduler.placement.shadow.tally.pod_tally import FoundPods, PodQuery, PodSum, PodTally


class PodCounts(CountingFollower):
    """Follower that answers how many placed pods a query finds on each node. Pods on unknown nodes are left out."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._tally = PodTally(len(cluster.table))

    def found(self, query: PodQuery | PodSum) -> FoundPods:
        """The pods that `query` finds, by node. Not to be written to; valid until the cluster changes."""
        return self._tally.found(query)

    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        if node != NO_NODE:
            self._tally.change(pod, node, sign, is_terminating=is_terminating)

    def fingerprint(self) -> object:
        state: dict[object, list[tuple[int, int, int]]] = {}
        for namespace, labels, *numbers in self._tally.held():
            node, pods, num_ending = numbers
            state.setdefault((namespace, tuple(sorted(labels.items()))), []).append((node, pods, num_ending))
        return sorted((key, sorted(found)) for key, found in state.items())
