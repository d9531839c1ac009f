"""The inter-pod affinity terms that placed pods hold, and on which nodes.

They bear on pods that come later: required anti-affinity keeps these away, all other terms score. Replicas hold equal
terms, so there are few, and those that match an incoming placement class are found once for all its pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.pod import Pod, PodSpec
from descheduler.model.selection.affinity import Affinity, PodAffinityTerm
from descheduler.model.selection.labels import LabelSelector
from descheduler.placement.shadow.follower import CountingFollower
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster
from descheduler.placement.shadow.tally.label_columns import SelectorIndex

_MOST_KEPT = 2_000_000
"""So many terms are kept as answers, some 16 MB; a tenant may state thousands that match every placement class."""
_MOST_NAMESPACES = 64


class TermKind(Enum):
    """What a term of a placed pod does to the incoming pods that it matches."""

    REQUIRED_ANTI = "required anti-affinity"
    REQUIRED_AFFINITY = "required affinity"
    PREFERRED = "preferred affinity, or with a weight below zero anti-affinity"


class _Terms(NamedTuple):
    """What tells one term from another, whoever holds it."""

    kind: TermKind
    weight: int
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None
    selector: LabelSelector
    topology_key: str


class HeldTerm:
    """One term and its holders. `weight` is that of a preferred term, 0 for the others; `number` is its place."""

    __slots__ = (
        "_counts",
        "_nodes",
        "holders",
        "kind",
        "namespace_selector",
        "namespaces",
        "number",
        "selector",
        "topology_key",
        "weight",
    )

    def __init__(self, terms: _Terms, number: int) -> None:
        self.number = number
        self.kind, self.weight, self.namespaces, self.namespace_selector, self.selector, self.topology_key = terms
        self.holders: dict[int, int] = {}
        self._nodes: NDArray[np.intp] | None = None
        self._counts: NDArray[np.int64] | None = None

    def matches(self, pod: Pod, namespace_labels: Mapping[str, str]) -> bool:
        """Whether the term means an incoming pod whose namespace has these labels."""
        if pod.namespace not in self.namespaces:
            selector = self.namespace_selector
            if selector is None or not selector.matches(namespace_labels):
                return False
        return self.selector.matches(pod.labels)

    def is_held_by(self, pod: Pod) -> bool:
        """Whether it is a term of `pod`."""
        held = self.kind, self.weight, self.namespaces, self.namespace_selector, self.selector, self.topology_key
        own = () if pod.spec.affinity is None else _terms(pod.spec.affinity, pod.namespace)
        return _Terms(*held) in own

    def change(self, node: int, sign: int) -> None:
        """Adds a holder on `node`, or takes one away with `sign` -1."""
        number = self.holders.get(node, 0) + sign
        if number:
            self.holders[node] = number
        else:
            del self.holders[node]
        self._nodes = self._counts = None

    def nodes(self) -> NDArray[np.intp]:
        """The nodes with holders, each once."""
        if self._nodes is None:
            self._nodes = np.fromiter(self.holders, np.intp, len(self.holders))
        return self._nodes

    def counts(self) -> NDArray[np.int64]:
        """The number of holders on each of `nodes`."""
        if self._counts is None:
            self._counts = np.fromiter(self.holders.values(), np.int64, len(self.holders))
        return self._counts


class MatchingTerms(NamedTuple):
    """The terms that match a placement class, holders or not: those that keep it away, and those that score.

    Of several that keep it away with one topology key and, for good, the same holders, one stands for all.
    """

    repelling: tuple[HeldTerm, ...] = ()
    scoring: tuple[HeldTerm, ...] = ()


class _Bunches:
    """Terms in bunches of which every pod holds all or none.

    The required anti-affinity of one spec over one topology is a bunch, until another spec has a term of it: that one
    is then a bunch of its own. So a pod of a thousand terms costs as much as a pod of one. Terms that score have
    weights that add up, and are bunches of their own.
    """

    def __init__(self) -> None:
        self.version = 0
        self._num_bunches = 0
        self._bunch_of: list[int] = []
        self._array = np.empty(0, dtype=np.intp)
        self._is_stale = True
        self._seen: set[tuple[HeldTerm, ...]] = set()

    def add(self, terms: tuple[HeldTerm, ...]) -> None:
        """Takes in the terms of a spec that was not seen before. Another of the same terms changes nothing."""
        if terms in self._seen:
            return
        self._seen.add(terms)
        by_key: dict[str, int] = {}
        for term in terms:
            is_new = term.number == len(self._bunch_of)
            if is_new and term.kind is TermKind.REQUIRED_ANTI:
                if term.topology_key not in by_key:
                    by_key[term.topology_key] = self._next()
                self._bunch_of.append(by_key[term.topology_key])
            elif is_new:
                self._bunch_of.append(self._next())
            else:
                self._bunch_of[term.number] = self._next()
        self.version += 1

    def first_of_each(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """One of `numbers` for each bunch that is among them, in their order."""
        if self._is_stale:
            self._array, self._is_stale = np.array(self._bunch_of, dtype=np.intp), False
        _, first = np.unique(self._array[numbers], return_index=True)
        return numbers[np.sort(first)]

    def _next(self) -> int:
        self._is_stale = True
        self._num_bunches += 1
        return self._num_bunches


class TermHolders(CountingFollower):
    """Follower that knows every term of placed pods. Pods on unknown nodes are in no domain and are left out.

    Namespaces without an object have no labels, as the scheduler sees them for the pods that it places.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        self._namespaces = cluster.snapshot.namespaces
        self._terms: dict[_Terms, HeldTerm] = {}
        # The spec is kept as well: an identity stands for it only as long as it lives.
        self._by_spec: dict[tuple[int, str], tuple[PodSpec, tuple[HeldTerm, ...]]] = {}
        self._in_order: list[HeldTerm] = []
        self._selectors = SelectorIndex()
        self._namespace_selectors = SelectorIndex()
        self._by_namespace: dict[str, list[int]] = {}
        self._meaning_namespace: dict[str, NDArray[np.bool_]] = {}
        self._bunches = _Bunches()
        self._matching: dict[tuple[str, int], tuple[int, MatchingTerms, Mapping[str, str]]] = {}
        self._num_kept = 0

    def __iter__(self) -> Iterator[HeldTerm]:
        """All terms that any pod has held so far."""
        return iter(self._terms.values())

    def matching(self, incoming: PlacementClass) -> MatchingTerms:
        """The terms that match the pods of a placement class."""
        pod = incoming.pod
        # Pods of many classes share labels, which are kept as well: an identity stands for them while they live.
        key = pod.namespace, id(pod.labels)
        known = self._matching.get(key)
        if known is not None and known[0] == self._bunches.version:
            return known[1]
        matches = self._selectors.matching(pod.labels) & self._meaning(pod.namespace)
        found = [self._in_order[number] for number in self._bunches.first_of_each(np.flatnonzero(matches))]
        matching = MatchingTerms(
            tuple(term for term in found if term.kind is TermKind.REQUIRED_ANTI),
            tuple(term for term in found if term.kind is not TermKind.REQUIRED_ANTI),
        )
        self._num_kept += len(found)
        if self._num_kept > _MOST_KEPT:
            self._matching, self._num_kept = {}, len(found)
        self._matching[key] = self._bunches.version, matching, pod.labels
        return matching

    def concerns(self, spec: PodSpec) -> bool:
        return spec.affinity is not None

    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        """A pod, terminating or not, is a holder of its terms."""
        if pod.spec.affinity is not None and node != NO_NODE:
            for term in self._terms_of(pod):
                term.change(node, sign)

    def fingerprint(self) -> object:
        held = ((terms, term.holders) for terms, term in self._terms.items() if term.holders)
        return sorted((_in_order(terms), sorted(holders.items())) for terms, holders in held)

    def _terms_of(self, pod: Pod) -> tuple[HeldTerm, ...]:
        key = id(pod.spec), pod.namespace
        known = self._by_spec.get(key)
        if known is None:
            affinity = pod.spec.affinity
            terms = () if affinity is None else tuple(map(self._term, _terms(affinity, pod.namespace)))
            self._bunches.add(terms)
            known = self._by_spec[key] = pod.spec, terms
        return known[1]

    def _term(self, terms: _Terms) -> HeldTerm:
        known = self._terms.get(terms)
        if known is None:
            known = self._terms[terms] = HeldTerm(terms, len(self._in_order))
            self._file(known)
        return known

    def _file(self, term: HeldTerm) -> None:
        """Files a new term where the pods that it may match will look."""
        for namespace in term.namespaces:
            self._by_namespace.setdefault(namespace, []).append(len(self._selectors))
        self._in_order.append(term)
        self._selectors.add(term.selector)
        self._namespace_selectors.add(term.namespace_selector)

    def _meaning(self, namespace: str) -> NDArray[np.bool_]:
        """The terms that mean pods of `namespace`. Not to be written to."""
        known = self._meaning_namespace.get(namespace)
        if known is None or len(known) < len(self._in_order):
            if len(self._meaning_namespace) >= _MOST_NAMESPACES:
                self._meaning_namespace.clear()
            labelled = self._namespaces.get(namespace)
            known = self._namespace_selectors.matching({} if labelled is None else labelled.labels)
            known[self._by_namespace.get(namespace, [])] = True
            self._meaning_namespace[namespace] = known
        return known


