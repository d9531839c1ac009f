"""RemoveDuplicates: evicts pods of an owner that has several on one node, when they could be spread."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Owner, Pod
from descheduler.plan.facts import NearestValue, PluginFacts
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, Namespaces, check_namespaces
from descheduler.strategies.shared.node_selection import NodeSelection
from descheduler.strategies.shared.pod_filter import pod_filter
from descheduler.strategies.shared.pods import FINISHED
from descheduler.strategies.shared.rules import Match, Rule
from descheduler.strategies.shared.selection import Selection, evict_from_node, facts_of

_EVEN_SPREAD = "evenSpread"
"""What the average is called beside the pods of a node; no key of the policy sets it."""
_LEAST_TARGETS = 2


class _Replicas(msgspec.Struct):
    """Pods of one owner with the same images, as the census finds them. `duplicates` are listed by node, in node order.

    `is_repeated` once some node is seen to hold two pods that are equal for all their owners.
    """

    namespace: str
    owner: str
    occurrences: int = 0
    is_repeated: bool = False
    duplicates: dict[str, list[Pod]] = msgspec.field(default_factory=dict)


class _Spread(msgspec.Struct, frozen=True):
    """Replicas, the nodes that could run them, and how many each of these would run if they were spread evenly."""

    replicas: _Replicas
    num_targets: int
    average: int

    @property
    def has_other_nodes(self) -> bool:
        """Whether the pods could be spread at all."""
        return self.num_targets >= _LEAST_TARGETS

    def surplus(self, node_name: str) -> Sequence[Pod]:
        """The pods of a node that are above the average; none when there is no other node for them."""
        return self.replicas.duplicates[node_name][self.average - 1 :] if self.has_other_nodes else ()

    @property
    def distance(self) -> tuple[bool, int, int]:
        """Grows towards the average and beyond it, of the fullest node."""
        most = self.num_pods(self.fullest_node)
        return self.has_other_nodes, most - self.average, most

    @property
    def fullest_node(self) -> str:
        """The node with the most of the pods, the first of several."""
        return max(self.replicas.duplicates, key=self.num_pods)

    @property
    def nearest(self) -> NearestValue:
        """The fullest node beside the average."""
        subject = f"{self.replicas.owner} in namespace {self.replicas.namespace} on node {self.fullest_node}"
        return NearestValue(_EVEN_SPREAD, self.average, self.num_pods(self.fullest_node), "pods", subject)

    def num_pods(self, node_name: str) -> int:
        """How many of the pods a node runs."""
        return len(self.replicas.duplicates[node_name]) + 1

    def sentence(self, node_name: str) -> str:
        """What a node runs beside the average."""
        return self.words(self.num_pods(node_name), node_name)

    def words(self, num_pods: int, node_name: str) -> str:
        """The same of a node that runs so many."""
        return f"{num_pods} pods of {self.replicas.owner} on node {node_name} (even spread: {self.average})"


class _Identity(msgspec.Struct, frozen=True):
    """Pods of equal `fingerprint` duplicate each other; `replicas` are the groups they are in, one for each owner."""

    fingerprint: int
    replicas: tuple[_Replicas, ...]


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
        fingerprint = self._fingerprints.setdefault(_likeness_of(pod), len(self._fingerprints))
        replicas = [
            self._replicas.setdefault((namespace, o.kind, o.name, images), _Replicas(namespace, _owner_text(o)))
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


class RemoveDuplicatesArgs(Args, frozen=True):
    """Arguments of RemoveDuplicates; it has no label selector.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removeduplicates/types.go`.
    """

    namespaces: Namespaces | None = None
    """Only pods of these namespaces are examined."""
    exclude_owner_kinds: tuple[str, ...] = ()
    """Pods with an owner of these kinds are not examined."""


def validate_args(args: RemoveDuplicatesArgs) -> list[ArgsProblem]:
    """Problems of the namespaces."""
    return check_namespaces(args.namespaces)


class RemoveDuplicates:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removeduplicates/removeduplicates.go`."""

    def __init__(self, args: RemoveDuplicatesArgs, handle: StrategyHandle) -> None:
        self._view = handle.view
        self._evictor = handle.evictor
        self._args = args
        self._looked_at = Selection()
        self._spread: list[_Spread] = []
        self._relieved: _Spread | None = None
        # Upstream asks for a pod with several owners once for each of them.
        self._asks_again = handle.policy.compatibility == "upstream"

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evicts what a node holds above the average number of replicas per node that could run them."""
        targets = _Targets(nodes)
        asked: set[int] = set()
        self._looked_at = Selection(_rules(self._args))
        self._spread = []
        for replicas in self._take_census(nodes):
            num_targets = targets.count(pod for pods in replicas.duplicates.values() for pod in pods)
            average = -(-replicas.occurrences // num_targets) if num_targets else replicas.occurrences
            spread = _Spread(replicas, num_targets, average)
            self._spread.append(spread)
            self._relieved = spread
            for node_name in replicas.duplicates:
                surplus = (pod for pod in spread.surplus(node_name) if self._can_leave(pod))
                victims = [pod for pod in surplus if self._asks_again or id(pod) not in asked]
                asked.update(map(id, victims))
                sentence = spread.sentence(node_name)
                if not evict_from_node(self._evictor, victims, lambda _: sentence):  # noqa: B023 - used at once
                    return

    def facts(self) -> PluginFacts:
        """How many workloads have several pods on a node, and how near the fullest node is to an even spread."""
        looked_at = facts_of(self._looked_at)
        # A pod of several owners is in several groups.
        surplus = {id(pod) for s in self._spread for name in s.replicas.duplicates for pod in s.surplus(name)}
        num_selected = len(surplus)
        num_even = looked_at.pods_selected - num_selected
        fullest = max(self._spread, key=lambda spread: spread.distance, default=None)
        return replace(
            looked_at,
            why_nothing="" if num_selected else looked_at.why_nothing or _why_even(num_even, fullest),
            pods_selected=num_selected,
            left_out={**looked_at.left_out, **({_EVEN_SPREAD: num_even} if num_even else {})},
            nearest=() if fullest is None else (fullest.nearest,),
            counts={"workloadsWithDuplicates": len(self._spread)},
        )

    def why_not(self, pod: Pod) -> str:
        """That it is not looked at, or how many pods of its owner its node has beside an even spread."""
        if pod.is_terminal:
            return FINISHED
        owners = {_owner_text(owner) for owner in pod.owners}
        here = (s for s in self._spread if s.replicas.namespace == pod.namespace and s.replicas.owner in owners)
        spread = next((spread for spread in here if pod.node_name in spread.replicas.duplicates), None)
        alone = f"no other evictable pod of {' or '.join(sorted(owners))} with the same images on node {pod.node_name}"
        return self._looked_at.why_not(pod) or (alone if spread is None else spread.sentence(pod.node_name))

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """How many pods like it the node runs then, when that is above an even spread."""
        duplicated, spread = _likeness_of(pod), self._relieved
        if spread is None or _likeness_of(arrival) != duplicated or self._looked_at.why_not(arrival):
            return ""
        others = after.active_pods_on(arrival.node_name)
        neighbours = (each for each in others if each.namespace == pod.namespace)
        num_pods = 1 + sum(_likeness_of(each) == duplicated and self._counts(each, after) for each in neighbours)
        return spread.words(num_pods, arrival.node_name) if num_pods > spread.average else ""

    def _counts(self, pod: Pod, after: ClusterView) -> bool:
        return not self._looked_at.why_not(pod) and (after.is_arrival(pod) or self._may_go(pod, is_candidate=False))

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
        pods = self._looked_at.of(self._view.active_pods_on(node.name))
        view = self._view
        if not view.has_arrivals and not view.prior_moves:
            return pods
        return sorted(pods, key=lambda pod: (not view.is_arrival(pod), view.prior_moves.have_taken(pod)))

    def _can_leave(self, pod: Pod) -> bool:
        """Whether it has neither left already nor is still to come."""
        return not self._view.prior_moves.have_taken(pod) and not self._view.is_arrival(pod)

    def _may_go(self, pod: Pod, *, is_candidate: bool) -> bool:
        evictor = self._evictor
        if self._view.is_arrival(pod):
            return True
        if is_candidate:
            return evictor.lets_go(pod)
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


def _rules(args: RemoveDuplicatesArgs) -> Iterator[Rule]:
    """Whom the plugin looks at."""
    yield Match(
        "metadata.ownerReferences",
        lambda pod: bool(pod.owners and pod.spec.images),
        lambda pod: "has no container image" if pod.owners else "has no owner",
        "no pod has an owner",
    )
    if args.exclude_owner_kinds:
        kinds = frozenset(args.exclude_owner_kinds)
        wanted = f"(excludeOwnerKinds: {', '.join(args.exclude_owner_kinds)})"
        yield Match(
            "excludeOwnerKinds",
            lambda pod: not any(owner.kind in kinds for owner in pod.owners),
            lambda pod: f"owned by {', '.join(owner.kind for owner in pod.owners)} {wanted}",
            f"every pod has an excluded owner {wanted}",
        )
    yield from pod_filter(args.namespaces)


def _why_even(num_pods: int, fullest: _Spread | None) -> str:
    """Of a plugin that looks at pods none of which is too many for its node."""
    if fullest is None:
        return f"no node runs 2 evictable pods of one owner with the same images ({num_pods:,} pods examined)"
    highest = fullest.sentence(fullest.fullest_node)
    if not fullest.has_other_nodes:
        return f"{highest}, and no other node can run them"
    return f"no node runs more pods of an owner than an even spread: the highest is {highest}"


def _likeness_of(pod: Pod) -> Hashable:
    """Equal for pods that duplicate each other."""
    pairs = ((owner.kind, owner.name, image) for owner in pod.owners for image in pod.spec.images)
    return pod.namespace, *sorted(pairs)


def _owner_text(owner: Owner) -> str:
    return f"{owner.kind} {owner.name}"
