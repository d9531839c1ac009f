"""From a problem and an objective to a plan: search, order, replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.cp_sat.solve import solve_neighbourhood
from descheduler.optimizer.limits import Budget, Ending, Limits
from descheduler.optimizer.objective import Neighbourhood, Objective, PreparedObjective, Value
from descheduler.optimizer.order.ordering import Ordered
from descheduler.optimizer.order.replay import replay
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.orderable import OrderableSearch
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.search import Incumbent, Search, SearchTask, Ties
from descheduler.optimizer.workers import search_in_processes

_SHARE_BEFORE_ORDER = 0.85
"""Of the limits; the rest is for two searches more where not all moves of the first can be put in order, or half of it
where a third one follows."""
_SHARE_IN_ORDER = 0.3
"""Of the limits, for that third one of a small problem, as far as so much is left."""
_MOST_IN_ORDER = 20_000
"""Pairs of pods times nodes up to which a problem is small: a model of it has the order in it."""
_CALLS_IN_ORDER = ((0.4, False, False), (0.3, True, False), (0.3, True, True))
"""What the solver gets for that model, call by call: the share of the limits, with linear relaxations, and for cheaper
moves alone."""


class ReplayError(Exception):
    """A plan did not survive its replay: a defect of the optimizer. The message names the first faults."""


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """A better plan of so many moves was found after `seconds`. `value` and `bound` as in `Solution`."""

    value: Value
    bound: Value
    num_moves: int
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Moves in waves that lead to `assignment` (int64[P]).

    `value`, `value_before` and `bound` (no plan is better) are the objective's figures. `seconds` is for all of it,
    `first_seconds` until the first plan that was better than doing nothing (0.0: none was), `work` as in `Limits`.
    `endings` are what ended its searches. `is_closed` says that no assignment to these arrays is better; other than the
    bound, this goes by all of their rules.
    """

    assignment: Ints
    waves: tuple[tuple[Reassignment, ...], ...]
    value_before: Value
    value: Value
    bound: Value
    seconds: float
    first_seconds: float
    work: float
    endings: frozenset[Ending]
    is_closed: bool = False

    @property
    def is_optimal(self) -> bool:
        """Whether the bound proves that nothing is better."""
        return self.value <= self.bound

    @property
    def moves(self) -> tuple[Reassignment, ...]:
        """All moves, in order."""
        return tuple(move for wave in self.waves for move in wave)

    @property
    def gap(self) -> float:
        """How far the last figure is above its bound, as a share of it; infinity where one before it is above its."""
        if self.value[:-1] != self.bound[:-1]:
            return float("inf")
        return (self.value[-1] - self.bound[-1]) / max(abs(self.bound[-1]), 1)


def solve(
    problem: Problem,
    objective: Objective,
    limits: Limits,
    *,
    seed: int = 0,
    num_workers: int = 1,
    hint: Ints | None = None,
    ties: Ties | None = None,
    prepared: PreparedObjective | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
    on_progress: Callable[[SearchProgress], None] = lambda progress: None,
) -> Solution:
    """The best plan found within `limits`, put in an order that can be carried out, and replayed.

    hint: the assignment of an earlier run, whose moves are tried first.
    ties: when what is left to gain is worth a small share of the limits only; None: never.
    prepared: of `objective` and `problem`, where the caller has it; its bound may have taken seconds.
    With a limit of work and none of time, equal arguments give equal plans; more workers give others.
    Raises ValueError for an objective that does not fit the problem, and ReplayError for a defect of the optimizer.
    """
    prepared = objective.prepare(problem) if prepared is None else prepared
    run = _Run(problem, objective, prepared, limits, seed, num_workers, ties, is_cancelled, on_progress)
    found = run.search(problem, limits.scaled(_SHARE_BEFORE_ORDER), hint)
    orderable = OrderableSearch(
        problem, prepared.on_the_way, run.search, run.search_in_order, prepared.value, prepared.ordered
    )
    ordered = orderable.best(found, limits.scaled((1.0 - _SHARE_BEFORE_ORDER) / (4 if run.is_small else 2)))
    faults = replay(prepared.on_the_way(problem), ordered.waves, ordered.assignment)
    if faults:
        raise ReplayError("; ".join(faults[:5]))
    return run.plan(ordered)