def _terms(affinity: Affinity, namespace: str) -> Iterator[_Terms]:
    """The terms of one pod. The scheduler drops a whole list of which one term cannot be read."""
    lists = (
        (TermKind.REQUIRED_ANTI, [(0, term) for term in affinity.anti_required]),
        (TermKind.REQUIRED_AFFINITY, [(0, term) for term in affinity.pod_required]),
        (TermKind.PREFERRED, [(preferred.weight, preferred.term) for preferred in affinity.pod_preferred]),
        (TermKind.PREFERRED, [(-preferred.weight, preferred.term) for preferred in affinity.anti_preferred]),
    )
    for kind, terms in lists:
        if not any(term.error for _, term in terms):
            for weight, term in terms:
                namespaces = _own_namespaces(term, namespace)
                yield _Terms(kind, weight, namespaces, term.namespace_selector, term.selector, term.topology_key)


def _in_order(terms: _Terms) -> tuple[object, ...]:
    """The term as a value that sorts and reads the same however its sets came about."""
    selectors = [
        []
        if selector is None
        else [selector.nothing, [(r.key, r.operator, sorted(r.values)) for r in selector.requirements]]
        for selector in (terms.namespace_selector, terms.selector)
    ]
    return terms.kind.value, terms.weight, sorted(terms.namespaces), selectors, terms.topology_key


def _own_namespaces(term: PodAffinityTerm, namespace: str) -> frozenset[str]:
    """The namespaces that a term lists; without any, nor a selector of them, it means that of its pod."""
    if term.namespaces or term.namespace_selector is not None:
        return term.namespaces
    return frozenset((namespace,))
