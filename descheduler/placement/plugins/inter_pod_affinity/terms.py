"""Which pods the inter-pod affinity terms of an incoming pod mean."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import PodAffinityTerm
from descheduler.model.selection.labels import LabelSelector
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.shadow.tally.pod_tally import PodQuery

__all__ = ["AffinityTerms"]


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
