"""Which of some nodes suit what a pod's spec asks of nodes; each distinct question is answered once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from descheduler.model.node import Node
from descheduler.model.selection.affinity import Affinity
from descheduler.model.selection.taints import Toleration

if TYPE_CHECKING:
    from descheduler.placement.shadow.node_masks import BoolMask


class NodeSelection:
    """Answers about `nodes`, as sets of their names."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        # numpy takes longer to import than validating a policy may.
        from descheduler.placement.shadow.node_masks import NodeMasks

        self._names = tuple(node.name for node in nodes)
        self.names = frozenset(self._names)
        self._masks = NodeMasks(nodes)
        self._sets: dict[int, tuple[BoolMask, frozenset[str]]] = {}

    def tolerating(self, tolerations: tuple[Toleration, ...]) -> frozenset[str]:
        """The nodes all of whose `NoSchedule` and `NoExecute` taints are tolerated."""
        return self._named(self._masks.tolerated(tolerations))

    def selected(
        self, node_selector: Mapping[str, str], affinity: Affinity | None, *, errors_match: bool
    ) -> frozenset[str]:
        """The nodes that meet the node selector and the required node affinity.

        `errors_match` says how an affinity counts whose error decides: the plugins of the reference differ in that.
        """
        terms = affinity.node_required if affinity is not None else None
        if not node_selector and terms is None:
            return self.names
        if errors_match and any(term.error for term in terms or ()):
            affinity = None  # where no other term matches, the one with the error does
        return self._named(self._masks.selected(node_selector, affinity))

    def _named(self, mask: BoolMask) -> frozenset[str]:
        """The nodes of a mask that is kept for good, so that its identity stands for it."""
        known = self._sets.get(id(mask))
        if known is None:
            names = frozenset(self._names[index] for index in mask.nonzero()[0])
            known = self._sets[id(mask)] = mask, names
        return known[1]
