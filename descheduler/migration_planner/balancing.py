"""BalanceUtilization over a cluster: plan, try out, plan again without what was refused, and ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.migration_planner.args import BalanceUtilization, MigrationPlannerArgs
from descheduler.migration_planner.cluster_problem import ClusterProblem, cluster_problem
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.placement.landings.landing import Landing
from descheduler.plan.goals import Goal, Level
from descheduler.planner.arrays import Ints
from descheduler.planner.limits import Limits
from descheduler.planner.objectives.balance import Balance
from descheduler.planner.solving import Plan, solve

__all__ = ["Balancing"]

_SHARES = (0.6, 0.1, 0.1, 0.1, 0.1)
"""Of the limits, for each plan that is tried out; it goes without the pods that were refused in those before it."""
_UNLIMITED = 2**60


class Balancing:
    """One objective BalanceUtilization in one run."""

    def __init__(
        self, objective: BalanceUtilization, args: MigrationPlannerArgs, handle: StrategyHandle, nodes: Sequence[Node]
    ) -> None:
        self._percent = objective.target_thresholds
        self._args = args
        self._view = handle.view
        self._evictor = handle.evictor
        self._nodes = nodes
        self._asked: dict[str, Pod] = {}
        self._cluster = self._problem(())
        self._ceiling = self._ceilings()
        self._names = frozenset(self._cluster.nodes)
        self._over_before = self._over()
        self.goal = self._nothing_to_do()

    @property
    def num_pods(self) -> int:
        """How many pods run on the nodes."""
        return len(self._cluster.pods)

    @property
    def num_asked(self) -> int:
        """How many pods the plan moves."""
        return len(self._asked)

    def run(self) -> None:
        """Plans and asks; nothing, where no node is over its target."""
        if not self._over_before:
            return
        plans = [self._solve(_SHARES[0])]
        kept: set[str] = set()
        for share in _SHARES[1:]:
            refused = self._refused(plans[-1])
            if not refused:
                break
            kept |= refused
            self._cluster = self._problem(kept)
            plans.append(self._solve(share, plans[-1].assignment))
        plan = plans[-1]
        num_granted = sum(self._ask(move.pod) for move in plan.moves)
        self._asked = {self._cluster.pods[move.pod].uid: self._cluster.pods[move.pod] for move in plan.moves}
        self.goal = self._reached(plans, num_granted)

    def why_not(self, pod: Pod) -> str:
        """Why the plan leaves `pod` where it is; empty for one that it moves."""
        if pod.uid in self._asked:
            return ""
        if pod.node_name not in self._over_before:
            return f"node {pod.node_name} is not over its target ({self._target_text()})"
        return f"other pods of node {pod.node_name} are the better choice to bring it under its target"

    def _problem(self, kept: Sequence[str] | set[str]) -> ClusterProblem:
        return cluster_problem(self._view, self._evictor, self._nodes, kept=kept, most=self._args.max_evictions)

    def _ceilings(self) -> Ints:
        """int64[N, R]: what pods may request of each node, beside what is held by other things."""
        cluster = self._cluster
        ceiling = np.full_like(cluster.allocatable, _UNLIMITED)
        for column, resource in enumerate(cluster.resources):
            if resource in self._percent:
                share = cluster.allocatable[:, column] * (self._percent[resource] / 100)
                ceiling[:, column] = np.floor(share).astype(np.int64) - cluster.held[:, column]
        return ceiling

    def _solve(self, share: float, hint: Ints | None = None) -> Plan:
        """The best plan found in this share of the limits."""
        work = self._args.work_limit
        limits = Limits(share * self._args.time_limit.total_seconds(), share * work if work else None)
        return solve(self._cluster.problem, Balance(self._ceiling), limits, seed=self._args.seed, hint=hint)

    def _refused(self, plan: Plan) -> set[str]:
        """The uids of pods that are refused when the moves of `plan` are asked for in their order."""
        pods = self._cluster.pods
        with self._evictor.what_if():
            return {pods[move.pod].uid for move in plan.moves if not self._ask(move.pod)}

    def _ask(self, number: int) -> bool:
        """Asks for the eviction of a pod that lands where it does no harm."""
        pod = self._cluster.pods[number]
        reason = f"node {pod.node_name} is over its target: {self._usage_text(pod.node_name)}"
        landing = self._evictor.predicted(pod)
        harm = self._harm(number, landing)
        if harm.is_accepted:
            return self._evictor.request(pod, reason).is_accepted
        self._evictor.keep(pod, harm, reason)
        return False

    def _harm(self, number: int, landing: Landing) -> Verdict:
        """What stands against a landing: that its node would be over its target with it, or that nobody can tell."""
        pod, node = self._cluster.pods[number], landing.node
        if landing.replacement.pod is None:
            return ACCEPTED
        if node is None or landing.cause:
            return refuse(Reason.NO_LANDING if node is None else Reason.UNKNOWN_LANDING, landing.message)
        if node == pod.node_name:
            return refuse(Reason.RETURNS_TO_SOURCE, f"the replacement pod would be scheduled onto {node} again", node)
        over = self._resources_over(node, self._cluster.problem.need[number])
        if not over:
            return ACCEPTED
        message = f"the replacement pod would be scheduled onto {node}, and bring it over its target of {over}"
        return refuse(Reason.OTHER_LANDING, message, node)

    def _resources_over(self, node: str, need: Ints) -> str:
        """The resources of which `node` would be over its target with `need` on top, with their targets."""
        if node not in self._names:
            return ""
        usage, allocatable = self._usage(node)
        return ", ".join(
            f"{resource} {self._percent[resource]:g} %"
            for column, resource in enumerate(self._cluster.resources)
            if resource in self._percent
            and need[column]
            and (usage[column] + need[column]) * 100 > self._percent[resource] * allocatable[column]
        )

    def _usage(self, node: str) -> tuple[Ints, Ints]:
        """int64[R] each: what is taken of a node as things are booked, and what it has."""
        openings = self._evictor.prover().openings()
        column = openings.place_of(node)
        return openings.taken[:, column], openings.capacity[:, column]

    def _over(self) -> frozenset[str]:
        """The nodes over their target, as things are booked."""
        found = []
        for name in self._cluster.nodes:
            usage, allocatable = self._usage(name)
            if any(used * 100 > percent * size for used, percent, size in self._targeted(usage, allocatable)):
                found.append(name)
        return frozenset(found)

    def _targeted(self, usage: Ints, allocatable: Ints) -> Iterator[tuple[int, float, int]]:
        for column, resource in enumerate(self._cluster.resources):
            if resource in self._percent:
                yield int(usage[column]), self._percent[resource], int(allocatable[column])

    def _usage_text(self, node: str) -> str:
        usage, allocatable = self._usage(node)
        shares = (
            (resource, 100 * usage[column] / max(int(allocatable[column]), 1))
            for column, resource in enumerate(self._cluster.resources)
            if resource in self._percent
        )
        over = [
            f"{name} {share:.0f} % of {self._percent[name]:g} %"
            for name, share in shares
            if share > self._percent[name]
        ]
        return ", ".join(over) or "more of its pods have to leave"

    def _target_text(self) -> str:
        return ", ".join(f"{resource} {percent:g} %" for resource, percent in sorted(self._percent.items()))

    def _nothing_to_do(self) -> Goal:
        level = Level("nodes over target", len(self._over_before), len(self._over_before), len(self._over_before))
        sentence = f"no node is over its target ({self._target_text()})"
        return Goal("BalanceUtilization", (level,), 0, 0, "nothing", 0.0, 0.0, sentence)

    def _reached(self, plans: Sequence[Plan], num_granted: int) -> Goal:
        """What came of it, beside the bounds of the first plan, which may move every pod that the filters let go."""
        after, (nodes_bound, evictions_bound) = len(self._over()), plans[0].bound
        level = Level("nodes over target", len(self._over_before), after, nodes_bound)
        is_optimal = (after, num_granted) <= plans[0].bound
        sentence = f"{counted(level.before, 'node')} over target → {after}, {counted(num_granted, 'eviction')}"
        if after > nodes_bound:
            sentence += "; the other nodes cannot be brought under it by a plan that was found within the limits"
        elif num_granted:
            sentence += f" (at least {evictions_bound:,} {'is' if evictions_bound == 1 else 'are'} needed)"
        return Goal(
            "BalanceUtilization",
            (level,),
            num_granted,
            evictions_bound,
            "optimal" if is_optimal else "feasible",
            sum(plan.seconds for plan in plans),
            sum(plan.work for plan in plans),
            sentence,
        )
