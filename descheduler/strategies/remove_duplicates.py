"""RemoveDuplicates: several pods of one owner on one node, when they could be spread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, Namespaces, check_namespaces
from descheduler.strategies.shared.eviction_loop import evict_from_node
from descheduler.strategies.shared.node_selection import NodeSelection
from descheduler.strategies.shared.pod_filter import PodFilter

__all__ = ["RemoveDuplicates", "RemoveDuplicatesArgs", "validate_args"]


class RemoveDuplicatesArgs(Args, frozen=True):
    """Arguments of RemoveDuplicates; there is no label selector.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removeduplicates/types.go`.
    """

    namespaces: Namespaces | None = None
    """Only pods of these namespaces are looked at."""
    exclude_owner_kinds: tuple[str, ...] = ()
    """Pods with an owner of these kinds are not looked at."""


def validate_args(args: RemoveDuplicatesArgs) -> list[ArgsProblem]:
    """Problems of the namespaces."""
    return check_namespaces(args.namespaces)


@dataclass(slots=True)
class _Replicas:
    """Pods of one owner with the same images, as the census finds them. `duplicates` are listed by node, in node order.

    `is_repeated` once some node is seen to hold two pods that are equal for all their owners.
    """

    namespace: str
    owner: str
    occurrences: int = 0
    is_repeated: bool = False
    duplicates: dict[str, list[Pod]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Identity:
    """Pods of equal `fingerprint` duplicate each other; `replicas` are the groups they are in, one for each owner."""

    fingerprint: int
    replicas: tuple[_Replicas, ...]


class RemoveDuplicates:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removeduplicates/removeduplicates.go`."""

    def __init__(self, args: RemoveDuplicatesArgs, handle: StrategyHandle) -> None:
        self._view = handle.view
        self._evictor = handle.evictor
        self._pods = PodFilter(args.namespaces)
        self._excluded_kinds = frozenset(args.exclude_owner_kinds)
        # Upstream asks for a pod with several owners once for each of them.
        self._asks_again = handle.policy.compatibility == "upstream"

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evicts what a node holds above the average number of replicas per node that could run them."""
        targets = _Targets(nodes)
        asked: set[int] = set()
        for replicas in self._take_census(nodes):
            num_targets = targets.count(pod for pods in replicas.duplicates.values() for pod in pods)
            if num_targets < 2:
                continue
            average = -(-replicas.occurrences // num_targets)
            for node_name, duplicates in replicas.duplicates.items():
                surplus = (pod for pod in duplicates[average - 1 :] if self._can_leave(pod))
                victims = [pod for pod in surplus if self._asks_again or id(pod) not in asked]
                asked.update(map(id, victims))
                sentence = _sentence(replicas, node_name, average)
                if not evict_from_node(self._evictor, victims, lambda _: sentence):  # noqa: B023 - used at once
                    return

    def _take_census(self, nodes: Sequence[Node]) -> list[_Replicas]:
        """The replicas that have duplicates, in listing order of their first pod; pods that may not go do not count."""
        identities = _Identities()
        listing = [(node.name, [(pod, identities.of(pod)) for pod in self._owned_pods(node)]) for node in nodes]
        repeated = [_repeated(pods) for _, pods in listing]
        for (node_name, pods), on_node in zip(listing, repeated, strict=True):
            self._count(node_name, pods, on_node)
        return [replicas for replicas in identities.replicas if replicas.duplicates]

    def _count(self, node_name: str, pods: Iterable[tuple[Pod, _Identity]], repeated: set[int]) -> None:
        originals: set[int] = set()
        for pod, identity in pods:
            # Replicas that no node holds twice cannot have duplicates, so the costly filters are spared for them.
            groups = [replicas for replicas in identity.replicas if replicas.is_repeated]
            if not groups or not self._may_go(pod, is_candidate=identity.fingerprint in repeated):
                continue
            for replicas in groups:
                replicas.occurrences += 1
                if identity.fingerprint in originals:
                    replicas.duplicates.setdefault(node_name, []).append(pod)
            originals.add(identity.fingerprint)

    def _owned_pods(self, node: Node) -> Iterable[Pod]:
        """The pods looked at. What earlier rounds of the run have evicted comes last, as the first to be above average.

        It still counts, or the average would fall with every round. What is to arrive comes first: it stays.
        """
        view = self._view
        pods = [p for p in view.active_pods_on(node.name) if p.owners and p.spec.images and self._is_looked_at(p)]
        if not view.has_arrivals and not view.prior_moves:
            return pods
        return sorted(pods, key=lambda pod: (not view.is_arrival(pod), view.prior_moves.have_taken(pod)))

    def _can_leave(self, pod: Pod) -> bool:
        """Whether it has neither left already nor is still to come."""
        return not self._view.prior_moves.have_taken(pod) and not self._view.is_arrival(pod)

    def _is_looked_at(self, pod: Pod) -> bool:
        if self._excluded_kinds and any(owner.kind in self._excluded_kinds for owner in pod.owners):
            return False
        return self._pods.accepts(pod)

    def _may_go(self, pod: Pod, *, is_candidate: bool) -> bool:
        evictor = self._evictor
        if self._view.is_arrival(pod):
            return True
        if is_candidate:
            return evictor.admits(pod) and evictor.admits_now(pod)
        return evictor.filter(pod).is_accepted and evictor.pre_eviction_filter(pod).is_accepted


def _repeated(pods: Iterable[tuple[Pod, _Identity]]) -> set[int]:
    """The fingerprints that one node holds more than once; marks their replicas."""
    seen: set[int] = set()
    repeated: set[int] = set()
    for _, identity in pods:
        if identity.fingerprint not in seen:
            seen.add(identity.fingerprint)
        elif identity.fingerprint not in repeated:
            repeated.add(identity.fingerprint)
            for replicas in identity.replicas:
                replicas.is_repeated = True
    return repeated


class _Identities:
    """Hands out identities. Equal specs and equal owners are one object in a snapshot, so most pods are known ones."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int], _Identity] = {}
        self._fingerprints: dict[object, int] = {}
        self._replicas: dict[tuple[str, str, str, tuple[str, ...]], _Replicas] = {}

    @property
    def replicas(self) -> Iterable[_Replicas]:
        """All replicas met so far, in order."""
        return self._replicas.values()

    def of(self, pod: Pod) -> _Identity:
        """The identity of a pod that has an owner and an image."""
        key = (pod.namespace, id(pod.owners), id(pod.spec))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._make(pod)
        return known

    def _make(self, pod: Pod) -> _Identity:
        namespace, images = pod.namespace, tuple(sorted(pod.spec.images))
        pairs = sorted((owner.kind, owner.name, image) for owner in pod.owners for image in images)
        fingerprint = self._fingerprints.setdefault((namespace, *pairs), len(self._fingerprints))
        replicas = [
            self._replicas.setdefault((namespace, o.kind, o.name, images), _Replicas(namespace, f"{o.kind} {o.name}"))
            for o in pod.owners
        ]
        return _Identity(fingerprint, tuple(replicas))


class _Targets:
    """Which nodes could run pods, as far as taints, node selector and node affinity say."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._selection = NodeSelection(nodes)
        self._both: dict[tuple[int, int], frozenset[str]] = {}

    def count(self, pods: Iterable[Pod]) -> int:
        """How many nodes could run one of `pods`. A pod that only one node could run adds none."""
        sets = {id(nodes): nodes for pod in pods if len(nodes := self._nodes_for(pod)) > 1}
        return len(frozenset().union(*sets.values()))

    def _nodes_for(self, pod: Pod) -> frozenset[str]:
        spec = pod.spec
        tolerating = self._selection.tolerating(spec.tolerations)
        selected = self._selection.selected(spec.node_selector, spec.affinity, errors_match=True)
        # Specs abound and hold thousands of names each, while few distinct sets come of them: both sides are shared.
        key = (id(tolerating), id(selected))
        known = self._both.get(key)
        if known is None:
            known = self._both[key] = selected & tolerating
        return known


def _sentence(replicas: _Replicas, node_name: str, average: int) -> str:
    num_pods = len(replicas.duplicates[node_name]) + 1
    return f"{num_pods} pods of {replicas.owner} run on node {node_name}, {average} each would spread them evenly"
