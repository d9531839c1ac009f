"""Quotas that keep a replacement from being created while its victim is still charged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from descheduler.model.objects import ResourceQuota
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY, PODS

__all__ = ["exceeded_quota", "full_quota"]

_ONE = 10**9
_SHORT_NAMES = (CPU, MEMORY)


def full_quota(pod: Pod, quotas: Iterable[ResourceQuota]) -> str | None:
    """The name of one of `quotas`, which are those of its namespace, that has no room for `pod`; None when all have.

    A pod is charged until it has finished or is gone, so a terminating one still is
    (`k8s.io/kubernetes/pkg/quota/v1/evaluator/core/pods.go`, 1.36). Scopes of quotas are not known, and are taken to
    cover the pod.
    """
    return _without_room(_charge(pod), {}, quotas)


def exceeded_quota(pod: Pod, victim: Pod, quotas: Iterable[ResourceQuota]) -> str | None:
    """The name of one that has no room for `pod` even when `victim` is gone and charged no more.

    Such a quota was lowered below what is used, or `pod` asks for more than its predecessor.
    """
    return _without_room(_charge(pod), _charge(victim), quotas)


def _without_room(
    charge: Mapping[str, int], released: Mapping[str, int], quotas: Iterable[ResourceQuota]
) -> str | None:
    for quota in quotas:
        for name, hard in quota.hard.items():
            added = charge.get(name, 0)
            if added and quota.used.get(name, 0) - released.get(name, 0) + added > hard:
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
