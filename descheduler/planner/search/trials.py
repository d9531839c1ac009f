"""Tries plans out: what is granted of them, in which order of asking, and what blocks the rest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence, Set
from functools import partial
from itertools import chain, groupby
from typing import NamedTuple

import numpy as np

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.held_room import HeldRoom
from descheduler.model.pod import Pod
from descheduler.model.verdict import Verdict
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.moves_left import MovesLeft
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.solving import Solution
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.objectives.cluster_objective import ClusterObjective
from descheduler.planner.objectives.draining.closed_nodes import ClosedNodes
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.search.asking import Asking, MovesTogether
from descheduler.planner.search.last_plan import PlannedTargets
from descheduler.planner.search.leaving_nodes import LeavingNodes, LeavingTogether
from descheduler.planner.search.orders import orders_of

_FEWEST_ORDERS, _MOST_ORDERS, _ASKED_IN_ALL = 8, 100, 6000
"""In how many orders a plan is tried out, as many as ask for that many groups in all."""
_WORK_OF_ASKING = 3e-3
"""What one question is worth of a search's work."""

_Part = Sequence[MovesTogether]
"""What keeps together where a plan is tried in other orders: one group, or all of a zone."""

PlanOver = tuple[Solution, ClusterProblem]
"""A plan, and the cluster that its numbers are of."""


