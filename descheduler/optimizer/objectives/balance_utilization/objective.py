"""BalanceUtilization: bring every node under its target, at the least cost of evictions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.moves_left import MovesLeft
from descheduler.optimizer.objective import Model, Neighbourhood, PreparedObjective, Term, Value
from descheduler.optimizer.objectives.balance_utilization import neighbourhoods
from descheduler.optimizer.objectives.balance_utilization.ceilings import Ceilings
from descheduler.optimizer.objectives.balance_utilization.cover import Cover
from descheduler.optimizer.objectives.balance_utilization.large_pods import LargePods, large_pods
from descheduler.optimizer.objectives.balance_utilization.placing import place_covers, place_relief, send_home
from descheduler.optimizer.objectives.balance_utilization.relief import RelaxedPlan, least_relief
from descheduler.optimizer.problem import Problem

_VOLUME_STEPS = 20
"""Into how many steps the size of a moved pod is cut where two plans are else equal."""

_WEIGHT_OF_WORSE = 1e6
"""How much more it counts that a node is further over its ceiling than it was."""

_NO_PODS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class BalanceUtilization:
    """No node above `ceiling` (int64[N, R], in the units of the problem's `need`), by the cheapest evictions.

    A value is (nodes over their ceiling, cost of the moves). A node that is under its ceiling is never taken over it,
    and no pod comes to one that stays over it.
    """

    ceiling: Ints

    def prepare(self, problem: Problem) -> BalanceUtilizationGoal:
        """Raises ValueError where `ceiling` is not of the problem's nodes and resources, or nodes share parts."""
        problem.refuse_parts("BalanceUtilization")
        if self.ceiling.shape != problem.capacity.shape:
            raise ValueError(f"ceiling: shape {self.ceiling.shape}, expected {problem.capacity.shape}")
        return BalanceUtilizationGoal(problem, self.ceiling)


class BalanceUtilizationGoal(PreparedObjective):
    """`BalanceUtilization` over one problem."""

    def __init__(self, problem: Problem, ceiling: Ints) -> None:
        self._problem = problem
        self.ceilings = Ceilings(problem, ceiling)
        self._over_weight = 1.0 + 2.0 * float(problem.cost.sum())

    def value(self, assignment: Ints) -> Value:
        """(nodes over their ceiling, cost of the moves)."""
        over = (self._problem.usage(assignment) > self.ceilings.ceiling.T).any(axis=1)
        return int(over.sum()), int(self._problem.cost[self._problem.moved(assignment)].sum())

    def bound(self) -> Value:
        """(nodes that stay over at least, by what limits and room allow; the least that it costs that no more do)."""
        return self._bound

    @cached_property
    def _bound(self) -> Value:
        if self._relief is not None:
            return self._relief.least
        covers = self._covers.values()
        return len(self.ceilings.hot) - len(covers), sum(cover.bound for cover in covers)

    @property
    def _covers(self) -> Mapping[int, Cover]:
        return {node: cover for node, cover in self.ceilings.covers.items() if cover is not None}

    @cached_property
    def _large(self) -> LargePods:
        return large_pods(self.ceilings)

    @cached_property
    def _relief(self) -> RelaxedPlan | None:
        """None where the cheapest covers go together: limits let them, and their pods find room as things are."""
        return None if self._are_covers_placed else least_relief(self.ceilings, self._large)

    @property
    def _are_covers_placed(self) -> bool:
        """Whether no model is needed to tell that no plan is better than the cheapest covers."""
        covers = self._covers.values()
        cheapest = np.array([pod for cover in covers for pod in cover.chosen], dtype=np.int64)
        limits_let = MovesLeft(self._problem, _NO_PODS).take(cheapest)
        if self._large.fits_nowhere(cheapest).any() or not limits_let:
            return False
        placement = Arrangement(self._problem)
        place_covers(self.ceilings, placement)
        return bool((placement.at[cheapest] != placement.origins[cheapest]).all())

    def proposed(self) -> Ints | None:
        """What becomes of the pods that leave in the model of the bound; None where the bound needs no model."""
        if self._relief is None:
            return None
        placement = Arrangement(self._problem)
        place_relief(self.ceilings, placement, self._relief, self._large)
        return placement.at

    def node_cost(self, nodes: Ints, usage: Floats) -> Floats:
        """Being over counts more than all evictions together, and each hundredth of a node more than one eviction.

        Being further over than before the plan counts more than any move saves.
        """
        excess, is_worse = np.zeros(usage.shape[1:]), np.zeros(usage.shape[1:], bool)
        for resource, used in enumerate(usage):
            above = np.maximum(used - self.ceilings.ceiling[resource, nodes], 0.0)
            excess += above * self.ceilings.scale[resource, nodes]
            is_worse |= (above > 0) & (used > self.ceilings.usage[nodes, resource])
        cost: Floats = (excess > 0) * self._over_weight + excess * (100.0 * self._over_weight)
        return cost * np.where(is_worse, _WEIGHT_OF_WORSE, 1.0)

    def on_the_way(self, problem: Problem) -> Problem:
        """A pod comes to no node that is over its ceiling then, or would be."""
        return dataclasses.replace(problem, capacity=np.maximum(self.ceilings.room, 0))

    def first_plan(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> None:
        """The pods of all covers, largest first, each to the node that it fits best."""
        place_covers(self.ceilings, placement)
        self.tidy(placement)

    def tidy(self, placement: Arrangement) -> None:
        """Pods whose old node is over its ceiling with or without them go home."""
        send_home(self.ceilings, placement)

    def neighbourhood(self, placement: Arrangement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """Hot nodes with nodes that have room; None at the bound."""
        return neighbourhoods.choose(self.ceilings, placement, rng, num_pods)

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """Minimises nodes over, then cost, then how much is moved."""
        for node in neighbourhood.nodes.tolist():
            over = None
            if self._stays_over(placement, neighbourhood, node):
                self._let_none_come(model, neighbourhood, node, 1)
                continue
            if self.ceilings.was_hot[node]:
                over = model.new_bool()
                model.minimise([int(self._over_weight) * _steps(neighbourhood)], [over])
            for resource in range(self._problem.num_resources):
                model.limit_load(node, resource, float(self.ceilings.ceiling[resource, node]), unless=over)
            if over is not None:
                self._add_cover(model, neighbourhood, node, over)
                self._let_none_come(model, neighbourhood, node, over)
        self._add_moves(model, neighbourhood)

    def _stays_over(self, placement: Arrangement, neighbourhood: Neighbourhood, node: int) -> bool:
        """Whether the node is over its ceiling even where all pods of the neighbourhood leave it."""
        pods = neighbourhood.pods[placement.at[neighbourhood.pods] == node]
        left = placement.usage[:, node] - placement.need[:, pods].sum(axis=1)
        return bool((left > self.ceilings.ceiling[:, node]).any())

    def _add_cover(self, model: Model, neighbourhood: Neighbourhood, node: int, over: Term) -> None:
        """A hot node costs its cover: implied by its ceiling, but in fractions of pods only until it is said."""
        cover = self.ceilings.covers[node]
        pods = neighbourhood.pods
        own = pods[(self._problem.assignment[pods] == node) & self.ceilings.leaves[pods]]
        if cover is not None and len(own) == self.ceilings.num_leaving[node]:
            costs = self._problem.cost[own].tolist()
            model.at_least(costs, [model.has_moved(pod) for pod in own.tolist()], cover.bound, unless=over)

    def _let_none_come(self, model: Model, neighbourhood: Neighbourhood, node: int, over: Term) -> None:
        """Where a node stays over its ceiling."""
        for pod in neighbourhood.pods[self._problem.assignment[neighbourhood.pods] != node].tolist():
            if (comes := model.is_at(pod, node)) is not None:
                model.forbid_both(comes, over)

    def _add_moves(self, model: Model, neighbourhood: Neighbourhood) -> None:
        pods = neighbourhood.pods[self._problem.assignment[neighbourhood.pods] != PENDING]
        volume = (self._problem.need[pods] * self.ceilings.scale.T[self._problem.assignment[pods]]).sum(axis=1)
        most = max(float(volume.max(initial=0.0)), 1e-12)
        volumes = np.ceil(_VOLUME_STEPS * volume / most).astype(np.int64)
        model.charge_moves(self._problem.cost[pods] * _steps(neighbourhood) + volumes, pods)


def _steps(neighbourhood: Neighbourhood) -> int:
    """What one more eviction counts, which is more than the volume of all."""
    return 2 * _VOLUME_STEPS * len(neighbourhood.pods) + 1
