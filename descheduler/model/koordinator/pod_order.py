"""The order in which Koordinator takes pods when some must go: the least important first.

Source: koordinator 1.8 `pkg/descheduler/utils/sorter/pod.go`, and the default classes of `apis/extension`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from descheduler.model.koordinator.classes import KoordinatorPriority, priority_class, qos_of
from descheduler.model.koordinator.eviction_annotations import COST_ANNOTATION, DELETION_COST_ANNOTATION
from descheduler.model.pod import Pod
from descheduler.model.requests import BEST_EFFORT, BURSTABLE, GUARANTEED

__all__ = ["Importance", "annotated_cost", "importance", "is_prod"]

Importance: TypeAlias = tuple[int, int, int, int, int, int, float, float]
"""Compares as the pods do; the lowest goes first."""

_QOS_RANKS = {BEST_EFFORT: 0, BURSTABLE: 1, GUARANTEED: 2}
_KOORDINATOR_QOS_RANKS = {"BE": 0, "LS": 1, "LSR": 2, "LSE": 3, "SYSTEM": 3}

_INT32 = re.compile(r"(?:0|-[0-9]{1,10}|[1-9][0-9]{0,9})\Z")
"""What Kubernetes reads as a cost: no plus sign, no leading zeros."""


def importance(pod: Pod, plugin_rank: Callable[[Pod], float] = lambda _: 0) -> Importance:
    """The keys of the order: priority class, priority, QoS classes, costs, `plugin_rank`, and newer pods first."""
    return (
        int(priority_class(pod)),
        pod.priority or 0,
        _QOS_RANKS.get(pod.qos_class, 0),
        _KOORDINATOR_QOS_RANKS[qos_of(pod)],
        annotated_cost(pod, DELETION_COST_ANNOTATION),
        annotated_cost(pod, COST_ANNOTATION),
        plugin_rank(pod),
        -pod.created_at.timestamp() if pod.created_at is not None else float("inf"),
    )


def is_prod(pod: Pod) -> bool:
    """Whether the priority class of `pod` is koord-prod, be it for want of any other."""
    return priority_class(pod) is KoordinatorPriority.PROD


def annotated_cost(pod: Pod, annotation: str) -> int:
    """The cost that the annotation states as an int32; 0 where it states none."""
    text = pod.annotations.get(annotation, "")
    cost = int(text) if _INT32.match(text) else 0
    return cost if -(2**31) <= cost < 2**31 else 0
