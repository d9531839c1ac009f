"""`InterPodAffinity`: required terms of the incoming pod, and required anti-affinity of the pods that are there.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity/filtering.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.kube_version import KubeVersion
from descheduler.model.node import HOSTNAME_LABEL
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import PodAffinityTerm
from descheduler.model.selection.labels import LabelSelector
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.interactions import GatheredPods, Meeting
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.plugins.inter_pod_affinity.term_holders import HeldTerm, TermHolders
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.pod_counts import PodCounts
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.tally.pod_tally import PodQuery, PodSum
from descheduler.placement.shadow.topology import Domains, Topology


class AffinityTerms:
    """Resolves terms of incoming pods to queries, as kube-scheduler of `release` does. Pods being deleted count.

    kube-scheduler 1.34 to 1.36 tests the namespace selector of an incoming pod's term against an empty label set as
    well (kubernetes/kubernetes issue 141526), so one that asks only for what is absent selects every namespace. Terms
    of placed pods have no such flaw.
    """

    def __init__(self, cluster: ShadowCluster, release: KubeVersion) -> None:
        self._namespaces = cluster.snapshot.namespaces
        self._selected_by: dict[LabelSelector, frozenset[str]] = {}
        self._is_flawed = release.gate("matches_negative_namespace_selectors_everywhere")

    def query(self, pod: Pod, terms: Sequence[PodAffinityTerm]) -> PodQuery:
        """Finds the pods that every one of `terms`, at least one, means."""
        namespaces: frozenset[str] | None = None
        for term in terms:
            scope = self._namespaces_of(pod, term)
            if scope is not None:
                namespaces = scope if namespaces is None else namespaces & scope
        return PodQuery(namespaces, tuple(dict.fromkeys(term.selector for term in terms)), counts_terminating=True)

    def hangs_on_flaw(self, terms: Sequence[PodAffinityTerm]) -> bool:
        """Whether the flawed reading of a namespace selector makes one of `terms` mean more namespaces."""
        return any(
            self._is_taken_for_all(term) and not term.namespaces | self._selected(term) >= self._namespaces.keys()
            for term in terms
        )

    def _namespaces_of(self, pod: Pod, term: PodAffinityTerm) -> frozenset[str] | None:
        """The namespaces of a term; None for all."""
        selector = term.namespace_selector
        if selector is None:
            return term.namespaces or frozenset((pod.namespace,))
        if selector.is_empty or self._is_taken_for_all(term):
            return None
        return term.namespaces | self._selected(term)

    def _is_taken_for_all(self, term: PodAffinityTerm) -> bool:
        selector = term.namespace_selector
        return self._is_flawed and selector is not None and not selector.is_empty and selector.matches({})

    def _selected(self, term: PodAffinityTerm) -> frozenset[str]:
        selector = term.namespace_selector
        if selector is None:
            return frozenset()
        known = self._selected_by.get(selector)
        if known is None:
            names = (name for name, namespace in self._namespaces.items() if selector.matches(namespace.labels))
            known = self._selected_by[selector] = frozenset(names)
        return known


class AffinityFault(ObstacleReason):
    """The terms that are not met, in the order in which the scheduler looks: it reports the first alone."""

    AFFINITY = 1, "node(s) didn't match pod affinity rules", "didn't match pod affinity rules"
    ANTI_AFFINITY = 2, "node(s) didn't match pod anti-affinity rules", "didn't match pod anti-affinity rules"
    EXISTING_ANTI_AFFINITY = (
        4,
        "node(s) didn't satisfy existing pods anti-affinity rules",
        "didn't satisfy existing pods anti-affinity rules",
    )


_FLAW = (
    "a namespaceSelector of the pod's affinity asks only for labels that are absent, which this release of"
    " kube-scheduler takes for every namespace (kubernetes/kubernetes issue 141526)"
)


class _Wanted(NamedTuple):
    """The required terms of a placement class. `company` finds the pods that all its affinity terms mean.

    `shared` are the topologies to share with these; `is_company` says that the pod is such a one itself. `avoided`
    are the pods that its anti-affinity terms mean, by the topology not to share with them.
    """

    company: PodQuery | None
    shared: tuple[Domains, ...]
    is_company: bool
    avoided: tuple[tuple[PodSum, Domains], ...]
    error: str
    hangs_on_flaw: bool


class InterPodAffinity:
    """Filters by required terms in both directions. All reasons against a node are set, the first one is reported."""

    name = "InterPodAffinity"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._groups = cluster.follow(PodCounts)
        self._holders = cluster.follow(TermHolders)
        self._terms = AffinityTerms(cluster, profile.release(cluster.version))
        self._topology = Topology(cluster.table)
        self._wanted: dict[PlacementClass, _Wanted] = {}

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Skips pods that no required term concerns, and refuses those with a term that cannot be read."""
        wanted = self._wanted_by(cycle.pod)
        if wanted.error:
            return PreFilterResult(Obstacle(self.name, Code.UNRESOLVABLE, (f"parsing pod: {wanted.error}",)))
        if wanted.hangs_on_flaw:
            cycle.notes.append(_FLAW)
        if wanted.company is None and not wanted.avoided and not self._repelling(cycle.pod):
            return SKIP
        return PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The reasons against each node."""
        wanted = self._wanted_by(cycle.pod)
        against = np.zeros(len(cycle.cluster.table), dtype=np.uint32)
        if wanted.company is not None:
            against |= _bits(~self._with_company(wanted, wanted.company), AffinityFault.AFFINITY)
        for query, domains in wanted.avoided:
            marks = domains.marks()
            domains.mark(marks, self._groups.found(query).nodes)
            against |= _bits(domains.spread(marks), AffinityFault.ANTI_AFFINITY)
        for domains, marks in self._repelled(cycle.pod):
            against |= _bits(domains.spread(marks), AffinityFault.EXISTING_ANTI_AFFINITY)
        return against if against.any() else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        fault = next(known for known in AffinityFault if bits & known.bit)
        code = Code.UNRESOLVABLE if fault is AffinityFault.AFFINITY else Code.UNSCHEDULABLE
        return Obstacle.of(self.name, code, fault)

    def _with_company(self, wanted: _Wanted, company: PodQuery) -> BoolMask:
        """Nodes that share every topology with wanted company; as long as there is none, the first of its kind may
        go to any node that has the keys."""
        nodes = self._groups.found(company).nodes
        accepted = np.ones(len(wanted.shared[0].ids), dtype=bool)
        is_first = wanted.is_company
        for domains in wanted.shared:
            marks = domains.marks()
            domains.mark(marks, nodes)
            is_first = is_first and not marks.any()
            accepted &= domains.spread(marks)
        if is_first:
            accepted[:] = True
            for domains in wanted.shared:
                accepted &= domains.has_key
        return accepted

    def _repelling(self, incoming: PlacementClass) -> list[HeldTerm]:
        return [term for term in self._holders.matching(incoming).repelling if term.holders]

    def _repelled(self, incoming: PlacementClass) -> list[tuple[Domains, BoolMask]]:
        """Marks of the domains that placed pods keep the incoming one out of, by topology."""
        by_key: dict[str, list[NDArray[np.intp]]] = {}
        for term in self._repelling(incoming):
            by_key.setdefault(term.topology_key, []).append(term.nodes())
        repelled = []
        for key, nodes in by_key.items():
            domains = self._topology.domains(key)
            marks = domains.marks()
            domains.mark(marks, np.concatenate(nodes))
            repelled.append((domains, marks))
        return repelled

    def _wanted_by(self, incoming: PlacementClass) -> _Wanted:
        known = self._wanted.get(incoming)
        if known is None:
            known = self._wanted[incoming] = self._resolved(incoming.pod)
        return known

    def _resolved(self, pod: Pod) -> _Wanted:
        affinity = pod.spec.affinity
        if affinity is None:
            return _Wanted(None, (), False, (), "", False)
        required = affinity.pod_required
        company = self._terms.query(pod, required) if required else None
        preferred = (each.term for each in (*affinity.pod_preferred, *affinity.anti_preferred))
        errors = (term.error for term in (*required, *affinity.anti_required, *preferred) if term.error)
        keys = dict.fromkeys(term.topology_key for term in required)
        return _Wanted(
            company=company,
            shared=tuple(self._topology.domains(key) for key in keys),
            is_company=company is not None and company.covers(pod.namespace, pod.labels),
            avoided=tuple(self._avoided(pod, affinity.anti_required)),
            error=next(errors, ""),
            hangs_on_flaw=self._terms.hangs_on_flaw((*required, *affinity.anti_required)),
        )

    def _avoided(self, pod: Pod, terms: Iterable[PodAffinityTerm]) -> Iterator[tuple[PodSum, Domains]]:
        """One sum of pods a topology, however many terms name it: a pod that any of them means is to be avoided."""
        by_key: dict[str, list[tuple[int, PodQuery]]] = {}
        for term in terms:
            by_key.setdefault(term.topology_key, []).append((1, self._terms.query(pod, (term,))))
        for key, parts in by_key.items():
            yield PodSum(parts), self._topology.domains(key)


def _bits(mask: BoolMask, fault: AffinityFault) -> ReasonBits:
    return np.multiply(mask, fault.bit, dtype=np.uint32)


class AffinityInteractions:
    """Company opens domains to pods with affinity, and anti-affinity closes them, in both directions."""

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether it asks to be near to others."""
        affinity = pod.spec.affinity
        return affinity is not None and bool(affinity.pod_required)

    def is_local(self, pod: Pod) -> bool:
        """Whether no term of it reaches beyond a node."""
        return not _wide_terms(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Whether it keeps others away from its domains, single nodes too: for these pending pods are tried again."""
        affinity = pod.spec.affinity
        return affinity is not None and bool(affinity.anti_required)

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether a term of one of them that reaches beyond a node means the other."""
        return _means(first, second) or _means(second, first)

    def interacting(self, gathered: GatheredPods) -> Iterator[Meeting]:
        """All that a term means which reaches beyond a node, with those that state it."""
        return _meant(gathered, _wide_terms)

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All that a term means which keeps them off a host, with those that state it."""
        return _meant(gathered, _anti_terms)

    def hinders_while_ending(self, ending: Pod, pod: Pod) -> bool:
        """Whether a term of one of them reaches beyond a node; company counts too, as it need not be the first then."""
        return bool(_wide_terms(pod) or _wide_terms(ending))


def _means(pod: Pod, other: Pod) -> bool:
    return any(_is_about(term, pod, other) for term in _wide_terms(pod))


def _meant(gathered: GatheredPods, terms_of: Callable[[Pod], Iterable[PodAffinityTerm]]) -> Iterator[Meeting]:
    """Those that state terms with those that these may mean, in both directions."""
    stating = gathered.filed(lambda pod: [_about(term, pod) for term in terms_of(pod)])
    for query, places in stating.items():
        found = gathered.found(query)
        yield from ((places, found), (found, places))


def _anti_terms(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    affinity = pod.spec.affinity
    return () if affinity is None else affinity.anti_required


def _is_about(term: PodAffinityTerm, pod: Pod, other: Pod) -> bool:
    """Whether a term of `pod` may mean the other one."""
    return _about(term, pod).covers(other.namespace, other.labels)


def _about(term: PodAffinityTerm, pod: Pod) -> PodQuery:
    """The pods that a term of `pod` may mean; which namespaces a selector finds is not in the pod."""
    namespaces = None if term.namespace_selector is not None else term.namespaces or frozenset((pod.namespace,))
    return PodQuery(namespaces, (term.selector,), counts_terminating=True)


def _wide_terms(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    affinity = pod.spec.affinity
    if affinity is None:
        return ()
    anti = (term for term in affinity.anti_required if term.topology_key != HOSTNAME_LABEL)
    return (*affinity.pod_required, *anti)
