"""Plans for one objective: solved, tried out, and solved again without what was refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.migration_planner.args import MigrationPlannerArgs
from descheduler.migration_planner.gpus.gpu_problem import with_gpus
from descheduler.migration_planner.last_plan import PlannedTargets
from descheduler.migration_planner.objectives.cluster_objective import ClusterObjective
from descheduler.migration_planner.problem.cluster_problem import ClusterProblem, cluster_problem
from descheduler.migration_planner.problem.disruption_cost import disruption_costs
from descheduler.migration_planner.trials import Trial, Trials
from descheduler.model.node import Node
from descheduler.plan.moves import PodIdentity
from descheduler.planner.arrays import Ints
from descheduler.planner.limits import Budget, Limits
from descheduler.planner.objective import Objective
from descheduler.planner.problem import Problem
from descheduler.planner.solving import Plan, Progress, solve

__all__ = ["PlanSearch"]

_State = Callable[[ClusterProblem], tuple[Problem, Objective] | None]

_FIRST_SHARE, _LATER_SHARE = 0.6, 0.1
"""Of the limits, for the first plan, and for each that goes without the pods that were refused in those before it."""
_MOST_PLANS_IN_VAIN = 4
"""After so many that were no better than those before them it is enough."""


class PlanSearch:
    """The plans that were found and what came of trying them out.

    `against` says of pods why they were refused, or by `poor` why their moves are not worth it. `on_progress` is told
    the figure and the cost of the best plan so far, and the seconds since the start.
    """

    def __init__(
        self,
        objective: ClusterObjective,
        args: MigrationPlannerArgs,
        handle: StrategyHandle,
        nodes: Sequence[Node],
        *,
        poor: Callable[[Trial], Mapping[PodIdentity, str]],
        on_progress: Callable[[int, int, float], None],
    ) -> None:
        self._objective = objective
        self._args = args
        self._handle = handle
        self._nodes = nodes
        self._poor = poor
        self._on_progress = on_progress
        self._budget = Budget(self._limits(), handle.search.is_cancelled)
        self._kept: set[PodIdentity] = set()
        self.against: dict[PodIdentity, str] = {}
        self.plans: list[Plan] = []
        self.trials: list[Trial] = []
        self.cluster = self._stated()

    def run(self, last: PlannedTargets) -> None:
        """Goes on until nothing is left to gain, or the limits are reached; begins with the `last` plan's targets.

        Before nodes are searched for pods, it is seen which ones the scheduler finds for those that have to leave.
        """
        if not self._args.choose_nodes:  # by one process: it is done before others have started
            self._search(self._objective.relaxed_over, None, _LATER_SHARE, 1)
        if self.trials:
            if self._budget.is_over or (self.best.figure, self.best.cost) <= self.bound:
                return
            self._kept.clear()
            self.cluster = self._stated()
        self._search(self._whole, self.cluster.assignment_with(last), _FIRST_SHARE, self._args.workers)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return self._budget.seconds

    @property
    def work(self) -> float:
        """Of all plans, and of trying them out."""
        return self._budget.spent

    @property
    def best(self) -> Trial:
        """Of all trials, the first of equals."""
        return min(self.trials, key=lambda trial: (trial.figure, trial.cost))

    @property
    def bound(self) -> tuple[int, int]:
        """(figure, cost) of which no plan has less; the first plan may move every pod that the filters let go."""
        return self._objective.bound_of(self.plans[0].bound)

    def trials_over(self, cluster: ClusterProblem) -> Trials:
        """What tries plans over `cluster` out."""
        return Trials(self._objective, self._handle.evictor, cluster, chooses_nodes=self._args.choose_nodes)

    def least_evictions(self) -> int:
        """How many evictions are needed at least, whatever each of them costs; 0 where nothing is proven."""
        problem, objective = self._whole(self.cluster)
        equal = dataclasses.replace(problem, cost=np.ones_like(problem.cost))
        return self._objective.bound_of(objective.prepare(equal).bound())[1]

    def _whole(self, cluster: ClusterProblem) -> tuple[Problem, Objective]:
        return self._objective.problem_over(cluster), self._objective.stated_over(cluster)

    def _search(self, state: _State, hint: Ints | None, share: float, num_workers: int) -> None:
        """Plans and tries out; after the first plan, which has `share` of the limits, without what was refused.

        Nothing, where there is nothing to `state`.
        """
        first = len(self.trials)
        refused: Mapping[PodIdentity, str] = {}
        while len(self.trials) == first or not (self._budget.is_over or self._is_settled(first, refused)):
            if len(self.trials) > first:
                self.cluster, hint, share = self._stated(), self.plans[-1].assignment, _LATER_SHARE
            stated = state(self.cluster)
            if stated is None:
                return
            plan = self._solve(*stated, share, hint, num_workers)
            trial = self.trials_over(self.cluster).tried(plan, self._budget)
            self.plans.append(plan)
            self.trials.append(trial)
            self._on_progress(self.best.figure, self.best.cost, self.seconds)
            refused = trial.refused or self._poor(trial)
            self.against.update(refused)
            self._kept.update(refused)

    def _is_settled(self, first: int, refused: Mapping[PodIdentity, str]) -> bool:
        """Whether all is granted that it takes, or plan after plan since the `first` was no better."""
        plan, trial = self.plans[-1], self.trials[-1]
        if not refused and (plan.is_optimal or trial.figure <= self.bound[0]):
            return True
        values = [(each.figure, each.cost) for each in self.trials[first:]]
        earlier, latest = values[:-_MOST_PLANS_IN_VAIN], values[-_MOST_PLANS_IN_VAIN:]
        return bool(earlier) and min(latest) >= min(earlier)

    def _stated(self) -> ClusterProblem:
        """The cluster as it is with everything that is booked, without the pods that were refused."""
        args, handle, by_gpu = self._args, self._handle, self._objective.tells_gpus_apart
        cluster = cluster_problem(
            handle.view,
            handle.evictor,
            self._nodes,
            counts=self._objective.counts_pod,
            pending=self._objective.pending(),
            kept=self._kept,
            most=args.max_evictions,
            cost_of=partial(disruption_costs, weights=args.disruption_cost, view=handle.view, now=handle.now),
            looks_at_devices=not by_gpu,
        )
        return with_gpus(cluster, handle.evictor.prover().openings()) if by_gpu else cluster

    def _limits(self) -> Limits:
        """Of all plans together, and of trying them out."""
        most_seconds, seconds = self._handle.search.most_seconds(), self._args.time_limit.total_seconds()
        return Limits(seconds if most_seconds is None else min(seconds, most_seconds), self._args.work_limit or None)

    def _note(self, progress: Progress) -> None:
        """Of plans that are not tried out, before any other is."""
        if not self.trials:
            self._on_progress(*self._objective.shown(progress.value), self.seconds)

    def _solve(self, problem: Problem, objective: Objective, share: float, hint: Ints | None, num_workers: int) -> Plan:
        """The best plan found in that share of the limits, each of another seed."""
        seed, is_cancelled = self._args.seed + len(self.plans), self._handle.search.is_cancelled
        promising = problem if self._args.choose_nodes else self._objective.promising(self.cluster, problem)
        share_of_schedule = share * self._objective.scheduled_share
        plan = solve(
            promising,
            objective,
            self._budget.share(share - share_of_schedule),
            seed=seed,
            num_workers=num_workers,
            hint=hint,
            may_bounce=False,
            is_cancelled=is_cancelled,
            on_progress=self._note,
        )
        self._budget.spend(plan.work)
        if promising is not problem:
            plan = dataclasses.replace(plan, bound=objective.prepare(problem).bound())
        if not share_of_schedule:
            return plan
        budget = self._budget.part(self._budget.share(share_of_schedule), is_cancelled)
        return self._objective.scheduled(plan, self.cluster, budget, seed)
