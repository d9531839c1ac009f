"""What runs as `NodeNUMAResource`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from descheduler.model.annotations import CPU_SPEC_ANNOTATION, NUMA_SPEC_ANNOTATION
from descheduler.model.koordinator.node_reports import NODE_TOPOLOGY_KIND
from descheduler.model.text.numbers import cpu_list_text
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, Compares, SchedulingPlugin
from descheduler.placement.framework.scoring import Amounts, OwnNodeScore
from descheduler.placement.plugins.helper.scores import (
    MAX_SCORE,
    Ints,
    ScoredResource,
    is_scored_unasked,
    scored_resource,
)
from descheduler.placement.plugins.node_numa_resource.cpu_cache import (
    AMPLIFICATION_ANNOTATION,
    NAME,
    CpuCache,
    CpuLedger,
)
from descheduler.placement.plugins.node_numa_resource.plugin import ARGS, NodeNUMAResource, NodeNUMAResourceArgs
from descheduler.placement.plugins.node_numa_resource.pod_on_nodes import CpuReason, PinnedPod
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import SomeNodes, is_counted
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster


class NodeNUMAResourceScore(OwnNodeScore):
    """The weighted mean over the resources that a node offers, by real requests, cut (koordinator 1.8 `scoring.go`).

    Every pod that requests anything is scored, with CPUs of its own or without. Nodes with a policy for NUMA nodes are
    scored there by the NUMA nodes that the pod would get, and pinned CPUs count amplified where a node amplifies them.
    Neither is modelled: such scores are not known.
    """

    name = "NodeNUMAResource"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        args = profile.args.of(NodeNUMAResourceArgs)
        self._is_least = args.strategy == "LeastAllocated"
        self._weights = {name: weight for name, weight in args.weights.items() if is_counted(name)}
        self._resources = {name: scored_resource(cluster.table, name) for name in self._weights}

        self._cache = cluster.follow(CpuCache)
        self._by_policy = np.array([bool(node.numa_policy) for node in self._cache.nodes], dtype=bool)
        self._amplified = [index for index, node in enumerate(self._cache.nodes) if node.amplified > 1]

    def unknown(self, cycle: Cycle) -> BoolMask | None:
        """Nodes with a policy for NUMA nodes, all for a pod with one, and nodes with pinned CPUs that are amplified."""
        if NUMA_SPEC_ANNOTATION in cycle.pod.pod.annotations:
            return np.ones(len(self._by_policy), dtype=bool)
        amplified = [node for node in self._amplified if self._cache.held(node)]
        if not amplified:
            return self._by_policy if self._by_policy.any() else None
        nodes = self._by_policy.copy()
        nodes[amplified] = True
        return nodes

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


def _explain_cpus(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """What the pod asks of the node's CPUs, and what is left of them."""
    pod = refused.cycle.scratch.get(NAME)
    if not isinstance(pod, PinnedPod) or CpuReason.TOO_FEW not in obstacle.facts:
        return
    cache = refused.cycle.cluster.ledger(CpuLedger).cache
    cpus, free = cache.nodes[refused.node_index], cache.free(refused.node_index)
    if cpus.map is None:
        return
    required = cpus.required or pod.asked.required
    usable = len(cpus.map.usable(free, required))
    yield (
        f"requests {pod.asked.number} CPUs of its own (CPU bind policy {required}); "
        f"{usable} of {len(cpus.map.cpus)} can be used; free: {cpu_list_text(free) or 'none'}"
    )
    if cpus.closed:
        yield f"no pod is pinned to CPUs {cpu_list_text(cpus.closed)}, which are reserved or pinned by the kubelet"


ROW = SchedulingPlugin(
    plugin=NodeNUMAResource,
    score=NodeNUMAResourceScore,
    points=frozenset({"pre_filter", "filter", "score", "reserve", "pre_bind"}),
    args=ARGS,
    compares=Compares.CPUS,
    explain=_explain_cpus,
    reads_annotations=(CPU_SPEC_ANNOTATION, NUMA_SPEC_ANNOTATION, AMPLIFICATION_ANNOTATION),
    reads_kinds=frozenset({NODE_TOPOLOGY_KIND}),
    about=About(
        check="CPUs of their own for pods of QoS class LSE and LSR, and on nodes with a CPU bind policy: enough must be"
        " free, in whole cores where that is required. NUMA topology policies are not modelled; they are a condition.",
        preference="By default nodes with lower requests of cpu and memory, for all pods. Scores of nodes with a NUMA"
        " topology policy are not modelled: any of them may be the best.",
        reasons=tuple(reason.reason for reason in CpuReason),
    ),
)
