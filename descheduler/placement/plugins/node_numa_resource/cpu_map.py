"""Where the CPUs of a machine are: which share a core, a NUMA node, a socket."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from descheduler.model.koordinator.node_topology import Cpu

__all__ = ["FULL_CORES", "SPREAD", "CpuMap", "cpu_map"]

FULL_CORES, SPREAD = "FullPCPUs", "SpreadByPCPUs"
"""Policies by which CPUs are chosen: whole physical cores, or one CPU of each core."""


class CpuMap(msgspec.Struct, frozen=True, eq=False):
    """CPU → its core, NUMA node and socket; how many CPUs there are in each of these on average, cut.

    Koordinator 1.8 `cpu_topology.go`. Machines with different numbers of CPUs in their cores are rare, and the averages
    decide there as well.
    """

    core: Mapping[int, int]
    numa_node: Mapping[int, int]
    socket: Mapping[int, int]
    per_core: int
    per_numa_node: int
    per_socket: int

    @property
    def cpus(self) -> frozenset[int]:
        """All of them."""
        return frozenset(self.core)

    def by_core(self, cpus: Iterable[int]) -> dict[int, list[int]]:
        """Core → those of `cpus` that it has, ascending."""
        found: dict[int, list[int]] = {}
        for cpu in sorted(cpus):
            found.setdefault(self.core[cpu], []).append(cpu)
        return found

    def usable(self, cpus: frozenset[int], required: str) -> frozenset[int]:
        """The part of `cpus` that can be taken under a required policy, "" for none."""
        if required == FULL_CORES:
            cores = self.by_core(cpus).values()
            return frozenset(cpu for core in cores if len(core) == self.per_core for cpu in core)
        if required == SPREAD:
            return frozenset(core[0] for core in self.by_core(cpus).values())
        return cpus


def cpu_map(cpus: Iterable[Cpu]) -> CpuMap | None:
    """The map of the CPUs that a node reports; None for none."""
    cpus = tuple(cpus)
    if not cpus:
        return None
    number = len({cpu.id for cpu in cpus})
    cores = {(cpu.socket, cpu.numa_node, cpu.core) for cpu in cpus}
    return CpuMap(
        core={cpu.id: cpu.socket << 16 | cpu.core for cpu in cpus},
        numa_node={cpu.id: cpu.numa_node for cpu in cpus},
        socket={cpu.id: cpu.socket for cpu in cpus},
        per_core=number // len(cores),
        per_numa_node=number // len({(cpu.socket, cpu.numa_node) for cpu in cpus}),
        per_socket=number // len({cpu.socket for cpu in cpus}),
    )
