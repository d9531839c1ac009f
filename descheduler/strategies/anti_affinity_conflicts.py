"""Which pods run beside, or in one topology domain with, a pod that their required anti-affinity objects to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from descheduler.model.affinity import PodAffinityTerm
from descheduler.model.labels import LabelSelector
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.label_index import LabelIndex

__all__ = ["AntiAffinityConflicts", "Conflict"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A broken anti-affinity: the other pod as `namespace/name`, and the node or topology domain both are in."""

    partner: str
    place: str

    @property
    def sentence(self) -> str:
        """The conflict as the operator reads it."""
        return f"must keep away from pod {self.partner}, but shares {self.place} with it"


class AntiAffinityConflicts:
    """Answers about the pods of `listed` (node name → pods), the only ones that count as partners.

    Mirrors kubernetes-sigs/descheduler 0.36 `pkg/utils/predicates.go`: namespace selectors are not looked at, and on
    the same node the topology label is not needed. With `spares_namesakes` a pod of the same name is no partner, in
    whatever namespace, as upstream has it; without, only the pod itself is none.
    """

    def __init__(self, nodes: Sequence[Node], listed: Mapping[str, Sequence[Pod]], *, spares_namesakes: bool) -> None:
        self._spares_namesakes = spares_namesakes
        self._node_labels = {node.name: node.labels for node in nodes}
        by_namespace: dict[str, list[Pod]] = {}
        for pods in listed.values():
            for pod in pods:
                by_namespace.setdefault(pod.namespace, []).append(pod)
        self._indexes = {namespace: LabelIndex(pods) for namespace, pods in by_namespace.items()}
        self._partners: dict[tuple[str, LabelSelector], _Partners] = {}
        self._partners_by_group: dict[int, list[_Partners]] = {}
        self._forgotten: set[int] = set()

    def find(self, pod: Pod) -> Conflict | None:
        """The first conflict of `pod` in the order of its terms; a malformed term ends the search, as upstream does."""
        affinity = pod.spec.affinity
        if affinity is None:
            return None
        for term in affinity.anti_required:
            if term.error:
                return None
            for namespace in sorted(term.namespaces) or (pod.namespace,):
                conflict = self._find_in(namespace, term, pod)
                if conflict is not None:
                    return conflict
        return None

    def forget(self, pod: Pod) -> None:
        """Takes an evicted pod out of the partners."""
        self._forgotten.add(id(pod))
        group = self._indexes[pod.namespace].group_of(pod)
        for partners in self._partners_by_group.get(id(group), ()):
            partners.remove(pod, self._node_labels)

    def _find_in(self, namespace: str, term: PodAffinityTerm, pod: Pod) -> Conflict | None:
        partners = self._partners_of(namespace, term.selector)
        if partners is None:
            return None
        spared = pod.name if self._spares_namesakes or namespace == pod.namespace else ""
        name = _other_name(partners.on_node(pod.node_name), spared)
        if name is not None:
            return Conflict(f"{namespace}/{name}", f"node {pod.node_name}")
        value = self._node_labels[pod.node_name].get(term.topology_key)
        if value is None:
            return None
        name = _other_name(partners.in_domain(term.topology_key, value, self._node_labels), spared)
        return None if name is None else Conflict(f"{namespace}/{name}", f"{term.topology_key}={value}")

    def _partners_of(self, namespace: str, selector: LabelSelector) -> _Partners | None:
        index = self._indexes.get(namespace)
        if index is None:
            return None
        key = (namespace, selector)
        known = self._partners.get(key)
        if known is None:
            groups = index.groups(selector)
            known = self._partners[key] = _Partners(
                [pod for group in groups for pod in group.pods if id(pod) not in self._forgotten]
            )
            for group in groups:
                self._partners_by_group.setdefault(id(group), []).append(known)
        return known


class _Partners:
    """The pods of one namespace that one selector selects, by node and by topology domain.

    A place holds names in an ordered dict, which is a set with a stable first member.
    """

    def __init__(self, pods: Sequence[Pod]) -> None:
        self._by_node: dict[str, dict[str, None]] = {}
        for pod in pods:
            self._by_node.setdefault(pod.node_name, {})[pod.name] = None
        self._by_domain: dict[str, dict[str, dict[str, None]]] = {}

    def on_node(self, node_name: str) -> Mapping[str, None]:
        """Names of the partners on a node."""
        return self._by_node.get(node_name, {})

    def in_domain(self, key: str, value: str, node_labels: Mapping[str, Mapping[str, str]]) -> Mapping[str, None]:
        """Names of the partners on all nodes whose label `key` has this value."""
        domains = self._by_domain.get(key)
        if domains is None:
            domains = self._by_domain[key] = {}
            for node_name, names in self._by_node.items():
                domain = node_labels[node_name].get(key)
                if domain is not None:
                    domains.setdefault(domain, {}).update(names)
        return domains.get(value, {})

    def remove(self, pod: Pod, node_labels: Mapping[str, Mapping[str, str]]) -> None:
        """Forgets one partner."""
        self._by_node[pod.node_name].pop(pod.name, None)
        for key, domains in self._by_domain.items():
            domain = node_labels[pod.node_name].get(key)
            if domain is not None:
                domains[domain].pop(pod.name, None)


def _other_name(names: Mapping[str, None], spared: str) -> str | None:
    """The first of `names` that is not `spared`."""
    for name in names:
        if name != spared:
            return name
    return None
