"""Plans for one objective: solved, tried out, and solved again without what was refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

import numpy as np

from descheduler.eviction.request_check import Allowance, always
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.limits import Budget, Ending, Limits
from descheduler.optimizer.objective import Objective, PreparedObjective
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.search import Ties
from descheduler.optimizer.solving import SearchProgress, Solution, solve
from descheduler.plan.goals import SearchEnd
from descheduler.plan.moves import PodIdentity
from descheduler.planner.args import MigrationPlannerArgs
from descheduler.planner.gpus.gpu_problem import with_gpus
from descheduler.planner.objectives.cluster_objective import ClusterObjective
from descheduler.planner.objectives.draining.closed_nodes import ClosedNodes
from descheduler.planner.problem.allowed_nodes import AskingOrder
from descheduler.planner.problem.cluster_problem import ClusterProblem, cluster_problem
from descheduler.planner.problem.disposable_pods import disposable_pods, with_nowhere
from descheduler.planner.problem.disruption_cost import cost_of_cheapest, fewest_that_cost, most_of_ties
from descheduler.planner.search.last_plan import PlannedTargets
from descheduler.planner.search.refusals import Refusals
from descheduler.planner.search.stopping_limits import StoppingLimits, stopping_limits
from descheduler.planner.search.trials import PlanOver, Trial, Trials
from descheduler.planner.search.unproven import why_unproven

_State = Callable[[ClusterProblem], tuple[Problem, Objective] | None]

_PODS_A_UNIT, _TIMES_LONGER = 1000, 2.0
"""So many pods are worth a unit of the limits in the first plan, and each later plan takes twice as long.

