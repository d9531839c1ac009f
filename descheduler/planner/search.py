"""The search for a plan: first plan, hill climb, then neighbourhoods solved one after the other while there is time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from descheduler.planner.arrays import Ints
from descheduler.planner.cp_sat.solve import Solved, solve_neighbourhood
from descheduler.planner.limits import Budget, Limits
from descheduler.planner.local_search.shifts import climb_by_shifts
from descheduler.planner.objective import Annealer, Neighbourhood, PreparedObjective, Value
from descheduler.planner.placement import Placement
from descheduler.planner.problem import Problem

__all__ = ["Incumbent", "Search"]

_WORK_OF_NEIGHBOURHOOD = 1.0
_SMALLEST, _FIRST, _LARGEST = 12, 80, 400
_MOST_AT_ONCE = 1000
"""Pairs of a pod and a node up to which the whole problem is one neighbourhood."""


@dataclass(frozen=True, slots=True, eq=False)
class Incumbent:
    """The best assignment so far, its value, and when it was found (seconds since the start, and work)."""

    assignment: Ints
    value: Value
    seconds: float
    work: float


class Search:
    """One search over one problem by one process, within `limits`, in as many parts as its caller likes.

    `incumbent` is never worse than `start`, an assignment that keeps the problem's rules; None: doing nothing.
    """

    def __init__(
        self,
        problem: Problem,
        objective: PreparedObjective,
        limits: Limits,
        *,
        seed: int,
        start: Ints | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
        on_incumbent: Callable[[Incumbent], None] = lambda incumbent: None,
    ) -> None:
        self._objective = objective
        self._rng = np.random.default_rng(seed)
        self._on_incumbent = on_incumbent
        self.budget = Budget(limits, is_cancelled)
        self._annealing: Annealer | None = None
        self._placement = Placement(problem, start)
        self._num_pods = _FIRST
        self._bound = objective.bound()
        at = self._placement.at.copy()
        self.incumbent = Incumbent(at, objective.value(at), 0.0, 0.0)

    def start(self, hint: Ints | None = None) -> None:
        """The first plan, or what is left of `hint` (an earlier run's assignment), bettered by single moves."""
        if hint is not None:
            self._follow(hint)
        self._objective.first_plan(self._placement)
        self._offer()
        climb_by_shifts(self._placement, self._objective, self._dearest_nodes(), self.budget)
        self._objective.tidy(self._placement)
        self._offer()

    def _follow(self, hint: Ints) -> None:
        """Makes the moves of the hint that are open, in pod order."""
        for pod in np.flatnonzero(hint != self._placement.at).tolist():
            target = np.array([hint[pod]])
            if hint[pod] >= 0 and self._placement.open_moves(np.array([pod]), target)[0, 0]:
                self._placement.move(pod, int(hint[pod]))

    def _dearest_nodes(self) -> Ints:
        """Nodes that the guide charges for, the dearest first."""
        parts, usage = self._placement.problem.parts, self._placement.usage
        cost = self._objective.node_cost(np.arange(usage.shape[1]), usage)
        if parts is not None:
            cost = np.append(cost, 0.0)[parts.taken].sum(axis=1)
        order = np.argsort(-cost, kind="stable")
        return order[cost[order] > 0]

    def improve(self, budget: Budget) -> None:
        """Betters the incumbent until `budget`, a part of the search's own, is over or nothing is left to gain."""
        if self.incumbent.value <= self._bound:
            return
        whole = self._whole()
        if whole is not None and not budget.is_over and self._solve(whole, budget).was_closed:
            return
        self._anneal(budget)
        while not budget.is_over:
            neighbourhood = self._objective.neighbourhood(self._placement, self._rng, self._num_pods)
            if neighbourhood is None:
                return
            self._solve(neighbourhood, budget)

    def _anneal(self, budget: Budget) -> None:
        """Goes on with the annealing; what it leads to is looked at when it ends, or with the search."""
        if self._annealing is None and not budget.is_over:
            self._annealing = self._objective.annealing(self._placement, self._rng)
        if self._annealing is None or not self._is_annealing:
            return
        self._annealing.run(budget, self.budget, self._annealing.share)
        if not self._is_annealing or self.budget.is_over:
            climb_by_shifts(self._placement, self._objective, self._dearest_nodes(), self.budget)
            self._offer()
        elif self._objective.value(self._placement.at) < self.incumbent.value:
            self._offer()

    @property
    def _is_annealing(self) -> bool:
        return self._annealing is not None and self.budget.progress < self._annealing.share

    def _whole(self) -> Neighbourhood | None:
        problem = self._placement.problem
        pods = np.flatnonzero(problem.evictable)
        if len(pods) * problem.num_nodes > _MOST_AT_ONCE:
            return None
        return Neighbourhood(np.arange(problem.num_nodes), pods)

    def _solve(self, neighbourhood: Neighbourhood, budget: Budget) -> Solved:
        solved = solve_neighbourhood(
            self._objective,
            self._placement,
            neighbourhood,
            work_limit=_WORK_OF_NEIGHBOURHOOD,
            seconds_limit=budget.seconds_left,
            seed=int(self._rng.integers(1 << 30)),
        )
        # Building a model takes time too, which its size tells.
        budget.spend(solved.work + 0.01 + 5e-4 * len(neighbourhood.pods))
        self._adapt(solved)
        for pod, node in solved.changes:
            self._placement.move(pod, node)
        self._offer()
        return solved

    def _adapt(self, solved: Solved) -> None:
        """Larger neighbourhoods while they close quickly, smaller ones where they do not."""
        if not solved.was_closed:
            self._num_pods = max(_SMALLEST, int(self._num_pods * 0.8))
        elif solved.work < 0.3 * _WORK_OF_NEIGHBOURHOOD:
            self._num_pods = min(_LARGEST, self._num_pods + 1 + self._num_pods // 50)

    def _offer(self) -> None:
        """Makes the placement the incumbent where it is no worse, else the incumbent the placement."""
        value = self._objective.value(self._placement.at)
        if value > self.incumbent.value:
            self._placement.reset(self.incumbent.assignment)
            return
        is_better = value < self.incumbent.value
        self.incumbent = Incumbent(self._placement.at.copy(), value, self.budget.seconds, self.budget.spent)
        if is_better:
            self._on_incumbent(self.incumbent)

    def adopt(self, assignment: Ints) -> None:
        """Goes on from another search's assignment where that is better, unless it is in the middle of annealing."""
        if not self._is_annealing and self._objective.value(assignment) < self.incumbent.value:
            self._placement.reset(assignment)
            self._offer()
