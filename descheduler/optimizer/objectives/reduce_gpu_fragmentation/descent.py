"""Fragmentation gradient descent for pods that run already: the single move that gains most, again and again.

Pods of equal need and class are interchangeable for what they change where they arrive, and equal devices of a machine
are interchangeable too. So there is one table of arrivals, of kinds of pods by machines, and one of departures; after a
move, the rows of its two machines are made again.
"""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.fragments import Fragments
from descheduler.optimizer.parts import Parts

_LEAST_GAIN = 1e-6


class _MachineStates:
    """One machine as arrays over its parts (c of them), nodes (n) and devices (G, padded).

    `nodes` is int64[n], `free` float64[R, n], `allowed` bool[K, n].
    """

    def __init__(self, placement: Arrangement, parts: Parts, machine: int, devices: Ints) -> None:
        self.nodes = parts.nodes_of[machine]
        self.allowed: Bools = placement.problem.allowed[:, self.nodes]
        taken = parts.taken[self.nodes]
        self._parts = np.unique(taken[taken >= 0])
        self._uses: Floats = (taken[:, :, None] == self._parts).any(axis=1).astype(np.float64)
        self._capacity: Floats = parts.capacity[self._parts].T.astype(np.float64)
        self._devices, self._is_device = np.searchsorted(self.nodes, devices), devices >= 0
        self.free: Floats = np.zeros(())
        self.refresh(placement)

    def refresh(self, placement: Arrangement) -> None:
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


class Descent:
    """The tables of one placement. Tell of moves made by others with `refresh`."""

    def __init__(self, placement: Arrangement, parts: Parts, fragments: Fragments, devices: Ints) -> None:
        problem = placement.problem
        self.placement, self._fragments = placement, fragments
        self.machine = parts.machine
        self._kinds, self._kind = _kinds(np.column_stack((problem.need, problem.pod_class)))
        self._pods = np.flatnonzero(problem.evictable & (problem.assignment != PENDING))
        num_machines = len(parts.nodes_of)
        self._states = [_MachineStates(placement, parts, number, some) for number, some in enumerate(devices)]
        self._stranded = np.zeros(num_machines)
        self._departure = np.zeros(problem.num_pods)
        self._arrival = np.full((len(self._kinds), num_machines), np.inf)
        self._target = np.zeros(self._arrival.shape, np.int64)
        self._work, self._calls = 0, 0
        self.refresh(range(num_machines))

    @property
    def stranded(self) -> float:
        """The objective's first figure."""
        return float(self._stranded.sum())

    def refresh(self, machines: range | set[int]) -> None:
        """Makes the tables of machines again, after pods came to them or left."""
        for machine in sorted(machines):
            state = self._states[machine]
            state.refresh(self.placement)
            self._stranded[machine] = self._evaluate(state.now())[0]
            self._refresh_departures(machine)
            self._refresh_arrivals(machine)

    def _evaluate(self, free: Floats) -> Floats:
        self._work += free.size
        self._calls += 1
        return self._fragments.of(free)

    def _refresh_departures(self, machine: int) -> None:
        state, placement = self._states[machine], self.placement
        pods = [placement.evictable_on(node) for node in state.nodes.tolist()]
        rows = np.repeat(np.arange(len(pods)), [len(some) for some in pods])
        leaving = np.concatenate(pods)
        if len(leaving):
            after = self._evaluate(state.after(rows, -placement.need[:, leaving]))
            self._departure[leaving] = after - self._stranded[machine]

    def _refresh_arrivals(self, machine: int) -> None:
        state = self._states[machine]
        rows = state.alternatives()
        need = self._kinds[:, :-1].T.astype(np.float64)
        fits = state.allowed[self._kinds[:, -1]][:, rows]
        for wanted, left in zip(need, state.free[:, rows], strict=True):
            fits &= wanted[:, None] <= np.maximum(left, 0.0)
        kind, column = np.nonzero(fits)
        self._arrival[:, machine] = np.inf
        if len(kind):
            change = np.full(fits.shape, np.inf)
            after = self._evaluate(state.after(rows[column], need[:, kind]))
            change[kind, column] = after - self._stranded[machine]
            best = np.argmin(change, axis=1)
            self._arrival[:, machine] = change[np.arange(len(best)), best]
            self._target[:, machine] = state.nodes[rows[best]]

    def run(self, budget: Budget) -> None:
        """Moves pods that are at home while the figure falls; each once."""
        while not budget.is_over:
            found = self._best_move()
            if found is None:
                return
            self.move(*found)
            budget.spend_evaluations(self._work, calls=self._calls)
            self._work, self._calls = 0, 0

    def move(self, pod: int, node: int) -> None:
        """Moves the pod and makes the tables of both machines again."""
        touched = {int(self.machine[self.placement.at[pod]]), int(self.machine[node])}
        self.placement.move(pod, node)
        self.refresh(touched)

    def _best_move(self) -> tuple[int, int] | None:
        """The pod at home that gains most, and its node; None: none gains."""
        placement = self.placement
        pods = self._pods[placement.at[self._pods] == placement.origins[self._pods]]
        pods = pods[placement.may_leave(pods)]
        gain = self._gains(pods)
        best = (-_LEAST_GAIN, -1, -1)
        for row in np.argsort(gain, kind="stable").tolist():
            if gain[row] >= best[0]:
                break
            best = min(best, self.best_open_move(int(pods[row])))
        return None if best[1] < 0 else best[1:]

    def best_open_move(self, pod: int) -> tuple[float, int, int]:
        """(change, pod, node) of the best move that rules leave open, too."""
        nodes = self._target[self._kind[pod]]
        is_open = self.placement.open_moves(np.array([pod]), nodes)[0]
        change = np.where(is_open, self._arrival[self._kind[pod]], np.inf) + self._departure[pod]
        best = int(np.argmin(change))
        return float(change[best]), pod, int(nodes[best])

    def _gains(self, pods: Ints) -> Floats:
        """float64[k]: the change by each pod's best move to another machine, without a look at rules."""
        best = np.argmin(self._arrival, axis=1)
        kinds = np.arange(len(best))
        without = self._arrival.copy()
        without[kinds, best] = np.inf
        second = np.argmin(without, axis=1)
        kind = self._kind[pods]
        own = self.machine[self.placement.at[pods]]
        machine = np.where(best[kind] == own, second[kind], best[kind])
        change: Floats = self._departure[pods] + self._arrival[kind, machine]
        return change


def _kinds(rows: Ints) -> tuple[Ints, Ints]:
    """(the different rows, which of them each row is)."""
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    return kinds, kind.reshape(-1)
