"""From a problem and an objective to a plan: search, order, replay."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from descheduler.planner.arrays import Ints
from descheduler.planner.limits import Limits
from descheduler.planner.objective import Objective, PreparedObjective, Value
from descheduler.planner.ordering import Move, Ordered, order_moves
from descheduler.planner.problem import Problem
from descheduler.planner.replay import replay
from descheduler.planner.search import Incumbent, Search
from descheduler.planner.workers import search_in_processes

__all__ = ["Plan", "Progress", "ReplayError", "find_assignment", "solve"]

_SHARE_BEFORE_ORDER = 0.85
"""Of the limits; the rest is for a second search where not all moves of the first can be put in order."""


class ReplayError(Exception):
    """A plan did not survive its replay: a defect of the planner. The message names the first faults."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A better plan was found after `seconds`. `value` and `bound` as in `Plan`."""

    value: Value
    bound: Value
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Moves in waves that lead to `assignment` (int64[P]).

    `levels` says what the figures of `value`, of `value_before` and of `bound` (no plan is better) count. `num_bounces`
    of the moves only make way for others. `seconds` is for all of it, `first_seconds` until the first plan that was
    better than doing nothing (0.0: none was), `work` as in `Limits`.
    """

    assignment: Ints
    waves: tuple[tuple[Move, ...], ...]
    num_bounces: int
    levels: tuple[str, ...]
    value_before: Value
    value: Value
    bound: Value
    seconds: float
    first_seconds: float
    work: float

    @property
    def is_optimal(self) -> bool:
        """Whether the bound proves that nothing is better."""
        return self.value <= self.bound

    @property
    def moves(self) -> tuple[Move, ...]:
        """All moves, in order."""
        return tuple(move for wave in self.waves for move in wave)

    @property
    def gap(self) -> float:
        """How far the last figure is above its bound, as a share of it; infinity where one before it is above its."""
        if self.value[:-1] != self.bound[:-1]:
            return float("inf")
        return (self.value[-1] - self.bound[-1]) / max(abs(self.bound[-1]), 1)


def find_assignment(
    problem: Problem,
    objective: Objective,
    limits: Limits,
    *,
    seed: int = 0,
    num_workers: int = 1,
    hint: Ints | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Incumbent:
    """The best assignment found, without a look at how to get there: it may have no order. Arguments as in `solve`."""
    return _Run(problem, objective, seed, num_workers, is_cancelled, on_progress).search(problem, limits, hint)


def solve(
    problem: Problem,
    objective: Objective,
    limits: Limits,
    *,
    seed: int = 0,
    num_workers: int = 1,
    hint: Ints | None = None,
    max_per_wave: int | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Plan:
    """The best plan found within `limits`, put in an order that can be carried out, and replayed.

    hint: the assignment of an earlier run, whose moves are tried first.
    max_per_wave: how many moves run together at most.
    With a limit of work and none of time, equal arguments give equal plans; more workers give others.
    Raises ValueError for an objective that does not fit the problem, and ReplayError for a defect of the planner.
    """
    run = _Run(problem, objective, seed, num_workers, is_cancelled, on_progress)
    found = run.search(problem, _share(limits, _SHARE_BEFORE_ORDER), hint)
    ordered, reached = _order(problem, found.assignment, max_per_wave)
    if ordered.blocked:
        # With all resources held at both ends a plan can be carried out in any order.
        careful = dataclasses.replace(problem, both_ends=np.ones_like(problem.both_ends))
        again = run.search(careful, _share(limits, 1.0 - _SHARE_BEFORE_ORDER), reached)
        ordered, reached = _better(run, problem, (ordered, reached), _order(problem, again.assignment, max_per_wave))
    faults = replay(problem, ordered.waves, reached)
    if faults:
        raise ReplayError("; ".join(faults[:5]))
    return run.plan(reached, ordered)


def _share(limits: Limits, ratio: float) -> Limits:
    return Limits(
        None if limits.seconds is None else limits.seconds * ratio,
        None if limits.work is None else limits.work * ratio,
    )


def _order(problem: Problem, assignment: Ints, max_per_wave: int | None) -> tuple[Ordered, Ints]:
    """The order, and where it leads: moves that no order allows are left out."""
    ordered = order_moves(problem, assignment, max_per_wave=max_per_wave)
    reached = problem.assignment.copy()
    for wave in ordered.waves:
        for move in wave:
            reached[move.pod] = move.target
    return ordered, reached


def _better(
    run: _Run, problem: Problem, first: tuple[Ordered, Ints], second: tuple[Ordered, Ints]
) -> tuple[Ordered, Ints]:
    return second if run.prepared.value(second[1]) < run.prepared.value(first[1]) else first


class _Run:
    """What the searches of one call of `solve` share."""

    def __init__(
        self,
        problem: Problem,
        objective: Objective,
        seed: int,
        num_workers: int,
        is_cancelled: Callable[[], bool],
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._started = time.monotonic()
        self._objective, self._seed, self._num_workers = objective, seed, num_workers
        self._is_cancelled, self._on_progress = is_cancelled, on_progress
        self.prepared: PreparedObjective = objective.prepare(problem)
        self._before = self.prepared.value(problem.assignment)
        self._bound = self.prepared.bound()
        self._best = self._before
        self._first_seconds = 0.0
        self._work = 0.0

    def search(self, problem: Problem, limits: Limits, hint: Ints | None) -> Incumbent:
        if self._num_workers > 1:
            found, work = self._search_together(problem, limits, hint)
        else:
            found, work = self._search_alone(problem, limits, hint)
        self._work += work
        return found

    def _search_alone(self, problem: Problem, limits: Limits, hint: Ints | None) -> tuple[Incumbent, float]:
        search = Search(
            problem,
            self._objective.prepare(problem),
            limits,
            seed=self._seed,
            is_cancelled=self._is_cancelled,
            on_incumbent=self._note,
        )
        search.start(hint)
        search.improve(search.budget)
        return search.incumbent, search.budget.spent

    def _search_together(self, problem: Problem, limits: Limits, hint: Ints | None) -> tuple[Incumbent, float]:
        return search_in_processes(
            problem,
            self._objective,
            limits,
            num_workers=self._num_workers,
            seed=self._seed,
            hint=hint,
            is_cancelled=self._is_cancelled,
            on_incumbent=self._note,
        )

    def _note(self, incumbent: Incumbent) -> None:
        if incumbent.value >= self._best:
            return
        seconds = time.monotonic() - self._started
        self._best = incumbent.value
        self._first_seconds = self._first_seconds or seconds
        self._on_progress(Progress(incumbent.value, self._bound, seconds))

    def plan(self, assignment: Ints, ordered: Ordered) -> Plan:
        return Plan(
            assignment=assignment,
            waves=ordered.waves,
            num_bounces=ordered.num_bounces,
            levels=self._objective.levels,
            value_before=self._before,
            value=self.prepared.value(assignment),
            bound=self._bound,
            seconds=time.monotonic() - self._started,
            first_seconds=self._first_seconds,
            work=self._work,
        )
