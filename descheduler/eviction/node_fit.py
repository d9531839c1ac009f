"""NodeFit, the descheduler's own quick check whether a pod could run on a node.

Mirrors kubernetes-sigs/descheduler 0.36 `pkg/descheduler/node/node.go`, its gaps included: one pod at a time, its own
anti-affinity on the very node alone, no ports, volumes or spread. The checks that depend only on what replicas share
are made once per placement class for all nodes at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.node import Node
from descheduler.model.pod import Pod, PodSpec
from descheduler.model.quantity import ceil_milli, ceil_value
from descheduler.model.requests import CPU, MEMORY, PODS, ceil_amount
from descheduler.model.selection.affinity import NodeMatch, PodAffinityTerm, match_node, syntax_faults
from descheduler.placement.shadow.node_masks import NodeMasks
from descheduler.placement.shadow.tally.pod_tally import FoundPods, PodQuery, PodSum, PodTally

_INT64_MAX = 2**63 - 1


class TrialRoom:
    """Room for cpu, memory and pods on `nodes`, as it is now, less what is placed there later.

    With `checks_fit` a pod is only placed on a node that passes Koordinator's node fit as well, which follows the
    moves that are booked meanwhile.
    """

    def __init__(self, node_fit: NodeFit, nodes: NodeSet, *, checks_fit: bool) -> None:
        self._node_fit = node_fit
        self._nodes = nodes
        self._checks_fit = checks_fit
        self._free = np.stack([node_fit.free(name, nodes) for name in (CPU, MEMORY, PODS)])

    def place_all(self, pods: Sequence[Pod]) -> Pod | None:
        """Places each of `pods` on the first node that has room, all or none; the first without a node, else None."""
        before = self._free.copy()
        for pod in pods:
            if not self._place(pod):
                self._free = before
                return pod
        return None

    def _place(self, pod: Pod) -> bool:
        requests = pod.spec.requests
        needs = np.array([[ceil_milli(requests.get(CPU, 0))], [ceil_value(requests.get(MEMORY, 0))], [1]])
        # A node that is overbooked in what the pod does not ask for still takes it.
        asks = np.array([[CPU in requests], [MEMORY in requests], [True]])
        fits = ((self._free >= needs) | ~asks).all(axis=0)
        if self._checks_fit:
            fits &= self._node_fit.has_room(pod, self._nodes)
        if not fits.any():
            return False
        self._free[:, fits.argmax()] -= needs[:, 0]
        return True


class NodeSet:
    """Some nodes of the cluster, with the answers already given about them. Make one with `NodeFit.node_set`."""

    __slots__ = ("answers", "indexes", "version")

    def __init__(self, indexes: NDArray[np.intp], version: int) -> None:
        self.indexes = indexes
        self.version = version
        self.answers: dict[object, tuple[int, int]] = {}


class NodeFit:
    """Answers for one view cluster; follows the moves that are booked on it.

    With `spares_namesakes` a pod's anti-affinity ignores pods of its own name in whatever namespace, as upstream has
    it; without, it ignores the pod itself alone.
    """

    def __init__(self, view: ClusterView, *, spares_namesakes: bool = True) -> None:
        self._view = view
        self._spares_namesakes = spares_namesakes
        self._nodes = view.snapshot.nodes
        self._index = {node.name: index for index, node in enumerate(self._nodes)}
        self._masks = NodeMasks(self._nodes)
        self._labelled = PodsByLabels(view, self._index)
        self._avoided: dict[tuple[int, str], Mapping[str, PodSum]] = {}
        self._columns: dict[str, NDArray[np.int64]] = {}
        self._version = view.version
        """Up to which version of the view its changes are taken in."""
        self._namesakes: dict[str, set[str]] | None = None

    def node_set(self, nodes: Sequence[Node]) -> NodeSet:
        """The set of `nodes`, which must belong to the cluster. Keep it: it remembers answers."""
        return NodeSet(np.array([self._index[node.name] for node in nodes], dtype=np.intp), self._version)

    def fits_any_other(self, pod: Pod, nodes: NodeSet) -> bool:
        """Whether `pod` fits on one of `nodes` other than the one it runs on."""
        self._follow()
        if self._is_elsewhere(self._fitting(pod, nodes), pod):
            return True
        affinity = pod.spec.affinity
        if affinity is None or not affinity.anti_required or not self._spares_namesakes:
            return False
        return self._fits_beside_namesake(pod, nodes)

    def fits_any(self, pod: Pod, nodes: NodeSet) -> bool:
        """Whether `pod` fits on one of `nodes`, the one it runs on included."""
        own = self._index.get(pod.node_name)
        if own is not None and own in nodes.indexes and self.obstacle(pod, self._nodes[own]) is None:
            return True
        return self.fits_any_other(pod, nodes)

    def is_selected_by_any(self, pod: Pod, nodes: NodeSet) -> bool:
        """Whether one of `nodes` matches the node selector and required node affinity of `pod`."""
        return bool(self._masks.selected(pod.spec.node_selector, pod.spec.affinity)[nodes.indexes].any())

    def has_room_on_any_other(self, pod: Pod, nodes: NodeSet) -> bool:
        """Whether Koordinator's weaker check passes on one of `nodes` other than the one that `pod` runs on.

        It looks at cordon, node selector, required node affinity, hard taints and the requested resources alone: no
        anti-affinity, and no number of pods (koordinator-sh/koordinator 1.8 `pkg/descheduler/node/node.go`).
        """
        self._follow()
        key = "room", id(pod.spec)
        known = self._answers(nodes).get(key)
        if known is None:
            known = nodes.answers[key] = _count_and_first(nodes, self._room_mask(pod.spec))
        return self._is_elsewhere(known, pod)

    def has_room(self, pod: Pod, nodes: NodeSet) -> NDArray[np.bool_]:
        """For each of `nodes`, in their order, whether that check passes there; not to be written to."""
        self._follow()
        return self._room_mask(pod.spec)[nodes.indexes]

    def free(self, resource: str, nodes: NodeSet) -> NDArray[np.int64]:
        """What is left of a resource on each of `nodes`: cpu in milli, others in whole units, below 0 too."""
        self._follow()
        return self._available(resource)[nodes.indexes]

    def obstacle(self, pod: Pod, node: Node) -> str | None:
        """The first thing that keeps `pod` off `node`, or None when it fits."""
        self._follow()
        spec = pod.spec
        if node.unschedulable:
            return "node is not schedulable"
        index = self._index[node.name]
        if not self._masks.selected(spec.node_selector, spec.affinity)[index]:
            if match_node(spec.node_selector, spec.affinity, node.name, node.labels) is NodeMatch.ERROR:
                return syntax_faults(spec.affinity)
            return "pod node selector does not match the node label"
        if not self._masks.tolerated(spec.tolerations)[index]:
            return "pod does not tolerate taints on the node"
        if met := self._met_anti_affinity(pod, node):
            return met
        return None if node.name == pod.node_name else self._short_resource(spec, index)

    def _short_resource(self, spec: PodSpec, index: int) -> str | None:
        num_free = self._available(PODS)[index]
        # Upstream asks for the pods that containers request, 0 as a rule, before any other resource, and for one after.
        if num_free < ceil_value(spec.requests.get(PODS, 0)):
            return "insufficient pods"
        for name, need in _needs(spec):
            if need > self._available(name)[index]:
                return f"insufficient {name}"
        return "insufficient pods" if num_free == 0 else None

    def _met_anti_affinity(self, pod: Pod, node: Node) -> str | None:
        """What the anti-affinity of `pod` has against `node`; a term that cannot be read is against every node."""
        affinity = pod.spec.affinity
        if affinity is None or not affinity.anti_required:
            return None
        spared = [other for other in self._view.active_pods_on(node.name) if self._is_spared(other, pod)]
        for key, avoided in self._avoided_by(pod.spec, pod.namespace).items():
            if key in node.labels:
                num_met = self._labelled.found(avoided).on(self._index[node.name])
                if num_met > sum(self._labelled.weight(avoided, other) for other in spared):
                    return "pod matches inter-pod anti-affinity rule of other pod on node"
        return next((term.error for term in affinity.anti_required if term.error), None)

    def _is_spared(self, other: Pod, pod: Pod) -> bool:
        """Whether the anti-affinity of `pod` does not look at `other`."""
        return other.name == pod.name and (self._spares_namesakes or other.namespace == pod.namespace)

    def _fitting(self, pod: Pod, nodes: NodeSet) -> tuple[int, int]:
        """Number of `nodes` that the class of `pod` fits on, and the index of the first, as if it ran nowhere."""
        spec = pod.spec
        terms = spec.affinity.anti_required if spec.affinity is not None else ()
        key = (id(spec), pod.namespace) if terms else id(spec)
        known = self._answers(nodes).get(key)
        if known is None:
            known = nodes.answers[key] = _count_and_first(nodes, self._class_mask(spec, pod.namespace, terms))
        return known

    def _answers(self, nodes: NodeSet) -> dict[object, tuple[int, int]]:
        """The answers about `nodes` that still hold."""
        if nodes.version != self._version:
            nodes.answers.clear()
            nodes.version = self._version
        return nodes.answers

    def _is_elsewhere(self, fitting: tuple[int, int], pod: Pod) -> bool:
        """Whether nodes that fit, given by number and first index, are not just the one that `pod` runs on."""
        count, first = fitting
        return count > 1 or (count == 1 and first != self._index.get(pod.node_name))

    def _room_mask(self, spec: PodSpec) -> NDArray[np.bool_]:
        mask = self._masks.static(spec)
        for name, need in _needs(spec):
            mask &= self._available(name) >= need
        return mask

    def _class_mask(self, spec: PodSpec, namespace: str, terms: Sequence[PodAffinityTerm]) -> NDArray[np.bool_]:
        mask = self._room_mask(spec) & (self._available(PODS) > 0)
        if any(term.error for term in terms):
            return np.zeros(len(self._nodes), dtype=bool)
        for key, avoided in self._avoided_by(spec, namespace).items():
            met = self._labelled.found(avoided).nodes
            mask[met] &= ~self._masks.has_label(key)[met]
        return mask

    def _avoided_by(self, spec: PodSpec, namespace: str) -> Mapping[str, PodSum]:
        """By topology key, the pods that anti-affinity terms mean, as far as the first that cannot be read."""
        known = self._avoided.get((id(spec), namespace))
        if known is None:
            by_key: dict[str, list[tuple[int, PodQuery]]] = {}
            for term in takewhile(lambda term: not term.error, spec.affinity.anti_required if spec.affinity else ()):
                namespaces = term.namespaces or frozenset((namespace,))
                query = PodQuery(namespaces, (term.selector,), counts_terminating=True)
                by_key.setdefault(term.topology_key, []).append((1, query))
            known = self._avoided[id(spec), namespace] = {key: PodSum(parts) for key, parts in by_key.items()}
        return known

    def _fits_beside_namesake(self, pod: Pod, nodes: NodeSet) -> bool:
        """Pods of the candidate's name never object, whatever their namespace; the class as a whole cannot know."""
        if self._namesakes is None:
            self._namesakes = {}
            for other in self._view.snapshot.pods:
                self._namesakes.setdefault(other.name, set()).add(other.node_name)
        hosts = self._namesakes.get(pod.name, set()) - {pod.node_name}
        members = set(nodes.indexes.tolist())
        return any(
            self._index.get(host, -1) in members and self.obstacle(pod, self._view.nodes[host]) is None
            for host in hosts
        )

    def _available(self, name: str) -> NDArray[np.int64]:
        column = self._columns.get(name)
        if column is None:
            column = np.fromiter((self._available_on(node, name) for node in self._nodes), np.int64, len(self._nodes))
            self._columns[name] = column
        return column

    def _available_on(self, node: Node, name: str) -> int:
        """What is left of a resource: cpu in milli, others in whole units; 0 of one that the node does not list."""
        active = self._view.active_pods_on(node.name)
        if name == PODS:
            return ceil_value(node.allocatable.get(PODS, 0)) - len(active)
        if name not in node.allocatable and name not in (CPU, MEMORY):
            return 0
        used = sum(pod.spec.requests.get(name, 0) for pod in active)
        left = min(_INT64_MAX, ceil_amount(name, node.allocatable.get(name, 0))) - ceil_amount(name, used)
        return max(-_INT64_MAX, min(_INT64_MAX, left))

    def _follow(self) -> None:
        """Takes in what was booked since the last answer."""
        if self._version == self._view.version:
            return
        changes = self._view.changes[self._version :]
        self._version = self._view.version
        for change in changes:
            self._labelled.change(change.pod, change.number)
        names = {change.pod.node_name for change in changes}
        for index in {self._index[name] for name in names if name in self._index}:
            for name, column in self._columns.items():
                column[index] = self._available_on(self._nodes[index], name)


