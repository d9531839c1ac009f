"""Captures of VMR2L (EuroSys 2025): clusters of hosts with NUMA nodes and virtual machines, from their JSON files.

Published with Ding et al., "VMR2L: Virtual Machines Rescheduling Using Reinforcement Learning in Data Centers", in
RLVMR/VMR2L-NSDI24.
"""

from __future__ import annotations

import dataclasses
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np

from descheduler.cluster.snapshot import SnapshotError
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.parts import Parts
from descheduler.optimizer.problem import Problem, make_problem
from descheduler.optimizer.rules import MoveLimit

SLOT_CORES = 16
"""A free core is a fragment where it does not make up so many on its NUMA node."""


class _Numa(msgspec.Struct, frozen=True):
    node: int
    free_cpu: float
    memory_huge_free_mb: float


class _Host(msgspec.Struct, frozen=True):
    node_id: str
    numa: list[_Numa]
    status: str = "ACTIVE"


class _Share(msgspec.Struct, frozen=True):
    """What a machine has of one NUMA node."""

    node: int
    cpu: float
    mem_mb: float


class _Machine(msgspec.Struct, frozen=True):
    instance_id: str
    host_id: str
    numa: list[_Share]
    allow_migration: bool = True


class _Cluster(msgspec.Struct, frozen=True):
    host_info: list[_Host]
    vm_instance: list[_Machine]


class _Capture(msgspec.Struct, frozen=True):
    cluster_list: list[_Cluster]


@dataclass(frozen=True, slots=True, eq=False)
class Fleet:
    """A capture as a problem of the optimizer: cores and MiB, NUMA nodes as parts, one or several of them as a node.

    A machine stays in its cluster, and on as many NUMA nodes as it was captured on. `free_cores` is int64[C], what was
    free of each NUMA node as the file says it.
    """

    problem: Problem
    free_cores: Ints

    def limited(self, most_moves: int) -> Problem:
        """The problem with at most so many moves."""
        limit = MoveLimit(np.zeros(self.problem.num_pods, np.int64), np.array([most_moves]))
        return dataclasses.replace(self.problem, rules=(limit,))

    def fragment_rate(self, assignment: Ints) -> float:
        """The share of free cores that are fragments, counted from the file's free cores and the moves alone.

        Raises ValueError where a NUMA node would give more cores than it has.
        """
        free = self.free_cores.copy()
        for machine in np.flatnonzero(assignment != self.problem.assignment).tolist():
            cores = int(self.problem.need[machine, 0])
            free[self.problem.parts_at(int(self.problem.assignment[machine]))] += cores
            free[self.problem.parts_at(int(assignment[machine]))] -= cores
        if (free < np.minimum(self.free_cores, 0)).any():
            raise ValueError("a NUMA node gives more cores than it has")
        usable = np.maximum(free, 0)
        return float((usable % SLOT_CORES).sum() / max(usable.sum(), 1))


def read_fleet(path: Path) -> Fleet:
    """The fleet of a capture, plain or gzip. Raises SnapshotError for a file that is not a capture."""
    try:
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        return _fleet(msgspec.json.decode(content, type=_Capture))
    except (OSError, EOFError, msgspec.DecodeError) as error:
        raise SnapshotError(f"{path}: cannot be read: {error}") from error
    except (KeyError, ValueError) as error:
        raise SnapshotError(f"{path}: is not a capture of VMR2L: {error}") from error


def _fleet(capture: _Capture) -> Fleet:
    hosts = _Hosts(capture)
    machines = [(number, machine) for number, one in enumerate(capture.cluster_list) for machine in one.vm_instance]
    need = np.array([_need(machine) for _, machine in machines], np.int64).reshape(-1, 2)
    at = np.array([hosts.node_of(number, machine) for number, machine in machines], np.int64)
    free = np.array(hosts.free, np.int64).reshape(-1, 2)
    empty = make_problem(need, Parts(free, hosts.taken, hosts.machine), np.full(len(at), -1))
    problem = make_problem(
        need,
        Parts(free + empty.usage(at), hosts.taken, hosts.machine),
        at,
        evictable=[machine.allow_migration for _, machine in machines],
        pod_class=[hosts.class_of(number, machine) for number, machine in machines],
        allowed=hosts.allowed,
    )
    return Fleet(problem, free[:, 0])


def _need(machine: _Machine) -> tuple[int, int]:
    """Cores and MiB of each of the machine's NUMA nodes."""
    needs = {(int(share.cpu), int(share.mem_mb)) for share in machine.numa}
    if len(needs) != 1:
        raise ValueError(f"machine {machine.instance_id} does not need the same of each of its NUMA nodes")
    return needs.pop()


class _Hosts:
    """The hosts of all clusters as parts and choices of parts.

    `free` has cores and MiB by part, `taken`, `machine` as in `Parts`, `allowed` a row for each cluster and number of
    NUMA nodes.
    """

    def __init__(self, capture: _Capture) -> None:
        self.free: list[tuple[int, int]] = []
        sizes = {len(machine.numa) for one in capture.cluster_list for machine in one.vm_instance}
        self._sizes = sorted(sizes - {0})
        self._parts: dict[tuple[int, str, int], int] = {}
        self._numbers: dict[tuple[int, ...], int] = {}
        self._facts: list[tuple[int, int, int, bool]] = []
        for number, cluster in enumerate(capture.cluster_list):
            for host in cluster.host_info:
                self._add(number, host)
        self.taken = self._padded()
        self.machine, of_cluster, num_parts, is_active = np.array(self._facts, np.int64).reshape(-1, 4).T
        self.allowed = np.array(
            [
                (of_cluster == number) & (num_parts == size) & (is_active == 1)
                for number in range(len(capture.cluster_list))
                for size in self._sizes
            ]
        )

    def _add(self, cluster: int, host: _Host) -> None:
        number = self._facts[-1][0] + 1 if self._facts else 0
        own: list[int] = []
        for numa in host.numa:
            own.append(len(self.free))
            self._parts[cluster, host.node_id, numa.node] = own[-1]
            self.free.append((int(numa.free_cpu), int(numa.memory_huge_free_mb)))
        for choice in self._choices(own):
            self._numbers[choice] = len(self._facts)
            self._facts.append((number, cluster, len(choice), host.status == "ACTIVE"))

    def _choices(self, own: list[int]) -> Iterator[tuple[int, ...]]:
        for size in self._sizes:
            yield from combinations(own, size)

    def _padded(self) -> Ints:
        taken = np.full((len(self._numbers), max(self._sizes, default=1)), -1)
        for choice, number in self._numbers.items():
            taken[number, : len(choice)] = choice
        return taken

    def node_of(self, cluster: int, machine: _Machine) -> int:
        """The choice of parts that the machine is on. Raises KeyError for a host or NUMA node that is not there."""
        parts = [self._parts[cluster, machine.host_id, share.node] for share in machine.numa]
        return self._numbers[tuple(sorted(parts))]

    def class_of(self, cluster: int, machine: _Machine) -> int:
        """The machine's row of `allowed`."""
        return cluster * len(self._sizes) + self._sizes.index(len(machine.numa))
