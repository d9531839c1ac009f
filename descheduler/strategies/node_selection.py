"""Which of some nodes suit what a pod's spec asks of nodes; each distinct question is answered once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from descheduler.model.affinity import Affinity, NodeMatch, NodeSelectorTerm, match_node
from descheduler.model.node import Node
from descheduler.model.taints import NO_EXECUTE, NO_SCHEDULE, Taint, Toleration, tolerates_all

__all__ = ["NodeSelection"]


class NodeSelection:
    """Answers about `nodes`, as sets of their names."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.names = frozenset(node.name for node in nodes)
        self._nodes = nodes
        self._by_taints: dict[tuple[Taint, ...], list[str]] = {}
        for node in nodes:
            hard = tuple(taint for taint in node.taints if taint.effect in (NO_SCHEDULE, NO_EXECUTE))
            self._by_taints.setdefault(hard, []).append(node.name)
        self._by_labels: dict[tuple[str, ...], list[list[Node]]] = {}
        self._tolerating: dict[tuple[Toleration, ...], frozenset[str]] = {}
        self._selected: dict[object, frozenset[str]] = {}

    def tolerating(self, tolerations: tuple[Toleration, ...]) -> frozenset[str]:
        """The nodes all of whose `NoSchedule` and `NoExecute` taints are tolerated."""
        known = self._tolerating.get(tolerations)
        if known is None:
            refused = [
                name
                for taints, names in self._by_taints.items()
                if not tolerates_all(tolerations, taints)
                for name in names
            ]
            known = self._tolerating[tolerations] = self.names.difference(refused) if refused else self.names
        return known

    def selected(
        self, node_selector: Mapping[str, str], affinity: Affinity | None, *, errors_match: bool
    ) -> frozenset[str]:
        """The nodes that meet the node selector and the required node affinity.

        `errors_match` says how an affinity counts whose error decides: the plugins of the reference differ in that.
        """
        terms = affinity.node_required if affinity is not None else None
        if not node_selector and terms is None:
            return self.names
        key = (frozenset(node_selector.items()), terms, errors_match)
        known = self._selected.get(key)
        if known is None:
            accepted = (NodeMatch.MATCHES, NodeMatch.ERROR) if errors_match else (NodeMatch.MATCHES,)
            known = self._selected[key] = frozenset(
                node.name
                for alike in self._alike(node_selector, terms or ())
                if match_node(node_selector, affinity, alike[0].name, alike[0].labels) in accepted
                for node in alike
            )
        return known

    def _alike(self, node_selector: Mapping[str, str], terms: Iterable[NodeSelectorTerm]) -> list[list[Node]]:
        """The nodes in groups that no condition of the selector and the terms can tell apart."""
        keys = set(node_selector)
        for term in terms:
            if term.fields:
                return [[node] for node in self._nodes]
            keys.update(requirement.key for requirement in term.expressions)
        names = tuple(sorted(keys))
        known = self._by_labels.get(names)
        if known is None:
            groups: dict[tuple[str | None, ...], list[Node]] = {}
            for node in self._nodes:
                groups.setdefault(tuple([node.labels.get(name) for name in names]), []).append(node)
            known = self._by_labels[names] = list(groups.values())
        return known
