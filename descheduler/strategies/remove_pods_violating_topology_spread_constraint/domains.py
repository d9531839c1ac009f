"""The topology domains of a constraint, the pods in each, and the nodes that qualify for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import Affinity
from descheduler.model.selection.labels import LabelSelector
from descheduler.placement.shadow.tally.label_columns import LabelColumns
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.constraints import PodConstraint
from descheduler.strategies.shared.node_selection import NodeSelection

_NONE = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True)
class SpreadDomains:
    """What a constraint is about: the pods that count, by topology value, and the nodes that qualify for it.

    `places` are those of the pods in their listing, ascending, and `ids` the domain of each, an index into `values`.
    Values that only pods or only nodes have are domains too; those without pods are empty.
    """

    values: Sequence[str]
    places: NDArray[np.intp]
    ids: NDArray[np.intp]
    qualifying: Mapping[str, Sequence[Node]]
    digest: Callable[[], object] = bytes
    """Gives a value that is equal for the same pods and qualifying nodes, as long as the finder lives."""

    @cached_property
    def numbers(self) -> NDArray[np.intp]:
        """How many pods each of `values` has."""
        return np.bincount(self.ids, minlength=len(self.values))

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """How many pods each domain has, without the empty ones."""
        numbers = self.numbers
        there = np.flatnonzero(numbers).tolist()
        return dict(zip(map(self.values.__getitem__, there), numbers[there].tolist(), strict=True))

    @cached_property
    def num_empty(self) -> int:
        """How many domains have no pods."""
        return len(self.qualifying.keys() - self.sizes.keys())

    @property
    def smallest(self) -> int:
        """How many pods the emptiest domain holds."""
        return 0 if self.num_empty else min(self.sizes.values(), default=0)

    @property
    def skew(self) -> int:
        """How many pods the fullest domain holds more than the emptiest."""
        return max(self.sizes.values(), default=0) - self.smallest

    def nodes_below(self, ideal: float) -> list[Node]:
        """The qualifying nodes in domains of fewer than `ideal` pods."""
        full = {value for value, number in self.sizes.items() if number >= ideal}
        return [node for value, nodes in self.qualifying.items() if value not in full for node in nodes]

    def ranked(self) -> NDArray[np.intp]:
        """The domains that have pods, as indices into `values`, from the smallest to the largest.

        Ties are in the order in which the listing comes to them.
        """
        first = np.full(len(self.values), len(self.ids))
        first[self.ids[::-1]] = np.arange(len(self.ids))[::-1]
        numbers = self.numbers
        there = np.flatnonzero(numbers)
        return there[np.lexsort((first[there], numbers[there]))]


class DomainFinder:
    """Finds the domains of constraints over the same nodes; what depends on the nodes alone is found once."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._selection = NodeSelection(nodes)
        self._keys = frozenset(key for node in nodes for key in node.labels)
        self._values: dict[tuple[int, str], tuple[LabelIndex, tuple[str, ...], NDArray[np.intp]]] = {}
        self._qualifying: dict[object, Mapping[str, Sequence[Node]]] = {}

    def find(self, constraint: PodConstraint, pods: LabelIndex) -> SpreadDomains:
        """The domains of `constraint` for the pods of one namespace.

        Pods on nodes that do not qualify count too, and make domains of their own, as upstream has it. Terminating pods
        do not count.
        """
        if constraint.topology_key not in self._keys:
            return SpreadDomains((), _NONE, _NONE, {})  # tenants state keys that no node has, any number of them
        values, value_of = self._values_of(constraint.topology_key, pods)
        places = pods.places(constraint.selector)
        ids = value_of[places]
        places, ids = places[ids >= 0], ids[ids >= 0]
        qualifying = self._qualifying_nodes(constraint)

        def digest() -> object:
            return id(pods), hashlib.sha256(places.tobytes()).digest(), id(qualifying)

        return SpreadDomains(values, places, ids, qualifying, digest)

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

    def _qualifying_nodes(self, constraint: PodConstraint) -> Mapping[str, Sequence[Node]]:
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


def leaving_order(pods: Sequence[Pod], *, highest_first: bool) -> NDArray[np.intp]:
    """For each of `pods` its rank, the one that stays longest first; ties in the given order.

    Those that stay state a node selector or node affinity; among equals the priority decides. Pods leave from the end,
    so with `highest_first` those of the highest priority leave first, as upstream has it; without it, those of the
    lowest.
    """
    sign = 1 if highest_first else -1
    ranks = np.empty(len(pods), dtype=np.intp)
    ranks[sorted(range(len(pods)), key=lambda place: _order_of_leaving(pods[place], sign))] = np.arange(len(pods))
    return ranks


def _order_of_leaving(pod: Pod, sign: int) -> tuple[bool, int, int]:
    spec = pod.spec
    is_bound = bool(spec.node_selector) or (spec.affinity is not None and spec.affinity.has_node_affinity)
    # No priority at all is below every number.
    return not is_bound, sign * (spec.priority is not None), sign * (spec.priority or 0)


class LabelIndex:
    """`pods` in the order given. Equal labels are one object in a snapshot, so identity groups them."""

    def __init__(self, pods: Iterable[Pod]) -> None:
        self.all_pods = tuple(pods)
        groups: dict[int, int] = {}
        self._group_of = np.array(
            [groups.setdefault(id(pod.labels), len(groups)) for pod in self.all_pods], dtype=np.intp
        )
        labels = {id(pod.labels): pod.labels for pod in self.all_pods}
        self._labels = LabelColumns(labels[identity] for identity in groups)

    def places(self, selector: LabelSelector) -> NDArray[np.intp]:
        """The places in the listing of the pods that `selector` selects, ascending."""
        return np.flatnonzero(self._labels.selected(selector)[self._group_of])

    def pods(self, selector: LabelSelector) -> list[Pod]:
        """The pods that `selector` selects, in listing order."""
        return [self.all_pods[place] for place in self.places(selector)]
