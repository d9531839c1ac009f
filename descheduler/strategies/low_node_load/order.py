"""In which order nodes are relieved, and in which order the pods of one node leave it.

Mirrors koordinator-sh/koordinator 1.8 `pkg/descheduler/utils/sorter`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from descheduler.model.koordinator.classes import importance
from descheduler.model.pod import Pod
from descheduler.model.requests import ResourceList, ceil_amount
from descheduler.strategies.low_node_load.headroom import Aspect
from descheduler.strategies.low_node_load.node_load import MeasuredNode

__all__ = ["removal_order", "sort_by_load"]

_FULL = 1000


def sort_by_load(loads: Iterable[MeasuredNode], aspect: Aspect, weights: Mapping[str, int]) -> list[MeasuredNode]:
    """The nodes from the most to the least loaded by weighted share of their capacity; ties by name."""
    by_name = sorted(loads, key=lambda load: load.node.name)
    return sorted(by_name, key=lambda load: -_share(aspect(load).usage, load.capacity, weights))


def removal_order(pods: Iterable[Pod], load: MeasuredNode, aspect: Aspect, weights: Mapping[str, int]) -> list[Pod]:
    """The pods from the one to go first: by importance, then those whose usage is next to what the node has too much.

    Above all the smallest pod that covers it alone, then the largest that does not. Pods whose usage is not known come
    last among equals.
    """
    side = aspect(load)
    excess = {name: side.usage[name] - side.high[name] for name in side.over}
    used_weights = {name: weights.get(name, 0) for name in excess}
    return sorted(
        pods, key=lambda pod: importance(pod, lambda each: -_closeness(load.usage_of(each), excess, used_weights))
    )


def _share(usage: ResourceList, capacity: ResourceList, weights: Mapping[str, int]) -> int:
    """The weighted mean of the shares in use, in thousandths."""
    total = sum(weights.get(name, 0) for name in usage)
    if not total:
        return 0
    shares = {
        name: _thousandths(ceil_amount(name, nano), ceil_amount(name, capacity.get(name, 0)))
        for name, nano in usage.items()
    }
    return sum(share * weights.get(name, 0) for name, share in shares.items()) // total


def _thousandths(used: int, capacity: int) -> int:
    return min(used, capacity) * _FULL // capacity if capacity else 0


def _closeness(usage: ResourceList | None, excess: Mapping[str, int], weights: Mapping[str, int]) -> float:
    """The weighted mean over the exceeded resources; minus infinity for unknown usage."""
    if usage is None:
        return -inf
    total = sum(weights.get(name, 0) for name in usage)
    if not total:
        return 0.0
    scores = {
        name: _cover(ceil_amount(name, nano), ceil_amount(name, excess.get(name, 0))) for name, nano in usage.items()
    }
    return sum(score * weights.get(name, 0) for name, score in scores.items()) / total


def _cover(used: int, excess: int) -> float:
    """How well `used` covers `excess`: best when it is the same, better above than below."""
    if not excess:
        return 0.0
    ratio = used / excess
    return 1 / ratio + 1 if ratio >= 1 else ratio
