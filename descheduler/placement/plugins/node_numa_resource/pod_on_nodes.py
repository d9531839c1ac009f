"""One pod that asks for CPUs (koordinator 1.8 `plugin.go`), on each node: what closes it, and the CPUs it gives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from descheduler.cluster.decoding.koordinator.node_topology import decode_cpu_spec, decode_numa_policy
from descheduler.model.annotations import CPU_SPEC_ANNOTATION, NUMA_SPEC_ANNOTATION
from descheduler.model.koordinator.classes import KoordinatorPriority, priority_class
from descheduler.model.pod import Pod
from descheduler.model.quantity import ceil_milli
from descheduler.model.requests import CPU
from descheduler.placement.framework.extension_points import ReasonBits
from descheduler.placement.framework.obstacle import Code, ObstacleReason
from descheduler.placement.plugins.node_numa_resource.choosing import CpuChoice, choose_cpus
from descheduler.placement.plugins.node_numa_resource.cpu_cache import FULL_CORES, SPREAD, CpuCache, HeldCpus, NodeCpus

_MILLI = 1000
"""Units of the node table in a CPU."""
_QOS_LABEL = "koordinator.sh/qosClass"
_PINNED_QOS = ("LSE", "LSR")


class PodCpus(NamedTuple):
    """`milli` is requested; where `is_pinned`, that many CPUs are the pod's own, chosen by `policy`.

    `required` is a policy that the pod insists on, "" for none, `exclusive` its policy towards others like it.
    `numa_policy` is what it asks of NUMA nodes, "" for nothing.
    """

    milli: int
    is_pinned: bool
    policy: str
    required: str
    exclusive: str
    numa_policy: str

    @property
    def number(self) -> int:
        return self.milli // _MILLI

    @property
    def is_whole(self) -> bool:
        """Whether that is a whole number."""
        return self.milli % _MILLI == 0


def cpus_asked(pod: Pod, default_policy: str) -> PodCpus:
    """What `pod` asks for; by `default_policy` where it does not say how. Raises ValueError for bad annotations."""
    spec = decode_cpu_spec(pod.annotations.get(CPU_SPEC_ANNOTATION, ""))
    numa_policy = decode_numa_policy(pod.annotations.get(NUMA_SPEC_ANNOTATION, ""))
    milli = ceil_milli(pod.spec.requests.get(CPU, 0))
    preferred = default_policy if spec.preferred in ("", "Default") else spec.preferred
    required = default_policy if spec.required == "Default" else spec.required
    policy = required or preferred
    is_pinned = _may_be_pinned(pod) and policy in (FULL_CORES, SPREAD) and milli > 0
    if not is_pinned:
        return PodCpus(milli, False, "", "", "", numa_policy)
    return PodCpus(milli, True, policy, required, spec.exclusive, numa_policy)


def shares_cpus(pod: Pod) -> bool:
    """Whether `pod` certainly asks for nothing but a part of the CPUs that all share."""
    return NUMA_SPEC_ANNOTATION not in pod.annotations and not _may_be_pinned(pod)


def _may_be_pinned(pod: Pod) -> bool:
    return pod.labels.get(_QOS_LABEL) in _PINNED_QOS and priority_class(pod) is KoordinatorPriority.PROD


class CpuReason(ObstacleReason):
    """Why a node does not take a pod."""

    NUMA_POLICY = 1, "node(s) NUMA Topology policy not match", "another NUMA topology policy"
    NOT_WHOLE = 2, "the requested CPUs must be integer", "not a whole number of CPUs requested"
    RATIO = 4, "node(s) invalid CPU amplification ratio", "invalid CPU amplification ratio"
    AMPLIFIED = 8, "Insufficient amplified cpu", "insufficient amplified cpu"
    NO_TOPOLOGY = 16, "node(s) invalid CPU Topology", "no CPU topology"
    CONFLICT = (
        32,
        "node(s) cpu bind policy conflicts with pod's required cpu bind policy",
        "another CPU bind policy",
    )
    NOT_WHOLE_CORES = 64, "node(s) requested cpus not multiple cpus per core", "not a whole number of cores requested"
    TOO_FEW = 128, "not enough cpus available to satisfy request", "not enough free CPUs to pin the pod to"

    @property
    def code(self) -> Code:
        """How final it is."""
        return Code.UNSCHEDULABLE if self in (CpuReason.AMPLIFIED, CpuReason.TOO_FEW) else Code.UNRESOLVABLE


class UnreadableTopology(ObstacleReason):
    """Why a pod is refused everywhere."""

    ANNOTATIONS = 0, "annotations resource-spec or numa-topology-spec of the pod cannot be read"


_BY_BIT = {reason.bit: reason for reason in CpuReason}


def reason_of(bits: int) -> CpuReason:
    return _BY_BIT[bits]


_NEVER = -1


class PinnedPod:
    """Pods that ask for the same. What was found out about a node holds as long as its CPUs are the same."""

    def __init__(self, asked: PodCpus, cache: CpuCache, *, fills: bool) -> None:
        self.asked = asked
        self._cache = cache
        self._fills = fills
        self._bits: ReasonBits = np.zeros(len(cache.nodes), dtype=np.uint32)
        self._seen = np.full(len(cache.nodes), _NEVER, dtype=np.int64)

    def bits(self) -> ReasonBits:
        """The reasons that close each node."""
        stale = np.flatnonzero(self._seen != self._cache.versions)
        for node in stale.tolist():
            reason = self._against(node)
            self._bits[node] = 0 if reason is None else reason.bit
        self._seen[stale] = self._cache.versions[stale]
        return self._bits.copy()

    def number_on(self, node: int) -> int:
        """How many CPUs of a node the pod gets for its own; 0 for a pod that shares them."""
        return self.asked.number if self._is_pinned_on(self._cache.nodes[node]) else 0

    def chosen(self, node: int) -> HeldCpus | None:
        """Those CPUs; None where they are too few."""
        cpus = self._cache.nodes[node]
        if cpus.map is None:
            return None
        required = cpus.required or self.asked.required
        choice = CpuChoice(
            self.asked.number,
            self.asked.required or cpus.required or self.asked.policy,
            self.asked.exclusive,
            fills=self._fills if cpus.fills is None else cpus.fills,
        )
        free = cpus.map.usable(self._cache.free(node), required)
        chosen = choose_cpus(cpus.map, free, self._cache.held(node), choice)
        return None if chosen is None else HeldCpus(node, chosen, self.asked.exclusive)

    def _is_pinned_on(self, cpus: NodeCpus) -> bool:
        return self.asked.is_pinned or bool(self.asked.milli and cpus.required)

    def _against(self, node: int) -> CpuReason | None:
        """The first reason, in the order of `Plugin.Filter`."""
        asked, cpus = self.asked, self._cache.nodes[node]
        if asked.numa_policy and cpus.numa_policy and asked.numa_policy != cpus.numa_policy:
            return CpuReason.NUMA_POLICY
        if not self._is_pinned_on(cpus):
            return None
        if not asked.is_whole:
            return CpuReason.NOT_WHOLE
        if cpus.map is None:
            return CpuReason.NO_TOPOLOGY
        required = cpus.required or asked.required
        if asked.required and asked.required != required:
            return CpuReason.CONFLICT
        if required == FULL_CORES and asked.number % cpus.map.per_core:
            return CpuReason.NOT_WHOLE_CORES
        if not required or asked.numa_policy or cpus.numa_policy:
            return None
        return CpuReason.TOO_FEW if len(cpus.map.usable(self._cache.free(node), required)) < asked.number else None
