"""NodeNUMAResource: refuses nodes without the CPUs that a pod is to be pinned to, and takes the CPUs.

What nodes with a policy for NUMA nodes decide is not modelled: they are a condition of the landing, by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Literal, cast, get_args

import msgspec

from descheduler.cluster.decoding.koordinator.node_topology import decode_pinned_cpus
from descheduler.model.annotations import RESOURCE_STATUS_ANNOTATION
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP_FOR_GOOD, PreFilterResult, ReasonBits
from descheduler.placement.framework.interactions import ClosingNodes, Interactions
from descheduler.placement.framework.obstacle import Code, Obstacle, Said
from descheduler.placement.plugins.node_numa_resource.cpu_cache import NAME, CpuCache, CpuLedger
from descheduler.placement.plugins.node_numa_resource.pod_on_nodes import (
    CpuReason,
    PinnedPod,
    PodCpus,
    UnreadableTopology,
    cpus_asked,
    reason_of,
    shares_cpus,
)
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.policy.shared_args import Args

_Strategy = Literal["LeastAllocated", "MostAllocated"]
_STRATEGIES: tuple[_Strategy, ...] = get_args(_Strategy)
_BindPolicy = Literal["FullPCPUs", "SpreadByPCPUs"]
_BIND_POLICIES: tuple[_BindPolicy, ...] = get_args(_BindPolicy)


class NodeNUMAResourceArgs(msgspec.Struct, frozen=True):
    """How nodes are scored: by the weighted mean of what is free, or taken, of some resources.

    `bind_policy` says how CPUs are chosen for pods that do not say it; `fills_numa_nodes` that they are taken where the
    fewest are left.
    """

    strategy: _Strategy = "LeastAllocated"
    weights: Mapping[str, int] = msgspec.field(default_factory=lambda: {CPU: 1, MEMORY: 1})
    bind_policy: _BindPolicy = "FullPCPUs"
    fills_numa_nodes: bool = False


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

    default_cpu_bind_policy: str = msgspec.field(default="", name="defaultCPUBindPolicy")
    """How CPUs are chosen for pods that do not say it: `FullPCPUs` (the default) or `SpreadByPCPUs`."""
    scoring_strategy: NUMAScoringSection | None = None
    """How nodes are scored."""
    numa_scoring_strategy: NUMAScoringSection | None = None
    """With `type: MostAllocated` CPUs are taken from the NUMA node with the fewest CPUs left; no other effect here."""


def _read(block: ArgsBlock, section: NodeNUMAResourceSection) -> NodeNUMAResourceArgs | None:
    scoring, numa = section.scoring_strategy or NUMAScoringSection(), section.numa_scoring_strategy
    block.choose(("scoringStrategy", "type"), scoring.type, _STRATEGIES)
    bind_policy = section.default_cpu_bind_policy or _BIND_POLICIES[0]
    block.choose(("defaultCPUBindPolicy",), bind_policy, _BIND_POLICIES)
    args = NodeNUMAResourceArgs(
        cast(_Strategy, scoring.type),
        bind_policy=cast(_BindPolicy, bind_policy),
        fills_numa_nodes=numa is not None and numa.type == "MostAllocated",
    )
    if section.scoring_strategy is None:
        return args
    weights = {each.name: each.weight for each in scoring.resources}
    return NodeNUMAResourceArgs(args.strategy, weights, args.bind_policy, args.fills_numa_nodes)


ARGS = ArgsKind(NodeNUMAResourceSection, _read, NodeNUMAResourceArgs)


_NO_TOPOLOGIES = Said("NodeResourceTopologies were not read", "unknown CPU topologies of nodes")
_MOST_REQUESTS = 256
"""Columns of answers that are kept, by what pods ask for."""


class NodeNUMAResource:
    """Filter and ledger of one profile."""

    name = NAME
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self.ledger = cluster.ledger(CpuLedger)
        self._args = profile.args.of(NodeNUMAResourceArgs)
        self._cluster = cluster
        self._table = cluster.table
        self._cpu_row = cluster.table.row(CPU)
        cache = self.ledger.cache
        self._amplified = [index for index, node in enumerate(cache.nodes) if node.amplified != 1]
        self._pins_all = any(node.required for node in cache.nodes)
        self._is_plain = all(node.is_plain for node in cache.nodes)
        self._asked: dict[PlacementClass, PodCpus | None] = {}
        self._pods: dict[PodCpus, PinnedPod] = {}
        self._reserved = list(_reserved_cpus(cluster))
        self.interactions: Interactions = ClosingNodes(self._takes_cpus)
        """Pods take CPUs of their node away from each other where both are pinned to some."""

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves pods alone that share CPUs where no node minds, and refuses requests that no node can meet."""
        if not any(cycle.pod.spec.requests.values()):
            return SKIP_FOR_GOOD
        asked = self._of(cycle.pod)
        if asked is None:
            return PreFilterResult(Obstacle.of(NAME, Code.UNRESOLVABLE, UnreadableTopology.ANNOTATIONS))
        if asked.is_pinned and not asked.is_whole:
            return PreFilterResult(Obstacle.of(NAME, Code.UNRESOLVABLE, CpuReason.NOT_WHOLE))
        if not self.ledger.cache.is_known and (asked.is_pinned or (asked.milli and self._pins_all)):
            return PreFilterResult(Obstacle.of(NAME, Code.UNDECIDED, _NO_TOPOLOGIES))
        if self._is_plain and not asked.is_pinned and not asked.numa_policy:
            return SKIP_FOR_GOOD
        cycle.scratch[NAME] = self._pod(asked)
        return PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The first thing that keeps the pod from getting CPUs on each node."""
        pod = cycle.scratch.get(NAME)
        if not isinstance(pod, PinnedPod):
            return None
        bits = pod.bits()
        if self._amplified and pod.asked.milli:
            for node in self._amplified:
                bits[node] = self._against_amplified(pod, node, int(bits[node]))
        return bits if bits.any() else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        reason = reason_of(bits)
        return Obstacle.of(NAME, reason.code, reason)

    def before_start(self, cycle: Cycle, node: int) -> tuple[str, ...]:
        """The parts of the node that are not modelled: its NUMA policy, and CPUs of Reservations of the pod.

        That is no matter of start, but it is asked of every profile that has the filter.
        """
        pod = cycle.scratch.get(NAME)
        return tuple(self._conditions(pod, node)) if isinstance(pod, PinnedPod) else ()

    def _conditions(self, pod: PinnedPod, node: int) -> Iterator[str]:
        name = self._table.names[node]
        policy = pod.asked.numa_policy or self.ledger.cache.nodes[node].numa_policy
        if policy:
            yield f"node {name} must admit the pod by NUMA topology policy {policy} (NodeNUMAResource)"
        if not pod.number_on(node):
            return
        held = self._cluster.follow(CpuCache)
        for index, uid, reservation in self._reserved:
            if index == node and not held.counts(uid):
                yield f"the pod must get CPUs on node {name} beside or out of those of Reservation {reservation}"

    def _takes_cpus(self, pod: Pod) -> bool:
        return not (self._is_plain and shares_cpus(pod))

    def _of(self, pod: PlacementClass) -> PodCpus | None:
        """What pods of the class ask for; None where they say it in no readable way."""
        if pod not in self._asked:
            if len(self._asked) > _MOST_REQUESTS * 16:
                self._asked.clear()
            try:
                self._asked[pod] = cpus_asked(pod.pod, self._args.bind_policy)
            except ValueError:
                self._asked[pod] = None
        return self._asked[pod]

    def _pod(self, asked: PodCpus) -> PinnedPod:
        if asked not in self._pods:
            if len(self._pods) >= _MOST_REQUESTS:
                self._pods.clear()
            self._pods[asked] = PinnedPod(asked, self.ledger.cache, fills=self._args.fills_numa_nodes)
        return self._pods[asked]

    def _against_amplified(self, pod: PinnedPod, node: int, known: int) -> int:
        """CPUs that pods are pinned to count amplified on a node whose CPUs are overstated (`filterAmplifiedCPUs`)."""
        cpus, cache = self.ledger.cache.nodes[node], self.ledger.cache
        if known in (CpuReason.NUMA_POLICY.bit, CpuReason.NOT_WHOLE.bit):
            return known
        if cpus.has_invalid_ratio:
            return CpuReason.RATIO.bit
        asked = pod.asked.milli
        if pod.number_on(node):
            asked = math.ceil(asked * cpus.amplified)
        requested = int(self._table.requested[self._cpu_row, node])
        pinned = len({cpu for cpu, _ in cache.held(node)}) * 1000
        if pinned <= requested:
            requested += math.ceil(pinned * cpus.amplified) - pinned
        is_short = asked > int(self._table.allocatable[self._cpu_row, node]) - requested
        return CpuReason.AMPLIFIED.bit if is_short else known


def _reserved_cpus(cluster: ShadowCluster) -> Iterator[tuple[int, str, str]]:
    """Node, uid and name of each active Reservation that holds CPUs."""
    for reservation in cluster.snapshot.reservations:
        text = reservation.annotations.get(RESOURCE_STATUS_ANNOTATION, "")
        if reservation.is_active and text and decode_pinned_cpus(text):
            index = cluster.table.index.get(reservation.node_name)
            if index is not None:
                yield index, reservation.uid, reservation.name
