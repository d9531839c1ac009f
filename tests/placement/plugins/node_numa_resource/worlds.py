"""Machines and pods at random, for what NodeNUMAResource chooses."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from descheduler.model.koordinator.node_reports import Cpu
from descheduler.placement.plugins.node_numa_resource.choosing import CpuChoice
from descheduler.placement.plugins.node_numa_resource.cpu_cache import CpuMap, cpu_map

_POLICIES = ("FullPCPUs", "SpreadByPCPUs")
_EXCLUSIVE = ("", "", "PCPULevel", "NUMANodeLevel")


@dataclass(frozen=True)
class CpuCase:
    """A pod that asks for CPUs of a machine; the policy of the choice is `required` or preferred."""

    cpus: tuple[Cpu, ...]
    free: frozenset[int]
    held: tuple[tuple[int, str], ...]
    choice: CpuChoice
    required: bool

    @property
    def map(self) -> CpuMap:
        """The machine."""
        found = cpu_map(self.cpus)
        assert found is not None
        return found


def random_case(random: Random, *, most_cores: int = 4) -> CpuCase:
    """One of up to two sockets with up to two NUMA nodes each, numbered as machines do: siblings together or apart."""
    sockets, numa_nodes, cores = random.randint(1, 2), random.randint(1, 2), random.randint(1, most_cores)
    threads = random.choice((1, 2, 2, 2, 4))
    places = [
        (s, s * numa_nodes + n, n * cores + c) for s in range(sockets) for n in range(numa_nodes) for c in range(cores)
    ]
    together = random.random() < 0.5
    cpus = tuple(
        Cpu(index * threads + thread if together else thread * len(places) + index, core, socket, numa)
        for index, (socket, numa, core) in enumerate(places)
        for thread in range(threads)
    )
    if random.random() < 0.15:
        cpus = tuple(random.sample(cpus, random.randint(1, len(cpus))))
    ids = [cpu.id for cpu in cpus]
    share = random.random()
    closed = {cpu for cpu in ids if random.random() < share * 0.3}
    held = tuple((cpu, random.choice(_EXCLUSIVE)) for cpu in ids if cpu not in closed and random.random() < share)
    free = frozenset(ids) - closed - {cpu for cpu, _ in held}
    choice = CpuChoice(
        random.randint(1, len(ids)), random.choice(_POLICIES), random.choice(_EXCLUSIVE), fills=random.random() < 0.5
    )
    return CpuCase(cpus, free, held, choice, random.random() < 0.5)
