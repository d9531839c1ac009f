"""Boolean masks over all nodes for conditions that no move changes, each computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from descheduler.model.affinity import Affinity, NodeMatch, NodeSelectorTerm, match_node
from descheduler.model.node import Node
from descheduler.model.pod import PodSpec
from descheduler.model.taints import NO_EXECUTE, NO_SCHEDULE, Taint, Toleration, tolerates_all

__all__ = ["NodeMasks", "hard_taints"]


def hard_taints(node: Node) -> tuple[Taint, ...]:
    """The taints that keep pods away: `NoSchedule` and `NoExecute`."""
    return tuple(taint for taint in node.taints if taint.effect in (NO_SCHEDULE, NO_EXECUTE))


class NodeMasks:
    """Masks in the order of `nodes`."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._schedulable = np.array([not node.unschedulable for node in nodes], dtype=bool)
        taint_sets = [hard_taints(node) for node in nodes]
        self._taint_sets = list(dict.fromkeys(taint_sets))
        position = {taints: index for index, taints in enumerate(self._taint_sets)}
        self._taint_set_of = np.array([position[taints] for taints in taint_sets], dtype=np.intp)
        self._selected: dict[object, NDArray[np.bool_]] = {}
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
        key = (frozenset(node_selector.items()), required)
        known = self._selected.get(key)
        if known is None:
            matches = (
                match_node(node_selector, affinity, node.name, node.labels) is NodeMatch.MATCHES for node in self._nodes
            )
            known = self._selected[key] = np.fromiter(matches, bool, len(self._nodes))
        return known

    def tolerated(self, tolerations: tuple[Toleration, ...]) -> NDArray[np.bool_]:
        """Nodes all of whose hard taints are tolerated."""
        known = self._tolerated.get(tolerations)
        if known is None:
            by_set = np.array([tolerates_all(tolerations, taints) for taints in self._taint_sets], dtype=bool)
            known = self._tolerated[tolerations] = by_set[self._taint_set_of]
        return known

    def has_label(self, key: str) -> NDArray[np.bool_]:
        """Nodes that carry a label of this key."""
        known = self._labelled.get(key)
        if known is None:
            known = np.fromiter((key in node.labels for node in self._nodes), bool, len(self._nodes))
            self._labelled[key] = known
        return known
