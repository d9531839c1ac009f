"""Boolean masks over all nodes for conditions that no move changes, each computed once.

A node affinity term costs microseconds where matching it node by node costs milliseconds. What matches is as in
`k8s.io/component-helpers/scheduling/corev1/nodeaffinity` (1.36): a term that names no condition, or cannot be parsed,
matches no node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from descheduler.model.node import Node
from descheduler.model.pod import PodSpec
from descheduler.model.selection.affinity import Affinity, NodeSelectorTerm, PreferredNodeTerm
from descheduler.model.selection.labels import Requirement
from descheduler.model.selection.taints import NO_EXECUTE, NO_SCHEDULE, Taint, Tolerance, Toleration
from descheduler.placement.shadow.tally.label_columns import LabelColumns

_NAME = "metadata.name"

BoolMask = NDArray[np.bool_]
"""One answer a node, in the order of the node table."""


class NodeTerms:
    """Answers over `nodes`, in their order. Masks are new with each call."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._index = {node.name: index for index, node in enumerate(nodes)}
        self._labels = LabelColumns(node.labels for node in nodes)

    def selected(self, node_selector: Mapping[str, str], required: Iterable[NodeSelectorTerm] | None) -> BoolMask:
        """Nodes that carry every label of `node_selector` and match a term of `required`, unless that is None."""
        mask = self._all(True) if required is None else self.any_of(required)
        if node_selector:
            wanted = [Requirement(key, "In", frozenset((value,))) for key, value in node_selector.items()]
            mask &= self._labels.meeting(wanted)
        return mask

    def any_of(self, terms: Iterable[NodeSelectorTerm]) -> BoolMask:
        """Nodes that match at least one of `terms`."""
        mask = self._all(False)
        for term in terms:
            mask |= self.term(term)
        return mask

    def term(self, term: NodeSelectorTerm) -> BoolMask:
        """Nodes that meet every condition of `term`."""
        if term.is_empty or term.error:
            return self._all(False)
        mask = self._labels.meeting(term.expressions)
        for requirement in term.fields:
            mask &= self._is_named(requirement)
        return mask

    def weights(self, preferred: Iterable[PreferredNodeTerm]) -> NDArray[np.int64]:
        """The sum of the weights of those of `preferred` that a node matches; malformed ones count nothing."""
        total = np.zeros(len(self._index), dtype=np.int64)
        for entry in preferred:
            if entry.weight:
                total[self.term(entry.term)] += entry.weight
        return total

    def having(self, key: str) -> BoolMask:
        """Nodes with a label of this key."""
        return self._labels.having(key)

    def named(self, names: Iterable[str]) -> BoolMask:
        """The nodes of these names."""
        mask = self._all(False)
        mask[[self._index[name] for name in names if name in self._index]] = True
        return mask

    def _all(self, value: bool) -> BoolMask:
        return np.full(len(self._index), value)

    def _is_named(self, requirement: Requirement) -> BoolMask:
        if requirement.key != _NAME:
            return self._all(requirement.matches({}))
        mask = self.named(requirement.values)
        return ~mask if requirement.operator == "NotIn" else mask


def hard_taints(node: Node) -> tuple[Taint, ...]:
    """The taints that keep pods away: `NoSchedule` and `NoExecute`."""
    return tuple(taint for taint in node.taints if taint.effect in (NO_SCHEDULE, NO_EXECUTE))


class NodeMasks:
    """Masks in the order of `nodes`."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.terms = NodeTerms(nodes)
        self._schedulable = np.array([not node.unschedulable for node in nodes], dtype=bool)
        self._taints = TaintSets([hard_taints(node) for node in nodes])
        self._selected: dict[object, NDArray[np.bool_]] = {}
        self._numbers = _Numbers()
        self._tolerated: dict[tuple[Toleration, ...], NDArray[np.bool_]] = {}
        self._labelled: dict[str, NDArray[np.bool_]] = {}

    def static(self, spec: PodSpec) -> NDArray[np.bool_]:
        """Nodes that are not cordoned, match selector and required affinity, and whose hard taints are tolerated."""
        mask = self._schedulable & self.tolerated(spec.tolerations)
        if spec.node_selector or (spec.affinity is not None and spec.affinity.node_required is not None):
            mask &= self.selected(spec.node_selector, spec.affinity)
        return mask

    def selected(self, node_selector: Mapping[str, str], affinity: Affinity | None) -> NDArray[np.bool_]:
        """Nodes that match the node selector and the required node affinity; an error is no match."""
        required: tuple[NodeSelectorTerm, ...] | None = affinity.node_required if affinity is not None else None
        key = frozenset(node_selector.items()), self._numbers.of(required)
        known = self._selected.get(key)
        if known is None:
            known = self._selected[key] = self.terms.selected(node_selector, required)
        return known

    def tolerated(self, tolerations: tuple[Toleration, ...]) -> NDArray[np.bool_]:
        """Nodes all of whose hard taints are tolerated."""
        known = self._tolerated.get(tolerations)
        if known is None:
            known = self._tolerated[tolerations] = self._taints.num_untolerated(tolerations) == 0
        return known

    def has_label(self, key: str) -> NDArray[np.bool_]:
        """Nodes that carry a label of this key."""
        known = self._labelled.get(key)
        if known is None:
            known = self._labelled[key] = self.terms.having(key)
        return known


class TaintSets:
    """A list of taints a node, of which a pod is asked each distinct taint once and not once a node."""

    def __init__(self, by_node: Sequence[Sequence[Taint]]) -> None:
        numbers: dict[Taint, int] = {}
        self._num_nodes = len(by_node)
        self._node_of = np.repeat(np.arange(len(by_node)), [len(taints) for taints in by_node])
        cells = [numbers.setdefault(taint, len(numbers)) for taints in by_node for taint in taints]
        self._taint_of = np.array(cells, dtype=np.intp)
        self._taints = tuple(numbers)

    def num_untolerated(self, tolerations: Iterable[Toleration]) -> NDArray[np.intp]:
        """By node, how many of its taints none of `tolerations` covers."""
        tolerates = Tolerance(tolerations).tolerates
        is_refused = np.array([not tolerates(taint) for taint in self._taints], dtype=bool)
        return np.bincount(self._node_of[is_refused[self._taint_of]], minlength=self._num_nodes)


class _Numbers:
    """Equal affinities have one number. Each object is compared with others once, since it may be very long."""

    def __init__(self) -> None:
        self._by_value: dict[object, int] = {}
        # The value is kept as well: an identity stands for it only as long as it lives.
        self._by_identity: dict[int, tuple[object, int]] = {}

    def of(self, value: object) -> int:
        """The number of `value`."""
        known = self._by_identity.get(id(value))
        if known is None:
            number = self._by_value.setdefault(value, len(self._by_value))
            known = self._by_identity[id(value)] = value, number
        return known[1]
