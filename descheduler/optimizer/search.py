"""The search for a plan: first plan, hill climb, then neighbourhoods solved one after the other while there is time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.cp_sat.solve import Solved, solve_neighbourhood
from descheduler.optimizer.limits import Budget, Limits
from descheduler.optimizer.local_search import climb_by_shifts
from descheduler.optimizer.objective import Annealer, Neighbourhood, Objective, Value
from descheduler.optimizer.problem import Problem

_LEAST_WORK, _MOST_WORK = 0.1, 1.0
"""Limit of each call of the solver, as in `Limits`: what it is between these is told by `_SHARE_OF_CALL`."""
_SHARE_OF_CALL = 0.03
"""Of the work that was done until then. A longer search begins with the calls of a shorter one: it is never worse."""
_VARIED_RATIO = 3.0
"""Work of an objective's own search for each unit of that of neighbourhoods."""
_FIRST_VARIED, _LONGEST_VARIED = 0.25, 2.0
"""Work of the first stretch of it, each further one twice as long, up to so much."""
_SMALLEST, _FIRST, _LARGEST = 12, 80, 400
"""Pods of a neighbourhood."""
_MOST_AT_ONCE = 1000
"""Pairs of a pod and a node up to which the whole problem is one neighbourhood."""
_SHARE_OF_WHOLE, _LEAST_ON_WHOLE, _MOST_ON_WHOLE = 0.25, 0.05, 10.0
"""Limit of a call for the whole problem: this share of the work that was done until then, and at least and at most so
much."""
_RATIO_FOR_COST = 4.0
"""The same of a call that looks for cheaper moves alone, which is closed far sooner: so many times as much."""
_SHARE_OF_TIES = 0.05
"""Of the limits, for a cheaper one of the plans that differ by ties alone."""


@dataclass(frozen=True, slots=True)
class Ties:
    """When a plan differs from the best by ties alone.

    Its figures but for the cost are at their bounds, it has no more than `moves`, which are proven to be needed, and
    its cost is at most `cost` above the bound.
    """

    moves: int
    cost: int


@dataclass(frozen=True, slots=True, eq=False)
class SearchTask:
    """What a search is to do, in this process or another.

    hint:  int64[P], the assignment of an earlier run, whose moves are tried first; None: there is none.
    proposed: int64[P], another assignment to begin with, which keeps the rules; None: there is none.
    ties:  when what is left to gain is not worth the rest of the limits; None: never.
    bound: a value that no assignment is better than, where the caller knows one; None: the objective's own.
    """

    problem: Problem
    objective: Objective
    limits: Limits
    seed: int
    hint: Ints | None = None
    proposed: Ints | None = None
    ties: Ties | None = None
    bound: Value | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Incumbent:
    """The best assignment so far, its value, and when it was found (seconds since the start, and work).

    assignment: int64[P], the latest of equals, from which the search goes on.
    first:      int64[P], the first of them. Where a search builds on an order of moves, later ones may have lost it.
    """

    assignment: Ints
    first: Ints
    value: Value
    seconds: float
    work: float


