"""The topology domains of a constraint, the pods in each, and the nodes that qualify for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from descheduler.model.affinity import Affinity
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.label_index import LabelIndex
from descheduler.strategies.node_selection import NodeSelection
from descheduler.strategies.topology_spread.constraints import SpreadConstraint

__all__ = ["Domain", "DomainFinder", "Domains", "sort_domains"]


@dataclass(frozen=True, slots=True)
class Domain:
    """One value of the topology label, and the pods that count in it, the first to leave last."""

    value: str
    pods: list[Pod]


@dataclass(frozen=True, slots=True)
class Domains:
    """What a constraint is about: pods by topology value, and the nodes that qualify for it by topology value.

    Values that only one of the two has are domains too; those without pods are empty.
    """

    pods: Mapping[str, list[Pod]]
    qualifying: Mapping[str, Sequence[Node]]

    @property
    def num_pods(self) -> int:
        """How many pods count."""
        return sum(map(len, self.pods.values()))

    @property
    def num_empty(self) -> int:
        """How many domains have no pods."""
        return len(self.qualifying) - sum(value in self.qualifying for value in self.pods)

    @property
    def skew(self) -> int:
        """How many pods the fullest domain holds more than the emptiest."""
        sizes = [len(pods) for pods in self.pods.values()]
        return max(sizes, default=0) - (0 if self.num_empty else min(sizes, default=0))

    def nodes_below(self, ideal: float) -> list[Node]:
        """The qualifying nodes in domains of fewer than `ideal` pods."""
        full = {value for value, pods in self.pods.items() if len(pods) >= ideal}
        return [node for value, nodes in self.qualifying.items() if value not in full for node in nodes]


class DomainFinder:
    """Finds the domains of constraints over the same nodes; what depends on the nodes alone is found once."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._selection = NodeSelection(nodes)
        self._values: dict[str, dict[str, str]] = {}
        self._qualifying: dict[object, Mapping[str, Sequence[Node]]] = {}

    def find(self, constraint: SpreadConstraint, pods: LabelIndex) -> Domains:
        """The domains of `constraint` for the pods of one namespace.

        Pods on nodes that do not qualify count too, and make domains of their own, as upstream has it. Terminating pods
        do not count.
        """
        value_of = self._values_of(constraint.topology_key)
        by_value: dict[str, list[Pod]] = {}
        for pod in pods.pods(constraint.selector):
            value = value_of.get(pod.node_name)
            if value is not None and pod.deleted_at is None:
                by_value.setdefault(value, []).append(pod)
        return Domains(by_value, self._qualifying_nodes(constraint))

    def _values_of(self, key: str) -> Mapping[str, str]:
        """Node name → its value of the label `key`, for the nodes that have one."""
        known = self._values.get(key)
        if known is None:
            known = self._values[key] = {node.name: node.labels[key] for node in self._nodes if key in node.labels}
        return known

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
