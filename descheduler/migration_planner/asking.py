"""Asks for the moves of a plan: on trial, in the order in which they are granted, and for good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.migration_planner.move_waves import MoveWaves
from descheduler.migration_planner.objectives.cluster_objective import ClusterObjective
from descheduler.migration_planner.problem.cluster_problem import ClusterProblem
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.placement.landings.landing import Landing
from descheduler.plan.bundles import Candidate
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.arrays import PENDING
from descheduler.planner.limits import Budget
from descheduler.planner.moves_left import MovesLeft
from descheduler.planner.solving import Plan
from descheduler.planner.waves import Move

__all__ = ["Asking", "Group", "Trial"]

_FEWEST_ORDERS, _MOST_ORDERS, _ASKED_IN_ALL = 8, 100, 6000
"""In how many orders a plan is tried out, as many as ask for that many groups in all."""
_WORK_OF_ASKING = 5e-4
"""What one question is worth of a search's work."""


class Group:
    """Moves of `cluster` that are asked for together, and the pods that are evicted for them.

    With `holds_targets` room is held for the replacement of each pod on the node in its place in `held_on`; "" is where
    the scheduler chooses.
    """

    def __init__(self, moves: Sequence[Move], cluster: ClusterProblem, *, holds_targets: bool) -> None:
        self.moves = moves
        evictions = [move for move in moves if move.source != PENDING]
        self.pods = [cluster.pods[move.pod] for move in evictions]
        self.held_on = [cluster.nodes[move.target] if holds_targets else "" for move in evictions]

    @property
    def asked(self) -> Iterable[tuple[Pod, str]]:
        """Its pods, each with the node on which room is held for its replacement."""
        return zip(self.pods, self.held_on, strict=True)


class Trial(NamedTuple):
    """What comes of a plan over `cluster` once `groups` are granted on trial, and whether some leave in vain then."""

    figure: int
    cost: int
    plan: Plan
    cluster: ClusterProblem
    groups: Sequence[Group]
    has_in_vain: bool


