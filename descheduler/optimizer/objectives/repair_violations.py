"""RepairViolations: the most pods that have to leave their node on another one, by the cheapest moves of others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Model, Neighbourhood, PreparedObjective, Value
from descheduler.optimizer.objectives.fullest_node import place_on_fullest
from descheduler.optimizer.objectives.likely_nodes import nearly_fitting, with_room
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rules import MoveLimit

_PODS_PER_LANDING = 25
_PODS_PER_RECEIVER = 12
_MOST_SEEDS = 4


class _MisplacedPods:
    """`pods`: int64[M], with a weight and a node. `movable`: int64[M'], those that may leave and that fit elsewhere."""

    def __init__(self, problem: Problem, weight: Ints) -> None:
        self.problem, self.weight = problem, weight
        self.pods: Ints = np.flatnonzero((weight > 0) & (problem.assignment != PENDING))
        self.movable: Ints = np.array([pod for pod in self.pods.tolist() if self._is_movable(pod)], np.int64)

    def _is_movable(self, pod: int) -> bool:
        if not self.problem.evictable[pod]:
            return False
        fits = (self.problem.need[pod] <= self.problem.capacity).all(axis=1)
        fits &= self.problem.allowed[self.problem.pod_class[pod]]
        fits[self.problem.assignment[pod]] = False
        return bool(fits.any())

    def left(self, assignment: Ints) -> Ints:
        """Those that are on their node all the same."""
        stays = assignment[self.pods] == self.problem.assignment[self.pods]
        return np.asarray(self.pods[stays])

    def in_order(self, assignment: Ints) -> list[int]:
        """The movable ones that are on their node, by weight and then by size, what is small first."""
        waiting = np.intersect1d(self.movable, self.left(assignment), assume_unique=True)
        scale = 1.0 / np.maximum(self.problem.capacity.sum(axis=0).astype(np.float64), 1.0)
        size = (self.problem.need[waiting] * scale).max(axis=1, initial=0.0)
        order = np.lexsort((waiting, size, -self.weight[waiting]))
        return [int(pod) for pod in waiting[order]]


@dataclass(frozen=True, slots=True, eq=False)
class RepairViolations:
    """Pods with a weight get another node, the weightiest first; other pods make room for them where that helps.

    weight: int64[P], what it counts that a pod stays on its node; 0 for one that is well where it is.

    A value is (weight of the pods that stay on their node, cost of the moves). Which nodes are any better is the
    problem's to say, by `allowed`. Pending pods are not looked at.
    """

    weight: Ints

    def prepare(self, problem: Problem) -> RepairViolationsGoal:
        """Raises ValueError where the weights are not of the problem's pods, or negative."""
        if self.weight.shape != (problem.num_pods,):
            raise ValueError(f"weight: shape {self.weight.shape}, expected {(problem.num_pods,)}")
        if (self.weight < 0).any():
            raise ValueError(f"weight: {self.weight.min()} is below 0")
        return RepairViolationsGoal(_MisplacedPods(problem, self.weight))


class RepairViolationsGoal(PreparedObjective):
    """`RepairViolations` over one problem."""

    def __init__(self, misplaced: _MisplacedPods) -> None:
        self._misplaced, self._problem = misplaced, misplaced.problem

    def value(self, assignment: Ints) -> Value:
        """(weight of the pods that stay, cost of the moves)."""
        left = self._misplaced.left(assignment)
        cost = self._problem.cost[self._problem.moved(assignment)].sum()
        return int(self._misplaced.weight[left].sum()), int(cost)

    def bound(self) -> Value:
        """(weight of the pods that no other node could take, even an empty one; cost of moving all others).

        Where all weights are equal, pods count as well that the limit keeps that keeps most of them.
        """
        return self._bound

    @cached_property
    def _bound(self) -> Value:
        pods, movable, weight = self._misplaced.pods, self._misplaced.movable, self._misplaced.weight
        stuck = np.setdiff1d(pods, movable, assume_unique=True)
        least, cost = int(weight[stuck].sum()), int(self._problem.cost[movable].sum())
        if not movable.size or np.unique(weight[pods]).size > 1:
            return least, cost
        kept, saved = max((self._kept_by(rule) for rule in self._problem.move_limits), default=(0, 0))
        return least + kept * int(weight[movable[0]]), cost - saved

    def _kept_by(self, rule: MoveLimit) -> tuple[int, int]:
        """How many movable pods the rule keeps on their node at least, and what it costs at most to move so many."""
        movable = self._misplaced.movable
        kept = saved = 0
        for group, most in rule.binding(movable):
            costs = np.sort(self._problem.cost[movable[rule.group[movable] == group]])[most:]
            kept, saved = kept + costs.size, saved + int(costs.sum())
        return kept, saved

    def first_plan(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> None:
        """Pods that fit another node as it is, the weightiest and smallest first, each to the fullest node."""
        for pod in self._misplaced.in_order(placement.at):
            place_on_fullest(placement, pod)

    def tidy(self, placement: Arrangement) -> None:
        """Sends pods home that were well there, where they have room again."""
        moved = self._problem.moved(placement.at)
        for pod in moved[self._misplaced.weight[moved] == 0].tolist():
            home = int(placement.origins[pod])
            if placement.is_open(pod, home):
                placement.move(pod, home)

    def neighbourhood(self, placement: Arrangement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """Misplaced pods with nodes on which they might fit; None at the bound."""
        if self.value(placement.at) <= self.bound():
            return None
        return _choose(self._misplaced, placement, rng, num_pods)

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """Minimises the weight of what stays, then cost."""
        pods = neighbourhood.pods[self._problem.assignment[neighbourhood.pods] != PENDING]
        cost = self._problem.cost[pods]
        weights = -(1 + int(cost.sum())) * self._misplaced.weight[pods]
        model.minimise(weights.tolist(), [model.has_moved(pod) for pod in pods.tolist()])
        model.charge_moves(cost, pods)


def _choose(
    misplaced: _MisplacedPods, placement: Arrangement, rng: np.random.Generator, num_pods: int
) -> Neighbourhood:
    """Some misplaced pods, nodes for them all of whose pods may leave, and receivers for these.

    Those that are on their old node come first; where all have moved, some may do so at less cost.
    """
    waiting = np.array(misplaced.in_order(placement.at), np.int64)
    seeds = rng.permutation(waiting if len(waiting) else misplaced.movable)[: int(rng.integers(1, _MOST_SEEDS + 1))]
    landings = _landings(placement, rng, seeds, max(2, num_pods // _PODS_PER_LANDING))
    receivers = with_room(placement, rng, max(3, num_pods // _PODS_PER_RECEIVER))
    nodes = np.union1d(landings, receivers)
    return Neighbourhood(nodes, _pods(misplaced, placement, landings, nodes, seeds))


def _landings(placement: Arrangement, rng: np.random.Generator, seeds: Ints, count: int) -> Ints:
    """For each seed nodes that are allowed, those that lack little for it more often; and where the seeds are now."""
    each = max(1, count // len(seeds))
    near = [nearly_fitting(placement, seed, rng, each) for seed in seeds.tolist()]
    return np.unique(np.concatenate([placement.at[seeds], *near]))


def _pods(misplaced: _MisplacedPods, placement: Arrangement, landings: Ints, nodes: Ints, seeds: Ints) -> Ints:
    """The seeds, all pods on or from the landings, and moved or misplaced pods on or from the other nodes."""
    problem = placement.problem
    near_landing = np.isin(placement.at, landings) | np.isin(placement.origins, landings)
    near = np.isin(placement.at, nodes) | np.isin(placement.origins, nodes)
    near &= (placement.at != placement.origins) | (misplaced.weight > 0)
    chosen = problem.evictable & (near_landing | near)
    chosen[seeds] = True
    return np.flatnonzero(chosen)
