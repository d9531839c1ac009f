"""Which pods run beside, or in one topology domain with, a pod that their required anti-affinity objects to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import Affinity, PodAffinityTerm
from descheduler.placement.shadow.tally.label_columns import LabelColumns

_MOST_CELLS = 8_000_000
"""The answers kept for terms have no more cells than this (8 MB); the one not asked for longest gives way."""


class Conflict(msgspec.Struct, frozen=True):
    """A broken anti-affinity: the other pod as `namespace/name`, and where both are, such as `on node a`."""

    partner: str
    place: str

    @property
    def sentence(self) -> str:
        """The conflict as the operator reads it."""
        return f"violates required anti-affinity with pod {self.partner} {self.place}"


class AntiAffinityConflicts:
    """Answers about the pods of `listed` (node name → pods), the only ones that count as partners.

    Mirrors kubernetes-sigs/descheduler 0.36 `pkg/utils/predicates.go`: namespace selectors are not looked at, and on
    the same node the topology label is not needed. With `spares_namesakes` a pod of the same name is no partner, in
    whatever namespace, as upstream has it; without, only the pod itself is none.
    """

    def __init__(self, nodes: Sequence[Node], listed: Mapping[str, Sequence[Pod]], *, spares_namesakes: bool) -> None:
        self._spares_namesakes = spares_namesakes
        self._node_labels = {node.name: node.labels for node in nodes}
        self._pods = _LabelledPods(pod for pods in listed.values() for pod in pods)
        self._by_node = self._pods.split_by(lambda pod: pod.node_name)
        self._by_domain: dict[str, Mapping[str, _Crowd]] = {}
        self._moved: dict[int, Affinity | None] = {}

    def find_moved(self, arrival: Pod, left: Pod) -> Conflict | None:
        """The first conflict of `arrival`, which is none of the listed pods, once `left` has left."""
        affinity = arrival.spec.affinity
        self._moved[id(affinity)] = affinity  # answers are kept by the identity of terms
        return self._find(arrival, left)

    def find(self, pod: Pod) -> Conflict | None:
        """The first conflict of `pod` in the order of its terms; a malformed term ends the search, as upstream does."""
        return self._find(pod, pod)

    def _find(self, pod: Pod, left: Pod) -> Conflict | None:
        affinity = pod.spec.affinity
        if affinity is None:
            return None
        for term in affinity.anti_required:
            if term.error:
                return None
            conflict = self._find_for(term, pod, left)
            if conflict is not None:
                return conflict
        return None

    def forget(self, pod: Pod) -> None:
        """Takes an evicted pod out of the partners."""
        place = self._pods.forget(pod)
        self._by_node[pod.node_name].forget(place)
        for key, domains in self._by_domain.items():
            value = self._node_labels[pod.node_name].get(key)
            if value is not None:
                domains[value].forget(place)

    def _find_for(self, term: PodAffinityTerm, pod: Pod, left: Pod) -> Conflict | None:
        """The conflict over one term: of the first namespace that has any, on the node rather than in the domain."""
        meant = self._pods.meant_by(term, pod.namespace)
        if meant is None:
            return None
        near = self._partner(self._by_node.get(pod.node_name), meant, pod, left)
        value = self._node_labels[pod.node_name].get(term.topology_key)
        far = None if value is None else self._partner(self._in_domain(term.topology_key, value), meant, pod, left)
        if near is not None and (far is None or far.namespace == near.namespace):
            return Conflict(near.key, f"on node {pod.node_name}")
        return None if far is None else Conflict(far.key, f"in {term.topology_key}={value}")

    def _in_domain(self, key: str, value: str) -> _Crowd | None:
        """The pods of all nodes whose label `key` has this value."""
        domains = self._by_domain.get(key)
        if domains is None:
            labels = self._node_labels
            domains = self._by_domain[key] = self._pods.split_by(lambda pod: labels[pod.node_name].get(key))
        return domains.get(value)

    def _partner(self, crowd: _Crowd | None, meant: NDArray[np.bool_], pod: Pod, left: Pod) -> Pod | None:
        """The first of `crowd` that is meant and not spared, and that has not `left`."""
        for place in crowd.those(meant) if crowd is not None else ():
            other = self._pods.pods[place]
            if other is left:
                continue
            if other.name != pod.name or not (self._spares_namesakes or other.namespace == pod.namespace):
                return other
        return None


class _LabelledPods:
    """Pods by namespace, and in each in groups of equal labels, so that terms are asked about groups.

    A term is answered by a column of groups. Its last cell stands for the pods that are forgotten.
    """

    def __init__(self, pods: Iterable[Pod]) -> None:
        groups: dict[str, dict[int, list[Pod]]] = {}
        for pod in pods:
            # Equal labels are one object in a snapshot.
            groups.setdefault(pod.namespace, {}).setdefault(id(pod.labels), []).append(pod)
        in_order = [members for _, by_labels in sorted(groups.items()) for members in by_labels.values()]
        self.pods = [pod for members in in_order for pod in members]
        self._place_of: dict[int, int] | None = None
        self._group_of = np.repeat(np.arange(len(in_order)), [len(members) for members in in_order])
        self._num_groups = len(in_order)
        self._labels = LabelColumns(members[0].labels for members in in_order)
        self._groups_of: dict[str, slice] = {}
        start = 0
        for namespace, by_labels in sorted(groups.items()):
            self._groups_of[namespace] = slice(start, start + len(by_labels))
            start += len(by_labels)
        self._most_answers = 1 + _MOST_CELLS // (1 + self._num_groups)
        self._answers: dict[tuple[int, str], NDArray[np.bool_] | None] = {}

    def meant_by(self, term: PodAffinityTerm, namespace: str) -> NDArray[np.bool_] | None:
        """The groups that a term of a pod of `namespace` means; None without any."""
        # Terms live as long as the pods that state them, which this class does not outlive.
        key = id(term), namespace
        if key in self._answers:
            answer = self._answers.pop(key)
        else:
            answer = self._find_meant(term, namespace)
            if len(self._answers) >= self._most_answers:
                del self._answers[next(iter(self._answers))]
        self._answers[key] = answer
        return answer

    def split_by(self, place_of: Callable[[Pod], str | None]) -> Mapping[str, _Crowd]:
        """The pods by the node or domain that `place_of` names, in order; those without any are left out."""
        places: dict[str, list[int]] = {}
        for place, pod in enumerate(self.pods):
            where = place_of(pod)
            if where is not None:
                places.setdefault(where, []).append(place)
        return {where: _Crowd(np.array(found, dtype=np.intp), self._group_of) for where, found in places.items()}

    def forget(self, pod: Pod) -> int:
        """Lets no term mean `pod` any more; returns its place."""
        if self._place_of is None:
            self._place_of = {id(each): place for place, each in enumerate(self.pods)}
        place = self._place_of[id(pod)]
        self._group_of[place] = _FORGOTTEN
        return place

    def _find_meant(self, term: PodAffinityTerm, namespace: str) -> NDArray[np.bool_] | None:
        wanted = [self._groups_of[name] for name in term.namespaces or (namespace,) if name in self._groups_of]
        if not wanted:
            return None
        selected = self._labels.selected(term.selector)
        meant = np.zeros(self._num_groups + 1, dtype=bool)
        for groups in wanted:
            meant[groups] = selected[groups]
        return meant if meant.any() else None


_FORGOTTEN = -1


class _Crowd:
    """The pods of one node or domain, by their places in the order of all pods."""

    __slots__ = ("_groups", "_places")

    def __init__(self, places: NDArray[np.intp], group_of: NDArray[np.intp]) -> None:
        self._places = places
        self._groups = group_of[places]

    def those(self, meant: NDArray[np.bool_]) -> Iterable[int]:
        """The places of the pods in groups that are `meant`, in order."""
        found: list[int] = self._places[meant[self._groups]].tolist()
        return found

    def forget(self, place: int) -> None:
        """Takes a pod out."""
        self._groups[np.searchsorted(self._places, place)] = _FORGOTTEN
