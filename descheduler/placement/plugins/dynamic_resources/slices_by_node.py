"""Which ResourceSlices are in sight of a node, without asking each slice about each node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from descheduler.model.node import Node
from descheduler.model.resource_claims import NodeReach, ResourceSlice
from descheduler.model.selection.affinity import NodeSelectorTerm

__all__ = ["SlicesByNode"]

_Mark: TypeAlias = tuple[str, str]
"""A label and its value, or `_NAME` and the name of a node."""
_NAME = ""
"""Which no label has."""


class SlicesByNode:
    """Slices by the names and labels of the nodes that see them; those that nothing narrows are asked about each node.

    Slices of counters are in sight of all nodes where `sees_counters_by_node` is false.
    """

    def __init__(self, slices: Sequence[ResourceSlice], *, sees_counters_by_node: bool) -> None:
        self._slices = slices
        self._sees_counters_by_node = sees_counters_by_node
        self._by_mark: dict[_Mark, list[int]] = {}
        self._unmarked: list[int] = []
        for place, each in enumerate(slices):
            marks = None if self._is_always_seen(each) else _marks(_reaches(each))
            if marks is None:
                self._unmarked.append(place)
            for mark in marks or ():
                self._by_mark.setdefault(mark, []).append(place)
        self._labels = sorted({label for label, _ in self._by_mark} - {_NAME})

    def seen_from(self, node: Node) -> Iterator[int]:
        """The places of the slices in sight of `node`, each once."""
        marks = [(_NAME, node.name), *((label, node.labels[label]) for label in self._labels if label in node.labels)]
        places = dict.fromkeys(place for mark in marks for place in self._by_mark.get(mark, ()))
        for place in (*places, *self._unmarked):
            piece = self._slices[place]
            if self._is_always_seen(piece) or any(each.holds(node.name, node.labels) for each in _reaches(piece)):
                yield place

    def _is_always_seen(self, piece: ResourceSlice) -> bool:
        return bool(piece.shared_counters) and not self._sees_counters_by_node


def _reaches(piece: ResourceSlice) -> Sequence[NodeReach]:
    """A node that one of these holds sees the slice."""
    return [device.reach for device in piece.devices] if piece.is_per_device else [piece.reach]


def _marks(reaches: Iterable[NodeReach]) -> set[_Mark] | None:
    """Of which marks a node has one that any of these holds; None where nodes need none."""
    found = set[_Mark]()
    for reach in reaches:
        if reach.node_name:
            found.add((_NAME, reach.node_name))
            continue
        for term in reach.terms or ():
            marks = _marks_of(term)
            if marks is None:
                return None
            found.update(marks)
        if reach.terms is None and reach.is_everywhere:
            return None
    return found


def _marks_of(term: NodeSelectorTerm) -> Iterable[_Mark] | None:
    """The same of one term: those of a condition with the operator In."""
    listings = [(_NAME, each) for each in term.fields] + [(each.key, each) for each in term.expressions]
    listing = next(((key, each.values) for key, each in listings if each.operator == "In"), None)
    return None if listing is None else [(listing[0], value) for value in listing[1]]
