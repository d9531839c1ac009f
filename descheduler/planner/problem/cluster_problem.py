"""The cluster as arrays: which pods may be moved, to which nodes, and at what cost; rules have modules of their own."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.request_check import Allowance
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools, Ints
from descheduler.optimizer.kept_domains import with_kept_domains
from descheduler.optimizer.problem import Problem, make_problem
from descheduler.optimizer.rules import Rule
from descheduler.placement.landings.openings import Openings
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.args import DisruptionCost
from descheduler.planner.problem.allowed_nodes import AllowedNodes, AskingOrder, OpenRows
from descheduler.planner.problem.anti_affinity_rules import anti_affinity_rules
from descheduler.planner.problem.disruption_cost import disruption_costs
from descheduler.planner.problem.move_limits import move_limits
from descheduler.planner.problem.pod_needs import least_needs, needs_of
from descheduler.planner.problem.spread_rules import spread_rules
from descheduler.planner.problem.units import Units, counted_needs, ones, units_for

_NOWHERE = OpenRows(0, 0)
_MOST_TAKEN = float(2**62)
"""Sums of requests above this may not be exact any more, and no node has as much."""


class Loosest(NamedTuple):
    """What bounds count in place of arrays of a problem: more than any order of moves can make of these.

    `pod_class` and `allowed` have the nodes that may ever be open to pods. `rules` are those by which replacements
    count as their pods do. `need` is rounded down where it is rounded. `least_need` is `need` with that of the smallest
    replacement, where replacements may request less than their pods.
    """

    pod_class: Ints
    allowed: Bools
    rules: tuple[Rule, ...]
    need: Ints
    least_need: Ints


class ClusterProblem:
    """`problem` over `pods` and `nodes`, whose places in these are the indices of its arrays.

    A node whose devices are told apart is there with each choice of them, several times under its name.
    `allocatable` and `held` are int64[N, R]: what nodes have, and what of it other things than the pods hold, such as
    Reservations. `problem` has what is left of it, and what pods request, in `units` of each resource.
    Of `unasked` pods it is unknown which nodes are open to them: in `problem` all are, which is for bounds alone.
    Pods that `goes_nowhere` has may leave although no node takes a replacement, or because none is created.
    Replacements of `resized` ones may request more or less than the pods.
    `loosest` is what bounds count instead; None where they count the same.
    """

    def __init__(
        self,
        problem: Problem,
        pods: Sequence[Pod],
        nodes: Sequence[str],
        resources: Sequence[str],
        allocatable: Ints,
        unasked: Set[PodIdentity] = frozenset(),
        goes_nowhere: Set[PodIdentity] = frozenset(),
        loosest: Loosest | None = None,
        resized: Set[PodIdentity] = frozenset(),
        *,
        held: Ints | None = None,
        units: Units | None = None,
    ) -> None:
        self.problem = problem
        self.pods = tuple(pods)
        self.nodes = tuple(nodes)
        self.resources = tuple(resources)
        self.allocatable = allocatable
        self.unasked = unasked
        self.goes_nowhere = goes_nowhere
        self.resized = resized
        self.held = allocatable - problem.capacity if held is None else held
        self.units = ones(len(resources)) if units is None else units
        self._loosest = loosest

    def for_bounds(self, *, resized_shrink: bool = False) -> ClusterProblem:
        """The same with what is possible at most, in any order of moves.

        Pods whose replacements may be smaller may leave for no node. Where `resized_shrink`, they need what the
        smallest replacement requests instead, on their own node, too.
        """
        other = self._of(self.problem)
        other.units = self.units.loosest()
        if not resized_shrink:
            other.goes_nowhere = self.goes_nowhere | self.resized
        if (loosest := self._loosest) is not None:
            need = loosest.least_need if resized_shrink else loosest.need
            other.problem = with_kept_domains(
                dataclasses.replace(
                    self.problem,
                    pod_class=loosest.pod_class,
                    allowed=loosest.allowed,
                    rules=loosest.rules,
                    need=need,
                )
            )
        return other

    def ceilings(self, most: Ints) -> Ints:
        """int64[N, R]: what pods may take of nodes in the problem's units, where `most` of each may be taken in all."""
        return self.units.room(most - self.held)

    def cost_of(self, pod: Pod) -> int:
        """What the eviction of one of `pods` costs. Raises KeyError for others."""
        return int(self.problem.cost[self.number_of(pod)])

    def number_of(self, pod: Pod) -> int:
        """The index of one of `pods` in the arrays. Raises KeyError for others."""
        return self._numbers[identity_of(pod)]

    def assignment_with(self, targets: Mapping[str, str]) -> Ints | None:
        """int64[P]: as it is, but with movable pods on the nodes that `targets` has for their UIDs.

        None where that changes nothing.
        """
        by_uid = {pod.uid: number for number, pod in enumerate(self.pods)}
        placement = Arrangement(self.problem)
        for uid, node in targets.items():
            number = by_uid.get(uid, -1)
            if number >= 0 and self.problem.evictable[number]:
                self._place(placement, number, self.places_of(number, node))
        return None if np.array_equal(placement.at, self.problem.assignment) else placement.at

    @staticmethod
    def _place(placement: Arrangement, number: int, places: Sequence[int]) -> None:
        """Puts the pod on the first of its places that has room, else on the first."""
        if places:
            is_open = placement.open_moves(np.array([number]), np.array(places))[0]
            placement.move(number, places[int(np.argmax(is_open))])

    def places_of(self, number: int, node: str) -> Sequence[int]:
        """The problem's nodes with that name that are allowed to the pod `number`, whether they have room or not.

        One, or several where its devices are told apart; none for a node that is not one of the problem's.
        """
        places = self._places.get(node, [])
        if len(places) < 2:
            return places
        is_allowed = self.problem.allowed[self.problem.pod_class[number]]
        return [place for place in places if is_allowed[place]]

    def where_stay(self, pods: Container[PodIdentity]) -> ClusterProblem:
        """The same where these pods are not moved."""
        stays = np.array([identity_of(pod) in pods for pod in self.pods], dtype=bool)
        return self._of(dataclasses.replace(self.problem, evictable=self.problem.evictable & ~stays))

    def without_moves(self, closed: Iterable[tuple[Sequence[int], Bools]]) -> ClusterProblem:
        """The same where each of some pods, by number, may not be moved to the nodes bool[N] of its pair."""
        masks: dict[int, Bools] = {}
        for numbers, nodes in closed:
            for number in numbers:
                masks[number] = masks[number] | nodes if number in masks else nodes
        problem, rows = self.problem, list(self.problem.allowed)
        pod_class, known = problem.pod_class.copy(), dict[tuple[int, bytes], int]()
        for number, mask in masks.items():
            key = int(pod_class[number]), mask.tobytes()
            if key not in known:
                known[key] = len(rows)
                rows.append(rows[key[0]] & ~mask)
            pod_class[number] = known[key]
        return self._of(dataclasses.replace(problem, pod_class=pod_class, allowed=np.array(rows)))

    def _of(self, problem: Problem) -> ClusterProblem:
        """The same pods and nodes with another `problem` over them."""
        other = copy.copy(self)
        other.problem = problem
        return other

    @cached_property
    def _places(self) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, name in enumerate(self.nodes):
            found.setdefault(name, []).append(number)
        return found

    @cached_property
    def _numbers(self) -> Mapping[PodIdentity, int]:
        return {identity_of(pod): number for number, pod in enumerate(self.pods)}


