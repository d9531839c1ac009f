"""What pods ask of Koordinator's scheduler that the plugins of kube-scheduler do not know (koordinator 1.8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from descheduler.model.annotations import FEATURE_ANNOTATIONS
from descheduler.model.pod import Pod

__all__ = ["KoordinatorFeature", "koordinator_features"]

_DOMAIN = "koordinator.sh"
_LABELS = {
    "quota.scheduling.koordinator.sh/name": "elastic quotas",
    "pod-group.scheduling.sigs.k8s.io": "gangs",
    "pod-group.scheduling.sigs.k8s.io/name": "gangs",
    "scheduling.koordinator.sh/reservation-affinity": "reservations",
}
_QOS_LABEL = "koordinator.sh/qosClass"
_PINNED_QOS = frozenset({"LSE", "LSR"})
"""Pods of these classes get CPUs of their own (`AllowUseCPUSet` of `pkg/scheduler/plugins/nodenumaresource`)."""
_DEVICES = "DeviceShare"
_CPUS = "CPU topology requests"
_PLUGINS = {
    "elastic quotas": "ElasticQuota",
    "gangs": "Coscheduling",
    "reservations": "Reservation",
    _CPUS: "NodeNUMAResource",
}


class KoordinatorFeature(NamedTuple):
    """What a pod uses, in the plural, and the plugin of koord-scheduler that decides about it."""

    words: str
    plugin: str


def koordinator_features(pod: Pod) -> Iterator[KoordinatorFeature]:
    """Each such thing that `pod` uses, nothing for a pod that any scheduler understands; some may come twice."""
    for words in _words(pod):
        yield KoordinatorFeature(words, _PLUGINS.get(words, _DEVICES))


def _words(pod: Pod) -> Iterator[str]:
    for name in pod.spec.requests:
        domain, _, resource = name.partition("/")
        if _DOMAIN in domain:
            kind = resource.partition("-")[0].partition(".")[0]  # gpu-core and gpu-memory-ratio are one kind of device
            yield f"{domain}/{kind} resources"
    yield from (feature for key, feature in _LABELS.items() if key in pod.labels)
    if pod.labels.get(_QOS_LABEL) in _PINNED_QOS:
        yield _CPUS
    if pod.annotations:
        yield from (feature for key, feature in FEATURE_ANNOTATIONS.items() if key in pod.annotations)
