"""What pods ask of Koordinator's scheduler that the plugins of kube-scheduler do not know (koordinator 1.8)."""

from __future__ import annotations

from typing import NamedTuple

from descheduler.model.annotations import FEATURE_ANNOTATIONS
from descheduler.model.pod import Pod

__all__ = ["KoordinatorFeature", "koordinator_feature"]

_DOMAIN = "koordinator.sh"
_LABELS = {
    "quota.scheduling.koordinator.sh/name": "elastic quotas",
    "pod-group.scheduling.sigs.k8s.io": "gangs",
    "pod-group.scheduling.sigs.k8s.io/name": "gangs",
    "scheduling.koordinator.sh/reservation-affinity": "reservations",
}
_DEVICES = "DeviceShare"
_PLUGINS = {
    "elastic quotas": "ElasticQuota",
    "gangs": "Coscheduling",
    "reservations": "Reservation",
    "CPU topology requests": "NodeNUMAResource",
}


class KoordinatorFeature(NamedTuple):
    """What a pod uses, in the plural, and the plugin of koord-scheduler that decides about it."""

    words: str
    plugin: str


def koordinator_feature(pod: Pod) -> KoordinatorFeature | None:
    """The first such thing that `pod` uses; None for a pod that any scheduler understands."""
    words = _words(pod)
    return KoordinatorFeature(words, _PLUGINS.get(words, _DEVICES)) if words else None


def _words(pod: Pod) -> str:
    for name in pod.spec.requests:
        domain, _, resource = name.partition("/")
        if _DOMAIN in domain:
            kind = resource.partition("-")[0].partition(".")[0]  # gpu-core and gpu-memory-ratio are one kind of device
            return f"{domain}/{kind} resources"
    for key, feature in _LABELS.items():
        if key in pod.labels:
            return feature
    for key, feature in FEATURE_ANNOTATIONS.items():
        if key in pod.annotations:
            return feature
    return ""
