"""The cluster as arrays: which pods may be moved, to which nodes, and at what cost; rules have modules of their own."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import takewhile

import numpy as np

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.node import HOSTNAME_LABEL, Node
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import PodAffinityTerm
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools, Ints
from descheduler.optimizer.problem import Problem, make_problem
from descheduler.optimizer.rules import AtMost
from descheduler.placement.framework.scheduling_plugin import Compares
from descheduler.placement.landings.openings import Openings
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.problem.move_limits import move_limits
from descheduler.planner.problem.pod_needs import needs_of
from descheduler.planner.problem.spread_rules import spread_rules

__all__ = ["ClusterProblem", "cluster_problem"]


class ClusterProblem:
    """`problem` over `pods` and `nodes`, whose places in these are the indices of its arrays.

    A node whose devices are told apart is there with each choice of them, several times under its name.
    `allocatable` is int64[N, R]. `problem.capacity` is what of it pods may request, without what Reservations hold.
    Of `unasked` pods it is unknown which nodes are open to them: in `problem` all are, which is for bounds alone.
    """

    def __init__(
        self,
        problem: Problem,
        pods: Sequence[Pod],
        nodes: Sequence[str],
        resources: Sequence[str],
        allocatable: Ints,
        unasked: Set[PodIdentity] = frozenset(),
    ) -> None:
        self.problem = problem
        self.pods = tuple(pods)
        self.nodes = tuple(nodes)
        self.resources = tuple(resources)
        self.allocatable = allocatable
        self.unasked = unasked

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
    view: ClusterView,
    evictor: PluginEvictor,
    nodes: Sequence[Node],
    *,
    counts: Callable[[Pod], bool] = lambda pod: True,
    pending: Sequence[Pod] = (),
    most: int | None = None,
    most_text: str = "",
    cost_of: Callable[[Sequence[Pod]], Ints] | None = None,
    looks_at_devices: bool = True,
    holds_first: bool = False,
    is_disposable: Callable[[Pod], bool] = lambda pod: False,
    empties_nodes: bool = False,
    asked_later: Callable[[str], float] = lambda node: 0.0,
    may_ask: Callable[[int], bool] = lambda number: True,
) -> ClusterProblem:
    """The problem of moving pods of `nodes` among them, as the cluster is with everything that is booked.

    counts:  whether a pod is one of the problem's; what the others take comes off the capacity.
    pending: pods without a node, which are placed too.
    most:    evictions at most; `most_text` is what reports call this limit.
    cost_of: int64[P], what the evictions of pods cost; None: 1 each.
    looks_at_devices: otherwise nodes are open to pods whatever is left of their devices.
    holds_first: whether room is held for replacements while their pods are still there.
    is_disposable: pods that may be moved although their replacement lands nowhere.
    empties_nodes: whether pods leave a node only all together. Of pods beside which another one stays it is not asked
                   which nodes are open to them: they stay too.
    asked_later: in this order it is asked which nodes are open to the pods of a node; infinity: never, as they stay.
    may_ask: whether there is time left to ask that of one more pod after so many.

    Rules are: required anti-affinity and topology spread of pods among their own kind, and what limits and budgets
    leave; everything else that stands between pods counts as it is now.
    """
    openings = evictor.prover().openings()
    columns = np.array([openings.place_of(node.name) for node in nodes], dtype=np.int64)
    placed = [pod for pod in _still_there(view, evictor, nodes) if counts(pod)]
    pods = [*placed, *pending]
    assignment = _assignment(placed, len(pending), nodes)
    # Needs come first: they make rows for resources that no node has.
    need = needs_of(pods, openings)
    allocatable = openings.capacity[:, columns].T
    held = _held_by_others(openings.taken[:, columns].T, need, assignment)
    counted = {Compares.SPREAD} if looks_at_devices else {Compares.SPREAD, Compares.PARTS}
    classes = _Classes(openings, columns, counted)
    may_leave = [pod for pod in placed if _may_leave(pod, evictor, view)]
    later = {node.name: asked_later(node.name) for node in nodes}
    stay = {pod.node_name for pod in set(placed).difference(may_leave)} if empties_nodes else set[str]()
    later.update(dict.fromkeys(stay, math.inf))
    in_order = sorted(may_leave, key=lambda pod: later[pod.node_name])
    to_ask = [pod for pod in in_order if later[pod.node_name] < math.inf]
    mates = _mates_on_hosts(to_ask)
    in_time = (pod for _, pod in takewhile(lambda numbered: may_ask(numbered[0]), enumerate(to_ask)))
    row_of = {pod: classes.row(pod, mates.get(pod, ())) for pod in in_time}
    unasked = to_ask[len(row_of) :]
    if len(row_of) < len(in_order):
        row_of.update(dict.fromkeys(in_order[len(row_of) :], classes.open_row))
    rows = _rows(placed, row_of, is_disposable)
    rows += [classes.row_of_pending(pod, pending) for pod in pending]
    problem = make_problem(
        # What no node has fits nowhere, however much it is: problems take no numbers as large as pods may request.
        np.minimum(need, allocatable.max(axis=0, initial=0) + 1),
        np.maximum(allocatable - held, 0),
        assignment,
        evictable=np.array([row is not None for row in rows], dtype=bool),
        cost=None if cost_of is None else cost_of(pods),
        pod_class=np.array([row or 0 for row in rows], dtype=np.int64),
        allowed=classes.allowed,
        rules=[
            *anti_affinity_rules(pods, nodes),
            *spread_rules(pods, nodes, holds_first=holds_first),
            *move_limits(pods, len(placed), evictor.allowances(), most, most_text),
        ],
    )
    names = [node.name for node in nodes]
    return ClusterProblem(problem, pods, names, openings.resources, allocatable, frozenset(map(identity_of, unasked)))


def _assignment(placed: Sequence[Pod], num_pending: int, nodes: Sequence[Node]) -> Ints:
    """int64[P]: the node of each placed pod, by its place in `nodes`, and those of the pending ones after them."""
    place = {node.name: number for number, node in enumerate(nodes)}
    return np.array([place[pod.node_name] for pod in placed] + [PENDING] * num_pending, dtype=np.int64)


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
    placed: Sequence[Pod], row_of: Mapping[Pod, int | None], is_disposable: Callable[[Pod], bool]
) -> list[int | None]:
    """The class of each pod that may be moved; None for one that stays, as where it lands nowhere and has to land."""
    return [0 if pod in row_of and row_of[pod] is None and is_disposable(pod) else row_of.get(pod) for pod in placed]


def _mates_on_hosts(may_leave: Iterable[Pod]) -> Mapping[Pod, tuple[Pod, ...]]:
    """By pod all those, itself too, that keep apart from each other on hosts: a host opens to one as another leaves."""
    groups: dict[Hashable, list[Pod]] = {}
    for pod in may_leave:
        for term in _own_terms(pod):
            if term.topology_key == HOSTNAME_LABEL:
                groups.setdefault((pod.namespace, term.selector), []).append(pod)
    return {pod: mates for mates in map(tuple, groups.values()) for pod in mates}


class _Classes:
    """The rows of `allowed`: pods that the same nodes are open to share one. Row 0 is open nowhere."""

    def __init__(self, openings: Openings, columns: Ints, counted: Set[Compares]) -> None:
        self._openings = openings
        self._counted = frozenset(counted)
        self._columns = columns
        self._rows: dict[bytes, int] = {}
        self._known: dict[int, tuple[Bools, int]] = {}
        """By id of a mask, which lives as long as it is known here: the id of one that is gone is given to others."""
        self._unions: dict[tuple[int, int], tuple[Bools, Bools, Bools]] = {}
        """By the ids of two masks their union, and both."""
        self._masks: list[Bools] = [np.zeros(len(columns), dtype=bool)]

    @property
    def allowed(self) -> Bools:
        """bool[K, N]."""
        return np.array(self._masks)

    @property
    def open_row(self) -> int:
        """The row that is open everywhere."""
        return self._row_of_columns(np.ones(len(self._columns), dtype=bool))

    def row(self, pod: Pod, mates: tuple[Pod, ...]) -> int | None:
        """The row of a pod; None for one whose replacement lands nowhere for certain.

        Nodes are open to it from which `mates`, itself among them, may leave: a rule counts who is there.
        """
        mask = self._openings.open_to(pod, self._counted)
        later = self._openings.open_to(pod, self._counted, mates) if len(mates) > 1 else None
        if mask is None or later is None:
            return self._row_of(mask)
        return self._row_of(self._unions.setdefault((id(mask), id(later)), (mask | later, mask, later))[0])

    def row_of_pending(self, pod: Pod, others: Sequence[Pod]) -> int | None:
        """The row of a pending pod, which may be placed together with `others`; None where no move helps it."""
        return self._row_of(self._openings.open_to_pending(pod, others))

    def _row_of(self, mask: Bools | None) -> int | None:
        if mask is None:
            return None
        if id(mask) not in self._known:
            self._known[id(mask)] = mask, self._row_of_columns(mask[self._columns])
        return self._known[id(mask)][1]

    def _row_of_columns(self, found: Bools) -> int:
        key = found.tobytes()
        if key not in self._rows:
            self._rows[key] = len(self._masks)
            self._masks.append(found)
        return self._rows[key]


def anti_affinity_rules(pods: Sequence[Pod], nodes: Sequence[Node]) -> list[AtMost]:
    """One rule a topology key, over `pods` and `nodes` by their places in these.

    Pods that keep apart by one selector are a group, whatever owns them. Terms against other pods are not among the
    rules: they count as they are now.
    """
    groups: dict[str, dict[Hashable, list[int]]] = {}
    for number, pod in enumerate(pods):
        for term in _own_terms(pod):
            known = groups.setdefault(term.topology_key, {})
            known.setdefault((pod.namespace, term.selector), []).append(number)
    return [_at_most_one(key, list(found.values()), len(pods), nodes) for key, found in sorted(groups.items())]


def _own_terms(pod: Pod) -> Iterable[PodAffinityTerm]:
    """The terms of required anti-affinity that a pod has against pods like itself, one a topology key."""
    affinity = pod.spec.affinity
    if affinity is None:
        return ()
    found = (term for term in affinity.anti_required if not term.error and term.selector.matches(pod.labels))
    return {term.topology_key: term for term in found}.values()


def _at_most_one(key: str, groups: Sequence[Sequence[int]], num_pods: int, nodes: Sequence[Node]) -> AtMost:
    group = np.full(num_pods, -1, dtype=np.int64)
    for number, members in enumerate(groups):
        group[list(members)] = number
    return AtMost(group, _domains(node.labels.get(key) for node in nodes), np.ones(len(groups), dtype=np.int64))


def _domains(values: Iterable[str | None]) -> Ints:
    """int64[N]: the number of each node's value, -1 without one."""
    known: dict[str, int] = {}
    found = [-1 if value is None else known.setdefault(value, len(known)) for value in values]
    return np.array(found, dtype=np.int64)
