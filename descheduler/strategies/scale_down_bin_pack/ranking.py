"""The order in which pods go so that as many nodes as possible become empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf

import msgspec

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.strategies.shared.container_request import container_request

__all__ = ["NodePods", "place_of", "ranked"]


class NodePods(msgspec.Struct, frozen=True):
    """The pods of a node that may go, and all others that have not finished."""

    node: Node
    targets: Sequence[Pod]
    others: Sequence[Pod]


def ranked(nodes: Iterable[NodePods], weights: Mapping[str, float]) -> list[Pod]:
    """The targets, first the one to go first: node by node, the least burdened by others first.

    Ties of nodes go to fewer targets, then by name. Within a node the largest pod is first, then the newest, then by
    namespace and name. Mirrors koordinator-sh/koordinator, main of July 2026,
    `pkg/descheduler/framework/plugins/scaledownbinpack/ranker.go`.
    """
    order = sorted(nodes, key=lambda each: place_of(each, weights))
    return [pod for each in order for pod in sorted(each.targets, key=lambda pod: _place(pod, weights))]


def place_of(each: NodePods, weights: Mapping[str, float]) -> tuple[float, int, str]:
    """What nodes are sorted by."""
    return burden(each, weights), len(each.targets), each.node.name


def burden(each: NodePods, weights: Mapping[str, float]) -> float:
    """Weighted share of allocatable that others request, for one that targets request.

    Infinite when only others request something, 0 when nobody does. Resources that the node does not have do not count.
    """
    of_others, of_targets = _share(each.node, each.others, weights), _share(each.node, each.targets, weights)
    if of_targets:
        return of_others / of_targets
    return inf if of_others else 0.0


def _share(node: Node, pods: Sequence[Pod], weights: Mapping[str, float]) -> float:
    return sum(
        weight * sum(container_request(pod, name) for pod in pods) / node.allocatable[name]
        for name, weight in weights.items()
        if node.allocatable.get(name, 0) > 0
    )


def _place(pod: Pod, weights: Mapping[str, float]) -> tuple[float, float, str, str]:
    # Koordinator adds cores and bytes as they are, so that memory decides unless its weight is tiny.
    size = sum(weight * container_request(pod, name) for name, weight in weights.items())
    created_at = pod.created_at.timestamp() if pod.created_at is not None else -inf
    return -size, -created_at, pod.namespace, pod.name
