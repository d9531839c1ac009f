"""ReduceFragmentation: the least free capacity that pods of the workload's own sizes cannot use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.limits import Budget, Limits
from descheduler.optimizer.local_search import climb_best_first
from descheduler.optimizer.objective import Model, Neighbourhood, PreparedObjective, Value
from descheduler.optimizer.objectives.weighted_sample import weighted_sample
from descheduler.optimizer.problem import Problem

_FIRST_PLAN = Limits(work=2.0)
_MOVED_AT_ONCE = 4
_MOST_NODES = 20
_SHARE_OF_ONES = 0.9
"""In so many neighbourhoods a node has one pod of a kind at most; in so many of the others two, and so on."""


@dataclass(frozen=True, slots=True, eq=False)
class ReduceFragmentation:
    """Free capacity of `resource` that no further pod of a class can use, over all nodes and the classes' weights.

    classes: int64[M, R], what a pod of each class needs; more than 0 of `resource`.
    weight:  int64[M], how often each class is asked for; None: 1 each. Keep rare large classes: without them nothing
             keeps large slots open.

    With f = the free capacity of a node and k[m] = min over r of f[r] // classes[m, r], the node strands
    weight[m] * (f[resource] - k[m] * classes[m, resource]) for each class. This is the fragmentation of VMR2L (EuroSys
    2025), with NUMA nodes as nodes, and of FGD (Weng et al., USENIX ATC 2023) for devices that are not shared.
    A value is (capacity stranded, cost of the moves).
    """

    resource: int
    classes: Ints
    weight: Ints | None = None

    def prepare(self, problem: Problem) -> ReduceFragmentationGoal:
        """Raises ValueError for classes of other resources than the problem's, or that need none of `resource`."""
        if self.classes.shape[1:] != (problem.num_resources,):
            raise ValueError(f"classes: shape {self.classes.shape}, expected ('classes', {problem.num_resources})")
        if (self.classes[:, self.resource] <= 0).any():
            raise ValueError(f"classes: one needs nothing of resource {self.resource}, which is what is counted")
        weight = np.ones(len(self.classes), np.int64) if self.weight is None else self.weight
        return ReduceFragmentationGoal(problem, self.resource, self.classes, weight)


