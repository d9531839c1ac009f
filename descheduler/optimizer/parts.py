"""Machines with parts of which a pod takes some: GPUs by minor, NUMA nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from descheduler.optimizer.arrays import Ints

UNLIMITED = 2**40
"""The capacity of what a part does not have to give, like the memory of a GPU's host in the row of that GPU."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What the nodes of a problem are made of, where they share capacity: C parts, up to W of them a node.

    A node is then one choice of parts of a machine: the host with its GPU 3, the host with GPUs 0 and 1, both NUMA
    nodes of a server. A pod takes its whole need from **each** part of its node, so that a pod of two whole GPUs needs
    1000 thousandths, on a node of two GPUs. Which choices there are is up to the caller, for example single devices and
    aligned pairs.

    capacity: int64[C, R], what each part has; `UNLIMITED` of what is not its to give.
    taken:    int64[N, W], the parts of each node, -1 where there are fewer than W.
    machine:  int64[N], the machine that each node is of, from 0 on. A pod that is moved leaves its machine.

    `nodes_of` has the nodes of each machine, `machine_of` the machine of each part, int64[C].
    """

    capacity: Ints
    taken: Ints
    machine: Ints
    nodes_of: tuple[Ints, ...] = field(init=False)
    machine_of: Ints = field(init=False)

    def __post_init__(self) -> None:
        """Raises ValueError for shapes that do not go together and for a part of two machines."""
        if self.taken.ndim != 2 or self.machine.shape != self.taken.shape[:1]:
            raise ValueError(f"parts: shapes {self.taken.shape} and {self.machine.shape}, expected (N, W) and (N,)")
        if self.taken.size and (self.taken.min() < -1 or self.taken.max() >= len(self.capacity)):
            raise ValueError(f"parts: taken is not within -1 and {len(self.capacity) - 1}")
        if (self.taken < 0).all(axis=1).any():
            raise ValueError("parts: a node has none")
        if self.machine.min(initial=0) < 0:
            raise ValueError("parts: a machine is below 0")
        order = np.argsort(self.machine, kind="stable")
        cuts = np.searchsorted(self.machine[order], np.arange(1, int(self.machine.max(initial=0)) + 1))
        object.__setattr__(self, "nodes_of", tuple(np.split(order, cuts)))
        object.__setattr__(self, "machine_of", self._machine_of_parts())

    def _machine_of_parts(self) -> Ints:
        node, place = np.nonzero(self.taken >= 0)
        part, machine = self.taken[node, place], self.machine[node]
        found = np.zeros(len(self.capacity), np.int64)
        found[part] = machine
        if (found[part] != machine).any():
            raise ValueError("parts: one is taken by nodes of two machines")
        return found

    def of(self, node: int) -> list[int]:
        """The parts of the node."""
        return [part for part in self.taken[node].tolist() if part >= 0]

    def least(self, by_part: Ints) -> Ints:
        """int64[N, R]: for each node the least over its parts of int64[C, R]."""
        padded = np.vstack((by_part, np.full((1, by_part.shape[1]), UNLIMITED, np.int64)))
        least: Ints = padded[self.taken].min(axis=1)
        return least
