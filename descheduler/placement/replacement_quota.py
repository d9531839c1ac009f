"""Quotas that keep a replacement from being created while its victim is still charged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from descheduler.model.objects import ResourceQuota
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY, PODS

__all__ = ["full_quota"]

_ONE = 10**9
_SHORT_NAMES = (CPU, MEMORY)


def full_quota(pod: Pod, quotas: Iterable[ResourceQuota]) -> str | None:
    """The name of a quota of the namespace of `pod` that has no room for it, None when all have.

    A pod is charged until it has finished or is gone, so a terminating one still is
    (`k8s.io/kubernetes/pkg/quota/v1/evaluator/core/pods.go`, 1.36). Scopes of quotas are not known, and are taken to
    cover the pod.
    """
    for quota in quotas:
        if quota.namespace == pod.namespace:
            charge = _charge(pod)
            for name, hard in quota.hard.items():
                if charge.get(name, 0) and quota.used.get(name, 0) + charge[name] > hard:
                    return quota.name
    return None


def _charge(pod: Pod) -> Mapping[str, int]:
    """What `pod` is charged with, by the names that quotas use, in nano units."""
    charge = {PODS: _ONE, f"count/{PODS}": _ONE}
    for name, nano in pod.spec.requests.items():
        charge[f"requests.{name}"] = nano
        if name in _SHORT_NAMES:
            charge[name] = nano
    return charge
