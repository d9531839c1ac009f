"""One objective over a cluster: plan, try out, plan again without what was refused, and ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.migration_planner.args import MigrationPlannerArgs
from descheduler.migration_planner.cluster_problem import ClusterProblem, cluster_problem
from descheduler.migration_planner.objectives.cluster_objective import ClusterObjective
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.goals import Goal, Level
from descheduler.planner.arrays import Ints
from descheduler.planner.limits import Limits
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
        pods = self._cluster.pods
        self._asked = {pods[move.pod].uid: pods[move.pod] for move in plans[-1].moves}
        self.goal = self._reached(plans, sum(map(self._ask_whole, self._groups(plans[-1]))))

    def why_not(self, pod: Pod) -> str:
        """Why the plan leaves `pod` where it is; empty for one that it moves."""
        if pod.uid in self._asked:
            return ""
        return self._against.get(pod.uid) or self._objective.why_not(pod)

    def _solve(self, share: float, hint: Ints | None = None) -> Plan:
        """The best plan found in this share of the limits, without the pods that were refused."""
        args = self._args
        self._cluster = cluster_problem(
            self._view, self._evictor, self._nodes, kept=self._against, most=args.max_evictions
        )
        limits = Limits(share * args.time_limit.total_seconds(), share * args.work_limit if args.work_limit else None)
        problem, objective = self._objective.problem_over(self._cluster), self._objective.stated_over(self._cluster)
        return solve(problem, objective, limits, seed=args.seed, hint=hint)

    def _groups(self, plan: Plan) -> Iterable[Sequence[Pod]]:
        for group in self._objective.groups(plan.moves):
            yield [self._cluster.pods[move.pod] for move in group]

    def _tried(self, plan: Plan) -> dict[str, str]:
        """What is said against pods, by uid, when those of `plan` are asked for in their order."""
        with self._evictor.what_if():
            found = {uid: text for group in self._groups(plan) for uid, text in self._against_group(group).items()}
            return {**self._objective.objections(), **found}

    def _against_group(self, group: Sequence[Pod]) -> dict[str, str]:
        """Nothing where all of `group` is granted, which is booked then; else what stands against each of it."""
        if len(group) == 1:
            verdict = self._ask(group[0])
            return {} if verdict.is_accepted else {group[0].uid: verdict.message}
        refusal = self._first_refusal(group)
        if refusal is None:
            self._ask_all(group)
            return {}
        culprit, verdict = refusal
        text = f"it would leave only together with pod {culprit.key}, which has to stay: {verdict.message}"
        return {pod.uid: verdict.message if pod is culprit else text for pod in group}

    def _first_refusal(self, group: Sequence[Pod]) -> tuple[Pod, Verdict] | None:
        with self._evictor.what_if():
            answers = ((pod, self._ask(pod)) for pod in group)
            return next((answer for answer in answers if not answer[1].is_accepted), None)

    def _ask_whole(self, group: Sequence[Pod]) -> int:
        """How many of `group` were granted: all or none."""
        if len(group) > 1:
            refusal = self._first_refusal(group)
            if refusal is not None:
                for pod in group:
                    self._evictor.keep(pod, refusal[1], self._objective.reason(pod))
                return 0
        return self._ask_all(group)

    def _ask_all(self, group: Sequence[Pod]) -> int:
        return sum(self._ask(pod).is_accepted for pod in group)

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
        level = Level(self._counts, self._before, self._before, self._before)
        return Goal(self._objective.name, (level,), 0, 0, "nothing", 0.0, 0.0, self._objective.nothing_to_do())

    @property
    def _counts(self) -> str:
        return f"{self._objective.noun}s {self._objective.state}"

    def _reached(self, plans: Sequence[Plan], num_granted: int) -> Goal:
        """What came of it, beside the bounds of the first plan, which may move every pod that the filters let go."""
        after = self._objective.figure()
        # Less than was thought of may be needed where one move ends what another was planned for.
        figure_bound, evictions_bound = bound = min(self._objective.bounds(plans[0].bound), (after, num_granted))
        sentence = f"{self._objective.text_of(self._before)} → {after}, {counted(num_granted, 'eviction')}"
        if after > figure_bound:
            sentence += f"; {self._objective.shortfall()}"
        elif num_granted:
            sentence += f" (at least {evictions_bound:,} {'is' if evictions_bound == 1 else 'are'} needed)"
        return Goal(
            self._objective.name,
            (Level(self._counts, self._before, after, figure_bound),),
            num_granted,
            evictions_bound,
            "optimal" if (after, num_granted) <= bound else "feasible",
            sum(plan.seconds for plan in plans),
            sum(plan.work for plan in plans),
            sentence,
        )
