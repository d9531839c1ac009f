"""ReduceCost: pods where what they need costs least."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.cp_sat.column_program import ColumnProgram
from descheduler.optimizer.leaving import can_leave
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Model, Neighbourhood, PreparedObjective, Value, eviction_cost
from descheduler.optimizer.objectives.weighted_sample import weighted_sample
from descheduler.optimizer.problem import Problem

_SHARE_OF_MOVE = 1e-6
"""Of the cost of a move, in the sum that single moves follow: a move has to save more than nothing."""
_SHARE_OF_PODS = 0.6
"""Of a neighbourhood, for pods that have a cheaper node."""
_PODS_PER_TARGET = 12
_MOST_ROWS = 20_000
"""Rows of the linear program of the bound. In larger problems room is not looked at."""
_STEPS = 1_000_000
"""Into so many at most the dearest price of a neighbourhood is divided for the solver, whose numbers have 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class ReduceCost:
    """The lowest sum of prices, a pod's being `rate` times need in the next whole number.

    rate: float64[N, R], what a unit of each resource costs on each node, 0 or more.

    Pending pods cost nothing and stay pending. A value is (sum of prices, cost of the moves).
    """

    rate: Floats

    def prepare(self, problem: Problem) -> ReduceCostGoal:
        """Raises ValueError where the rates are not of the problem's nodes, or below 0, or nodes share parts."""
        problem.refuse_parts("ReduceCost")
        if self.rate.shape != problem.capacity.shape:
            raise ValueError(f"rate: shape {self.rate.shape}, expected {problem.capacity.shape}")
        if (self.rate < 0).any():
            raise ValueError(f"rate: {self.rate.min()} is below 0")
        return ReduceCostGoal(problem, self.rate)


