"""MakeRoom: the most pending pods placed, gangs whole, with the cheapest moves of other pods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.objective import Model, Neighbourhood, Term, Value, away
from descheduler.optimizer.objectives.fullest_node import place_on_fullest
from descheduler.optimizer.objectives.knapsack import most_weight
from descheduler.optimizer.objectives.make_room import neighbourhoods
from descheduler.optimizer.objectives.make_room.bound import fewest_pods, least_cost
from descheduler.optimizer.objectives.make_room.greedy import make_room_for
from descheduler.optimizer.objectives.make_room.pending import PendingPods, SizeOrder
from descheduler.optimizer.objectives.make_room.room_search import RoomSearch
from descheduler.optimizer.parts import UNLIMITED
from descheduler.optimizer.placement import Placement
from descheduler.optimizer.problem import Problem

__all__ = ["MakeRoom", "MakeRoomGoal"]


@dataclass(frozen=True, slots=True, eq=False)
class MakeRoom:
    """Pending pods get a node, the weightiest first; the pods of a gang all or none.

    weight: int64[P], what each pending pod counts, 1 or more (others are not looked at); None: 1.
    gang:   int64[P], the gang of each pending pod or -1; None: no gangs.

    A value is (weight of the pods that are still pending, cost of the moves).
    """

    weight: Ints | None = None
    gang: Ints | None = None

    @property
    def levels(self) -> tuple[str, ...]:
        """Pending pods first, then evictions."""
        return ("pods pending", "eviction cost")

    def prepare(self, problem: Problem) -> MakeRoomGoal:
        """Raises ValueError where the arrays are not of the problem's pods."""
        weight = np.ones(problem.num_pods, np.int64) if self.weight is None else self.weight
        gang = np.full(problem.num_pods, -1) if self.gang is None else self.gang
        for name, values in (("weight", weight), ("gang", gang)):
            if values.shape != (problem.num_pods,):
                raise ValueError(f"{name}: shape {values.shape}, expected {(problem.num_pods,)}")
        return MakeRoomGoal(PendingPods(problem, weight, gang))


