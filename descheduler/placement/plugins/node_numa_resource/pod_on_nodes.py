"""One pod that asks for CPUs, on each node: the reasons that close the node, and the CPUs that it gets."""

from __future__ import annotations

import numpy as np

from descheduler.placement.framework.extension_points import ReasonBits
from descheduler.placement.plugins.node_numa_resource.choosing import CpuChoice, choose_cpus
from descheduler.placement.plugins.node_numa_resource.cpu_cache import CpuCache, HeldCpus
from descheduler.placement.plugins.node_numa_resource.cpu_map import FULL_CORES
from descheduler.placement.plugins.node_numa_resource.node_cpus import NodeCpus
from descheduler.placement.plugins.node_numa_resource.pod_cpus import PodCpus
from descheduler.placement.plugins.node_numa_resource.reasons import CpuReason

__all__ = ["PinnedPod"]

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