class Asking:
    """Asks the evictor for plans over `cluster`, as far as replacements land where they do no harm to the objective.

    The scheduler chooses their nodes, or with `chooses_nodes` the plan.
    """

    def __init__(
        self, objective: ClusterObjective, evictor: PluginEvictor, cluster: ClusterProblem, *, chooses_nodes: bool
    ) -> None:
        self._objective = objective
        self._evictor = evictor
        self._cluster = cluster
        self._chooses_nodes = chooses_nodes

    def groups(self, plan: Plan) -> list[Group]:
        """What of `plan` is asked for together, in its order; moves of pending pods alone ask for nothing."""
        groups = (
            Group(moves, self._cluster, holds_targets=self._chooses_nodes)
            for moves in self._objective.groups(plan.moves)
        )
        return [group for group in groups if group.pods]

    def tried(self, plan: Plan, budget: Budget) -> tuple[Trial, dict[PodIdentity, str]]:
        """What comes of asking for the groups of `plan`, and what is said against pods of the others.

        The largest pods are asked for first, and in the next try what was refused: the scheduler has more nodes for
        what it places early. Where that leads nowhere, it is begun once more, with the plan's own order and then with
        others, until `budget` is over.
        """
        groups = self.groups(plan)
        if self._objective.is_in_bundles:
            return self._tried_in_order(plan, groups)
        order: Sequence[Group] = sorted(groups, key=self._size, reverse=True)
        others = _orders(groups)
        tries: list[tuple[Trial, dict[PodIdentity, str]]] = []
        for _ in range(_num_orders(len(groups))):
            trial, refused = self._tried_in_order(plan, order)
            budget.spend(_WORK_OF_ASKING * len(groups))
            leads_on = all(refused.keys() != known.keys() for _, known in tries)
            tries.append((trial, refused))
            if not refused or budget.is_over:
                break
            order = sorted(order, key=partial(_is_granted, refused)) if leads_on else next(others)
        return min(tries, key=lambda found: (found[0].figure, found[0].cost, len(found[1])))

    def _size(self, group: Group) -> float:
        """What the largest pod needs of its node, as a share of the resource that it needs most of."""
        pods, nodes = np.array([(move.pod, move.source) for move in group.moves if move.source != PENDING]).T
        share = self._cluster.problem.need[pods] / np.maximum(self._cluster.allocatable[nodes], 1)
        return float(share.max())

    def _tried_in_order(self, plan: Plan, groups: Sequence[Group]) -> tuple[Trial, dict[PodIdentity, str]]:
        """The same in this order.

        What is refused is asked for again once others have left: it may land where these were. Where that does not
        help, a group is given up that keeps others from being granted, and replaced by what does as well.
        """
        granted, refused = list[Group](), dict[PodIdentity, str]()
        waiting = list(groups)
        with self._evictor.what_if():
            while waiting:
                answers = [(group, self._against_group(group)) for group in waiting]
                granted += (group for group, against in answers if not against)
                waiting = [group for group, against in answers if against]
                if len(waiting) == len(answers):
                    given_up = self._given_up(waiting)
                    refused |= {
                        uid: text for group, against in answers if group in given_up for uid, text in against.items()
                    }
                    waiting = [group for group in waiting if group not in given_up]
                    waiting += self._substitutes(given_up, [*granted, *waiting], refused)
            cost = sum(self._cluster.cost_of(pod) for group in granted for pod in group.pods)
            objections = self._objective.objections()
            good = [group for group in granted if objections.keys().isdisjoint(identity_of(pod) for pod in group.pods)]
            in_vain = any(self._objective.is_in_vain(pod) for group in good for pod in group.pods)
            return Trial(self._objective.figure(), cost, plan, self._cluster, good, in_vain), {**objections, **refused}

    def _given_up(self, waiting: Sequence[Group]) -> Sequence[Group]:
        """Those of `waiting`, all of which are refused, that are not asked for again."""
        hindering = self._objective.give_up([group.moves for group in waiting])
        return waiting if hindering is None else [waiting[hindering]]

    def _substitutes(
        self, given_up: Sequence[Group], others: Sequence[Group], refused: Mapping[PodIdentity, str]
    ) -> list[Group]:
        """What is asked for instead of what was given up: neither pods of `others` nor such as were refused.

        Nothing where the plan chooses the nodes, of which it has none for others.
        """
        if self._chooses_nodes:
            return []
        pods, problem = self._cluster.pods, self._cluster.problem
        taken = {move.pod for group in others for move in group.moves}
        found = self._objective.substitutes(
            [move for group in given_up for move in group.moves],
            lambda pod: bool(problem.evictable[pod]) and pod not in taken and identity_of(pods[pod]) not in refused,
        )
        left = MovesLeft(problem, np.array(sorted(taken), dtype=np.int64))
        allowed = (moves for moves in found if left.take(np.array([move.pod for move in moves])))
        return [Group([move], self._cluster, holds_targets=False) for moves in allowed for move in moves]

    def useful(self, groups: Sequence[Group]) -> Sequence[Group]:
        """`groups` without those that are refused, and those that would leave in vain for want of others.

        What is refused leaves no trace: without it the others are granted as they were.
        """
        while True:
            with self._evictor.what_if():
                granted = [group for group in groups if not self._against_group(group)]
                useful = [group for group in granted if not any(map(self._objective.is_in_vain, group.pods))]
            if len(useful) == len(granted):
                return granted
            groups = useful

    def ask_whole(self, group: Group, waves: MoveWaves) -> Sequence[Pod]:
        """Those of `group` that were granted: all or none."""
        if self._objective.is_in_bundles:
            _, verdict = self._ask_together(group, waves)
            if verdict.is_accepted:
                return group.pods
        else:
            refusal = self._first_refusal(group) if len(group.pods) > 1 else None
            if refusal is None:
                return [pod for pod, held_on in group.asked if self._ask(pod, held_on, waves).is_accepted]
            verdict = refusal[1]
        for pod in group.pods:
            self._evictor.keep(pod, verdict, self._objective.reason(pod))
        return ()

    def _against_group(self, group: Group) -> dict[PodIdentity, str]:
        """Nothing where all of `group` is granted, which is booked then; else what stands against it.

        Of a group that is no bundle the first that is refused: without it another pod may make the room.
        """
        if self._objective.is_in_bundles:
            return self._against_bundle(group)
        if len(group.pods) == 1:
            verdict = self._ask(group.pods[0], group.held_on[0])
            return {} if verdict.is_accepted else {identity_of(group.pods[0]): verdict.message}
        refusal = self._first_refusal(group)
        if refusal is None:
            for pod, held_on in group.asked:
                self._ask(pod, held_on)
            return {}
        culprit, verdict = refusal
        return {identity_of(culprit): verdict.message}

    def _first_refusal(self, group: Group) -> tuple[Pod, Verdict] | None:
        with self._evictor.what_if():
            answers = ((pod, self._ask(pod, held_on)) for pod, held_on in group.asked)
            return next((answer for answer in answers if not answer[1].is_accepted), None)

    def _against_bundle(self, group: Group) -> dict[PodIdentity, str]:
        """The same of pods that are asked for as one bundle."""
        culprit, verdict = self._ask_together(group)
        return {} if verdict.is_accepted else _against_all(group, culprit, verdict)

    def _ask_together(self, group: Group, waves: MoveWaves | None = None) -> tuple[Pod | None, Verdict]:
        """Asks for all of `group` or none, as one bundle; with what stands against it the pod that has to stay."""
        gain, nodes = self._objective.gain_of(group.moves), list[str | None]()
        with self._evictor.what_if():
            for pod, held_on in group.asked:
                nodes.append(self._evictor.predicted(pod, held_on).node)
                verdict = self._ask(pod, held_on)
                if not verdict.is_accepted:
                    return pod, verdict
            verdict = gain()
        if not verdict.is_accepted:
            return None, verdict
        asked = zip(group.pods, nodes, group.held_on, strict=True)
        return None, self._evictor.request_all([self._candidate(*each, waves) for each in asked])

    def _ask(self, pod: Pod, held_on: str, waves: MoveWaves | None = None) -> Verdict:
        """Asks for the eviction of a pod that lands where it does no harm; `waves` takes note of where."""
        landing = self._evictor.predicted(pod, held_on)
        harm = self._harm(pod, landing)
        if harm.is_accepted:
            return self._evictor.request_all((self._candidate(pod, landing.node, held_on, waves),))
        self._evictor.keep(pod, harm, self._objective.reason(pod))
        return harm

    def _candidate(self, pod: Pod, node: str | None, held_on: str, waves: MoveWaves | None) -> Candidate:
        """`pod`, whose replacement is expected on `node`."""
        wave, reason = 1 if waves is None else waves.of(pod, node), self._objective.reason(pod)
        return Candidate(pod, reason, wave=wave, cost=self._cluster.cost_of(pod)).held(held_on)

    def _harm(self, pod: Pod, landing: Landing) -> Verdict:
        """What stands against where `pod` lands, or that nobody can tell where that is."""
        node = landing.node
        if landing.replacement.pod is None:
            return ACCEPTED
        if node is None or landing.cause:
            return refuse(Reason.NO_LANDING if node is None else Reason.UNKNOWN_LANDING, landing.message)
        if node == pod.node_name:
            message = f"the replacement pod would be scheduled onto {node} again"
            return self._hinted(refuse(Reason.RETURNS_TO_SOURCE, message, node))
        return self._hinted(self._objective.harm(pod, node))

    def _hinted(self, verdict: Verdict) -> Verdict:
        """With what helps, where the scheduler chooses another node."""
        hint = self._objective.hint
        if verdict.is_accepted or not hint:
            return verdict
        return msgspec.structs.replace(verdict, message=f"{verdict.message}; {hint}")


def _orders(groups: Sequence[Group]) -> Iterator[Sequence[Group]]:
    """The given one, and random ones without end, the same in each run."""
    yield groups
    rng = np.random.default_rng(len(groups))
    while True:
        yield [groups[place] for place in rng.permutation(len(groups))]


def _num_orders(num_groups: int) -> int:
    return min(max(_ASKED_IN_ALL // max(num_groups, 1), _FEWEST_ORDERS), _MOST_ORDERS)


def _is_granted(refused: Mapping[PodIdentity, str], group: Group) -> bool:
    return refused.keys().isdisjoint(map(identity_of, group.pods))


def _against_all(group: Group, culprit: Pod | None, verdict: Verdict) -> dict[PodIdentity, str]:
    """What is said against each pod of a group because of one of them, or of all together."""
    text = verdict.message
    if culprit is not None:
        text = f"it would leave only together with pod {culprit.key}, which has to stay: {text}"
    return {identity_of(pod): verdict.message if pod is culprit else text for pod in group.pods}
