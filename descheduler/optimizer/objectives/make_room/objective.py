"""MakeRoom: the most pending pods placed, gangs whole, with the cheapest moves of other pods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Model, Neighbourhood, PreparedObjective, Term, Value, away
from descheduler.optimizer.objectives.fullest_node import place_on_fullest
from descheduler.optimizer.objectives.knapsack import most_weight
from descheduler.optimizer.objectives.likely_nodes import nearly_fitting, with_room
from descheduler.optimizer.objectives.make_room.greedy import make_room_for
from descheduler.optimizer.objectives.make_room.pending import PendingUnits, SizeOrder
from descheduler.optimizer.objectives.make_room.room_search import RoomSearch
from descheduler.optimizer.parts import UNLIMITED
from descheduler.optimizer.problem import Problem

_PODS_PER_LANDING = 25
_PODS_PER_RECEIVER = 12
_MOST_UNITS = 2


@dataclass(frozen=True, slots=True, eq=False)
class MakeRoom:
    """Pending pods get a node, the weightiest first; the pods of a gang all or none.

    weight: int64[P], what each pending pod counts, 1 or more (others are not looked at); None: 1.
    gang:   int64[P], the gang of each pending pod or -1; None: no gangs.

    A value is (weight of the pods that are still pending, cost of the moves).
    """

    weight: Ints | None = None
    gang: Ints | None = None

    def prepare(self, problem: Problem) -> MakeRoomGoal:
        """Raises ValueError where the arrays are not of the problem's pods."""
        weight = np.ones(problem.num_pods, np.int64) if self.weight is None else self.weight
        gang = np.full(problem.num_pods, -1) if self.gang is None else self.gang
        for name, values in (("weight", weight), ("gang", gang)):
            if values.shape != (problem.num_pods,):
                raise ValueError(f"{name}: shape {values.shape}, expected {(problem.num_pods,)}")
        return MakeRoomGoal(PendingUnits(problem, weight, gang))


