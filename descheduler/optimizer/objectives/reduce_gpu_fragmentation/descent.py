"""Fragmentation gradient descent for pods that run already: the single move that gains most, again and again.

Pods of equal need and class are interchangeable for what they change where they arrive, and equal devices of a machine
are interchangeable too. So there is one table of arrivals, of kinds of pods by machines, and one of departures; after a
move, the rows of its two machines are made again.
"""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import PENDING, Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.fragments import Fragments
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.machine_states import MachineStates
from descheduler.optimizer.parts import Parts
from descheduler.optimizer.placement import Placement

__all__ = ["Descent"]

_LEAST_GAIN = 1e-6


class Descent:
    """The tables of one placement. Tell of moves made by others with `refresh`."""

    def __init__(self, placement: Placement, parts: Parts, fragments: Fragments, devices: Ints) -> None:
        problem = placement.problem
        self.placement, self._fragments = placement, fragments
        self.machine = parts.machine
        self._kinds, self._kind = _kinds(np.column_stack((problem.need, problem.pod_class)))
        self._pods = np.flatnonzero(problem.evictable & (problem.assignment != PENDING))
        num_machines = len(parts.nodes_of)
        self._states = [MachineStates(placement, parts, number, some) for number, some in enumerate(devices)]
        self._stranded = np.zeros(num_machines)
        self._departure = np.zeros(problem.num_pods)
        self._arrival = np.full((len(self._kinds), num_machines), np.inf)
        self._target = np.zeros(self._arrival.shape, np.int64)
        self._work = 0
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
            budget.spend_evaluations(self._work)
            self._work = 0

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
