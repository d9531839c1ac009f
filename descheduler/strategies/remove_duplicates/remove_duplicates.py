"""RemoveDuplicates: evicts pods of an owner that has several on one node, when they could be spread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, Namespaces, check_namespaces
from descheduler.strategies.remove_duplicates.replicas import (
    EVEN_SPREAD,
    Identities,
    Identity,
    Replicas,
    Spread,
    likeness_of,
    owner_text,
)
from descheduler.strategies.remove_duplicates.targets import Targets
from descheduler.strategies.shared.eviction_loop import evict_from_node
from descheduler.strategies.shared.pod_filter import pod_filter
from descheduler.strategies.shared.pod_state import FINISHED
from descheduler.strategies.shared.rules import Match, Rule
from descheduler.strategies.shared.selection import Selection, facts_of

__all__ = ["RemoveDuplicates", "RemoveDuplicatesArgs", "validate_args"]


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
        self._spread: list[Spread] = []
        self._relieved: Spread | None = None
        # Upstream asks for a pod with several owners once for each of them.
        self._asks_again = handle.policy.compatibility == "upstream"

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evicts what a node holds above the average number of replicas per node that could run them."""
        targets = Targets(nodes)
        asked: set[int] = set()
        self._looked_at = Selection(_rules(self._args))
        self._spread = []
        for replicas in self._take_census(nodes):
            num_targets = targets.count(pod for pods in replicas.duplicates.values() for pod in pods)
            average = -(-replicas.occurrences // num_targets) if num_targets else replicas.occurrences
            spread = Spread(replicas, num_targets, average)
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
            left_out={**looked_at.left_out, **({EVEN_SPREAD: num_even} if num_even else {})},
            nearest=() if fullest is None else (fullest.nearest,),
            counts={"workloadsWithDuplicates": len(self._spread)},
        )

    def why_not(self, pod: Pod) -> str:
        """That it is not looked at, or how many pods of its owner its node has beside an even spread."""
        if pod.is_terminal:
            return FINISHED
        owners = {owner_text(owner) for owner in pod.owners}
        here = (s for s in self._spread if s.replicas.namespace == pod.namespace and s.replicas.owner in owners)
        spread = next((spread for spread in here if pod.node_name in spread.replicas.duplicates), None)
        alone = f"no other evictable pod of {' or '.join(sorted(owners))} with the same images on node {pod.node_name}"
        return self._looked_at.why_not(pod) or (alone if spread is None else spread.sentence(pod.node_name))

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """How many pods like it the node runs then, when that is above an even spread."""
        duplicated, spread = likeness_of(pod), self._relieved
        if spread is None or likeness_of(arrival) != duplicated or self._looked_at.why_not(arrival):
            return ""
        others = after.active_pods_on(arrival.node_name)
        num_pods = 1 + sum(likeness_of(each) == duplicated and self._counts(each, after) for each in others)
        return spread.words(num_pods, arrival.node_name) if num_pods > spread.average else ""

    def _counts(self, pod: Pod, after: ClusterView) -> bool:
        return not self._looked_at.why_not(pod) and (after.is_arrival(pod) or self._may_go(pod, is_candidate=False))

    def _take_census(self, nodes: Sequence[Node]) -> list[Replicas]:
        """The replicas that have duplicates, in listing order of their first pod; pods that may not go do not count."""
        identities = Identities()
        listing = [(node.name, [(pod, identities.of(pod)) for pod in self._owned_pods(node)]) for node in nodes]
        repeated = [_repeated(pods) for _, pods in listing]
        for (node_name, pods), on_node in zip(listing, repeated, strict=True):
            self._count(node_name, pods, on_node)
        return [replicas for replicas in identities.replicas if replicas.duplicates]

    def _count(self, node_name: str, pods: Iterable[tuple[Pod, Identity]], repeated: set[int]) -> None:
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


def _repeated(pods: Iterable[tuple[Pod, Identity]]) -> set[int]:
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


def _why_even(num_pods: int, fullest: Spread | None) -> str:
    """Of a plugin that looks at pods none of which is too many for its node."""
    if fullest is None:
        return f"no node runs 2 evictable pods of one owner with the same images ({num_pods:,} pods examined)"
    highest = fullest.sentence(fullest.fullest_node)
    if not fullest.has_other_nodes:
        return f"{highest}, and no other node can run them"
    return f"no node runs more pods of an owner than an even spread: the highest is {highest}"
