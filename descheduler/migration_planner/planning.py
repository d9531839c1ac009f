"""One objective over a cluster: plan, try out, plan again without what was refused, and ask."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.migration_planner.args import MigrationPlannerArgs
from descheduler.migration_planner.cluster_problem import ClusterProblem, cluster_problem
from descheduler.migration_planner.objectives.cluster_objective import ClusterObjective
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Candidate
from descheduler.plan.goals import Goal, Level
from descheduler.planner.arrays import PENDING, Ints
from descheduler.planner.limits import Limits
from descheduler.planner.ordering import Move
from descheduler.planner.solving import Plan, solve

__all__ = ["Planning"]

_SHARES = (0.6, 0.1, 0.1, 0.1, 0.1)
"""Of the limits, for each plan that is tried out; it goes without the pods that were refused in those before it."""


class Planning:
    """What comes of one objective in one run."""

    def __init__(
        self, objective: ClusterObjective, args: MigrationPlannerArgs, handle: StrategyHandle, nodes: Sequence[Node]
    ) -> None:
        self._objective = objective
        self._args = args
        self._view = handle.view
        self._evictor = handle.evictor
        self._nodes = nodes
        self._cluster: ClusterProblem
        self._asked: dict[str, Pod] = {}
        self._against: dict[str, str] = {}
        self._before = objective.figure()
        self.num_pods = sum(len(self._view.active_pods_on(node.name)) for node in nodes)
        self.goal = self._nothing()

    @property
    def num_asked(self) -> int:
        """How many pods the plan moves."""
        return len(self._asked)

    def run(self) -> None:
        """Plans and asks; nothing, where nothing is to be done."""
        if self._objective.nothing_to_do():
            return
        plans = [self._solve(_SHARES[0])]
        for share in _SHARES[1:]:
            refused = self._tried(plans[-1])
            if not refused:
                break
            self._against.update(refused)
            plans.append(self._solve(share, plans[-1].assignment))
        groups = self._groups(plans[-1])
        self._asked = {pod.uid: pod for group in groups for pod in group.pods}
        refused = self._ask_for(groups)
        self.goal = self._reached(plans, len(self._asked) - len(refused))

    def why_not(self, pod: Pod) -> str:
        """Why the plan leaves `pod` where it is; empty for one that it moves."""
        if pod.uid in self._asked:
            return ""
        return self._against.get(pod.uid) or self._objective.why_not(pod)

    def _solve(self, share: float, hint: Ints | None = None) -> Plan:
        """The best plan found in this share of the limits, without the pods that were refused."""
        args = self._args
        self._cluster = cluster_problem(
            self._view,
            self._evictor,
            self._nodes,
            counts=self._objective.counts_pod,
            pending=self._objective.pending(),
            kept=self._against,
            most=args.max_evictions,
        )
        limits = Limits(share * args.time_limit.total_seconds(), share * args.work_limit if args.work_limit else None)
        objective = self._objective.stated_over(self._cluster)
        return solve(self._cluster.problem, objective, limits, seed=args.seed, hint=hint)

    def _groups(self, plan: Plan) -> list[_Group]:
        groups = (_Group(moves, self._cluster.pods) for moves in self._objective.groups(_once_a_pod(plan.moves)))
        return [group for group in groups if group.pods]

    def _tried(self, plan: Plan) -> dict[str, str]:
        """What is said against pods, by uid, when those of `plan` are asked for in their order."""
        with self._evictor.what_if():
            return self._ask_for(self._groups(plan))

    def _ask_for(self, groups: Sequence[_Group]) -> dict[str, str]:
        """Asks for all of `groups`, and again for those that were refused as long as others are granted after them.

        What is said against pods, by uid.
        """
        refused = {group: self._against_group(group) for group in groups}
        refused = {group: texts for group, texts in refused.items() if texts}
        if self._objective.is_in_groups and 0 < len(refused) < len(groups):
            return self._ask_for(list(refused))
        return {uid: text for texts in refused.values() for uid, text in texts.items()}

    def _against_group(self, group: _Group) -> dict[str, str]:
        """Nothing where all of `group` is granted, which is booked then; else what stands against each of it."""
        if not self._objective.is_in_groups:
            (pod,) = group.pods
            verdict = self._ask(pod)
            return {} if verdict.is_accepted else {pod.uid: verdict.message}
        culprit, verdict = self._first_refusal(group)
        if verdict.is_accepted:
            verdict = self._ask_together(group)
        if verdict.is_accepted:
            return {}
        text = verdict.message
        if culprit is not None:
            text = f"it would leave only together with pod {culprit.key}, which has to stay: {text}"
        for pod in group.pods:
            self._evictor.keep(pod, verdict, self._objective.reason(pod))
        return {pod.uid: verdict.message if pod is culprit else text for pod in group.pods}

    def _first_refusal(self, group: _Group) -> tuple[Pod | None, Verdict]:
        """What stands against the first pod of `group` that has to stay, or against all of it."""
        gain = self._objective.gain_of(group.moves)
        with self._evictor.what_if():
            for pod in group.pods:
                verdict = self._ask(pod)
                if not verdict.is_accepted:
                    return pod, verdict
            return None, gain()

    def _ask_together(self, group: _Group) -> Verdict:
        """Asks for all of `group` or none: what carries the plan out ends with the first that does not leave."""
        return self._evictor.request_all([Candidate(pod, self._objective.reason(pod)) for pod in group.pods])

    def _ask(self, pod: Pod) -> Verdict:
        """Asks for the eviction of a pod that lands where it does no harm."""
        reason, harm = self._objective.reason(pod), self._harm(pod)
        if harm.is_accepted:
            return self._evictor.request(pod, reason)
        self._evictor.keep(pod, harm, reason)
        return harm

    def _harm(self, pod: Pod) -> Verdict:
        """What stands against where `pod` lands, or that nobody can tell where that is."""
        landing = self._evictor.predicted(pod)
        node = landing.node
        if landing.replacement.pod is None:
            return ACCEPTED
        if node is None or landing.cause:
            return refuse(Reason.NO_LANDING if node is None else Reason.UNKNOWN_LANDING, landing.message)
        if node == pod.node_name:
            return refuse(Reason.RETURNS_TO_SOURCE, f"the replacement pod would be scheduled onto {node} again", node)
        return self._objective.harm(pod, node)

    def _nothing(self) -> Goal:
        level = Level(self._objective.counts, self._before, self._before, self._before)
        return Goal(self._objective.name, (level,), 0, 0, "nothing", 0.0, 0.0, self._objective.nothing_to_do())

    def _reached(self, plans: Sequence[Plan], num_granted: int) -> Goal:
        """What came of it, beside the bounds of the first plan, which may move every pod that the filters let go."""
        after, bound = self._objective.figure(), self._objective.bound_of(plans[0].bound)
        figure_bound, evictions_bound = bound
        sentence = f"{self._objective.change(self._before, after)}, {counted(num_granted, 'eviction')}"
        if after > figure_bound:
            sentence += f"; {self._objective.shortfall()}"
        elif num_granted and evictions_bound:
            sentence += f" (at least {evictions_bound:,} {'is' if evictions_bound == 1 else 'are'} needed)"
        return Goal(
            self._objective.name,
            (Level(self._objective.counts, self._before, after, figure_bound),),
            num_granted,
            evictions_bound,
            "optimal" if (after, num_granted) <= bound else "feasible",
            sum(plan.seconds for plan in plans),
            sum(plan.work for plan in plans),
            sentence,
        )


class _Group:
    """Moves that are asked for together, and the pods that are evicted for them."""

    def __init__(self, moves: Sequence[Move], pods: Sequence[Pod]) -> None:
        self.moves = moves
        self.pods = [pods[move.pod] for move in moves if move.source != PENDING]


def _once_a_pod(moves: Sequence[Move]) -> list[Move]:
    """The moves in their order without detours: a pod that waits on a third node is evicted once."""
    first: dict[int, Move] = {}
    for move in moves:
        source = first[move.pod].source if move.pod in first else move.source
        first[move.pod] = Move(move.pod, source, move.target)
    return list(first.values())
