"""How many evictions a run may make per node, per namespace and in total."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse

__all__ = ["EvictionCounters", "EvictionLimits"]


@dataclass(frozen=True, slots=True)
class EvictionLimits:
    """Upper bounds of one run over all profiles; None is unlimited, 0 forbids."""

    per_node: int | None = None
    per_namespace: int | None = None
    total: int | None = None


@dataclass(slots=True)
class EvictionCounters:
    """Evictions counted so far; those left to another controller (background) count against the limits too."""

    limits: EvictionLimits
    per_node: Counter[str] = field(default_factory=Counter)
    per_namespace: Counter[str] = field(default_factory=Counter)
    total: int = 0

    def verdict(self, pod: Pod) -> Verdict:
        """Whether one more eviction stays within the limits; asked in upstream's order: total, node, namespace."""
        limits = self.limits
        if limits.total is not None and self.total + 1 > limits.total:
            return refuse(Reason.TOTAL_LIMIT, f"the run may evict {limits.total} pods and has done so", "run")
        node = pod.node_name
        if node and limits.per_node is not None and self.per_node[node] + 1 > limits.per_node:
            return refuse(Reason.NODE_LIMIT, f"node {node} may lose {limits.per_node} pods a run and has done so", node)
        namespace = pod.namespace
        if limits.per_namespace is not None and self.per_namespace[namespace] + 1 > limits.per_namespace:
            message = f"namespace {namespace} may lose {limits.per_namespace} pods a run and has done so"
            return refuse(Reason.NAMESPACE_LIMIT, message, namespace)
        return ACCEPTED

    def count(self, pod: Pod) -> None:
        """Charges one eviction of `pod`."""
        if pod.node_name:
            self.per_node[pod.node_name] += 1
        self.per_namespace[pod.namespace] += 1
        self.total += 1