class MakeRoomGoal:
    """`MakeRoom` over one problem."""

    def __init__(self, pending: PendingPods) -> None:
        self._pending, self._problem = pending, pending.problem

    def value(self, assignment: Ints) -> Value:
        """(weight of what is pending, a gang counting whole while one of it is; cost of the moves)."""
        left = int(self._pending.weight[self._pending.left(assignment)].sum())
        return left, int(self._problem.cost[self._problem.moved(assignment)].sum())

    def bound(self) -> Value:
        """(weight that the cluster's free volume cannot hold or that fits no node, even an empty one; what room for the
        rest costs at least)."""
        problem, pending = self._problem, self._pending
        pods = pending.pods
        able = np.array([self._fits_somewhere(pod) for pod in pods.tolist()], bool)
        room = np.maximum(problem.part_capacity - problem.usage(problem.assignment), 0)
        weight = np.where(able, pending.weight[pods], 0)
        free = room.sum(axis=0, where=self._is_limited()) + self._most_released()
        most = most_weight(self._volume(pods), weight, free.astype(np.float64))
        left = int(pending.weight[pods].sum()) - most
        if problem.parts is not None:
            return left, 0
        able_pods, able_weight = pods[able], pending.weight[pods[able]]
        return left, least_cost(problem, able_pods, fewest_pods(able_weight, most))

    def _is_limited(self) -> Bools:
        """bool[C, R]: what the parts have an own capacity of."""
        return np.asarray(self._problem.part_capacity < UNLIMITED)

    def _volume(self, pods: Ints) -> Floats:
        """float64[R, p]: the least that pods take from all parts of a node that is allowed to them."""
        problem = self._problem
        need = problem.need[pods].T.astype(np.float64)
        if problem.parts is None:
            return need
        is_limited = np.vstack((self._is_limited(), np.zeros((1, problem.num_resources), bool)))
        times = is_limited[problem.parts.taken].sum(axis=1)
        for pod, column in zip(pods.tolist(), need.T, strict=True):
            column *= times[problem.allowed[problem.pod_class[pod]]].min(axis=0, initial=problem.parts.taken.shape[1])
        return need

    def _most_released(self) -> Floats:
        """float64[R]: what placed pods would take less in total, each on a node of which it takes from fewest parts."""
        problem = self._problem
        placed = np.flatnonzero(problem.evictable & (problem.assignment != PENDING))
        if problem.parts is None:
            return np.zeros(problem.num_resources)
        is_limited = np.vstack((self._is_limited(), np.zeros((1, problem.num_resources), bool)))
        times = is_limited[problem.parts.taken[problem.assignment[placed]]].sum(axis=1)
        released: Floats = np.maximum(problem.need[placed] * times - self._volume(placed).T, 0.0).sum(axis=0)
        return released

    def _fits_somewhere(self, pod: int) -> bool:
        fits: Bools = (self._problem.need[pod] <= self._problem.capacity).all(axis=1)
        return bool((fits & self._problem.allowed[self._problem.pod_class[pod]]).any())

    def hold(self, assignment: Ints) -> Problem:
        """The same: other objectives move placed pods, but take none off its node for good."""
        return self._problem

    def node_cost(self, nodes: Ints, usage: Floats) -> Floats:
        """Nothing: single moves do not place a pod by themselves."""
        return np.zeros(usage.shape[1:])

    def move_cost(self, pods: Ints, nodes: Ints) -> Floats:
        """The pod's own cost; a pending pod's placement is free."""
        is_evicted = self._problem.assignment[pods] != PENDING
        moved = away(self._problem, pods, nodes) & is_evicted
        cost: Floats = np.multiply(moved, self._problem.cost[pods], dtype=np.float64)
        return cost

    def first_plan(self, placement: Placement) -> None:
        """Pods that fit as they are, to the fullest node; then those for which moving up to four pods makes room.

        Another order of the pods is tried where one leaves some pending. Where nodes are made of parts, room is made by
        `annealing`.
        """
        start = placement.at.copy()
        plans = []
        for order in SizeOrder:
            placement.reset(start)
            self._pending.place_greedily(placement, place_on_fullest, order)
            if self._problem.parts is None:
                self._pending.place_greedily(placement, make_room_for, order)
            plans.append(placement.at.copy())
            if not len(self._pending.left(placement.at)):
                break
        placement.reset(min(plans, key=self.value))

    def tidy(self, placement: Placement) -> None:
        """Takes back the placed pods of gangs that are not whole, and sends moved pods home that have room there."""
        self._pending.withdraw_parts(placement)
        for pod in self._problem.moved(placement.at).tolist():
            home = int(placement.origins[pod])
            if placement.is_open(pod, home):
                placement.move(pod, home)

    def annealing(self, placement: Placement, rng: np.random.Generator) -> RoomSearch | None:
        """Exchanges and relocations where nodes are made of parts, else None: single moves rarely change the figure."""
        parts = self._problem.parts
        return None if parts is None else RoomSearch(self._pending, parts, placement, self.value, rng)

    def neighbourhood(self, placement: Placement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """A pending pod or gang, and nodes on which it might fit; None: nothing is pending or moved."""
        return neighbourhoods.choose(self._pending, placement, rng, num_pods)

    def add_to(self, model: Model, placement: Placement, neighbourhood: Neighbourhood) -> None:
        """Minimises what stays pending, then cost."""
        pods = neighbourhood.pods.tolist()
        problem = self._problem
        most = 1 + int(problem.cost[neighbourhood.pods].sum())
        gangs: dict[int, Term] = {}
        for pod in pods:
            if problem.assignment[pod] != PENDING:
                model.minimise([int(problem.cost[pod])], [model.has_moved(pod)])
                continue
            placed = model.has_moved(pod)
            model.minimise([-most * int(self._pending.weight[pod])], [placed])
            gang = int(self._pending.gang[pod])
            if gang >= 0:
                model.equate(placed, gangs.setdefault(gang, placed))
