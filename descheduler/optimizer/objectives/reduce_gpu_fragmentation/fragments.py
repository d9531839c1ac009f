"""FGD's fragmentation of machines: idle capacity of their devices that pods of given classes cannot use."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.parts import UNLIMITED, Parts

_CELLS = 4_000_000
"""Classes, machines and devices that are looked at in one array operation."""


class Fragments:
    """The sum over classes m of weight[m] * F(m), with F as Weng et al. define it (USENIX ATC 2023, section 4.1).

    F(m) is all that is idle on a machine where m cannot run there, or takes no device; else what is idle on devices
    that have less than m takes of one.
    """

    def __init__(self, resource: int, classes: Ints, num_devices: Ints, weight: Ints) -> None:
        takes = num_devices > 0
        self.resource = resource
        self._need = classes[takes].astype(np.float64)
        self._num_devices, self._weight = num_devices[takes], weight[takes].astype(np.float64)
        self._without = float(weight[~takes].sum())
        self._shares, self._share_of = np.unique(self._need[:, resource], return_inverse=True)

    def of(self, free: Floats) -> Floats:
        """float64[B]: of machines whose devices have that much left for a pod, float64[R, B, G]; -1: no device."""
        step = max(1, _CELLS // max(1, len(self._need) * free.shape[2]))
        some = [self._of_some(free[:, start : start + step]) for start in range(0, free.shape[1], step)]
        return np.concatenate(some) if some else np.zeros(0)

    def classes(self) -> Iterator[tuple[Ints, int, int]]:
        """(int64[R] needed of each device, devices, weight) of each class that takes devices."""
        needs = self._need.astype(np.int64)
        return zip(needs, self._num_devices.tolist(), self._weight.astype(np.int64).tolist(), strict=True)

    def least(self, free: Floats) -> int:
        """What machines strand at best whose devices have that much left in total: for classes that take none, all."""
        return int(self._without * np.maximum(free[self.resource], 0.0).sum())

    def _of_some(self, free: Floats) -> Floats:
        idle = np.maximum(free[self.resource], 0.0)
        fits = np.ones((len(self._need), *idle.shape), bool)
        for need, left in zip(self._need.T, free, strict=True):
            if need.any():
                fits &= need[:, None, None] <= left
        can_run = np.count_nonzero(fits, axis=2) >= self._num_devices[:, None]
        left_over = np.array([(idle * (idle < share)).sum(axis=1) for share in self._shares])
        total = idle.sum(axis=1)
        stranded: Floats = self._weight @ np.where(can_run, left_over[self._share_of], total) + self._without * total
        return stranded


def devices_of(parts: Parts, resource: int) -> Ints:
    """int64[machines, G]: the nodes that are one device of each machine, -1 where it has fewer than G.

    A device is a part with a capacity of `resource` of its own.
    """
    has_own = np.append((parts.capacity[:, resource] > 0) & (parts.capacity[:, resource] < UNLIMITED), False)
    own = has_own[parts.taken]
    nodes = np.flatnonzero(own.sum(axis=1) == 1)
    device = parts.taken[nodes, np.argmax(own[nodes], axis=1)]
    _, first = np.unique(device, return_index=True)
    lists: list[list[int]] = [[] for _ in parts.nodes_of]
    for node in np.sort(nodes[first]).tolist():
        lists[int(parts.machine[node])].append(node)
    table = np.full((len(lists), max(map(len, lists), default=0)), -1)
    for machine, some in enumerate(lists):
        table[machine, : len(some)] = some
    return table