def cluster_problem(
    handle: StrategyHandle,
    nodes: Sequence[Node],
    asking: AskingOrder,
    *,
    weights: DisruptionCost,
    counts: Callable[[Pod], bool],
    pending: Sequence[Pod],
    most_moves: Allowance | None,
    is_disposable: Callable[[Pod], bool] | None,
) -> ClusterProblem:
    """The problem of moving pods of `nodes` among them, as the cluster is with everything that is booked.

    weights:       of what the eviction of a pod costs.
    counts:        whether a pod is one of the problem's; what the others take comes off the capacity.
    pending:       pods without a node, which are placed too.
    most_moves:    evictions of the planner at most, beside what limits and budgets leave.
    is_disposable: pods that may be moved although their replacement lands nowhere; None where every pod needs a node.

    Rules are: required anti-affinity and topology spread of pods among their own kind, and what limits and budgets
    leave; everything else that stands between pods counts as it is now.
    """
    evictor, prover = handle.evictor, handle.evictor.prover()
    openings = prover.openings()
    columns = np.array([openings.place_of(node.name) for node in nodes], dtype=np.int64)
    placed = [pod for pod in _still_there(handle.view, evictor, nodes) if counts(pod)]
    pods = [*placed, *pending]
    assignment = _assignment(placed, len(pending), nodes)
    allowed_nodes = AllowedNodes(openings, columns, asking)
    asked = allowed_nodes.asked(placed, [pod for pod in placed if _may_leave(pod, evictor, handle.view)])
    goes_nowhere = {*asked.unreplaced, *(filter(is_disposable, asked.rows_of) if is_disposable else ())}
    rows = _rows(placed, asked.rows_of, goes_nowhere if is_disposable else ())
    rows += [allowed_nodes.rows_of_pending(pod, pending) for pod in pending]
    amounts = _amounts(pods, asked.resized, openings, columns, assignment)
    numbers = {pod: number for number, pod in enumerate(placed)}
    changed = {numbers[pod]: replacement for pod, replacement in asked.changed.items()}
    limits = move_limits(pods, len(placed), [*evictor.allowances(), *([] if most_moves is None else [most_moves])])
    rules_of = partial(_rules, pods, nodes, assignment, openings, columns, changed, holds_first=asking.holds_first)
    rules = (*rules_of(for_bounds=False), *limits)
    loose_rules = (*rules_of(for_bounds=True), *limits) if changed else rules
    pod_class, ever_class = np.array([row or _NOWHERE for row in rows], dtype=np.int64).reshape(-1, 2).T.copy()
    problem = make_problem(
        amounts.counted(amounts.units, amounts.need),
        amounts.units.room(amounts.room),
        assignment,
        evictable=np.array([row is not None for row in rows], dtype=bool),
        cost=disruption_costs(pods, weights, handle.view, handle.now, prover.ends_owner),
        pod_class=pod_class,
        allowed=allowed_nodes.allowed,
        rules=rules,
    )
    return ClusterProblem(
        with_kept_domains(problem),
        pods,
        [node.name for node in nodes],
        openings.resources,
        amounts.allocatable,
        frozenset(map(identity_of, asked.unasked)),
        frozenset(map(identity_of, goes_nowhere)),
        amounts.loosest(ever_class, allowed_nodes.ever_allowed, loose_rules),
        frozenset(map(identity_of, asked.resized)),
        held=amounts.held,
        units=amounts.units,
    )


