"""How well nodes meet preferred node affinities."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.model.node import Node
from descheduler.model.selection.affinity import Affinity, PreferredNodeTerm

__all__ = ["PreferredNodes"]


class PreferredNodes:
    """Weights over a fixed list of nodes; that of equal preferences is computed once."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        # numpy takes longer to import than validating a policy may
        from descheduler.placement.shadow.node_terms import NodeTerms

        self._terms = NodeTerms(nodes)
        self._best: dict[tuple[PreferredNodeTerm, ...], int] = {}

    def best_weight(self, affinity: Affinity) -> int:
        """The highest sum of weights that one of the nodes meets; 0 without nodes or preferences."""
        best = self._best.get(affinity.node_preferred)
        if best is None:
            weights = self._terms.weights(affinity.node_preferred)
            best = self._best[affinity.node_preferred] = int(weights.max()) if len(weights) else 0
        return best
