"""The score of NodeNUMAResource (koordinator 1.8 `scoring.go`).

It scores every pod that requests anything, also those that ask for no CPUs of their own. Nodes that amplify their CPUs
or have a policy for NUMA nodes are scored like all others.
"""

from __future__ import annotations

import numpy as np

from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.own_node_score import Amounts, OwnNodeScore
from descheduler.placement.plugins.helper.score_arithmetic import MAX_SCORE, Ints
from descheduler.placement.plugins.helper.scored_resources import ScoredResource, is_scored_unasked, scored_resource
from descheduler.placement.plugins.node_numa_resource.args import NodeNUMAResourceArgs
from descheduler.placement.shadow.node_table import SomeNodes, is_counted
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["NodeNUMAResourceScore"]


class NodeNUMAResourceScore(OwnNodeScore):
    """The weighted mean over the resources that a node offers, by real requests, cut."""

    name = "NodeNUMAResource"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        args = profile.args.of(NodeNUMAResourceArgs)
        self._is_least = args.strategy == "LeastAllocated"
        self._weights = {name: weight for name, weight in args.weights.items() if is_counted(name)}
        self._resources = {name: scored_resource(cluster.table, name) for name in self._weights}

    def asked_by(self, pod: PlacementClass) -> Amounts | None:
        """What the pod adds, by resource that counts for it."""
        if not any(pod.spec.requests.values()):
            return None
        wanted = dict(pod.demand.amounts)
        amounts = [(name, wanted.get(resource.row, 0)) for name, resource in self._resources.items()]
        return tuple((name, amount) for name, amount in amounts if amount or is_scored_unasked(name))

    def of_nodes(self, asked: Amounts, some: SomeNodes) -> Ints:
        """The mean of the ratings."""
        total, weights = np.zeros((2, len(some.nodes)), dtype=np.int64)
        for name, amount in asked:
            resource, weight = self._resources[name], self._weights[name]
            there = True if resource.is_available is None else resource.is_available.take(some.nodes)
            total += np.where(there, weight * self._ratings(resource, amount, some), 0)
            weights += np.where(there, weight, 0)
        scores: Ints = total // np.maximum(weights, 1)
        return scores

    def _ratings(self, resource: ScoredResource, amount: int, some: SomeNodes) -> Ints:
        allocatable = resource.allocatable.take(some.nodes)
        taken = np.minimum(some.requested((resource.row,))[0] + amount, allocatable)
        ratings: Ints = (allocatable - taken if self._is_least else taken) * MAX_SCORE // allocatable
        return ratings
