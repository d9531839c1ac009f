"""The classes of pods in Koordinator (bands of priority, quality of service), and the order in which pods go.

Source: koordinator 1.8 `apis/extension/{priority,qos}.go` and `pkg/descheduler/utils/sorter/pod.go`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum
from typing import TypeAlias

from descheduler.model.koordinator.eviction_annotations import COST_ANNOTATION, DELETION_COST_ANNOTATION
from descheduler.model.pod import Pod
from descheduler.model.requests import BEST_EFFORT, BURSTABLE, GUARANTEED

_CLASS_LABEL = "koordinator.sh/priority-class"
_QOS_LABEL = "koordinator.sh/qosClass"


class KoordinatorPriority(IntEnum):
    """The priority classes, the least important first."""

    FREE = 0
    BATCH = 1
    MID = 2
    PROD = 3


_CLASSES = {
    "koord-free": KoordinatorPriority.FREE,
    "koord-batch": KoordinatorPriority.BATCH,
    "koord-mid": KoordinatorPriority.MID,
    "koord-prod": KoordinatorPriority.PROD,
}
_BANDS = (
    (9000, KoordinatorPriority.PROD),
    (7000, KoordinatorPriority.MID),
    (5000, KoordinatorPriority.BATCH),
    (3000, KoordinatorPriority.FREE),
)
"""Lowest priority of each class; each band is a thousand wide."""
_BAND_WIDTH = 1000

QOS_CLASSES = ("BE", "LS", "LSR", "LSE", "SYSTEM")
_DEFAULT_QOS = {BEST_EFFORT: "BE", BURSTABLE: "LS", GUARANTEED: "LSR"}


def qos_of(pod: Pod) -> str:
    """One of `QOS_CLASSES`: the label's, or else that of the class in Kubernetes."""
    stated = pod.labels.get(_QOS_LABEL, "")
    return stated if stated in QOS_CLASSES else _DEFAULT_QOS.get(pod.qos_class, "BE")


def priority_class(pod: Pod) -> KoordinatorPriority:
    """The class that the label states, which decides alone where there is one, else that of `spec.priority`.

    A pod without a class has that of its QoS: batch for BE, prod for all others.
    """
    stated, priority = pod.labels.get(_CLASS_LABEL), pod.priority
    if stated is not None:
        known = _CLASSES.get(stated)
    else:
        known = next((band for low, band in _BANDS if priority and low <= priority < low + _BAND_WIDTH), None)
    if known is not None:
        return known
    return KoordinatorPriority.BATCH if qos_of(pod) == "BE" else KoordinatorPriority.PROD


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