def _count_and_first(nodes: NodeSet, mask: NDArray[np.bool_]) -> tuple[int, int]:
    """How many of `nodes` the mask holds, and the index of the first, -1 without any."""
    fitting = nodes.indexes[mask[nodes.indexes]]
    return len(fitting), int(fitting[0]) if len(fitting) else -1


def _needs(spec: PodSpec) -> Iterable[tuple[str, int]]:
    """Resource name → need in the unit of the available column; a stated zero counts, as upstream has it."""
    for name, nano in spec.requests.items():
        yield name, min(_INT64_MAX, ceil_amount(name, nano))


class PodsByLabels:
    """Active pods of the known nodes in groups of equal namespace and labels; built at the first question."""

    def __init__(self, view: ClusterView, node_index: Mapping[str, int]) -> None:
        self._view = view
        self._node_index = node_index
        self._tally: PodTally | None = None

    def found(self, query: PodSum) -> FoundPods:
        """The active pods that `query` finds, by node. Not to be written to; valid until a pod leaves or comes."""
        return self._built().found(query)

    def weight(self, query: PodSum, pod: Pod) -> int:
        """What an active pod counts in `query`."""
        return self._built().weight(query, pod)

    def change(self, pod: Pod, number: int) -> None:
        """Takes in a pod that came to its node (1) or left it (-1); one that has finished does not count."""
        index = self._node_index.get(pod.node_name)
        if self._tally is not None and index is not None and not pod.is_terminal:
            self._tally.change(pod, index, number, is_terminating=False)

    def _built(self) -> PodTally:
        if self._tally is None:
            self._tally = PodTally(len(self._node_index))
            for node_name, index in self._node_index.items():
                for pod in self._view.active_pods_on(node_name):
                    self._tally.change(pod, index, 1, is_terminating=False)
        return self._tally