So a search with more time begins with the plans of one with less, and is never worse.
"""
_MOST_OF_FIRST = 0.5
"""Of the work, for the first plan: what is refused of it is to be replaced."""
_ASKING_SHARE = 0.5
"""Of the seconds that are left, for asking which nodes are open to pods, which takes 20 seconds for 100,000 of them."""
_ASKED_ANYWAY = 1000
"""So many pods are asked about however late it is."""
_UNASKED = "no time was left to ask which nodes are open to its replacement"
_RELAXED_SHARE = 0.1
"""Of the limits, for each plan as if every node had room."""
_FIRST_OF_CHAINS_SHARE, _LATER_SHARE, _WHOLE_OF_CHAINS_SHARE = 0.4, 0.1, 0.7
"""The same for the first plan of chains of moves, each later one, and all that are made whole."""
_SHARE_OF_POD_LEFT, _AGAIN_SHARE = 0.005, 0.015
"""The same for a plan of what another one leaves, for each pod; and for one instead of groups that were dropped."""
_ENDINGS: tuple[tuple[Ending, SearchEnd], ...] = (
    ("cancelled", "interrupt"),
    ("time", "timeLimit"),
    ("work", "workLimit"),
)
"""What may end a search, the worst for equal plans first, and what reports call it."""
_MOST_PLANS_IN_VAIN, _MOST_PLANS_IN_VAIN_AT_FIGURE = 4, 2
"""After so many that were no better than those before them it is enough: of any, and of those that reach the figure."""
_MOST_EARLY_DROPS_IN_VAIN, _MOST_DROPS_IN_VAIN = 8, 30
"""The same of plans without some groups of another one."""


class PlanSearch:
    """The plans that were found and what came of trying them out.

    `against` says of pods why they were refused, or by `poor` why their moves are not worth it. `on_progress` is told
    the figure of the best plan so far and how many evictions it has. No plan has less than `bound`
    (figure, cost), and none that reaches its figure has fewer than `least_evictions`; 0 where nothing is proven, and
    `unproven` says why.
    Plans are of `cluster`, which is `all_moves` without what was refused. Bounds also count nodes as open that moves of
    others may open, which plans do not: so the best plan over these arrays may not be the best of all. Neither counts
    `closed` nodes as open.
    """

    def __init__(
        self,
        objective: ClusterObjective,
        args: MigrationPlannerArgs,
        handle: StrategyHandle,
        nodes: Sequence[Node],
        *,
        poor: Callable[[Trial], Mapping[PodIdentity, str]],
        on_progress: Callable[[int, int], None],
    ) -> None:
        self._objective = objective
        self._args = args
        self._handle = handle
        self._nodes = nodes
        self._poor = poor
        self._on_progress = on_progress
        self._budget = Budget(self._limits(), handle.search.is_cancelled)
        self._is_disposable = disposable_pods(handle)
        drains = (each.drain_nodes for each in args.objectives if each.drain_nodes is not None)
        self.closed = ClosedNodes(drains, handle, nodes)
        self._refusals = Refusals(objective, nodes, chooses_nodes=args.choose_nodes)
        self.against: dict[PodIdentity, str] = {}
        self.plans: list[Solution] = []
        self.trials: list[Trial] = []
        booked = self._as_booked()
        self.all_moves = self._with_places(booked, has_nowhere=objective.lets_go_nowhere)
        self.cluster = self._refusals.without_refused(self.all_moves)
        self.against.update(dict.fromkeys(self.all_moves.unasked, _UNASKED))
        self.bound, self.least_evictions = (0, 0), 0
        self.stopping: StoppingLimits | None = None
        self.unproven = why_unproven(objective, booked)
        if not self.unproven:
            self._prove(booked)

    def _prove(self, booked: ClusterProblem) -> None:
        """Notes what no plan is better than, and which limits keep plans from more."""
        shrink = self._objective.shrinks_resized
        has_nowhere = self._objective.lets_go_nowhere or (bool(booked.resized) and not shrink)
        bounded = booked.for_bounds(resized_shrink=shrink)
        problem, stated = self._whole(self._with_places(bounded, has_nowhere=has_nowhere))
        figure, cost = self._objective.bound_of(stated.prepare(problem).bound())
        fewest, least = self._fewest(problem, objective=stated)
        # Each of the two bounds may be found where the other one is not.
        self.least_evictions = max(least, fewest_that_cost(problem, cost))
        self.bound = figure, max(cost, cost_of_cheapest(problem, self.least_evictions))
        # What drains nodes says of each what keeps it.
        is_about_whole = self._objective.empties_nodes and not self._objective.says_why_each_is_left
        whole_nodes = booked.nodes if is_about_whole else ()
        self.stopping = stopping_limits(problem, fewest, partial(self._fewest, objective=stated), whole_nodes)

    def run(self, last: PlannedTargets) -> None:
        """Goes on until nothing is left to gain, or the limits are reached; begins with the `last` plan's targets.

        Before nodes are searched for pods, it is seen which ones the scheduler finds for those that have to leave.
        """
        if not self._args.choose_nodes:  # by one process: it is done before others have started
            self._search(self._objective.relaxed_over, None, lambda number: self._budget.share(_RELAXED_SHARE), 1)
        if self.trials:
            if self._budget.is_over or self._is_best_proven:
                return
            self._refusals.forget_pods()
            self.cluster = self._refusals.without_refused(self.all_moves)
        self._search(self._whole, self.cluster.assignment_with(last), self._limits_of, self._args.workers)
        if self._objective.is_planned_further:
            self._improve(self.best, _MOST_DROPS_IN_VAIN)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return self._budget.seconds

    @property
    def work(self) -> float:
        """Of all plans, and of trying them out."""
        return self._budget.spent

    @property
    def most_seconds(self) -> float:
        """How long the search may take; infinity for as long as it likes."""
        return self._budget.seconds + self._budget.seconds_left

    @property
    def ended_by(self) -> SearchEnd:
        """What ended it, or a part of it; empty where all was done that there was to do."""
        endings = {self._budget.ending}.union(*(plan.endings for plan in self.plans))
        if self.all_moves.unasked:
            endings.add("time")
        return next((text for ending, text in _ENDINGS if ending in endings), "")

    @property
    def best(self) -> Trial:
        """Of all trials, the first of equals."""
        return min(self.trials, key=lambda trial: (trial.figure, trial.cost))

    def is_proven(self, figure: int, cost: int, num_evictions: int) -> bool:
        """Whether no plan has a better figure or fewer evictions, or costs less by more than tie-breaks."""
        best_figure, least_cost = self.bound
        spare = most_of_ties(num_evictions) if num_evictions <= self.least_evictions else 0
        return figure <= best_figure and cost <= least_cost + spare

    def trials_over(self, cluster: ClusterProblem) -> Trials:
        """What tries plans over `cluster` out."""
        return Trials(
            self._objective,
            self._handle.evictor,
            cluster,
            chooses_nodes=self._args.choose_nodes,
            closed=self.closed,
            # Groups whose gain is too small for what they disrupt are left out one by one.
            tries_whole=self._args.choose_nodes and not self._args.min_gain_per_disruption,
            most=self._args.max_evictions,
            plan_further=self._plan_further,
            is_disposable=self._is_disposable,
        )

    def _fewest(self, problem: Problem, *, objective: Objective) -> tuple[int, int]:
        """(figure, evictions) of which no plan over `problem` has less; 0 evictions where nothing is proven."""
        equal = dataclasses.replace(problem, cost=np.ones_like(problem.cost))
        return self._objective.bound_of(objective.prepare(equal).bound())

    @property
    def _is_best_proven(self) -> bool:
        best = self.best
        return self.is_proven(best.figure, best.cost, best.num_evictions)

    def _whole(self, cluster: ClusterProblem) -> tuple[Problem, Objective]:
        return self._objective.problem_over(cluster), self._objective.stated_over(cluster)

    def _limits_of(self, number: int) -> Limits:
        """The limits of the plan with that number, the first is 0."""
        if self._objective.is_planned_further:
            return self._budget.share(_LATER_SHARE if number else _FIRST_OF_CHAINS_SHARE)
        units = max(len(self.cluster.pods) / _PODS_A_UNIT, 1.0) * _TIMES_LONGER**number
        return self._budget.stretch(units if number else min(units, _MOST_OF_FIRST * self._budget.work_left))

    def _search(self, state: _State, hint: Ints | None, limits_of: Callable[[int], Limits], num_workers: int) -> None:
        """Plans and tries out, each plan within `limits_of` its number, later ones without what was refused.

        Nothing, where there is nothing to `state`.
        """
        found, stated = list[Trial](), None
        refused: Mapping[PodIdentity, str] = {}
        while not found or not (self._is_late or self._is_settled(found, refused)):
            if stated is None or refused or self._objective.is_planned_further:
                if found:
                    self.cluster = self._refusals.without_refused(self.all_moves)
                if (asked := state(self.cluster)) is None:
                    return
                stated = _Stated(self.cluster, *asked)
            plan = self._solve(stated, limits_of(len(found)), hint, num_workers)
            whole = trial = self.trials_over(self.cluster).tried(plan, self._budget.half_of_rest())
            self.plans.append(plan)
            self._take(trial)
            if self._objective.is_planned_further:
                trial = self._improve(trial, _MOST_EARLY_DROPS_IN_VAIN)
            found.append(trial)
            refused = {**whole.refused_beside(trial), **trial.refused}
            self._refusals.add(refused, trial)
            if not refused:
                refused = self._poor(trial)
                self._refusals.keep(refused)
            self.against.update(refused)
            hint = plan.assignment

    def _take(self, trial: Trial) -> None:
        self.trials.append(trial)
        best = self.best
        self._on_progress(best.figure, best.num_evictions)

    @property
    def _is_late(self) -> bool:
        """Whether no more plans are made from the start: what is left of the limits is for bettering the best."""
        is_last_part = self._objective.is_planned_further and self._budget.progress >= _WHOLE_OF_CHAINS_SHARE
        return self._budget.is_over or is_last_part

    def _improve(self, trial: Trial, most_in_vain: int) -> Trial:
        """Drops some groups of the trial and plans the rest anew, until that was in vain so often; the best of all.

        Of large neighbourhood search: which groups spoil others is known only when they are tried out.
        """
        trials, rng, num_in_vain = self.trials_over(trial.cluster), np.random.default_rng(len(self.trials)), 0
        while num_in_vain < most_in_vain and not (self._budget.is_over or self._is_best(trial)):
            self._objective.stated_over(trial.cluster)
            tried = trials.replanned(trial, trial.to_drop(rng))
            self._take(tried)
            known, found = (trial.figure, trial.cost), (tried.figure, tried.cost)
            num_in_vain = 0 if found < known else num_in_vain + 1
            trial = tried if found <= known else trial
        return trial

    def _plan_further(self, targets: PlannedTargets) -> PlanOver | None:
        """A plan for what is left as things are booked on trial; None where nothing is, or time is over.

        Chains of moves are spoilt by pods that take the room of one of them first: what is left is planned anew then.
        With `targets`, of groups that were dropped, they are bettered if possible.
        """
        if self._budget.is_over or not (self._objective.is_planned_further and self._objective.figure()):
            return None
        booked = self._with_places(self._as_booked(), has_nowhere=self._objective.lets_go_nowhere)
        cluster = self._refusals.without_refused(booked)
        share = _AGAIN_SHARE if targets else min(_LATER_SHARE, _SHARE_OF_POD_LEFT * self._objective.figure())
        hint = cluster.assignment_with(targets)
        return self._solve(_Stated(cluster, *self._whole(cluster)), self._budget.share(share), hint, 1), cluster

    def _is_settled(self, found: Sequence[Trial], refused: Mapping[PodIdentity, str]) -> bool:
        """Whether all is granted that it takes, or plan after plan of those that were `found` was no better.

        Fewer in vain are enough where only evictions are left to save.
        """
        if not refused and (self.plans[-1].is_optimal or self._is_best(found[-1])):
            return True
        is_reached = not refused and found[-1].figure <= self.bound[0]
        most_in_vain = _MOST_PLANS_IN_VAIN_AT_FIGURE if is_reached else _MOST_PLANS_IN_VAIN
        values = [(each.figure, each.cost) for each in found]
        earlier, latest = values[:-most_in_vain], values[-most_in_vain:]
        return bool(earlier) and min(latest) >= min(earlier)

    def _is_best(self, trial: Trial) -> bool:
        """Whether no plan is better but for tie-breaks, or none over the same arrays, all of which is granted."""
        if trial.plan.is_closed and (trial.figure, trial.cost) <= self._objective.shown(trial.plan.value):
            return True
        return self.is_proven(trial.figure, trial.cost, trial.num_evictions)

    def _as_booked(self) -> ClusterProblem:
        """The cluster as it is with everything that is booked."""
        args, handle, objective = self._args, self._handle, self._objective
        return cluster_problem(
            handle,
            self._nodes,
            AskingOrder(
                order=objective.asked_later,
                by_whole_nodes=objective.empties_nodes,
                may_go_on=self._asks_until(),
                looks_at_devices=not objective.tells_gpus_apart,
                holds_first=args.choose_nodes,
            ),
            weights=args.disruption_cost,
            counts=objective.counts_pod,
            pending=objective.pending(),
            most_moves=self._most_evictions(),
            is_disposable=self._is_disposable if objective.lets_go_nowhere else None,
        )

    def _with_places(self, cluster: ClusterProblem, *, has_nowhere: bool) -> ClusterProblem:
        """`cluster` with the places that are no nodes, choices of GPUs or NOWHERE, and without `closed` nodes."""
        if self._objective.tells_gpus_apart:
            cluster = with_gpus(cluster, self._handle.evictor.prover().openings())
        elif has_nowhere:
            cluster = with_nowhere(cluster)
        is_closed = np.array([bool(self.closed.why(name)) for name in cluster.nodes], dtype=bool)
        return cluster.without_moves([(range(len(cluster.pods)), is_closed)] if is_closed.any() else ())

    def _asks_until(self) -> Callable[[int], bool]:
        """Whether there is time to ask about one more pod, from now on."""
        budget = self._budget
        until = budget.seconds + _ASKING_SHARE * max(budget.seconds_left, 0.0)
        return lambda number: number < _ASKED_ANYWAY or (budget.seconds <= until and not budget.is_cancelled)

    def _most_evictions(self) -> Allowance | None:
        """What `maxEvictions` leaves."""
        most = self._args.max_evictions
        if most is None:
            return None
        left = most - self._handle.evictor.num_leaving
        return Allowance(lambda _: True, lambda _: left, name_of=always(f"maxEvictions ({most})"))

    def _limits(self) -> Limits:
        """Of all plans together, and of trying them out."""
        watch = self._handle.search
        most_seconds, seconds = watch.most_seconds(), watch.share * self._args.time_limit.total_seconds()
        work = watch.share * self._args.work_limit or None
        return Limits(seconds if most_seconds is None else min(seconds, most_seconds), work)

    def _note(self, progress: SearchProgress) -> None:
        """Of plans that are not tried out, before any other is."""
        if not self.trials:
            self._on_progress(self._objective.shown(progress.value)[0], progress.num_moves)

    def _solve(self, stated: _Stated, limits: Limits, hint: Ints | None, num_workers: int) -> Solution:
        """The best plan found within `limits`, each of another seed."""
        seed, is_cancelled = self._args.seed + max(len(self.plans), len(self.trials)), self._handle.search.is_cancelled
        cluster, promising = stated.cluster, stated.problem
        if not self._args.choose_nodes:
            promising = self._objective.promising(cluster, promising)
        share_of_schedule = self._objective.scheduled_share
        # What is left of a plan that is partly granted needs fewer evictions, and how many is not known.
        is_whole = cluster is self.cluster
        plan = solve(
            promising,
            stated.objective,
            limits.scaled(1.0 - share_of_schedule),
            seed=seed,
            num_workers=num_workers,
            hint=hint,
            ties=Ties(self.least_evictions, most_of_ties(self.least_evictions)) if is_whole else None,
            prepared=stated.prepared if promising is stated.problem else None,
            is_cancelled=is_cancelled,
            on_progress=self._note,
        )
        self._budget.spend(plan.work)
        if promising is not stated.problem:
            plan = dataclasses.replace(plan, bound=stated.prepared.bound(), is_closed=False)
        if not share_of_schedule:
            return plan
        budget = self._budget.part(limits.scaled(share_of_schedule), is_cancelled)
        return self._objective.scheduled(plan, cluster, budget, seed)


@dataclasses.dataclass(frozen=True)
class _Stated:
    """A problem and an objective over `cluster`, of which several plans may be made."""

    cluster: ClusterProblem
    problem: Problem
    objective: Objective

    @cached_property
    def prepared(self) -> PreparedObjective:
        """Its bound may take seconds."""
        return self.objective.prepare(self.problem)
