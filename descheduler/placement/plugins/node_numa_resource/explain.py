"""Which CPUs of a node are free, and why they do not do."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.text.cpu_list import cpu_list_text
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.plugins.node_numa_resource.cpu_ledger import NAME, CpuLedger
from descheduler.placement.plugins.node_numa_resource.pod_on_nodes import PinnedPod
from descheduler.placement.plugins.node_numa_resource.reasons import CpuReason

__all__ = ["explain_cpus"]


def explain_cpus(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
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
