"""The CPUs of pods that were placed since the snapshot was taken, shared by the profiles of all schedulers."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from descheduler.model.text.cpu_list import cpu_list_text
from descheduler.placement.framework.koordinator.allocation import Allocation
from descheduler.placement.plugins.node_numa_resource.cpu_cache import CpuCache, HeldCpus
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

__all__ = ["NAME", "CpuLedger", "Pinning"]

NAME = "NodeNUMAResource"


@runtime_checkable
class Pinning(Protocol):
    """What the plugin finds out about a pod before Reserve, and leaves in the scratch of the cycle under its name."""

    def number_on(self, node: int) -> int:
        """How many CPUs of a node the pod gets for its own; 0 for a pod that shares them."""

    def chosen(self, node: int) -> HeldCpus | None:
        """Those CPUs; None where they are too few."""


class CpuLedger:
    """Takes CPUs out of the cache, and gives them back."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self.cache = cluster.follow(CpuCache)

    def reserve(self, cycle: Cycle, node: int) -> HeldCpus | None:
        """Takes the CPUs that the scheduler would choose on `node`.

        Unless a policy is required, Filter does not look whether there are enough; Reserve then fails, time and again.
        `cycle.notes` says so.
        """
        pinning = cycle.scratch.get(NAME)
        if not isinstance(pinning, Pinning) or not pinning.number_on(node):
            return None
        chosen = pinning.chosen(node)
        if chosen is None:
            name, number = cycle.cluster.table.names[node], pinning.number_on(node)
            cycle.notes.append(f"{NAME} must find {number} free CPUs on node {name} to pin the pod to")
            return None
        self.restore(chosen)
        return chosen

    def restore(self, taken: HeldCpus) -> None:
        """Takes exactly these CPUs again."""
        self.cache.change(taken, 1)

    def release(self, taken: HeldCpus) -> None:
        """Gives these CPUs back."""
        self.cache.change(taken, -1)

    def allocations(self, taken: HeldCpus) -> tuple[Allocation, ...]:
        """The CPUs as one list."""
        return (Allocation(NAME, "cpus", cpu_list_text(taken.cpus)),)

    def fingerprint(self) -> object:
        """The same as that of the cache."""
        return self.cache.fingerprint()
