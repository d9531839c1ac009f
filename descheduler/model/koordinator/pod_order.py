"""The order in which Koordinator takes pods when some must go: the least important first.

Source: koordinator 1.8 `pkg/descheduler/utils/sorter/pod.go`, and the default classes of `apis/extension`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from descheduler.model.koordinator.eviction_annotations import COST_ANNOTATION, DELETION_COST_ANNOTATION
from descheduler.model.pod import Pod
from descheduler.model.qos import BEST_EFFORT, BURSTABLE, GUARANTEED

__all__ = ["Importance", "importance", "is_prod"]

Importance: TypeAlias = tuple[int, int, int, int, int, int, float, float]
"""Compares as the pods do; the lowest goes first."""

_CLASS_LABEL = "koordinator.sh/priority-class"
_QOS_LABEL = "koordinator.sh/qosClass"

_FREE, _BATCH, _MID, _PROD = range(4)
_CLASS_RANKS = {"koord-free": _FREE, "koord-batch": _BATCH, "koord-mid": _MID, "koord-prod": _PROD}
_BANDS = ((9000, _PROD), (7000, _MID), (5000, _BATCH), (3000, _FREE))
"""Lowest priority of each class; each band is a thousand wide."""
_BAND_WIDTH = 1000

_QOS_RANKS = {BEST_EFFORT: 0, BURSTABLE: 1, GUARANTEED: 2}
_KOORDINATOR_QOS_RANKS = {"BE": 0, "LS": 1, "LSR": 2, "LSE": 3, "SYSTEM": 3}
_DEFAULT_QOS = {BEST_EFFORT: "BE", BURSTABLE: "LS", GUARANTEED: "LSR"}

_INT32 = re.compile(r"(?:0|-[0-9]{1,10}|[1-9][0-9]{0,9})\Z")
"""What Kubernetes reads as a cost: no plus sign, no leading zeros."""


def importance(pod: Pod, plugin_rank: Callable[[Pod], float] = lambda _: 0) -> Importance:
    """The keys of the order: priority class, priority, QoS classes, costs, `plugin_rank`, and newer pods first."""
    qos = _koordinator_qos(pod)
    return (
        _class_rank(pod, qos),
        pod.priority or 0,
        _QOS_RANKS.get(pod.qos_class, 0),
        _KOORDINATOR_QOS_RANKS[qos],
        _cost(pod, DELETION_COST_ANNOTATION),
        _cost(pod, COST_ANNOTATION),
        plugin_rank(pod),
        -pod.created_at.timestamp() if pod.created_at is not None else float("inf"),
    )


def is_prod(pod: Pod) -> bool:
    """Whether the priority class of `pod` is koord-prod, be it for want of any other."""
    return _class_rank(pod, _koordinator_qos(pod)) == _PROD


def _koordinator_qos(pod: Pod) -> str:
    stated = pod.labels.get(_QOS_LABEL, "")
    return stated if stated in _KOORDINATOR_QOS_RANKS else _DEFAULT_QOS.get(pod.qos_class, "BE")


def _class_rank(pod: Pod, qos: str) -> int:
    """The label decides alone where there is one, else the priority; pods without a class have that of their QoS."""
    stated, priority = pod.labels.get(_CLASS_LABEL), pod.priority
    if stated is not None:
        rank = _CLASS_RANKS.get(stated)
    else:
        rank = next((rank for low, rank in _BANDS if priority and low <= priority < low + _BAND_WIDTH), None)
    if rank is not None:
        return rank
    return _BATCH if qos == "BE" else _PROD


def _cost(pod: Pod, annotation: str) -> int:
    text = pod.annotations.get(annotation, "")
    cost = int(text) if _INT32.match(text) else 0
    return cost if -(2**31) <= cost < 2**31 else 0
