"""The order in which strategies take pods when some must go: the least important first."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.model.pod import Pod
from descheduler.model.requests import BEST_EFFORT, BURSTABLE, GUARANTEED

__all__ = ["sort_low_to_high", "sort_oldest_first"]

_QOS_RANK = {BEST_EFFORT: 0, BURSTABLE: 1, GUARANTEED: 2}


def sort_low_to_high(pods: Iterable[Pod]) -> list[Pod]:
    """`pods` from the lowest to the highest priority; among equals by QoS class, then those that prefer to stay last.

    A pod without a priority comes before every number. Full ties keep the given order, which is one of the orders that
    kubernetes-sigs/descheduler 0.36 `pkg/descheduler/pod/pods.go` may produce: it leaves them to an unstable sort.
    """
    return sorted(pods, key=_importance)


def sort_oldest_first(pods: Iterable[Pod]) -> list[Pod]:
    """`pods` by creation time, ascending; the zero time is the oldest. Ties keep the given order."""
    return sorted(pods, key=_creation)


def _importance(pod: Pod) -> tuple[bool, int, int, bool]:
    priority = pod.spec.priority
    return priority is not None, priority or 0, _QOS_RANK.get(pod.qos_class, 0), pod.prefers_no_eviction


def _creation(pod: Pod) -> tuple[bool, float]:
    created_at = pod.created_at
    return created_at is not None, created_at.timestamp() if created_at is not None else 0.0
