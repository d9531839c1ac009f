"""Whether a topology domain still has too many pods once moves have settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.constraints import PodConstraint
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.domains import DomainFinder, LabelIndex
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.surplus import (
    balancing_transfers,
    surplus_sentence,
)


@dataclass(slots=True)
class _Sizes:
    """The pods of a constraint by domain, after the first `num_changes` of the cluster.

    `domains` are those that have nodes.
    """

    by_domain: Counter[str]
    domains: Collection[str]
    num_changes: int
    least_giving: dict[int, int | None] = field(default_factory=dict)
    """Number of pods of a domain → how many the smallest domain has that gives pods away, once there is one more."""
    selected: dict[int, bool] = field(default_factory=dict)
    """Identity of labels, which equal pods share → whether the selector of the constraint selects them."""


class SettledDomains:
    """The domains of constraints over `nodes` in the cluster `after` moves, which goes on changing.

    `counts` says whether a pod is one of those that the plugin looks at and counts.
    """

    def __init__(self, nodes: Sequence[Node], after: ClusterView, counts: Callable[[Pod], bool]) -> None:
        self._nodes = {node.name: node for node in nodes}
        self._after = after
        self._counts = counts
        self._finder = DomainFinder(nodes)
        self._num_changes = after.version
        self._listed = self._list()
        self._sizes: dict[tuple[str, PodConstraint], _Sizes] = {}

    def excess(self, arrival: Pod, constraint: PodConstraint) -> str:
        """Why pods leave the domain of `arrival`, which is not there yet, for `constraint`; empty where none do."""
        domain = self._domain_of(arrival, constraint)
        if not domain or not constraint.selector.matches(arrival.labels):
            return ""
        sizes = self._sizes_of(arrival.namespace, constraint)
        number = sizes.by_domain[domain]
        if number not in sizes.least_giving:
            sizes.least_giving[number] = _least_giving(_one_more(sizes, domain), constraint.max_skew)
        least = sizes.least_giving[number]
        if least is None or number + 1 < least:
            return ""
        return surplus_sentence(constraint, domain, number + 1 - _one_more(sizes, domain)[0])

    def _list(self) -> Mapping[str, LabelIndex]:
        by_namespace: dict[str, list[Pod]] = {}
        for name in self._nodes:
            for pod in filter(self._counts, self._after.active_pods_on(name)):
                by_namespace.setdefault(pod.namespace, []).append(pod)
        return {namespace: LabelIndex(pods) for namespace, pods in by_namespace.items()}

    def _sizes_of(self, namespace: str, constraint: PodConstraint) -> _Sizes:
        """The sizes by now."""
        known = self._sizes.get((namespace, constraint))
        if known is None:
            domains = self._finder.find(constraint, self._listed[namespace])
            known = _Sizes(Counter(domains.sizes), tuple(domains.qualifying), self._num_changes)
            self._sizes[namespace, constraint] = known
        if known.num_changes != self._after.version:
            known.least_giving.clear()
        for change in self._after.net_changes(known.num_changes):
            pod = change.pod
            if pod.namespace == namespace and self._is_counted(pod, constraint, known, is_arrival=change.is_arrival):
                known.by_domain[self._domain_of(pod, constraint)] += change.number
        known.num_changes = self._after.version
        return known

    def _is_counted(self, pod: Pod, constraint: PodConstraint, sizes: _Sizes, *, is_arrival: bool) -> bool:
        if pod.is_terminal or pod.deleted_at is not None or not self._domain_of(pod, constraint):
            return False
        is_selected = sizes.selected.get(id(pod.labels))
        if is_selected is None:
            is_selected = sizes.selected[id(pod.labels)] = constraint.selector.matches(pod.labels)
        return is_selected and (is_arrival or self._counts(pod))

    def _domain_of(self, pod: Pod, constraint: PodConstraint) -> str:
        """The domain of the pod's node; "" for none."""
        node = self._nodes.get(pod.node_name)
        return "" if node is None else node.labels.get(constraint.topology_key, "")


def _one_more(sizes: _Sizes, domain: str) -> list[int]:
    """The sizes, ascending, with one more pod in `domain`."""
    numbers = {**dict.fromkeys(sizes.domains, 0), **{value: n for value, n in sizes.by_domain.items() if n}}
    numbers[domain] = numbers.get(domain, 0) + 1
    return sorted(numbers.values())


def _least_giving(ascending: Sequence[int], max_skew: int) -> int | None:
    """How many pods the smallest of domains of these sizes has that gives pods away; None where none does."""
    if ascending[-1] - ascending[0] <= max_skew:
        return None
    return min((ascending[each.source] for each in balancing_transfers(ascending, max_skew)), default=None)
