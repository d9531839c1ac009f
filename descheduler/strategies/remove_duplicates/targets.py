"""Where replicas could run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.strategies.shared.node_selection import NodeSelection

__all__ = ["Targets"]


class Targets:
    """Which nodes could run pods, as far as taints, node selector and node affinity say."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._selection = NodeSelection(nodes)
        self._both: dict[tuple[int, int], frozenset[str]] = {}

    def count(self, pods: Iterable[Pod]) -> int:
        """How many nodes could run one of `pods`. A pod that only one node could run adds none."""
        sets = {id(nodes): nodes for pod in pods if len(nodes := self._nodes_for(pod)) > 1}
        return len(frozenset().union(*sets.values()))

    def _nodes_for(self, pod: Pod) -> frozenset[str]:
        spec = pod.spec
        tolerating = self._selection.tolerating(spec.tolerations)
        selected = self._selection.selected(spec.node_selector, spec.affinity, errors_match=True)
        # Specs abound and hold thousands of names each, while few distinct sets come of them: both sides are shared.
        key = (id(tolerating), id(selected))
        known = self._both.get(key)
        if known is None:
            known = self._both[key] = selected & tolerating
        return known