def _rules(
    pods: Sequence[Pod],
    nodes: Sequence[Node],
    assignment: Ints,
    openings: Openings,
    columns: Ints,
    changed: Mapping[int, Pod],
    *,
    holds_first: bool,
    for_bounds: bool,
) -> tuple[Rule, ...]:
    """Anti-affinity and topology spread; `changed` has replacements that count for others than their pod, by number."""
    apart = anti_affinity_rules(pods, nodes, changed, for_bounds=for_bounds)
    spread = spread_rules(pods, assignment, openings, columns, changed, holds_first=holds_first, for_bounds=for_bounds)
    return (*apart, *spread)


class _Amounts(NamedTuple):
    """What pods request, and the least that their replacements do (int64[P, R]); what nodes have, and what of it others
    than these pods hold (int64[N, R]); and the units that all of it is counted in."""

    need: Ints
    least_need: Ints
    allocatable: Ints
    held: Ints
    units: Units

    @property
    def room(self) -> Ints:
        """int64[N, R]: what nodes have for the pods."""
        room: Ints = np.maximum(self.allocatable - self.held, 0)
        return room

    def counted(self, units: Units, need: Ints) -> Ints:
        """int64[P, R]: `need` in `units`."""
        return counted_needs(units, need, self.allocatable.max(axis=0, initial=0))

    def loosest(self, pod_class: Ints, allowed: Bools, rules: tuple[Rule, ...]) -> Loosest:
        """What bounds count, with the nodes that are ever open and the rules for them."""
        units = self.units.loosest()
        return Loosest(pod_class, allowed, rules, *(self.counted(units, each) for each in (self.need, self.least_need)))


def _amounts(
    pods: Sequence[Pod], resized: Sequence[Pod], openings: Openings, columns: Ints, assignment: Ints
) -> _Amounts:
    # What nodes have comes last: replacements and pods make rows for resources that no node has.
    need, least_need = needs_of(pods, openings), least_needs(pods, resized, openings)
    allocatable = openings.capacity[:, columns].T
    held = _held_by_others(openings.taken[:, columns].T, need, assignment)
    return _Amounts(need, least_need, allocatable, held, units_for(need, allocatable.max(axis=0, initial=0)))


def _assignment(placed: Sequence[Pod], num_pending: int, nodes: Sequence[Node]) -> Ints:
    """int64[P]: the node of each placed pod, by its place in `nodes`, and those of the pending ones after them."""
    place = {node.name: number for number, node in enumerate(nodes)}
    return np.array([place[pod.node_name] for pod in placed] + [PENDING] * num_pending, dtype=np.int64)


def _held_by_others(taken: Ints, need: Ints, assignment: Ints) -> Ints:
    """int64[N, R]: what of `taken` (int64[N, R]) the problem's pods do not take."""
    used, about = np.zeros_like(taken), np.zeros(taken.shape)
    placed = assignment != PENDING
    np.add.at(used, assignment[placed], need[placed])
    np.add.at(about, assignment[placed], need[placed])
    # Absurd requests add up to more than int64 holds, and to more than `taken` says.
    held: Ints = np.where(about > _MOST_TAKEN, 0, np.maximum(taken - used, 0))
    return held


def _still_there(view: ClusterView, evictor: PluginEvictor, nodes: Sequence[Node]) -> Iterator[Pod]:
    """The pods of `nodes` that nothing has evicted.

    Where moves take no effect in the view of strategies, it still lists what this cycle has evicted; it always lists
    what earlier rounds have.
    """
    for pod in (pod for node in nodes for pod in view.active_pods_on(node.name)):
        if not (evictor.has_booked(pod) or view.prior_moves.have_taken(pod)):
            yield pod


def _may_leave(pod: Pod, evictor: PluginEvictor, view: ClusterView) -> bool:
    if view.is_arrival(pod) or pod.is_terminating:
        return False
    return all(ask(pod).is_accepted for ask in (evictor.of_scope, evictor.filter, evictor.pre_eviction_filter))


def _rows(
    placed: Sequence[Pod], rows_of: Mapping[Pod, OpenRows | None], goes_nowhere: Container[Pod]
) -> list[OpenRows | None]:
    """The rows of each pod that may be moved; None for one that stays, as where it lands nowhere and has to land."""
    return [rows_of.get(pod) or (_NOWHERE if pod in goes_nowhere else None) for pod in placed]