class ReduceFragmentationGoal(PreparedObjective):
    """`ReduceFragmentation` over one problem."""

    def __init__(self, problem: Problem, resource: int, classes: Ints, weight: Ints) -> None:
        self._problem, self._resource, self._classes, self._weight = problem, resource, classes, weight
        self._capacity: Floats = np.ascontiguousarray(problem.part_capacity.T, dtype=np.float64)
        self._unit = 1.0 + float(problem.cost.sum())
        look = np.column_stack((problem.need, problem.pod_class, problem.cost))
        self._kind: Ints = np.unique(look, axis=0, return_inverse=True)[1].reshape(-1)

    def value(self, assignment: Ints) -> Value:
        """(capacity stranded, cost of the moves)."""
        usage = self._problem.usage(assignment).T.astype(np.float64)
        moved = self._problem.moved(assignment)
        return int(self._stranded(np.arange(usage.shape[1]), usage).sum()), int(self._problem.cost[moved].sum())

    def bound(self) -> Value:
        """What the classes would strand if the cluster were one node; no moves."""
        free = np.maximum(self._problem.part_capacity - self._problem.usage(self._problem.assignment), 0).sum(axis=0)
        stranded = 0
        for need, weight in zip(self._classes, self._weight.tolist(), strict=True):
            asked = need > 0
            slots = int((free[asked] // need[asked]).min())
            stranded += weight * int(free[self._resource] - slots * need[self._resource])
        return stranded, 0

    def _stranded(self, nodes: Ints, usage: Floats) -> Floats:
        free = [np.maximum(self._capacity[r, nodes] - used, 0.0) for r, used in enumerate(usage)]
        stranded = np.zeros(usage.shape[1:])
        for need, weight in zip(self._classes, self._weight.tolist(), strict=True):
            stranded += weight * stranded_for(need, self._resource, free)
        return stranded

    def node_cost(self, nodes: Ints, usage: Floats) -> Floats:
        """One unit stranded counts more than all evictions together."""
        return self._stranded(nodes, usage) * self._unit

    def first_plan(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> None:
        """The best single move of all, again and again: move limits are spent where they gain most."""
        climb_best_first(placement, self, Budget(_FIRST_PLAN))

    def tidy(self, placement: Arrangement) -> None:
        """Nothing: each move pays for itself."""

    def neighbourhood(self, placement: Arrangement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """Nodes that strand much, with both nodes of some moved pods, whose moves may be spent elsewhere."""
        by_part = self._stranded(np.arange(placement.usage.shape[1]), placement.usage)
        if not by_part.any():
            return None
        parts = self._problem.parts
        stranded = by_part if parts is None else _sum_by(parts.machine_of, by_part)
        moved = rng.permutation(self._problem.moved(placement.at))[: int(rng.integers(0, _MOVED_AT_ONCE + 1))]
        first = np.concatenate((placement.at[moved], placement.origins[moved]))
        first = first if parts is None else parts.machine[first]
        return choose_dear_nodes(placement, stranded, rng, num_pods, first=np.unique(first), kind=self._kind)

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """Maximises the slots of all classes, which is the same: what is free in total stays.

        Each pod takes as many parts wherever it is.
        """
        unit = 1 + int(self._problem.cost[neighbourhood.pods].sum())
        for each in self._problem.parts_of(neighbourhood.nodes):
            for need, weight in zip(self._classes, self._weight.tolist(), strict=True):
                slots = model.free_slots(each, need.tolist())
                model.minimise([-unit * weight * int(need[self._resource])], [slots])
        model.charge_moves(self._problem.cost[neighbourhood.pods], neighbourhood.pods)


def _sum_by(key: Ints, values: Floats) -> Floats:
    total: Floats = np.bincount(key, weights=values).astype(np.float64)
    return total


def stranded_for(need: Ints, resource: int, free: Sequence[Floats]) -> Floats:
    """The part of `free[resource]` that is left when a node is filled with pods that take `need` (int64[R]).

    `free` has an array a resource, all of one shape, whose elements are nodes; so has what is returned.
    """
    slots = np.full(free[resource].shape, np.inf)
    for r in np.flatnonzero(need).tolist():
        np.minimum(slots, free[r] // float(need[r]), out=slots)
    stranded: Floats = free[resource] - slots * float(need[resource])
    return stranded


def choose_dear_nodes(
    placement: Arrangement, cost: Floats, rng: np.random.Generator, num_pods: int, *, first: Ints, kind: Ints
) -> Neighbourhood:
    """As many nodes as have `num_pods` pods, two at least, with a few pods of each kind (int64[P]) from each.

    They are drawn without replacement by their costs (float64[N]), after those in `first`. Where nodes are made of
    parts, machines are drawn, each with all its nodes: `cost` and `first` are of machines.
    """
    weights = cost + 0.1 * cost.mean() + 1e-9
    order = weighted_sample(np.arange(len(weights)), weights, rng, len(weights))
    order = np.concatenate((first, order[~np.isin(order, first)]))[:_MOST_NODES]
    parts = placement.problem.parts
    nodes = [order[[rank]] if parts is None else parts.nodes_of[one] for rank, one in enumerate(order.tolist())]
    most = int(rng.geometric(_SHARE_OF_ONES))
    pods = [
        _few_of_each(
            np.concatenate([placement.evictable_on(node) for node in some.tolist()]), placement, kind, rng, most
        )
        for some in nodes
    ]
    count = max(2, int(np.searchsorted(np.cumsum([len(some) for some in pods]), num_pods, side="right")))
    chosen = np.concatenate(pods[:count])
    if len(chosen) > num_pods:
        chosen = rng.choice(chosen, size=num_pods, replace=False)
    return Neighbourhood(np.sort(np.concatenate(nodes[:count])), np.sort(chosen))


def _few_of_each(pods: Ints, placement: Arrangement, kind: Ints, rng: np.random.Generator, most: int) -> Ints:
    """At most `most` pods of a kind from each node, at random: which of equal pods goes costs the solver its time."""
    left = rng.permutation(pods)
    found: list[Ints] = []
    for _ in range(most):
        at = placement.at[left]
        _, first = np.unique(
            np.column_stack((at, kind[left], at == placement.origins[left])), axis=0, return_index=True
        )
        found.append(left[first])
        left = np.delete(left, first)
    return np.concatenate(found)
