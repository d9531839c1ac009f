"""MigrationPlanner: evicts the fewest pods that reach its objectives, each of which can be scheduled again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.facts import PluginFacts
from descheduler.planner.args import MigrationPlannerArgs, PlannerObjective
from descheduler.planner.search.last_plan import PlannedTargets, read_targets, written_targets
from descheduler.strategies.shared.pods import FINISHED

if TYPE_CHECKING:  # the solver takes longer to import than validating a policy may
    from descheduler.planner.objectives.cluster_objective import ClusterObjective
    from descheduler.planner.planning import Planning


class MigrationPlanner:
    """One objective after the other: each is planned on top of what the ones before it were granted."""

    def __init__(self, args: MigrationPlannerArgs, handle: StrategyHandle) -> None:
        most, shard = args.max_evictions, handle.view.snapshot.shard
        self._args = args if most is None else replace(args, max_evictions=shard.share(most))
        self._handle = handle
        self._done: list[Planning] = []
        self._num_before = 0
        """Evictions by plugins before it."""

    def balance(self, nodes: Sequence[Node]) -> None:
        """Plans over all nodes at once. A plan is tried out move by move before any eviction is requested.

        What is refused then is left out, and the rest is planned again.
        """
        self._done = []
        last = read_targets(self._handle.memory.note)
        for number, objective in enumerate(self._args.objectives):
            self._handle.evictor.begin_turn()
            self._done.append(self._planned(objective, nodes, last[number] if number < len(last) else {}))
        self._handle.evictor.begin_turn()
        for planning in self._done[:-1]:
            planning.look_again("for later objectives")
        self._num_before = self._handle.evictor.num_leaving_for_others

    def why_idle(self, nodes: Sequence[Node]) -> str:
        """What each objective says that has nothing to do; empty where one has something to do."""
        texts = list(self._idle_texts(nodes))
        return "; ".join(dict.fromkeys(texts)) if all(texts) else ""

    def facts(self) -> PluginFacts:
        """What the plans looked at, and what came of each objective."""
        examined = max((each.num_pods for each in self._done), default=0)
        selected = sum(each.num_asked for each in self._done)
        why = "" if selected else "; ".join(each.goal.sentence for each in self._done)
        left_out = {"objectives": examined - selected} if examined > selected else {}
        goals = tuple(each.goal for each in self._done)
        return PluginFacts(why, examined, selected, left_out=left_out, goals=goals)

    def note(self) -> bytes:
        """The plans, which the next run tries first."""
        return written_targets([each.targets for each in self._done])

    def why_not(self, pod: Pod) -> str:
        """Why the plan leaves a pod where it is; of several objectives the answer of each, by its key in the policy."""
        if pod.is_terminal:
            return FINISHED
        answers = [(each.key, why) for each in self._done if (why := each.why_not(pod))]
        if len({why for _, why in answers}) == 1:
            return answers[0][1]
        return "; ".join(dict.fromkeys(f"{key}: {why}" for key, why in answers))

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """Nothing: each objective judges by itself what a move gains."""
        return ""

    def about_pending(self, pod: Pod) -> str:
        """Where the plan makes room for a pod without a node, or why it makes none."""
        done = self._done
        answers = chain(
            (each.room_made(pod) for each in done),
            (each.why_no_room(pod) for each in reversed(done)),  # the last one knows what those before it have done
            (each.why_unselected(pod) for each in done),
        )
        return next(filter(None, answers), "")

    def figures(self, nodes: Sequence[Node]) -> Sequence[int]:
        """The figure of each objective as things are booked."""
        return [objective.figure() for objective in self._objectives(nodes)]

    def look_again(self) -> None:
        """Has the goals tell what plugins after this one have made of them, if they evict anything."""
        if self._handle.evictor.num_leaving_for_others == self._num_before:
            return
        for planning in self._done:
            planning.look_again("by later plugins")

    def _idle_texts(self, nodes: Sequence[Node]) -> Iterator[str]:
        return (objective.nothing_to_do() for objective in self._objectives(nodes))

    def _objectives(self, nodes: Sequence[Node]) -> Iterator[ClusterObjective]:
        from descheduler.planner.objectives.table import objective_of

        for args in self._args.objectives:
            yield objective_of(args, self._handle, nodes, chooses_nodes=self._args.choose_nodes)

    def _planned(self, args: PlannerObjective, nodes: Sequence[Node], last: PlannedTargets) -> Planning:
        from descheduler.planner.objectives.table import objective_of
        from descheduler.planner.planning import Planning

        objective = objective_of(args, self._handle, nodes, chooses_nodes=self._args.choose_nodes)
        num_before = sum(each.goal.evictions for each in self._done)
        planning = Planning(objective, self._args, self._handle, nodes, last, num_before=num_before)
        planning.run()
        return planning
