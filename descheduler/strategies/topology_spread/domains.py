"""The topology domains of a constraint, the pods in each, and the nodes that qualify for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from descheduler.model.affinity import Affinity
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.strategies.shared.node_selection import NodeSelection
from descheduler.strategies.topology_spread.constraints import SpreadConstraint
from descheduler.strategies.topology_spread.label_index import LabelIndex

__all__ = ["Domain", "DomainFinder", "Domains", "sort_domains"]


@dataclass(frozen=True, slots=True)
class Domain:
    """One value of the topology label, and the pods that count in it, the first to leave last."""

    value: str
    pods: list[Pod]


@dataclass(frozen=True, slots=True)
class Domains:
    """What a constraint is about: pods by topology value, and the nodes that qualify for it by topology value.

    Values that only one of the two has are domains too; those without pods are empty. `sizes` are numbers of pods;
    the pods themselves are found when `pods` is called, since few constraints are broken.
    """

    sizes: Mapping[str, int]
    pods: Callable[[], Mapping[str, list[Pod]]]
    qualifying: Mapping[str, Sequence[Node]]
    digest: Callable[[], object] = bytes
    """Gives a value that is equal for the same pods and qualifying nodes, as long as the finder lives."""

    @property
    def num_pods(self) -> int:
        """How many pods count."""
        return sum(self.sizes.values())

    @property
    def num_empty(self) -> int:
        """How many domains have no pods."""
        return len(self.qualifying.keys() - self.sizes.keys())

    @property
    def skew(self) -> int:
        """How many pods the fullest domain holds more than the emptiest."""
        sizes = self.sizes.values()
        return max(sizes, default=0) - (0 if self.num_empty else min(sizes, default=0))

    def in_order(self, *, highest_first: bool) -> list[Domain]:
        """The domains that have pods, as `sort_domains` orders them."""
        return sort_domains(self.pods(), highest_first=highest_first)

    def nodes_below(self, ideal: float) -> list[Node]:
        """The qualifying nodes in domains of fewer than `ideal` pods."""
        full = {value for value, number in self.sizes.items() if number >= ideal}
        return [node for value, nodes in self.qualifying.items() if value not in full for node in nodes]


class DomainFinder:
    """Finds the domains of constraints over the same nodes; what depends on the nodes alone is found once."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._selection = NodeSelection(nodes)
        self._keys = frozenset(key for node in nodes for key in node.labels)
        self._values: dict[tuple[int, str], tuple[LabelIndex, tuple[str, ...], NDArray[np.intp]]] = {}
        self._qualifying: dict[object, Mapping[str, Sequence[Node]]] = {}

    def find(self, constraint: SpreadConstraint, pods: LabelIndex) -> Domains:
        """The domains of `constraint` for the pods of one namespace.

        Pods on nodes that do not qualify count too, and make domains of their own, as upstream has it. Terminating pods
        do not count.
        """
        if constraint.topology_key not in self._keys:
            return Domains({}, dict, {})  # tenants state keys that no node has, any number of them
        values, value_of = self._values_of(constraint.topology_key, pods)
        places = pods.places(constraint.selector)
        ids = value_of[places]
        places, ids = places[ids >= 0], ids[ids >= 0]
        numbers = np.bincount(ids, minlength=len(values))
        there = np.flatnonzero(numbers).tolist()
        sizes = dict(zip(map(values.__getitem__, there), numbers[there].tolist(), strict=True))

        def pods_by_value() -> Mapping[str, list[Pod]]:
            by_value: dict[str, list[Pod]] = {}
            for place, index in zip(places, ids, strict=True):
                by_value.setdefault(values[index], []).append(pods.all_pods[place])
            return by_value

        qualifying = self._qualifying_nodes(constraint)

        def digest() -> object:
            return id(pods), hashlib.sha256(places.tobytes()).digest(), id(qualifying)

        return Domains(sizes, pods_by_value, qualifying, digest)

    def _values_of(self, key: str, pods: LabelIndex) -> tuple[tuple[str, ...], NDArray[np.intp]]:
        """The values of the label `key`, and which of them the node of each pod has; -1 where a pod does not count."""
        known = self._values.get((id(pods), key))
        if known is None:
            ids: dict[str, int] = {}
            id_of = {
                node.name: ids.setdefault(node.labels[key], len(ids)) for node in self._nodes if key in node.labels
            }
            counted = [-1 if pod.deleted_at is not None else id_of.get(pod.node_name, -1) for pod in pods.all_pods]
            # The index is kept as well: an identity stands for it only as long as it lives.
            known = self._values[id(pods), key] = pods, tuple(ids), np.array(counted, dtype=np.intp)
        return known[1:]

    def _qualifying_nodes(self, constraint: SpreadConstraint) -> Mapping[str, Sequence[Node]]:
        """Topology value → the nodes that count for `constraint`, both in node order."""
        key = (constraint.topology_key, constraint.node_selector, constraint.node_required, constraint.tolerations)
        known = self._qualifying.get(key)
        if known is None:
            names = self._selection.selected(
                dict(constraint.node_selector), Affinity(node_required=constraint.node_required), errors_match=False
            )
            if constraint.tolerations is not None:
                names &= self._selection.tolerating(constraint.tolerations)
            by_value: dict[str, list[Node]] = {}
            for node in self._nodes:
                if node.name in names and constraint.topology_key in node.labels:
                    by_value.setdefault(node.labels[constraint.topology_key], []).append(node)
            known = self._qualifying[key] = by_value
        return known


def sort_domains(pods: Mapping[str, Sequence[Pod]], *, highest_first: bool) -> list[Domain]:
    """The domains from the smallest to the largest, ties in the given order; in each the pods that stay longest first.

    Those are pods that state a node selector or node affinity; among equals the priority decides. Pods leave from the
    end, so with `highest_first` those of the highest priority leave first, as upstream has it; without it, those of
    the lowest.
    """
    sign = 1 if highest_first else -1
    ordered = sorted(pods.items(), key=lambda domain: len(domain[1]))
    return [Domain(value, sorted(members, key=lambda pod: _order_of_leaving(pod, sign))) for value, members in ordered]


def _order_of_leaving(pod: Pod, sign: int) -> tuple[bool, int, int]:
    spec = pod.spec
    is_bound = bool(spec.node_selector) or (spec.affinity is not None and spec.affinity.has_node_affinity)
    # No priority at all is below every number.
    return not is_bound, sign * (spec.priority is not None), sign * (spec.priority or 0)
