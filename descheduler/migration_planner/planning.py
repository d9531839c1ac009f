"""One objective over a cluster: plan, try out, plan again without what was refused, and ask."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.migration_planner.args import MigrationPlannerArgs
from descheduler.migration_planner.asking import Asking, Group, Trial
from descheduler.migration_planner.cluster_problem import ClusterProblem, cluster_problem
from descheduler.migration_planner.disruption_cost import ORDINARY, disruption_costs
from descheduler.migration_planner.last_plan import PlannedTargets
from descheduler.migration_planner.move_waves import MoveWaves
from descheduler.migration_planner.objectives.cluster_objective import ClusterObjective
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.plan.goals import Goal, Level
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.arrays import Ints
from descheduler.planner.limits import Budget, Limits
from descheduler.planner.solving import Plan, Progress, solve

__all__ = ["Planning"]

_SHARES = (0.6, 0.1, 0.1, 0.1, 0.1)
"""Of the limits, for each plan that is tried out; it goes without the pods that were refused in those before it."""


class Planning:
    """What comes of one objective in one run; `last` is what the run before planned for it."""

    def __init__(
        self,
        objective: ClusterObjective,
        args: MigrationPlannerArgs,
        handle: StrategyHandle,
        nodes: Sequence[Node],
        last: PlannedTargets,
    ) -> None:
        self._objective = objective
        self._args = args
        self._handle = handle
        self._evictor = handle.evictor
        self._nodes = nodes
        self._last = last
        self._cluster: ClusterProblem
        self._best_left_gain = 0.0
        self._asked: set[PodIdentity] = set()
        self._against: dict[PodIdentity, str] = {}
        self._before = objective.figure()
        self.num_pods = sum(len(handle.view.active_pods_on(node.name)) for node in nodes)
        self.goal = self._nothing()
        self.targets: PlannedTargets = {}
        """Of the last plan."""

    @property
    def num_asked(self) -> int:
        """How many pods the plan moves."""
        return len(self._asked)

    def run(self) -> None:
        """Plans and asks; nothing, where nothing is to be done."""
        if self._objective.nothing_to_do():
            return
        self._handle.search.note(f"{self._objective.name}: {self._objective.text_of(self._before)}")
        self._cluster = self._stated()
        plans: list[Plan] = []
        trials: list[Trial] = []
        self._evictions_bound = self._least_evictions()
        for share in _SHARES:
            if plans:
                self._cluster = self._stated()
            hint = plans[-1].assignment if plans else self._cluster.assignment_with(self._last)
            plans.append(self._solve(share, hint))
            trial, refused = self._asking.tried(plans[-1])
            trials.append(trial)
            refused = refused or self._poor(plans[-1])
            if not refused:
                break
            self._against.update(refused)
        self._handle.search.note("")
        good = self._chosen(trials)
        self._asked = {identity_of(pod) for group in good for pod in group.pods}
        waves = MoveWaves(self._cluster, self._evictor.last_wave + 1)
        self.goal = self._reached(plans, [pod for group in good for pod in self._asking.ask_whole(group, waves)])

    def _chosen(self, trials: Sequence[Trial]) -> Sequence[Group]:
        """The groups of the best trial whose moves gain enough for what they disrupt."""
        best = min(trials, key=lambda trial: (trial.figure, trial.cost))
        self._cluster = best.cluster
        pods, nodes = self._cluster.pods, self._cluster.nodes
        self.targets = {pods[move.pod].uid: nodes[move.target] for move in best.plan.moves}
        poor = self._poor(best.plan)
        good = [group for group in best.groups if not any(identity_of(pod) in poor for pod in group.pods)]
        moves = [move for group in good for move in group.moves]
        self._objective.groups(moves)
        is_whole = len(moves) == len(best.plan.moves) and not best.has_in_vain
        return good if is_whole else self._asking.useful(good)

    @property
    def _asking(self) -> Asking:
        return Asking(self._objective, self._evictor, self._cluster)

    def why_not(self, pod: Pod) -> str:
        """Why the plan leaves `pod` where it is; empty for one that it moves."""
        if identity_of(pod) in self._asked:
            return ""
        return self._against.get(identity_of(pod)) or self._objective.why_not(pod)

    def _stated(self) -> ClusterProblem:
        """The cluster as it is with everything that is booked, without the pods that were refused."""
        args, handle = self._args, self._handle
        return cluster_problem(
            handle.view,
            self._evictor,
            self._nodes,
            counts=self._objective.counts_pod,
            pending=self._objective.pending(),
            kept=self._against,
            most=args.max_evictions,
            cost_of=partial(disruption_costs, weights=args.disruption_cost, view=handle.view, now=handle.now),
        )

    def _solve(self, share: float, hint: Ints | None) -> Plan:
        """The best plan found in this share of the limits."""
        args, search = self._args, self._handle.search
        share_of_schedule = share * self._objective.scheduled_share
        problem, objective = self._objective.problem_over(self._cluster), self._objective.stated_over(self._cluster)
        promising = self._objective.promising(self._cluster, problem)
        plan = solve(
            promising,
            objective,
            self._limits(share - share_of_schedule),
            seed=args.seed,
            num_workers=args.workers,
            hint=hint,
            may_bounce=False,
            is_cancelled=search.is_cancelled,
            on_progress=self._note,
        )
        if promising is not problem:
            plan = dataclasses.replace(plan, bound=objective.prepare(problem).bound())
        if not share_of_schedule:
            return plan
        budget = Budget(self._limits(share_of_schedule), search.is_cancelled)
        return self._objective.scheduled(plan, self._cluster, budget, args.seed)

    def _limits(self, share: float) -> Limits:
        """This share of the limits of the run."""
        args, most_seconds = self._args, self._handle.search.most_seconds()
        seconds = args.time_limit.total_seconds()
        return Limits(
            share * (seconds if most_seconds is None else min(seconds, most_seconds)),
            share * args.work_limit if args.work_limit else None,
        )

    def _least_evictions(self) -> int:
        """How many evictions are needed at least, whatever each of them costs."""
        problem = self._objective.problem_over(self._cluster)
        equal = dataclasses.replace(problem, cost=np.ones_like(problem.cost))
        return self._objective.stated_over(self._cluster).prepare(equal).bound()[-1]

    def _note(self, progress: Progress) -> None:
        """Tells whoever looks on of the best plan so far."""
        figure, cost = self._objective.shown(progress.value)
        _, least_cost = self._objective.bound_of(progress.bound)
        least = f" (at least {_evictions_worth(least_cost)})" if least_cost else ""
        self._handle.search.note(
            f"{self._objective.name}: {self._objective.text_of(figure)}, {_evictions_worth(cost)}{least},"
            f" {progress.seconds:.0f} s"
        )

    def _poor(self, plan: Plan) -> dict[PodIdentity, str]:
        """What is said against pods, whose moves gain too little for what they disrupt."""
        least, found = self._args.min_gain_per_disruption, dict[PodIdentity, str]()
        for part in self._objective.parts(self._cluster, plan.moves) if least else ():
            cost = int(self._cluster.problem.cost[[move.pod for move in part.moves]].sum())
            gain = part.gain * ORDINARY / cost
            if gain < least:
                self._best_left_gain = max(self._best_left_gain, gain)
                text = (
                    f"its part of the plan gains {gain:.2g} for an eviction, less than minGainPerDisruption"
                    f" ({least:g}): {_evictions_worth(cost)} for {counted(part.gain, self._objective.noun)}"
                )
                found.update((identity_of(pod), text) for pod in part.pods)
        return found

    def _nothing(self) -> Goal:
        level = Level(self._objective.counts, self._before, self._before, self._before)
        return Goal(self._objective.name, (level,), 0, 0, 0, 0, "nothing", 0.0, 0.0, self._objective.nothing_to_do())

    def _reached(self, plans: Sequence[Plan], granted: Sequence[Pod]) -> Goal:
        """What came of it, beside the bounds of the first plan, which may move every pod that the filters let go."""
        after, cost = self._objective.figure(), sum(self._cluster.cost_of(pod) for pod in granted)
        figure_bound, cost_bound = bound = self._objective.bound_of(plans[0].bound)
        evictions_bound = self._evictions_bound if cost_bound else 0
        sentence = f"{self._objective.change(self._before, after)}, {counted(len(granted), 'eviction')}"
        if after > figure_bound:
            sentence += f"; {self._left_text()}"
        elif after:
            sentence += "; no plan within the limits leaves fewer"
        elif granted and evictions_bound:
            sentence += f" (at least {evictions_bound:,} {'is' if evictions_bound == 1 else 'are'} needed)"
        return Goal(
            self._objective.name,
            (Level(self._objective.counts, self._before, after, figure_bound),),
            len(granted),
            evictions_bound,
            cost,
            cost_bound,
            "optimal" if (after, cost) <= bound else "feasible",
            sum(plan.seconds for plan in plans),
            sum(plan.work for plan in plans),
            sentence,
        )

    def _left_text(self) -> str:
        """Why some are left."""
        if not self._best_left_gain:
            hint = self._objective.hint
            is_of_use = bool(hint) and any(hint in text for text in self._against.values())
            return f"{self._objective.shortfall()}; {hint}" if is_of_use else self._objective.shortfall()
        least = self._args.min_gain_per_disruption
        best = self._best_left_gain
        return f"the best of what is left gains {best:.2g} for an eviction (minGainPerDisruption: {least:g})"


def _evictions_worth(cost: int) -> str:
    """Such as `3 evictions`, or `3.5 evictions` where some are dearer than others."""
    number = round(cost / ORDINARY, 1)
    return f"{number:g} {'eviction' if number == 1 else 'evictions'}"
