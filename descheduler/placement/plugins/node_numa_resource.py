"""NodeNUMAResource, of which only the score is modelled (koordinator 1.8 `pkg/scheduler/plugins/nodenumaresource`).

It scores every pod that requests anything, also those that ask for no CPUs of their own. Nodes that amplify their CPUs
or have a policy for NUMA nodes are scored like all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast, get_args

import msgspec
import numpy as np

from descheduler.model.requests import CPU, MEMORY
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.own_node_score import Amounts, OwnNodeScore
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.plugins.helper.score_arithmetic import MAX_SCORE, Ints
from descheduler.placement.plugins.helper.scored_resources import ScoredResource, is_scored_unasked, scored_resource
from descheduler.placement.shadow.node_table import SomeNodes, is_counted
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.policy.shared_args import Args

__all__ = ["ROW", "NodeNUMAResourceArgs", "NodeNUMAResourceScore"]

_Strategy = Literal["LeastAllocated", "MostAllocated"]
_STRATEGIES: tuple[_Strategy, ...] = get_args(_Strategy)


class NodeNUMAResourceArgs(msgspec.Struct, frozen=True):
    """How nodes are scored: by the weighted mean of what is free, or taken, of some resources."""

    strategy: _Strategy = "LeastAllocated"
    weights: Mapping[str, int] = msgspec.field(default_factory=lambda: {CPU: 1, MEMORY: 1})


class NUMAScoredResourceSection(Args, frozen=True):
    """A resource and its weight."""

    name: str = ""
    """Name of the resource."""
    weight: int = 1
    """1 to 100."""


class NUMAScoringSection(Args, frozen=True):
    """How nodes are scored."""

    type: str = "LeastAllocated"
    """`LeastAllocated` (the default) prefers empty nodes, `MostAllocated` full ones."""
    resources: tuple[NUMAScoredResourceSection, ...] = ()
    """What is scored; without `scoringStrategy` cpu and memory alike."""


class NodeNUMAResourceSection(Args, frozen=True):
    """`NodeNUMAResourceArgs` of koord-scheduler 1.8."""

    default_cpu_bind_policy: str = ""
    """`FullPCPUs` by default; not modelled."""
    scoring_strategy: NUMAScoringSection | None = None
    """How nodes are scored."""
    numa_scoring_strategy: NUMAScoringSection | None = None
    """Without effect here."""


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


def _read(block: ArgsBlock, section: NodeNUMAResourceSection) -> NodeNUMAResourceArgs | None:
    scoring = section.scoring_strategy
    if scoring is None:
        return None
    block.choose(("scoringStrategy", "type"), scoring.type, _STRATEGIES)
    return NodeNUMAResourceArgs(cast(_Strategy, scoring.type), {each.name: each.weight for each in scoring.resources})


ROW = SchedulingPlugin(
    score=NodeNUMAResourceScore,
    points=frozenset({"pre_filter", "filter", "score", "reserve", "pre_bind"}),
    args=ArgsKind(NodeNUMAResourceSection, _read, NodeNUMAResourceArgs),
    interactions=own_node,
    is_modelled=False,
    about=About(
        check="Gives whole CPUs and NUMA nodes to pods that request them. Not modelled: such pods are `likely` only.",
        preference="By default nodes with lower requests of cpu and memory, for all pods.",
    ),
)
