"""Which nodes are open to pods. Asking takes time in large clusters: there is an order, and an end where it is over."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from descheduler.model.node import HOSTNAME_LABEL
from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import Bools, Ints
from descheduler.placement.framework.scheduling_plugin import Compares
from descheduler.placement.landings.openings import Openings, OpenNodes
from descheduler.planner.problem.anti_affinity_rules import terms_against_own_kind


@dataclass(frozen=True, slots=True)
class AskingOrder:
    """How it is asked which nodes are open to pods.

    order:            of their nodes, by name, the least first; infinity for one from which no plan moves pods: they are
                      not asked about.
    by_whole_nodes:   whether pods leave a node only all together: none is asked about beside which another one stays.
    may_go_on:        whether there is time to ask about one more pod after so many.
    looks_at_devices: otherwise nodes are open to pods whatever is left of their devices.
    holds_first:      whether room is held for replacements while their pods, which may keep nodes closed, are there.
    """

    order: Callable[[str], float]
    by_whole_nodes: bool
    may_go_on: Callable[[int], bool]
    looks_at_devices: bool
    holds_first: bool = False


class OpenRows(NamedTuple):
    """The row in `allowed` of a pod's nodes that are open `now`, and in `ever_allowed` of those that may `ever` be."""

    now: int
    ever: int


class PodRows(NamedTuple):
    """`rows_of` pods that may be moved, None where the replacement lands nowhere for certain.

    For the `unreplaced` ones among these nothing is created. There was no time to ask about the `unasked` ones: their
    row is open everywhere. Replacements of `resized` ones, which may be moved, can request more or less than the pods.
    Those of `changed` ones, which are known, have other labels, or other rules about where pods with some labels are.
    """

    rows_of: Mapping[Pod, OpenRows | None]
    unasked: Sequence[Pod]
    unreplaced: Sequence[Pod]
    resized: Sequence[Pod]
    changed: Mapping[Pod, Pod]


class AllowedNodes:
    """Which of the nodes at `columns` of `openings` are open to pods. Pods share a row to which the same are open."""

    def __init__(self, openings: Openings, columns: Ints, asking: AskingOrder) -> None:
        self._openings = openings
        self._asking = asking
        self._counted = frozenset({Compares.SPREAD} if asking.looks_at_devices else {Compares.SPREAD, Compares.PARTS})
        self._everywhere = np.ones(len(openings.nodes), dtype=bool)
        self._now, self._ever = _Rows(columns), _Rows(columns)
        self._unions: dict[tuple[int, int], tuple[Bools, Bools, Bools]] = {}
        """By the ids of two masks their union, and both."""

    @property
    def allowed(self) -> Bools:
        """bool[K, N]: the nodes that are open now."""
        return self._now.array

    @property
    def ever_allowed(self) -> Bools:
        """bool[K', N]: those that may ever be open."""
        return self._ever.array

    def asked(self, placed: Iterable[Pod], may_leave: Sequence[Pod]) -> PodRows:
        """The rows of those of the `placed` pods that `may_leave`."""
        later = self._later(placed, may_leave)
        in_order = sorted(may_leave, key=lambda pod: later[pod.node_name])
        to_ask = [pod for pod in in_order if later[pod.node_name] < math.inf]
        mates = self._mates(to_ask)
        in_time = takewhile(lambda numbered: self._asking.may_go_on(numbered[0]), enumerate(to_ask))
        rows_of = {pod: self._rows_with(pod, mates.get(pod, ())) for _, pod in in_time}
        moved = {pod: self._openings.sizes_after(pod) for pod, rows in rows_of.items() if rows is not None}
        resized = [pod for pod, sizes in moved.items() if self._openings.are_other_sizes(pod, sizes)]
        changed = {pod: sizes[0] for pod, sizes in moved.items() if _counts_otherwise(pod, sizes[0])}
        unasked = to_ask[len(rows_of) :]
        if len(rows_of) < len(in_order):
            everywhere = self._rows_of(OpenNodes(self._everywhere, self._everywhere))
            rows_of.update(dict.fromkeys(in_order[len(rows_of) :], everywhere))
        closed = (pod for pod, rows in rows_of.items() if rows is None)
        unreplaced = [pod for pod in closed if self._openings.needs_no_node(pod)]
        return PodRows(rows_of, unasked, unreplaced, resized, changed)

    def rows_of_pending(self, pod: Pod, others: Sequence[Pod]) -> OpenRows | None:
        """The rows of a pending pod, which may be placed together with `others`; None where no move helps it."""
        found = self._openings.open_to_pending(pod, others)
        return None if found is None else self._rows_of(found)

    def _later(self, placed: Iterable[Pod], may_leave: Collection[Pod]) -> Mapping[str, float]:
        """By node of the placed pods the order in which it is asked about its own."""
        later = {name: self._asking.order(name) for name in {pod.node_name for pod in placed}}
        if self._asking.by_whole_nodes:
            later.update((pod.node_name, math.inf) for pod in set(placed).difference(may_leave))
        return later

    def _mates(self, may_leave: Sequence[Pod]) -> Mapping[Pod, tuple[Pod, ...]]:
        """By pod those that close nodes to it as long as they are there, and that may leave: itself, or its own kind.

        Pods keep apart from each other, or one is to be near its own kind, of which there is no other. A pod that is
        there while room is held for its replacement is none of those.
        """
        groups = _kept_apart(may_leave)
        if not self._asking.holds_first:
            return {**{pod: (pod,) for pod in _alone_of_their_kind(may_leave)}, **_mates_of(groups)}
        on_hosts = {key: pods for key, pods in groups.items() if _are_kept_on_hosts(pods)}
        others = (pods for key, pods in groups.items() if key not in on_hosts)
        wider = {pod: tuple(other for other in pods if other is not pod) for pods in others for pod in pods}
        return {**wider, **_mates_of(on_hosts)}

    def _rows_with(self, pod: Pod, mates: tuple[Pod, ...]) -> OpenRows | None:
        """The rows of a pod; None for one whose replacement lands nowhere for certain.

        Nodes are open to it from which `mates` may leave: a rule counts who is there.
        """
        found = self._openings.open_to(pod, self._counted)
        later = self._openings.open_to(pod, self._counted, mates) if mates else None
        if found is None or later is None:
            return None if found is None else self._rows_of(found)
        known = id(found.now), id(later.now)
        union, *_ = self._unions.setdefault(known, (found.now | later.now, found.now, later.now))
        return self._rows_of(found._replace(now=union))

    def _rows_of(self, found: OpenNodes) -> OpenRows:
        return OpenRows(self._now.row_of(found.now), self._ever.row_of(found.ever))