class ReduceCostGoal(PreparedObjective):
    """`ReduceCost` over one problem.

    Pods of one kind need the same, and have the same class and node of the same rate: K kinds. Nodes of one rate are a
    tier: T tiers.
    """

    def __init__(self, problem: Problem, rate: Floats) -> None:
        self._problem, self._rate = problem, rate
        tiers, tier = np.unique(rate, axis=0, return_inverse=True)
        self._tier: Ints = tier.reshape(-1).astype(np.int64)
        home = np.where(problem.assignment == PENDING, PENDING, self._tier[problem.assignment])
        keys = np.column_stack((home, problem.pod_class, problem.need))
        _, self._first, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        self._kind: Ints = kind.reshape(-1).astype(np.int64)
        self._prices: Ints = np.rint(problem.need[self._first] @ tiers.T).astype(np.int64)

    def value(self, assignment: Ints) -> Value:
        """(sum of prices, cost of the moves)."""
        placed = np.flatnonzero(assignment != PENDING)
        prices = self._prices[self._kind[placed], self._tier[assignment[placed]]]
        return int(prices.sum()), int(self._problem.cost[self._problem.moved(assignment)].sum())

    def bound(self) -> Value:
        """(the sum of prices with the room of each tier taken together, in fractions of pods; 0)."""
        return self._bound

    @cached_property
    def _bound(self) -> Value:
        now, _ = self.value(self._problem.assignment)
        return max(now - self._most_saved(), 0), 0

    def _most_saved(self) -> int:
        """No plan saves more."""
        num_movable = np.bincount(self._kind[can_leave(self._problem)], minlength=len(self._first))
        saved = np.where(self._is_open & (num_movable > 0)[:, None], self._saved, 0)
        alone = int((saved.max(axis=1, initial=0) * num_movable).sum())
        kinds = np.flatnonzero(saved.any(axis=1))
        room = self._room_of_tiers()
        if not alone or len(kinds) + room.size > _MOST_ROWS:
            return alone
        limits = np.concatenate((room.reshape(-1), num_movable[kinds], self._limits))
        program, gains = ColumnProgram(limits, 1), list[int]()
        for row, kind in enumerate(kinds.tolist(), start=room.size):
            of_all = range(room.size + len(kinds), len(limits))
            for tier in np.flatnonzero(saved[kind]).tolist():
                taken = {**self._taken(kind, tier), row: 1, **dict.fromkeys(of_all, 1)}
                program.add(int(saved[kind, tier]), int(num_movable[kind]), taken)
                gains.append(int(saved[kind, tier]))
        relaxed = program.relax(float("inf"))
        return alone if relaxed is None else min(alone, int(np.floor(relaxed.values @ np.array(gains) + 1e-6)) + 1)

    def _room_of_tiers(self) -> Ints:
        """int64[T, R]: what is free on nodes, on each by itself."""
        problem = self._problem
        room = np.zeros((self._prices.shape[1], problem.num_resources), np.int64)
        np.add.at(room, self._tier, np.maximum(problem.capacity - problem.usage(problem.assignment), 0))
        return room

    def _taken(self, kind: int, tier: int) -> dict[int, int]:
        """What a pod takes of a tier, and leaves on its own, by the place of the resource in the room of all tiers."""
        need = self._problem.need[self._first[kind]]
        home = int(self._tier[self._problem.assignment[self._first[kind]]])
        used = np.flatnonzero(need).tolist()
        taken = {tier * len(need) + resource: int(need[resource]) for resource in used}
        return taken | {home * len(need) + resource: -int(need[resource]) for resource in used}

    @cached_property
    def _limits(self) -> Ints:
        """int64[L]: the limits on moves that count every pod."""
        rules = self._problem.move_limits
        return np.array([max(int(rule.limit[0]), 0) for rule in rules if (rule.group == 0).all()], dtype=np.int64)

    @cached_property
    def _saved(self) -> Ints:
        """int64[K, T]: what a pod of each kind saves in each tier; 0 for pending ones."""
        home = self._problem.assignment[self._first]
        now = np.take_along_axis(self._prices, self._tier[home][:, None], axis=1)
        saved: Ints = np.where((home != PENDING)[:, None], now - self._prices, 0)
        return saved

    @cached_property
    def _is_open(self) -> Bools:
        """bool[K, T]: whether some node of the tier is allowed to the kind, and large enough."""
        is_open = np.zeros(self._prices.shape, bool)
        for kind, pod in enumerate(self._first.tolist()):
            fits = self._problem.allowed[self._problem.pod_class[pod]].copy()
            fits &= (self._problem.need[pod] <= self._problem.capacity).all(axis=1)
            is_open[kind, self._tier[fits]] = True
        return is_open

    def node_cost(self, nodes: Ints, usage: Floats) -> Floats:
        """What is used of the nodes, at their rates."""
        rate = self._rate[nodes]
        found: Floats = (np.moveaxis(usage, 0, -1) * rate).sum(axis=-1)
        return found

    def move_cost(self, pods: Ints, nodes: Ints) -> Floats:
        """Next to nothing."""
        return _SHARE_OF_MOVE * eviction_cost(self._problem, pods, nodes)

    def first_plan(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> None:
        """Nothing: single moves come next."""

    def tidy(self, placement: Arrangement) -> None:
        """Sends pods home where they save nothing, where they have room again."""
        for pod in self._problem.moved(placement.at).tolist():
            home = int(placement.origins[pod])
            if self._saved[self._kind[pod], self._tier[placement.at[pod]]] <= 0 and placement.is_open(pod, home):
                placement.move(pod, home)

    def neighbourhood(self, placement: Arrangement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """Pods that have a cheaper tier, with some nodes of such tiers; None where no pod has one."""
        problem = self._problem
        saved = np.where(self._is_open, self._saved, 0)
        left = saved.max(axis=1, initial=0)[self._kind] - self._saved[self._kind, self._tier[placement.at]]
        waiting = np.flatnonzero((left > 0) & problem.evictable & (placement.at != PENDING))
        if not len(waiting):
            return None
        chosen = weighted_sample(waiting, left[waiting].astype(np.float64), rng, max(1, int(num_pods * _SHARE_OF_PODS)))
        tiers = np.flatnonzero((saved[self._kind[chosen]] > 0).any(axis=0))
        targets = rng.permutation(np.flatnonzero(np.isin(self._tier, tiers)))
        targets = targets[: max(4, num_pods // _PODS_PER_TARGET)]
        nodes = np.unique(np.concatenate((targets, placement.at[chosen], placement.origins[chosen])))
        guests = np.flatnonzero((placement.at != placement.origins) & np.isin(placement.at, targets))
        nodes = np.union1d(nodes, placement.origins[guests[placement.origins[guests] != PENDING]])
        return Neighbourhood(nodes, np.union1d(chosen, guests))

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """Minimises the sum of prices, then cost."""
        pods = neighbourhood.pods[self._problem.assignment[neighbourhood.pods] != PENDING]
        most = 1 + int(self._problem.cost[pods].sum())
        step = max(1.0, float(self._prices[self._kind[pods]].max(initial=0)) / _STEPS)
        for pod in pods.tolist():
            prices = self._prices[self._kind[pod]]
            for node in np.union1d(neighbourhood.nodes, placement.at[[pod]]).tolist():
                at = model.is_at(pod, node)
                if at is not None:
                    model.minimise([most * round(int(prices[self._tier[node]]) / step)], [at])
        model.charge_moves(self._problem.cost[pods], pods)
