"""The replicas of an owner, which of them share a node, and how far that is from an even spread."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import msgspec

from descheduler.model.pod import Owner, Pod
from descheduler.plan.facts import NearestValue

__all__ = ["EVEN_SPREAD", "Identities", "Identity", "Replicas", "Spread", "likeness_of", "owner_text"]

EVEN_SPREAD = "evenSpread"
"""What the average is called beside the pods of a node; no key of the policy sets it."""

_LEAST_TARGETS = 2


class Replicas(msgspec.Struct):
    """Pods of one owner with the same images, as the census finds them. `duplicates` are listed by node, in node order.

    `is_repeated` once some node is seen to hold two pods that are equal for all their owners.
    """

    namespace: str
    owner: str
    occurrences: int = 0
    is_repeated: bool = False
    duplicates: dict[str, list[Pod]] = msgspec.field(default_factory=dict)


class Spread(msgspec.Struct, frozen=True):
    """Replicas, the nodes that could run them, and how many each of these would run if they were spread evenly."""

    replicas: Replicas
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
        return NearestValue(EVEN_SPREAD, self.average, self.num_pods(self.fullest_node), "pods", subject)

    def num_pods(self, node_name: str) -> int:
        """How many of the pods a node runs."""
        return len(self.replicas.duplicates[node_name]) + 1

    def sentence(self, node_name: str) -> str:
        """What a node runs beside the average."""
        return self.words(self.num_pods(node_name), node_name)

    def words(self, num_pods: int, node_name: str) -> str:
        """The same of a node that runs so many."""
        return f"{num_pods} pods of {self.replicas.owner} on node {node_name} (even spread: {self.average})"


class Identity(msgspec.Struct, frozen=True):
    """Pods of equal `fingerprint` duplicate each other; `replicas` are the groups they are in, one for each owner."""

    fingerprint: int
    replicas: tuple[Replicas, ...]


class Identities:
    """Hands out identities. Equal specs and equal owners are one object in a snapshot, so most pods are known ones."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int], Identity] = {}
        self._fingerprints: dict[object, int] = {}
        self._replicas: dict[tuple[str, str, str, tuple[str, ...]], Replicas] = {}

    @property
    def replicas(self) -> Iterable[Replicas]:
        """All replicas met so far, in order."""
        return self._replicas.values()

    def of(self, pod: Pod) -> Identity:
        """The identity of a pod that has an owner and an image."""
        key = (pod.namespace, id(pod.owners), id(pod.spec))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._make(pod)
        return known

    def _make(self, pod: Pod) -> Identity:
        namespace, images = pod.namespace, tuple(sorted(pod.spec.images))
        fingerprint = self._fingerprints.setdefault(likeness_of(pod), len(self._fingerprints))
        replicas = [
            self._replicas.setdefault((namespace, o.kind, o.name, images), Replicas(namespace, owner_text(o)))
            for o in pod.owners
        ]
        return Identity(fingerprint, tuple(replicas))


def likeness_of(pod: Pod) -> Hashable:
    """Equal for pods that duplicate each other."""
    pairs = ((owner.kind, owner.name, image) for owner in pod.owners for image in pod.spec.images)
    return pod.namespace, *sorted(pairs)


def owner_text(owner: Owner) -> str:
    return f"{owner.kind} {owner.name}"