class MakeRoomGoal(PreparedObjective):
    """`MakeRoom` over one problem."""

    def __init__(self, pending: PendingUnits) -> None:
        self._pending, self._problem = pending, pending.problem

    def value(self, assignment: Ints) -> Value:
        """(weight of what is pending, a gang counting whole while one of it is; cost of the moves)."""
        left = int(self._pending.weight[self._pending.left(assignment)].sum())
        return left, int(self._problem.cost[self._problem.moved(assignment)].sum())

    def bound(self) -> Value:
        """(weight that the cluster's free volume cannot hold or that fits no node, even one with no pods but those that
        stay; what room for the rest costs at least)."""
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
        return left, _least_cost(problem, able_pods, _fewest_pods(able_weight, most))

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
        need = self._problem.need[pod]
        fits: Bools = ((need <= self._room_beside_staying) | (need == 0)).all(axis=1)
        return bool((fits & self._problem.allowed[self._problem.pod_class[pod]]).any())

    @cached_property
    def _room_beside_staying(self) -> Ints:
        """int64[N, R]: what nodes have once all pods have left that can; of nodes made of parts, their capacity."""
        problem = self._problem
        if problem.parts is not None:
            return problem.capacity
        room: Ints = problem.capacity - problem.usage(np.where(problem.evictable, PENDING, problem.assignment))
        return room

    def move_cost(self, pods: Ints, nodes: Ints) -> Floats:
        """The pod's own cost; a pending pod's placement is free."""
        is_evicted = self._problem.assignment[pods] != PENDING
        moved = away(self._problem, pods, nodes) & is_evicted
        cost: Floats = np.multiply(moved, self._problem.cost[pods], dtype=np.float64)
        return cost

    def first_plan(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> None:
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

    def tidy(self, placement: Arrangement) -> None:
        """Takes back the placed pods of gangs that are not whole, and sends moved pods home that have room there."""
        self._pending.withdraw_parts(placement)
        for pod in self._problem.moved(placement.at).tolist():
            home = int(placement.origins[pod])
            if placement.is_open(pod, home):
                placement.move(pod, home)

    def annealing(self, placement: Arrangement, rng: np.random.Generator) -> RoomSearch | None:
        """Exchanges and relocations where nodes are made of parts, else None: single moves rarely change the figure."""
        parts = self._problem.parts
        return None if parts is None else RoomSearch(self._pending, parts, placement, self.value, rng)

    def neighbourhood(self, placement: Arrangement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """A pending pod or gang, and nodes on which it might fit; None: nothing is pending or moved."""
        return _choose(self._pending, placement, rng, num_pods)

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """Minimises what stays pending, then cost."""
        problem, pods = self._problem, neighbourhood.pods
        most = 1 + int(problem.cost[pods].sum())
        is_pending = problem.assignment[pods] == PENDING
        gangs: dict[int, Term] = {}
        for pod in pods[is_pending].tolist():
            placed = model.has_moved(pod)
            model.minimise([-most * int(self._pending.weight[pod])], [placed])
            gang = int(self._pending.gang[pod])
            if gang >= 0:
                model.equate(placed, gangs.setdefault(gang, placed))
        model.charge_moves(problem.cost[pods[~is_pending]], pods[~is_pending])


def _fewest_pods(weight: Ints, wanted: int) -> int:
    """How many pods it takes at least to reach the weight `wanted`; all of them where they do not."""
    reached = np.cumsum(np.sort(weight)[::-1])
    return min(int(np.searchsorted(reached, wanted)) + 1, len(weight)) if wanted > 0 else 0


def _least_cost(problem: Problem, pending: Ints, count: int) -> int:
    """No plan that places `count` of the pods `pending` costs less; where they go is not looked at.

    With k of them on node n, pods of n must have left that need as much as the k smallest together less what is free,
    resource by resource: f[n, k], a fractional covering knapsack, rounded up. The k of all nodes that add up to `count`
    and cost least are found by dynamic programming.
    """
    smallest = np.cumsum(np.sort(problem.need[pending], axis=0), axis=0)[:count].astype(np.float64)
    free = np.maximum(problem.capacity - problem.usage(problem.assignment), 0)
    best = np.full(count + 1, np.inf)
    best[0] = 0.0
    for node in np.flatnonzero(problem.allowed[problem.pod_class[pending]].any(axis=0)).tolist():
        own = np.flatnonzero((problem.assignment == node) & problem.evictable)
        best = _with_node(best, _cover_costs(smallest - free[node], problem.need[own], problem.cost[own]))
    return int(best[count]) if np.isfinite(best[count]) else 0


def _with_node(best: Floats, costs: Floats) -> Floats:
    """The least cost of each number of pods where one more node takes some."""
    after = best.copy()
    for count, cost in enumerate(costs.tolist(), start=1):
        if cost == np.inf:
            break
        after[count:] = np.minimum(after[count:], best[: len(best) - count] + cost)
    return after


def _cover_costs(excess: Floats, need: Ints, cost: Ints) -> Floats:
    """float64[K]: what it costs at least to take each row of `excess` (float64[K, R]) away; infinity: not possible."""
    least = np.zeros(len(excess))
    for resource, missing in enumerate(excess.T):
        order = np.argsort(-need[:, resource] / np.maximum(cost, 1e-9), kind="stable")
        order = order[need[order, resource] > 0]
        taken = np.concatenate(([0], np.cumsum(need[order, resource])))
        spent = np.concatenate(([0], np.cumsum(cost[order])))
        fraction = np.ceil(np.interp(missing, taken, spent) - 1e-9)
        least = np.maximum(least, np.where(missing > taken[-1], np.inf, fraction))
    return least


def _choose(
    pending: PendingUnits, placement: Arrangement, rng: np.random.Generator, num_pods: int
) -> Neighbourhood | None:
    """Some units with nodes to land on, all of whose pods may leave, and receivers; None: nothing is left to gain.

    Units that wait come first; where none does, units that are placed may land elsewhere with fewer evictions.
    """
    waiting = [unit for unit in pending.units if (placement.at[unit] == PENDING).any()]
    if not waiting and not len(placement.problem.moved(placement.at)):
        return None
    units = waiting or pending.units
    picked = rng.permutation(len(units))[: int(rng.integers(1, _MOST_UNITS + 1))]
    seeds = np.concatenate([units[number] for number in picked.tolist()])
    landings = _landings(placement, rng, seeds, max(2, num_pods // _PODS_PER_LANDING))
    receivers = with_room(placement, rng, max(3, num_pods // _PODS_PER_RECEIVER))
    nodes = np.union1d(landings, receivers)
    return Neighbourhood(nodes, _pods(pending, placement, landings, nodes, seeds))


def _landings(placement: Arrangement, rng: np.random.Generator, seeds: Ints, count: int) -> Ints:
    """Nodes allowed to the first seed, those that lack little for it more often, and what the seeds are on now."""
    near = nearly_fitting(placement, int(seeds[0]), rng, max(count, len(seeds)))
    own = placement.at[seeds]
    return np.union1d(near, own[own != PENDING])


def _pods(pending: PendingUnits, placement: Arrangement, landings: Ints, nodes: Ints, seeds: Ints) -> Ints:
    """The seeds, all pods on or from the landings, moved pods on or from the other nodes, and their gangs whole."""
    problem = placement.problem
    near_landing = np.isin(placement.at, landings) | np.isin(placement.origins, landings)
    near = np.isin(placement.at, nodes) | np.isin(placement.origins, nodes)
    chosen = problem.evictable & (near_landing | (near & (placement.at != placement.origins)))
    chosen[seeds] = True
    gangs = np.unique(pending.gang[np.flatnonzero(chosen)])
    members = pending.pods[np.isin(pending.gang[pending.pods], gangs[gangs >= 0])]
    return np.union1d(np.flatnonzero(chosen), members)
