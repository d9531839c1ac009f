"""The cluster as arrays: which pods may be moved, to which nodes, and at what cost; rules have modules of their own."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
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
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.args import DisruptionCost
from descheduler.planner.problem.allowed_nodes import AllowedNodes, AskingOrder, OpenRows
from descheduler.planner.problem.anti_affinity_rules import anti_affinity_rules
from descheduler.planner.problem.disruption_cost import disruption_costs
from descheduler.planner.problem.move_limits import move_limits
from descheduler.planner.problem.pod_needs import needs_of, refuse_uncountable
from descheduler.planner.problem.spread_rules import spread_rules

_NOWHERE = OpenRows(0, 0)


class EverOpen(NamedTuple):
    """The nodes that may ever be open to pods, as `pod_class` and `allowed` of a problem have those that are now."""

    pod_class: Ints
    allowed: Bools


class ClusterProblem:
    """`problem` over `pods` and `nodes`, whose places in these are the indices of its arrays.

    A node whose devices are told apart is there with each choice of them, several times under its name.
    `allocatable` is int64[N, R]. `problem.capacity` is what of it pods may request, without what Reservations hold.
    Of `unasked` pods it is unknown which nodes are open to them: in `problem` all are, which is for bounds alone.
    Pods that `goes_nowhere` has may leave although no node takes a replacement, or because none is created.
    Replacements of `resized` ones may request more or less than the pods.
    `ever_open` has also the nodes that moves of others may open to pods; None where they open none.
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
        ever_open: EverOpen | None = None,
        resized: Set[PodIdentity] = frozenset(),
    ) -> None:
        self.problem = problem
        self.pods = tuple(pods)
        self.nodes = tuple(nodes)
        self.resources = tuple(resources)
        self.allocatable = allocatable
        self.unasked = unasked
        self.goes_nowhere = goes_nowhere
        self.resized = resized
        self._ever_open = ever_open

    def with_all_openable(self) -> ClusterProblem:
        """The same where each pod may be moved to every node that moves of others may open to it, for bounds.

        Pods whose replacements may be smaller may leave for no node. Itself where that opens none.
        """
        return self._with_ever_open()._with_resized_nowhere()

    def _with_resized_nowhere(self) -> ClusterProblem:
        if self.resized <= self.goes_nowhere:
            return self
        other = self._of(self.problem)
        other.goes_nowhere = self.goes_nowhere | self.resized
        return other

    def _with_ever_open(self) -> ClusterProblem:
        problem, ever = self.problem, self._ever_open
        if ever is None:
            return self
        openable = with_kept_domains(dataclasses.replace(problem, pod_class=ever.pod_class, allowed=ever.allowed))
        now, later = np.unique(np.stack((problem.pod_class, openable.pod_class)), axis=1)
        if np.array_equal(problem.allowed[now], openable.allowed[later]):
            return self
        return self._of(openable)

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

    @property
    def held(self) -> Ints:
        """int64[N, R]: what is taken by other things than pods."""
        return self.allocatable - self.problem.capacity


def cluster_problem(
    handle: StrategyHandle,
    nodes: Sequence[Node],
    asking: AskingOrder,
    *,
    weights: DisruptionCost,
    counts: Callable[[Pod], bool],
    pending: Sequence[Pod],
    most: Allowance | None,
    is_disposable: Callable[[Pod], bool] | None,
) -> ClusterProblem:
    """The problem of moving pods of `nodes` among them, as the cluster is with everything that is booked.

    weights:       of what the eviction of a pod costs.
    counts:        whether a pod is one of the problem's; what the others take comes off the capacity.
    pending:       pods without a node, which are placed too.
    most:          evictions of the planner at most, beside what limits and budgets leave.
    is_disposable: pods that may be moved although their replacement lands nowhere; None where every pod needs a node.

    Rules are: required anti-affinity and topology spread of pods among their own kind, and what limits and budgets
    leave; everything else that stands between pods counts as it is now. Raises StrategyError where pods request more of
    a resource in all than problems count.
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
    # What nodes have comes last: replacements and pods make rows for resources that no node has.
    need = needs_of(pods, openings)
    allocatable = openings.capacity[:, columns].T
    held = _held_by_others(openings.taken[:, columns].T, need, assignment)
    pod_class, ever_class = np.array([row or _NOWHERE for row in rows], dtype=np.int64).reshape(-1, 2).T.copy()
    problem = make_problem(
        _counted(need, allocatable, openings.resources),
        np.maximum(allocatable - held, 0),
        assignment,
        evictable=np.array([row is not None for row in rows], dtype=bool),
        cost=disruption_costs(pods, weights, handle.view, handle.now, prover.ends_owner),
        pod_class=pod_class,
        allowed=allowed_nodes.allowed,
        rules=[
            *anti_affinity_rules(pods, nodes),
            *spread_rules(pods, assignment, openings, columns, holds_first=asking.holds_first),
            *move_limits(pods, len(placed), [*evictor.allowances(), *([] if most is None else [most])]),
        ],
    )
    names = [node.name for node in nodes]
    known = (asked.unasked, goes_nowhere, asked.resized)
    unasked, leaving, resized = (frozenset(map(identity_of, each)) for each in known)
    ever_open = EverOpen(ever_class, allowed_nodes.ever_allowed)
    return ClusterProblem(
        with_kept_domains(problem), pods, names, openings.resources, allocatable, unasked, leaving, ever_open, resized
    )


def _assignment(placed: Sequence[Pod], num_pending: int, nodes: Sequence[Node]) -> Ints:
    """int64[P]: the node of each placed pod, by its place in `nodes`, and those of the pending ones after them."""
    place = {node.name: number for number, node in enumerate(nodes)}
    return np.array([place[pod.node_name] for pod in placed] + [PENDING] * num_pending, dtype=np.int64)


def _counted(need: Ints, allocatable: Ints, resources: Sequence[str]) -> Ints:
    """int64[P, R]: `need` within what problems count. Raises StrategyError where that is too much in all.

    What no node has fits nowhere, however much it is: problems take no numbers as large as pods may request.
    """
    counted: Ints = np.minimum(need, allocatable.max(axis=0, initial=0) + 1)
    refuse_uncountable(counted, resources, "requests")
    return counted


def _held_by_others(taken: Ints, need: Ints, assignment: Ints) -> Ints:
    """int64[N, R]: what of `taken` (int64[N, R]) the problem's pods do not take."""
    used = np.zeros_like(taken)
    placed = assignment != PENDING
    np.add.at(used, assignment[placed], need[placed])
    held: Ints = np.maximum(taken - used, 0)
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
    return evictor.filter(pod).is_accepted and evictor.pre_eviction_filter(pod).is_accepted


def _rows(
    placed: Sequence[Pod], rows_of: Mapping[Pod, OpenRows | None], goes_nowhere: Container[Pod]
) -> list[OpenRows | None]:
    """The rows of each pod that may be moved; None for one that stays, as where it lands nowhere and has to land."""
    return [rows_of.get(pod) or (_NOWHERE if pod in goes_nowhere else None) for pod in placed]
