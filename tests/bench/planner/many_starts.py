"""A plain multi-start greedy for consolidation: nodes at random, whole or not at all, again and again.

Each start empties nodes in an order of its own, the largest pods first, each onto the fullest node that takes it. Then
up to four of the drains are taken back and others tried, while that empties no fewer. A pod has left its node when its
replacement is placed. The greedy chooses the nodes of replacements, or a scheduler that scores with MostAllocated does:
such a one also sees the nodes that are to be empty.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from descheduler.optimizer.arrays import Bools
from tests.worlds.zoned import ZonedWorld

_LONGEST_CHAIN, _PATIENCE = 4, 60


def most_emptied_at_random(world: ZonedWorld, *, chooses_nodes: bool, cpu_seconds: float, seed: int) -> int:
    """Nodes emptied by the best of as many starts as there is time for, at least one."""
    rng, best = np.random.default_rng(seed), 0
    ends = time.process_time() + cpu_seconds
    while True:
        start = _Start(world, rng) if chooses_nodes else _ScheduledStart(world, rng)
        start.empty_more()
        in_vain = 0
        best = max(best, len(start.drained))
        while in_vain < _PATIENCE and time.process_time() < ends:
            is_better = start.vary()
            in_vain = 0 if is_better else in_vain + 1
            best = max(best, len(start.drained))
        if time.process_time() >= ends:
            return best


class _Start:
    """Where pods are in one start; `drained` has the pods of each node that is emptied and where they went."""

    def __init__(self, world: ZonedWorld, rng: np.random.Generator) -> None:
        self._world, self._rng = world, rng
        self._free = world.capacity.copy()
        np.subtract.at(self._free, world.node, world.need[world.workload])
        self._budget = np.where(world.budget < 0, len(world.node), world.budget)
        shape = len(world.need), len(world.capacity)
        self._on_node = np.zeros(shape, np.int64)
        np.add.at(self._on_node, (world.workload, world.node), 1)
        self._in_zone = np.zeros((shape[0], int(world.zone.max()) + 1), np.int64)
        np.add.at(self._in_zone, (world.workload, world.zone[world.node]), 1)
        self._num_received = np.zeros(shape[1], np.int64)
        share = (world.need[world.workload] / world.capacity[world.node]).max(axis=1)
        homes = [np.flatnonzero(world.node == node) for node in range(shape[1])]
        self._homes = [home[np.argsort(-share[home], kind="stable")].tolist() for home in homes]
        self._size = np.array([share[home].sum() for home in homes])
        self._is_used: Bools = np.array([bool(home) for home in self._homes])
        self.drained: dict[int, list[tuple[int, int]]] = {}

    def empty_more(self) -> None:
        """Tries every node that can still be emptied, small ones earlier more often."""
        noisy = self._size * self._rng.lognormal(0.0, 0.6, len(self._size))
        for node in np.argsort(noisy, kind="stable").tolist():
            if self._is_used[node] and node not in self.drained and not self._num_received[node]:
                self._drain(node)

    def vary(self) -> bool:
        """Takes up to four drains back and tries others; whether that empties more. Undone where it empties fewer."""
        before = {node: list(moves) for node, moves in self.drained.items()}
        nodes = list(before)
        number = min(int(self._rng.integers(1, _LONGEST_CHAIN + 1)), len(nodes))
        self._take_back(self._rng.permutation(nodes)[:number].tolist())
        self.empty_more()
        if len(self.drained) < len(before):
            for node in list(self.drained):
                self._undo(node)
            for node, moves in before.items():
                self._make(node, moves)
        return len(self.drained) > len(before)

    def _take_back(self, nodes: Sequence[int]) -> None:
        for node in nodes:
            self._undo(node)

    def _drain(self, node: int) -> None:
        moves = list[tuple[int, int]]()
        for pod in self._homes[node]:
            target = self._target(int(self._world.workload[pod]), node)
            if target < 0:
                for done, to in reversed(moves):
                    self._move(done, to, node, -1)
                return
            self._move(pod, node, target, 1)
            moves.append((pod, target))
        self._note(node, moves)

    def _target(self, workload: int, source: int) -> int:
        """The fullest node that takes the pod; -1 for none, or where no budget is left."""
        if not self._budget[workload]:
            return -1
        is_open = self._is_open(workload, source)
        is_open[[source, *self.drained]] = False
        is_open &= self._is_used
        if not is_open.any():
            return -1
        slack = ((self._free - self._world.need[workload]) / self._world.capacity).sum(axis=1)
        return int(np.argmin(np.where(is_open, slack, np.inf)))

    def _is_open(self, workload: int, source: int) -> Bools:
        """bool[N], the nodes that take the pod once it has left `source`."""
        world, need = self._world, self._world.need[workload]
        is_open: Bools = np.asarray((self._free >= need).all(axis=1))
        is_open[source] = True
        if world.apart[workload]:
            is_open &= self._on_node[workload] == (np.arange(len(is_open)) == source)
        if world.spread[workload]:
            zones = self._in_zone[workload].copy()
            zones[world.zone[source]] -= 1
            is_open &= (zones <= zones.min())[world.zone]
        return is_open

    def _make(self, node: int, moves: list[tuple[int, int]]) -> None:
        for pod, target in moves:
            self._move(pod, node, target, 1)
        self._note(node, moves)

    def _note(self, node: int, moves: list[tuple[int, int]]) -> None:
        self.drained[node] = moves
        for _, target in moves:
            self._num_received[target] += 1

    def _undo(self, node: int) -> None:
        for pod, target in self.drained.pop(node):
            self._move(pod, target, node, -1)
            self._num_received[target] -= 1

    def _move(self, pod: int, source: int, target: int, charged: int) -> None:
        workload = int(self._world.workload[pod])
        need, zone = self._world.need[workload], self._world.zone
        self._free[source] += need
        self._free[target] -= need
        self._budget[workload] -= charged
        for counts, old, new in (
            (self._on_node, source, target),
            (self._in_zone, int(zone[source]), int(zone[target])),
        ):
            counts[workload, old] -= 1
            counts[workload, new] += 1


class _ScheduledStart(_Start):
    """One whose replacements a scheduler places, which knows nothing of the drains."""

    def _target(self, workload: int, source: int) -> int:
        """The node of the scheduler's choice; -1 where that fills a node again, or where no budget is left."""
        if not self._budget[workload]:
            return -1
        capacity, need = self._world.capacity, self._world.need[workload]
        used = capacity - self._free + need
        used[source] -= need
        scores = (100 * used // capacity).sum(axis=1) // used.shape[1]
        target = int(np.argmax(np.where(self._is_open(workload, source), scores, -1)))
        return -1 if target == source or target in self.drained or not self._is_used[target] else target

    def _take_back(self, nodes: Sequence[int]) -> None:
        """Those after them are made again, for the scheduler may place their pods on other nodes then."""
        others = [node for node in self.drained if node not in nodes]
        super()._take_back(list(self.drained))
        for node in others:
            self._drain(node)