class Trial(NamedTuple):
    """What comes of a plan over `cluster` once `groups` are granted on trial, and whether some leave in vain then.

    `refused` says of pods of the plan why they stay. `companions` are those of them that would leave only together with
    another one that has to stay.
    """

    figure: int
    cost: int
    plan: Solution
    cluster: ClusterProblem
    groups: Sequence[MovesTogether]
    has_in_vain: bool
    refused: Mapping[PodIdentity, str]
    companions: Set[PodIdentity] = frozenset()

    @property
    def num_evictions(self) -> int:
        """How many pods leave."""
        return sum(len(group.pods) for group in self.groups)

    def refused_beside(self, better: Trial) -> Mapping[PodIdentity, str]:
        """What is refused here and does not leave in a `better` trial either: the next plan would repeat it."""
        leaving = {identity_of(pod) for group in better.groups for pod in group.pods}
        return {pod: text for pod, text in self.refused.items() if pod not in leaving}

    def to_drop(self, rng: np.random.Generator) -> set[int]:
        """Some of the groups, by number, those of many evictions more often."""
        if not self.groups:
            return set()
        number = int(rng.integers(1, max(2, len(self.groups) // 3) + 1))
        weight = np.array([len(group.pods) for group in self.groups], dtype=np.float64)
        number = min(number, len(weight))
        return set(rng.choice(len(weight), size=number, replace=False, p=weight / weight.sum()).tolist())


class Trials:
    """Tries plans over `cluster` out.

    The scheduler chooses the nodes of replacements, or with `chooses_nodes` the plan; none of them is `closed`. With
    `tries_whole` the moves of a plan are first asked for as one group, in the plan's own order: a group may need room,
    or a place in a topology spread, that another one leaves midway. No more than `most` pods leave in the name of the
    plugin. `plan_further` has one more plan for what is left as things are booked on trial, if there is any.
    """

    def __init__(
        self,
        objective: ClusterObjective,
        evictor: PluginEvictor,
        cluster: ClusterProblem,
        *,
        chooses_nodes: bool,
        closed: ClosedNodes,
        tries_whole: bool = False,
        most: int | None = None,
        plan_further: Callable[[PlannedTargets], PlanOver | None] = lambda targets: None,
        is_disposable: Callable[[Pod], bool] = lambda pod: False,
    ) -> None:
        self._objective = objective
        self._evictor = evictor
        self._cluster = cluster
        self._chooses_nodes = chooses_nodes
        self._tries_whole = tries_whole
        self._plan_further = plan_further
        self._closed = closed
        self.asking = Asking(objective, evictor, cluster, most, is_disposable, closed)

    def groups(self, plan: Solution) -> list[MovesTogether]:
        """The moves of `plan` that are asked for together, in its order; moves of pending pods ask for nothing."""
        groups = (
            MovesTogether(moves, self._cluster, self._rooms(moves)) for moves in self._objective.groups(plan.moves)
        )
        return [group for group in groups if group.pods]

    def _rooms(self, moves: Sequence[Reassignment]) -> Mapping[Reassignment, tuple[HeldRoom, ...]] | None:
        """Room that is held for pods of a group, where the plan chooses nodes."""
        return self._objective.rooms(moves) if self._chooses_nodes else None

    def tried(self, plan: Solution, budget: Budget) -> Trial:
        """What comes of asking for the groups of `plan`.

        The largest pods are asked for first, and in the next try what was refused: the scheduler has more nodes for
        what it places early. Where that leads nowhere, it is begun once more, with the plan's own order and then with
        others, until `budget` is over. Groups of one zone keep together where pods leave zone by zone.
        """
        groups = self.groups(plan)
        is_in_bundles, zones = self._objective.is_in_bundles, self._by_zone(groups)
        if is_in_bundles and not self._objective.is_tried_in_orders and len(zones) < 2:
            return self._tried_in_order(plan, groups)
        if self._tries_whole and not is_in_bundles and len(groups) > 1:
            trial = self._tried_in_order(plan, [MovesTogether(plan.moves, self._cluster, self._rooms(plan.moves))])
            if self._is_as_planned(trial):
                return trial
        parts: Sequence[_Part] = zones if len(zones) > 1 else [[group] for group in groups]
        order: Sequence[_Part] = (
            parts if is_in_bundles else sorted(parts, key=lambda part: max(map(self._size, part)), reverse=True)
        )
        others = orders_of(parts)
        tries: list[Trial] = []
        for _ in range(_FEWEST_ORDERS if is_in_bundles else _num_orders(len(groups))):
            trial = self._tried_in_order(plan, list(chain.from_iterable(order)))
            budget.spend(_WORK_OF_ASKING * len(groups))
            leads_on = all(trial.refused.keys() != known.refused.keys() for known in tries)
            tries.append(trial)
            if self._is_as_planned(trial) or budget.is_over:
                break
            if (following := _refused_first(order, trial) if leads_on else next(others, None)) is None:
                break
            order = following
        return min(tries, key=lambda trial: (trial.figure, trial.cost, len(trial.refused)))

    def _by_zone(self, groups: Sequence[MovesTogether]) -> list[list[MovesTogether]]:
        """`groups` in order, those together that follow each other in one zone; all where zones make no difference."""
        return [list(found) for _, found in groupby(groups, key=self._zone_of)]

    def _zone_of(self, group: MovesTogether) -> str:
        return self._objective.zone_of(group.pods[0].node_name)

    def _is_as_planned(self, trial: Trial) -> bool:
        """Whether all is granted, and where the order decides what comes of that, as much as planned."""
        figure, _ = self._objective.shown(trial.plan.value)
        return not trial.refused and (trial.figure <= figure or not self._objective.is_tried_in_orders)

    def _size(self, group: MovesTogether) -> float:
        """What the largest pod needs of its node, as a share of the resource that it needs most of."""
        pods, nodes = np.array([(move.pod, move.source) for move in group.moves if move.source != PENDING]).T
        cluster = self._cluster
        share = cluster.units.amounts(cluster.problem.need[pods]) / np.maximum(cluster.allocatable[nodes], 1)
        return float(share.max())

    def replanned(self, trial: Trial, dropped: Container[int]) -> Trial:
        """What comes of a trial over the same cluster when some of its groups are planned again, from there on."""
        kept, left = list[MovesTogether](), dict[str, str]()
        for number, group in enumerate(trial.groups):
            if number in dropped:
                left |= self._targets(group)
            else:
                kept.append(group)
        return self._tried_in_order(trial.plan, kept, left)

    def _targets(self, group: MovesTogether) -> dict[str, str]:
        return {self._cluster.pods[move.pod].uid: self._cluster.nodes[move.target] for move in group.moves}

    def _tried_in_order(
        self, plan: Solution, groups: Sequence[MovesTogether], left: PlannedTargets | None = None
    ) -> Trial:
        """The same in this order.

        What is refused is asked for again once others have left: it may land where these were. Where that does not
        help, a group is given up that keeps others from being granted, and replaced by what does as well. What is left
        is planned further, from where the targets of `left` have it if that is given.
        """
        granted, refused = list[MovesTogether](), dict[PodIdentity, str]()
        with self._evictor.what_if():
            num_granted = -1
            while num_granted < len(granted):
                num_granted = len(granted)
                for zone in self._by_zone(groups):
                    self._ask_all(zone, granted, refused)
                groups = self._further_groups(left or {}) if refused or left else ()
                if not groups:
                    break
            cost = sum(self._cluster.cost_of(pod) for group in granted for pod in group.pods)
            objections = self._objective.objections()
            good = [group for group in granted if objections.keys().isdisjoint(identity_of(pod) for pod in group.pods)]
            in_vain = bool(self._objective.in_vain(pod for group in good for pod in group.pods))
            refused = {**objections, **refused}
            companions = self.asking.companions
            return Trial(self._objective.figure(), cost, plan, self._cluster, good, in_vain, refused, companions)

    def _ask_all(
        self, groups: Sequence[MovesTogether], granted: list[MovesTogether], refused: dict[PodIdentity, str]
    ) -> None:
        """Asks for all of `groups` until those that are left are refused for good; adds to `granted` and `refused`."""
        waiting = list(groups)
        while waiting:
            answers = [(group, self.asking.against(group)) for group in waiting]
            granted += (group for group, against in answers if not against)
            waiting = [group for group, against in answers if against]
            if len(waiting) == len(answers):
                given_up = self._given_up(waiting)
                refused |= {
                    uid: text for group, against in answers if group in given_up for uid, text in against.items()
                }
                waiting = [group for group in waiting if group not in given_up]
                waiting += self._substitutes(given_up, [*granted, *waiting], refused)

    def _further_groups(self, left: PlannedTargets) -> list[MovesTogether]:
        """What one more plan moves, for what is left as things are booked; it may be there that was not before."""
        found = self._plan_further(left)
        if found is None:
            return []
        plan, cluster = found
        chains = [(moves, self._rooms(moves)) for moves in self._objective.groups(plan.moves)]
        self._objective.stated_over(self._cluster)
        groups = []
        for moves, rooms in chains:
            here = {move: self._renumbered(move, cluster) for move in moves}
            known = {move: each for move, each in here.items() if each is not None}
            if len(known) == len(moves):
                of_known = None if rooms is None else {known[move]: found for move, found in rooms.items()}
                groups.append(MovesTogether(list(known.values()), self._cluster, of_known))
        return [group for group in groups if group.pods]

    def _renumbered(self, move: Reassignment, cluster: ClusterProblem) -> Reassignment | None:
        """A move over `cluster`, which is of a later moment, by the numbers of the one that plans are over.

        None where that had no such place for the pod.
        """
        number = self._cluster.number_of(cluster.pods[move.pod])
        places = self._cluster.places_of(number, cluster.nodes[move.target])
        return Reassignment(number, int(self._cluster.problem.assignment[number]), places[0]) if places else None

    def _given_up(self, waiting: Sequence[MovesTogether]) -> Sequence[MovesTogether]:
        """The groups of `waiting`, all of which are refused, that are not asked for again."""
        hindering = self._objective.give_up([group.moves for group in waiting])
        return waiting if hindering is None else [waiting[hindering]]

    def _substitutes(
        self, given_up: Sequence[MovesTogether], others: Sequence[MovesTogether], refused: Mapping[PodIdentity, str]
    ) -> list[MovesTogether]:
        """What is asked for instead of what was given up: neither pods of `others` nor such as were refused.

        Their parts where the plan chooses the nodes, of which it has none for others.
        """
        if self._chooses_nodes:
            parts = (part for group in given_up for part in self._objective.split(group.moves))
            return [MovesTogether(moves, self._cluster, self._rooms(moves)) for moves in parts]
        pods, problem = self._cluster.pods, self._cluster.problem
        taken = {move.pod for group in others for move in group.moves}
        found = self._objective.substitutes(
            [move for group in given_up for move in group.moves],
            lambda pod: bool(problem.evictable[pod]) and pod not in taken and identity_of(pods[pod]) not in refused,
        )
        left = MovesLeft(problem, np.array(sorted(taken), dtype=np.int64))
        allowed = (moves for moves in found if left.take(np.array([move.pod for move in moves])))
        return [MovesTogether([move], self._cluster, rooms=None) for moves in allowed for move in moves]

    def together(self, pods: Sequence[Pod]) -> LeavingTogether:
        """How `pods`, all of one node, leave together as things are booked, of which nothing is left."""
        leaving = LeavingNodes(
            self.asking, self._evictor, self._cluster, self._closed, chooses_nodes=self._chooses_nodes
        )
        return leaving.of(pods)

    def refusal_of(self, pods: Sequence[Pod]) -> tuple[Pod | None, Verdict, bool]:
        """What is said against `pods` of one node leaving together as things are booked: see `AskTogether`."""
        found = self.together(pods)
        return found.pod, found.verdict, found.is_proven

    def useful(self, groups: Sequence[MovesTogether]) -> Sequence[MovesTogether]:
        """`groups` without those that are refused, and those that would leave in vain, such as for want of others.

        What is refused leaves no trace: without it the others are granted as they were.
        """
        while True:
            with self._evictor.what_if():
                granted = [group for group in groups if not self.asking.against(group)]
                in_vain = self._objective.in_vain(pod for group in granted for pod in group.pods)
            useful = list(chain.from_iterable(self._without(in_vain, group) for group in granted))
            if useful == granted:
                return granted
            groups = useful

    def _without(self, in_vain: Collection[PodIdentity], group: MovesTogether) -> Sequence[MovesTogether]:
        """`group`, or those of its parts that have no pod that leaves in vain, where it was made of several."""
        if not any(identity_of(pod) in in_vain for pod in group.pods):
            return [group]
        parts = self._objective.groups(group.moves)
        found = [MovesTogether(moves, self._cluster, self._rooms(moves)) for moves in parts] if len(parts) > 1 else []
        return [part for part in found if part.pods and not any(identity_of(pod) in in_vain for pod in part.pods)]


def _num_orders(num_groups: int) -> int:
    return min(max(_ASKED_IN_ALL // max(num_groups, 1), _FEWEST_ORDERS), _MOST_ORDERS)


def _refused_first(order: Sequence[_Part], trial: Trial) -> Sequence[_Part]:
    """`order` with the parts first of which something was refused."""
    return sorted(order, key=partial(_is_granted, trial.refused))


def _is_granted(refused: Mapping[PodIdentity, str], part: _Part) -> bool:
    return all(refused.keys().isdisjoint(map(identity_of, group.pods)) for group in part)
