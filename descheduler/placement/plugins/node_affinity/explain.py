"""Which labels a node lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.model.node import Node
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.plugins.helper.node_selector_words import label_found, unmet
from descheduler.placement.plugins.node_affinity.args import NodeAffinityArgs

__all__ = ["explain_node_affinity"]


def explain_node_affinity(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The labels that are missing or differ; of several alternative terms each one."""
    del obstacle
    spec, node = refused.pod.spec, refused.node
    for key, wanted in sorted(spec.node_selector.items()):
        if node.labels.get(key) != wanted:
            yield f"nodeSelector requires {key}={wanted}, {label_found(node.labels, key)}"
    if spec.affinity is not None and spec.affinity.node_required is not None:
        yield from _unmet_terms("node affinity", spec.affinity.node_required, node)
    added = refused.scheduler.args_of(NodeAffinityArgs).added_affinity
    if added is not None and added.node_required is not None:
        yield from _unmet_terms("addedAffinity of the scheduler", added.node_required, node)


def _unmet_terms(whose: str, terms: Iterable[NodeSelectorTerm], node: Node) -> Iterator[str]:
    faults = list(unmet(terms, node))
    yield from (f"{whose} requires {fault}" if index == 0 else f"or {fault}" for index, fault in enumerate(faults))
