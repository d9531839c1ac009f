"""What is left on the devices of one machine, and would be after a pod came or left."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Bools, Floats, Ints
from descheduler.optimizer.parts import Parts
from descheduler.optimizer.placement import Placement

__all__ = ["MachineStates"]


class MachineStates:
    """One machine as arrays over its parts (c of them), nodes (n) and devices (G, padded).

    `nodes` is int64[n], `free` float64[R, n], `allowed` bool[K, n].
    """

    def __init__(self, placement: Placement, parts: Parts, machine: int, devices: Ints) -> None:
        self.nodes = parts.nodes_of[machine]
        self.allowed: Bools = placement.problem.allowed[:, self.nodes]
        taken = parts.taken[self.nodes]
        self._parts = np.unique(taken[taken >= 0])
        self._uses: Floats = (taken[:, :, None] == self._parts).any(axis=1).astype(np.float64)
        self._capacity: Floats = parts.capacity[self._parts].T.astype(np.float64)
        self._devices, self._is_device = np.searchsorted(self.nodes, devices), devices >= 0
        self.free: Floats = np.zeros(())
        self.refresh(placement)

    def refresh(self, placement: Placement) -> None:
        """Takes note of what has come and gone."""
        self._left: Floats = self._capacity - placement.usage[:, self._parts]
        self.free = placement.free[:, self.nodes]

    def alternatives(self) -> Ints:
        """Indexes of nodes of which none has just as much left as another: equal devices are interchangeable."""
        total = np.einsum("rc,nc->rn", np.minimum(self._left, 2.0**40), self._uses)
        look = np.vstack((self.free, total, self.allowed))
        _, first = np.unique(look, axis=1, return_index=True)
        return np.sort(first)

    def after(self, rows: Ints, need: Floats) -> Floats:
        """float64[R, B, G]: what devices have left after a pod of need[:, b] came to node rows[b] (left: if negative).

        -1 where there is no device.
        """
        left = self._left[:, None] - need[:, :, None] * self._uses[rows]
        by_node = np.where(self._uses[self._devices] > 0, left[:, :, None], np.inf).min(axis=3)
        return np.where(self._is_device, by_node, -1.0)

    def now(self) -> Floats:
        """float64[R, 1, G]: what devices have left."""
        return self.after(np.zeros(1, np.int64), np.zeros((len(self._left), 1)))
