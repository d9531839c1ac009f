"""Koordinator's classes of pods: the bands of priority, and quality of service.

Source: koordinator 1.8 `apis/extension/{priority,qos}.go`.
"""

from __future__ import annotations

from enum import IntEnum

from descheduler.model.pod import Pod
from descheduler.model.requests import BEST_EFFORT, BURSTABLE, GUARANTEED

__all__ = ["QOS_CLASSES", "KoordinatorPriority", "priority_class", "qos_of"]

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