class _Run:
    """What the searches of one call of `solve` share."""

    def __init__(
        self,
        problem: Problem,
        objective: Objective,
        prepared: PreparedObjective,
        limits: Limits,
        seed: int,
        num_workers: int,
        ties: Ties | None,
        is_cancelled: Callable[[], bool],
        on_progress: Callable[[SearchProgress], None],
    ) -> None:
        self._problem, self._objective = problem, objective
        self._seed, self._num_workers, self._ties = seed, num_workers, ties
        self._is_cancelled, self._on_progress = is_cancelled, on_progress
        self.budget = Budget(limits, is_cancelled)
        self.prepared = prepared
        self._before = self.prepared.value(problem.assignment)
        self._bound = self.prepared.bound()
        self._best = self._before
        self._first_seconds = 0.0
        self._endings = set[Ending]()
        self._least: Value = ()
        """What no assignment is better than, where one search of one process has proven that; else less than any."""

    def search(self, problem: Problem, limits: Limits, hint: Ints | None) -> Sequence[Ints]:
        """The best assignment to `problem`, which is the run's, or one with more constraints or with moves made.

        There may be two of the same value: the latest and the first that were found.
        """
        proposed = self.prepared.proposed() if problem is self._problem else None
        bound = self._bound if problem.assignment is self._problem.assignment else None
        found, work, ending = self._search(
            SearchTask(problem, self._objective, limits, self._seed, hint, proposed, self._ties, bound)
        )
        self.budget.spend(work)
        self._endings.add(ending)
        is_first = np.array_equal(found.assignment, found.first)
        return [found.assignment] if is_first else [found.assignment, found.first]

    @property
    def is_small(self) -> bool:
        """Whether a model of the problem has the order of moves in it."""
        return int(self._problem.evictable.sum()) ** 2 * self._problem.num_nodes <= _MOST_IN_ORDER

    def search_in_order(self, reached: Ints) -> Ints | None:
        """The best assignment of a small problem to which some order of moves leads; None where it is not small.

        One leads to `reached`, with which the search begins. Where it ends before its limits, nothing is better.
        """
        if not self.is_small:
            return None
        problem, limits = self._problem, self.budget.share(_SHARE_IN_ORDER)
        placement = Arrangement(self.prepared.on_the_way(problem))
        placement.reset(reached)
        whole = Neighbourhood(np.arange(problem.num_nodes), np.flatnonzero(problem.evictable))
        for share, relaxes, for_cost in _CALLS_IN_ORDER:
            part = limits.scaled(share)
            solved = solve_neighbourhood(
                self.prepared,
                placement,
                whole,
                work_limit=float("inf") if part.work is None else part.work,
                seconds_limit=float("inf") if part.seconds is None else part.seconds,
                seed=self._seed,
                in_order=True,
                relaxes=relaxes,
                for_cost=for_cost,
            )
            self.budget.spend(solved.work)
            for pod, node in solved.changes:
                placement.move(pod, node)
            if solved.was_closed and not for_cost:
                self._least = self.prepared.value(placement.at)
                break
        return placement.at

    def _search(self, task: SearchTask) -> tuple[Incumbent, float, Ending]:
        """The best that is found, the work that it took, and what ended it."""
        if self._num_workers > 1:
            return search_in_processes(
                task, num_workers=self._num_workers, is_cancelled=self._is_cancelled, on_incumbent=self._note
            )
        search = Search(task, is_cancelled=self._is_cancelled, on_incumbent=self._note)
        search.start()
        search.improve(search.budget)
        if search.is_closed and task.problem is self._problem:
            self._least = search.incumbent.value
        return search.incumbent, search.budget.spent, search.budget.ending

    def _note(self, incumbent: Incumbent) -> None:
        """Tells of an incumbent that is better than those of all searches before it."""
        value = self.prepared.value(incumbent.assignment)
        if value >= self._best:
            return
        seconds = self.budget.seconds
        self._best = value
        self._first_seconds = self._first_seconds or seconds
        num_moves = len(self._problem.moved(incumbent.assignment))
        self._on_progress(SearchProgress(value, self._bound, num_moves, seconds))

    def plan(self, ordered: Ordered) -> Solution:
        """What came of the run, once it is replayed."""
        value = self.prepared.value(ordered.assignment)
        return Solution(
            assignment=ordered.assignment,
            waves=ordered.waves,
            value_before=self._before,
            value=value,
            bound=self._bound,
            seconds=self.budget.seconds,
            first_seconds=self._first_seconds,
            work=self.budget.spent,
            endings=frozenset(self._endings),
            is_closed=value <= self._least,
        )
