"""What pods ask of Koordinator's scheduler that the plugins of kube-scheduler do not know (koordinator 1.8)."""

from __future__ import annotations

from descheduler.model.annotations import FEATURE_ANNOTATIONS
from descheduler.model.pod import Pod

__all__ = ["koordinator_feature"]

_DOMAIN = "koordinator.sh"
_LABELS = {
    "quota.scheduling.koordinator.sh/name": "an elastic quota",
    "pod-group.scheduling.sigs.k8s.io": "a gang",
    "pod-group.scheduling.sigs.k8s.io/name": "a gang",
    "scheduling.koordinator.sh/reservation-affinity": "a reservation",
}


def koordinator_feature(pod: Pod) -> str:
    """The first such thing that `pod` uses, in words; empty for a pod that any scheduler understands."""
    for name in pod.spec.requests:
        if _DOMAIN in name.partition("/")[0]:
            return name
    for key, feature in _LABELS.items():
        if key in pod.labels:
            return feature
    for key, feature in FEATURE_ANNOTATIONS.items():
        if key in pod.annotations:
            return feature
    return ""
