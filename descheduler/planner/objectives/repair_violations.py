"""RepairViolations over a cluster: another node for the pods that strategies select, others out of their way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted, first_names
from descheduler.model.verdict import ACCEPTED, Verdict
from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.objective import Value
from descheduler.optimizer.objectives.repair_violations import RepairViolations
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rules import MoveLimit
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.moves.connected_moves import connected_moves
from descheduler.planner.objective_args import RepairViolationsArgs
from descheduler.planner.objectives.cluster_objective import ClusterObjective, Part
from descheduler.planner.objectives.selections import StrategySelections
from descheduler.planner.problem.cluster_problem import ClusterProblem

_MOST_EXAMINED = 100
"""Selected pods that are looked at for what keeps them."""


class RepairViolationsObjective(ClusterObjective):
    """What the strategies select on `nodes`, solved together: a pod that several of them select counts once."""

    name = "RepairViolations"
    noun, state = "violation", "left"
    explains_rest = True

    def __init__(self, args: RepairViolationsArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        self._weights = args.weights
        self._evictor = handle.evictor
        self._selections = StrategySelections(args.strategies, handle, nodes)
        self._names = frozenset(node.name for node in nodes)
        self._before = self._wanted = self._selections.now()
        self._cluster: ClusterProblem | None = None
        self._misplaced: Ints = np.zeros(0, np.int64)
        self._num_stuck: int | None = None
        self._stuck: frozenset[PodIdentity] = frozenset()
        self._rooms: dict[PodIdentity, str] = {}

    @property
    def proves_resized(self) -> bool:
        """See the base class."""
        return True

    def nothing_to_do(self) -> str:
        """That the strategies select nothing."""
        return "" if self._before.pods else f"no pod is selected by {self._strategies}"

    def figure(self) -> int:
        """Pods that the strategies select now."""
        return len(self._selections.now().pods)

    def text_of(self, number: int) -> str:
        """Such as `2 violations`."""
        return counted(number, self.noun)

    def stated_over(self, cluster: ClusterProblem) -> RepairViolations:
        """The selected pods by the weight of the strategy that counts most; others in place of those that are stuck."""
        self._cluster = cluster
        self._stuck = frozenset(
            identity_of(cluster.pods[number]) for number in np.flatnonzero(_is_stuck(cluster.problem))
        )
        self._wanted = self._selections.without(self._stuck)
        self._misplaced = np.array([self._weight(pod) for pod in cluster.pods], np.int64)
        if self._num_stuck is None:  # later problems leave out pods that were refused
            counted_once = RepairViolations(np.minimum(self._misplaced, 1))
            self._num_stuck = counted_once.prepare(cluster.problem).bound()[0]
        return RepairViolations(self._misplaced)

    def bound_of(self, bound: Value) -> tuple[int, int]:
        """(pods that cannot be moved, by proof; cost of moving the others), where each has to be moved by itself.

        Where strategies compare pods with others, such as duplicates, one move may end several violations.
        """
        if not self._selections.judge_pods_alone:
            return 0, 0
        weights = np.unique(self._misplaced[self._misplaced > 0])
        return bound[0] // int(weights[0]) if weights.size == 1 else self._num_stuck or 0, bound[1]

    def reason(self, pod: Pod) -> str:
        """What the strategies say of it, or which pods it makes room for."""
        return self._wanted.reason(pod) or self._before.reason(pod) or self._rooms.get(identity_of(pod), "")

    def groups(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """Moves that only make room are together with those that take it."""
        self._rooms = dict(self._room_makers(moves))
        return connected_moves(moves, serves_others=lambda move: not self._misplaced[move.pod])

    def parts(self, cluster: ClusterProblem, moves: Sequence[Reassignment]) -> Iterable[Part]:
        """The groups; each gains the selected pods in it."""
        for group in self.groups(moves):
            gain = sum(bool(self._misplaced[move.pod]) for move in group)
            yield Part(gain, group, [cluster.pods[move.pod] for move in group])

    def harm(self, pod: Pod, node: str) -> Verdict:
        """Nothing: what replacements lead to is looked at when all of them are known."""
        return ACCEPTED

    def objections(self) -> Mapping[PodIdentity, str]:
        """Of pods whose replacement the strategies would select again."""
        selected = "the replacement pod would be selected again"
        return {
            identity_of(pod): f"{selected} on node {arrival.node_name}: {why}"
            for pod, arrival, why in self._selections.selected_again()
        }

    def in_vain(self, pods: Iterable[Pod]) -> Collection[PodIdentity]:
        """The pods whose replacement the strategies would select again."""
        return self.objections().keys() & {identity_of(pod) for pod in pods}

    def obstacles(self, against: Mapping[PodIdentity, str]) -> str:
        """What is said `against` most of the pods that are selected still, else why these cannot be evicted."""
        left = set(map(identity_of, self._selections.now().pods))
        said = {pod: text for pod, text in against.items() if pod in left}
        return super().obstacles(said or dict(self._kept()) or against)

    def _kept(self) -> Iterator[tuple[PodIdentity, str]]:
        """Why the first of the pods that are selected still cannot be evicted as things are booked."""
        for pod in islice(self._selections.now().pods, _MOST_EXAMINED):
            if why := self._why_kept(pod):
                yield identity_of(pod), why

    def _why_kept(self, pod: Pod) -> str:
        """Why `pod` cannot be evicted by itself; empty where it can."""
        with self._evictor.what_if():
            return self._evictor.request(pod).message

    def why_not(self, pod: Pod) -> str:
        """Whether it was selected, and what became of that."""
        if pod.node_name not in self._names:
            return f"node {pod.node_name} is not one of the nodes that the policy selects"
        if not self._before.has(pod):
            return f"not selected by {self._strategies}"
        reason = self._before.reason(pod)
        if not self._selections.now().has(pod):
            return f"the moves of other pods end what it is selected for ({reason})"
        if identity_of(pod) in self._stuck:
            why = self._why_kept(pod) or "no other node is open to its replacement"
            return f"selected ({reason}), but cannot be evicted: {why}"
        return f"no plan found within the limits gives it another node ({reason})"

    @property
    def _strategies(self) -> str:
        *others, last = self._selections.strategies
        return f"{', '.join(others)} or {last}" if others else last

    def _weight(self, pod: Pod) -> int:
        return max((self._weights.get(name, 1) for name in self._wanted.strategies_of(pod)), default=0)

    def _room_makers(self, moves: Sequence[Reassignment]) -> Iterable[tuple[PodIdentity, str]]:
        """The pods that are moved for others, each with the sentence that says for which."""
        if self._cluster is None:
            return
        pods = self._cluster.pods
        for move in moves:
            if not self._misplaced[move.pod]:
                keys = [pods[other.pod].key for other in moves if other.target == move.source]
                node = self._cluster.nodes[move.source]
                purpose = f"for {_listed(keys)}" if keys else "for others"
                yield identity_of(pods[move.pod]), f"makes room on node {node} {purpose}"


def _is_stuck(problem: Problem) -> Bools:
    """bool[P]: pods that may not be moved, by themselves or as their budget is used up, or that have nowhere to go."""
    num_open = problem.allowed.sum(axis=1)[problem.pod_class]
    num_others: Ints = num_open - problem.allowed[problem.pod_class, problem.assignment]
    stuck: Bools = ~problem.evictable | (num_others == 0)
    for rule in problem.rules:
        if isinstance(rule, MoveLimit):
            stuck |= (rule.group >= 0) & (rule.limit[rule.group] == 0)
    return stuck


def _listed(keys: Sequence[str]) -> str:
    return f"{'pod' if len(keys) == 1 else 'pods'} {first_names(keys, 3)}"