class Search:
    """One search by one process, in as many steps as its caller likes: `start`, then `improve` again and again.

    `incumbent` is the best so far, `is_closed` whether it is proven that no assignment to the problem is better.
    `on_incumbent` is told of each that is better than the one before it.
    """

    def __init__(
        self,
        task: SearchTask,
        *,
        is_cancelled: Callable[[], bool] = lambda: False,
        on_incumbent: Callable[[Incumbent], None] = lambda incumbent: None,
    ) -> None:
        self._objective = task.objective.prepare(task.problem)
        self._hint, self._proposed, self._ties = task.hint, task.proposed, task.ties
        self._rng = np.random.default_rng(task.seed)
        self._on_incumbent = on_incumbent
        self.budget = Budget(task.limits, is_cancelled)
        self._work_on_whole = self._work_varied = self._work_solved = 0.0
        self._varies = True
        self._annealing: Annealer | None = None
        self._placement = Arrangement(task.problem)
        self._num_pods = _FIRST
        self.is_closed = False
        self._tied_at: float | None = None
        self._bound = self._objective.bound() if task.bound is None else task.bound
        at = self._placement.at.copy()
        self.incumbent = Incumbent(at, at, self._objective.value(at), 0.0, 0.0)

    def start(self) -> None:
        """The first plan, on top of what can be made of the hint or of what is proposed, bettered by single moves."""
        if self._hint is not None:
            self._follow(self._hint)
        self._objective.first_plan(self._placement, self._rng, self.budget)
        self._offer()
        if self._proposed is not None:
            self._placement.reset(self._proposed)
            self._objective.first_plan(self._placement, self._rng, self.budget)
            self._offer()
        climb_by_shifts(self._placement, self._objective, self._dearest_nodes(), self.budget)
        self._objective.tidy(self._placement)
        self._offer()

    def _follow(self, hint: Ints) -> None:
        """Makes the moves of the hint that are open, in pod order, until no other opens by them."""
        may_move = self._placement.problem.evictable & (hint != self._placement.at) & (hint >= 0)
        num_left, left = -1, np.flatnonzero(may_move).tolist()
        while num_left != len(left):
            num_left = len(left)
            for pod in left:
                if self._placement.is_open(pod, int(hint[pod])):
                    self._placement.move(pod, int(hint[pod]))
            left = [pod for pod in left if hint[pod] != self._placement.at[pod]]

    def _dearest_nodes(self) -> Ints:
        """Nodes that the guide charges for, the dearest first."""
        parts, usage = self._placement.problem.parts, self._placement.usage
        cost = self._objective.node_cost(np.arange(usage.shape[1]), usage)
        if parts is not None:
            cost = np.append(cost, 0.0)[parts.taken].sum(axis=1)
        order = np.argsort(-cost, kind="stable")
        return order[cost[order] > 0]

    def improve(self, budget: Budget) -> None:
        """Betters the incumbent until nothing is left to gain or `budget`, the search's or a part of it, is over."""
        if self.incumbent.value <= self._bound or self._is_settled:
            return
        if self._is_whole_closed(budget):
            return
        self._anneal(budget)
        while not (budget.is_over or self._is_settled):
            self._vary(budget)
            if budget.is_over or self.incumbent.value <= self._bound:
                return
            neighbourhood = self._objective.neighbourhood(self._placement, self._rng, self._num_pods)
            if neighbourhood is None:
                return
            self._adapt(self._solve(neighbourhood, budget, self._work_of_call))
            if self._is_whole_closed(budget):
                return

    def _vary(self, budget: Budget) -> None:
        """Gives the objective's own search its part of the work, so that a longer search begins as a shorter one."""
        if not self._varies or self._work_varied > _VARIED_RATIO * self._work_solved:
            return
        length = min(max(_FIRST_VARIED, self._work_varied), _LONGEST_VARIED)
        part = budget.part(budget.stretch(length), lambda: budget.is_cancelled)
        self._varies = self._objective.vary(self._placement, self._rng, part)
        self._work_varied += part.spent
        self._offer()

    def _is_whole_closed(self, budget: Budget) -> bool:
        """Whether all of a small problem is solved at once; tried again when a call may take twice as long.

        Without relaxations the solver proves less, but in the same time it often finds what it finds with them much
        later, so that each try is made with and without. Then the cheapest moves for the figures are looked for.
        """
        work = min(max(_SHARE_OF_WHOLE * self.budget.spent, _LEAST_ON_WHOLE), _MOST_ON_WHOLE)
        if budget.is_over or work < 2 * self._work_on_whole:
            return False
        self._work_on_whole = work
        whole = self._whole_problem()
        if whole is None:
            return False
        for relaxes in (False, True):
            if not (self.is_closed or budget.is_over):
                limit = min(work, budget.work_left)
                self.is_closed = self._solve(whole, budget, limit, relaxes=relaxes).was_closed
        if not (self.is_closed or budget.is_over):
            limit = min(_RATIO_FOR_COST * work, budget.work_left)
            is_cheapest = self._solve(whole, budget, limit, for_cost=True).was_closed
            self.is_closed = is_cheapest and self.incumbent.value[:-1] <= self._bound[:-1]
        return self.is_closed

    @property
    def _work_of_call(self) -> float:
        return min(max(_SHARE_OF_CALL * self.budget.spent, _LEAST_WORK), _MOST_WORK)

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

    @property
    def _is_settled(self) -> bool:
        """Whether ties alone are left, and have had their share of the limits."""
        return self._tied_at is not None and self.budget.progress >= self._tied_at + _SHARE_OF_TIES

    @property
    def _is_tied(self) -> bool:
        if self._ties is None:
            return False
        (*figures, cost), (*bounds, least) = self.incumbent.value, self._bound
        num_moves = len(self._placement.problem.moved(self.incumbent.assignment))
        return figures <= bounds and num_moves <= self._ties.moves and cost <= least + self._ties.cost

    def _whole_problem(self) -> Neighbourhood | None:
        """All of it as one neighbourhood; None where it is too large for that."""
        problem = self._placement.problem
        pods = np.flatnonzero(problem.evictable)
        if len(pods) * problem.num_nodes > _MOST_AT_ONCE:
            return None
        return Neighbourhood(np.arange(problem.num_nodes), pods)

    def _solve(
        self,
        neighbourhood: Neighbourhood,
        budget: Budget,
        work_limit: float,
        *,
        relaxes: bool = True,
        for_cost: bool = False,
    ) -> Solved:
        solved = solve_neighbourhood(
            self._objective,
            self._placement,
            neighbourhood,
            work_limit=work_limit,
            seconds_limit=budget.seconds_left,
            seed=int(self._rng.integers(1 << 30)),
            relaxes=relaxes,
            for_cost=for_cost,
        )
        # Building a model takes time too, which its size tells.
        work = solved.work + 0.01 + 5e-4 * len(neighbourhood.pods)
        budget.spend(work)
        self._work_solved += work
        for pod, node in solved.changes:
            self._placement.move(pod, node)
        self._offer()
        return solved

    def _adapt(self, solved: Solved) -> None:
        """Larger neighbourhoods while they close quickly, smaller ones where they do not."""
        if not solved.was_closed:
            self._num_pods = max(_SMALLEST, int(self._num_pods * 0.8))
        elif solved.work < 0.3 * self._work_of_call:
            self._num_pods = min(_LARGEST, self._num_pods + 1 + self._num_pods // 50)

    def _offer(self) -> None:
        """Makes the placement the incumbent where it is no worse, else the incumbent the placement."""
        value = self._objective.value(self._placement.at)
        if value > self.incumbent.value:
            self._placement.reset(self.incumbent.assignment)
            return
        is_better, at = value < self.incumbent.value, self._placement.at.copy()
        first = at if is_better else self.incumbent.first
        self.incumbent = Incumbent(at, first, value, self.budget.seconds, self.budget.spent)
        if self._tied_at is None and self._is_tied:
            self._tied_at = self.budget.progress
        if is_better:
            self._on_incumbent(self.incumbent)

    def adopt(self, assignment: Ints) -> None:
        """Goes on from another search's assignment where that is better, unless it is in the middle of annealing."""
        if not self._is_annealing and self._objective.value(assignment) < self.incumbent.value:
            self._placement.reset(assignment)
            self._offer()