def _counts_otherwise(pod: Pod, replacement: Pod) -> bool:
    """Whether rules that count pods by their labels can count the replacement in another way than the pod."""
    before, after = pod.spec, replacement.spec
    if pod.labels != replacement.labels or before.topology_spread != after.topology_spread:
        return True
    tolerates_alike = frozenset(before.tolerations) == frozenset(after.tolerations)
    is_counted_alike = before.node_selector == after.node_selector and tolerates_alike
    return not is_counted_alike or before.affinity != after.affinity


class _Rows:
    """Masks of nodes, each once, over the nodes at `columns`. Row 0 is open nowhere."""

    def __init__(self, columns: Ints) -> None:
        self._columns = columns
        self._rows: dict[bytes, int] = {}
        self._known: dict[int, tuple[Bools, int]] = {}
        """By id of a mask, which lives as long as it is known here: the id of one that is gone is given to others."""
        self._masks: list[Bools] = [np.zeros(len(columns), dtype=bool)]

    @property
    def array(self) -> Bools:
        """bool[K, N]."""
        return np.array(self._masks)

    def row_of(self, mask: Bools) -> int:
        """The row of a mask of all nodes."""
        if id(mask) not in self._known:
            self._known[id(mask)] = mask, self._row_of_columns(mask[self._columns])
        return self._known[id(mask)][1]

    def _row_of_columns(self, found: Bools) -> int:
        key = found.tobytes()
        if key not in self._rows:
            self._rows[key] = len(self._masks)
            self._masks.append(found)
        return self._rows[key]


_Groups = Mapping[Hashable, Sequence[Pod]]


def _kept_apart(pods: Iterable[Pod]) -> _Groups:
    """The pods that keep apart from each other, by what tells their groups apart."""
    groups: dict[Hashable, list[Pod]] = {}
    for pod in pods:
        for selector in dict.fromkeys(term.selector for term in terms_against_own_kind(pod)):
            groups.setdefault((pod.namespace, selector), []).append(pod)
    return groups


def _mates_of(groups: _Groups) -> Mapping[Pod, tuple[Pod, ...]]:
    return {pod: mates for mates in map(tuple, groups.values()) for pod in mates}


def _are_kept_on_hosts(pods: Iterable[Pod]) -> bool:
    """Whether it is only hosts that they do not share."""
    return all(term.topology_key == HOSTNAME_LABEL for pod in pods for term in terms_against_own_kind(pod))


def _alone_of_their_kind(pods: Sequence[Pod]) -> Iterator[Pod]:
    """The pods that are to be near pods like themselves, and that no other one is like."""
    near = [
        pod
        for pod in pods
        if pod.spec.affinity is not None
        and any(not term.error and term.selector.matches(pod.labels) for term in pod.spec.affinity.pod_required)
    ]
    kinds = Counter((pod.namespace, frozenset(pod.labels.items())) for pod in near)
    return (pod for pod in near if kinds[pod.namespace, frozenset(pod.labels.items())] == 1)
