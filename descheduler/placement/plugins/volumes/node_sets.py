"""Sets of nodes that storage names by their labels, each worked out once.

A set is the ascending indices of its nodes: most volumes of a large cluster reach one node or one zone, and a mask
each would take more room than everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import LabelSelector, Requirement
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import NodeTable

NodeIndices: TypeAlias = NDArray[np.intp]


class _Places(NamedTuple):
    """One label key over all nodes. Nodes with value `id` are `by_value[starts[id]:starts[id + 1]]`."""

    ids: NDArray[np.int32]
    id_of: Mapping[str, int]
    by_value: NodeIndices
    starts: NDArray[np.intp]


class NodeSets:
    """Node sets over one node table, kept by the value of what selects them."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self.everywhere: NodeIndices = np.arange(len(table), dtype=np.intp)
        self.nowhere: NodeIndices = self.everywhere[:0]
        self._places: dict[str, _Places] = {}
        self._known: dict[tuple[tuple[Requirement, ...], ...], NodeIndices] = {}

    def reaching(self, affinity: tuple[NodeSelectorTerm, ...] | None) -> NodeIndices:
        """Nodes from which a volume of this node affinity can be reached.

        Only labels count: kube-scheduler (1.36) offers the node without its name to the matcher, which then passes
        over `matchFields`, so that a term with nothing else matches every node.
        """
        if affinity is None:
            return self.everywhere
        return self.meeting_any(term.expressions for term in affinity if not term.is_empty and not term.error)

    def selected(self, selector: LabelSelector) -> NodeIndices:
        """Nodes that a label selector selects."""
        return self.nowhere if selector.nothing else self.meeting_any([selector.requirements])

    def meeting_any(self, alternatives: Iterable[tuple[Requirement, ...]]) -> NodeIndices:
        """Nodes that meet all requirements of one alternative; none without alternatives."""
        key = tuple(alternatives)
        known = self._known.get(key)
        if known is None:
            sets = [self._meeting(requirements) for requirements in key]
            known = sets[0] if len(sets) == 1 else np.unique(np.concatenate(sets)) if sets else self.nowhere
            self._known[key] = known
        return known

    def mask(self, nodes: NodeIndices) -> BoolMask:
        """A new mask of `nodes`."""
        mask = np.zeros(len(self._table), dtype=bool)
        mask[nodes] = True
        return mask

    def _meeting(self, requirements: Sequence[Requirement]) -> NodeIndices:
        first = next((requirement for requirement in requirements if requirement.operator == "In"), None)
        nodes = self.everywhere if first is None else self._holding(first.key, first.values)
        for requirement in requirements:
            if requirement is not first and len(nodes):
                places = self._places_of(requirement.key)
                nodes = nodes[_answers(requirement, places.id_of)[places.ids[nodes]]]
        return nodes

    def _holding(self, key: str, values: Iterable[str]) -> NodeIndices:
        places = self._places_of(key)
        ids = [places.id_of[value] for value in values if value in places.id_of]
        parts = [places.by_value[places.starts[value] : places.starts[value + 1]] for value in ids]
        return parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts)) if parts else self.nowhere

    def _places_of(self, key: str) -> _Places:
        known = self._places.get(key)
        if known is None:
            ids, values = self._table.label(key)
            order = np.argsort(ids, kind="stable")
            starts = np.searchsorted(ids[order], np.arange(len(values) + 1))
            known = _Places(ids, {value: index for index, value in enumerate(values)}, order, starts)
            self._places[key] = known
        return known


def _answers(requirement: Requirement, id_of: Mapping[str, int]) -> BoolMask:
    """Whether each value meets the requirement, by its id; the last entry is for nodes without the label (id -1)."""
    if requirement.operator in ("In", "NotIn"):
        is_in = requirement.operator == "In"
        answers = np.full(len(id_of) + 1, not is_in)
        answers[[id_of[value] for value in requirement.values if value in id_of]] = is_in
        return answers
    by_value = [requirement.matches({requirement.key: value}) for value in id_of]
    return np.array([*by_value, requirement.matches({})], dtype=bool)
