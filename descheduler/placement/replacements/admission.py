"""Whether the API server admits a replacement: quotas, limit ranges and priority classes of the snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.resource_quota import POD_OBJECTS, ResourceQuota, charge_of_pod
from descheduler.model.objects import UNBOUNDED, AdmittedRange, LimitRange
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY, ResourceList, pod_limits

_RulesT = TypeVar("_RulesT", LimitRange, ResourceQuota)

_ONE = 10**9
_DEMANDED = {name: ("requests", name) for name in (CPU, MEMORY)} | {
    f"{which}.{name}": (which, name) for which in ("requests", "limits") for name in (CPU, MEMORY)
}
"""What a quota on these names demands of every container (`pkg/quota/v1/evaluator/core/pods.go`, 1.36)."""
_PRIORITY_CLASS = "PriorityClass.scheduling.k8s.io"


class FullQuota(NamedTuple):
    """A quota without room for the replacement as long as its predecessor is charged.

    A pod is charged until it has finished; where objects are counted, until its object is gone.
    """

    name: str
    counts_objects: bool


class Admission:
    """The rules of one snapshot. Pods that are asked about are replacements, `victim` the pod that each comes for."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._priority_classes = snapshot.priority_classes if _PRIORITY_CLASS in snapshot.kinds else None
        self._limit_ranges = _by_namespace(snapshot.limit_ranges)
        self._quotas = _by_namespace(snapshot.quotas)

    def limit_ranges_of(self, namespace: str) -> list[LimitRange]:
        return self._limit_ranges.get(namespace, [])

    def bar(self, pod: Pod, victim: Pod, priority_class: str) -> str:
        """Why `pod`, whose template names `priority_class`, is never created; empty where it is."""
        if priority_class and self._priority_classes is not None and priority_class not in self._priority_classes:
            return f"PriorityClass {priority_class} of the replacement pod does not exist"
        for limit_range in self._limit_ranges.get(pod.namespace, ()):
            fault = _fault(pod, limit_range)
            if fault:
                return f"LimitRange {limit_range.name} does not admit the replacement pod: {fault}"
        return self._bar_of_quota(pod, victim, priority_class)

    def full_quota(self, pod: Pod, priority_class: str, num_before: int) -> FullQuota | None:
        """A quota that has room for `pod` only once its predecessor is charged no more; None where all have it now.

        `num_before` pods like it have come since the quotas were counted.
        """
        full = None
        for quota in self._quotas_of(pod, priority_class):
            for name in quota.short_of(charge_of_pod(pod), num_pods=num_before + 1):
                full = FullQuota(quota.name, name == POD_OBJECTS or (full is not None and full.counts_objects))
        return full

    def _bar_of_quota(self, pod: Pod, victim: Pod, priority_class: str) -> str:
        for quota in self._quotas_of(pod, priority_class):
            lacking = _lacking(pod, quota)
            if lacking:
                return f"ResourceQuota {quota.name} admits no container without {lacking}"
            if next(quota.short_of(charge_of_pod(pod), released=charge_of_pod(victim)), ""):
                return f"ResourceQuota {quota.name} is exceeded by the replacement pod, even without this pod"
        return ""

    def _quotas_of(self, pod: Pod, priority_class: str) -> Iterator[ResourceQuota]:
        for quota in self._quotas.get(pod.namespace, ()):
            if quota.covers(pod, priority_class):
                yield quota


def _by_namespace(objects: Iterable[_RulesT]) -> dict[str, list[_RulesT]]:
    found: dict[str, list[_RulesT]] = {}
    for each in objects:
        found.setdefault(each.namespace, []).append(each)
    return found


def _lacking(pod: Pod, quota: ResourceQuota) -> str:
    """What the quota demands of every container and some container does not state."""
    if pod.spec.pod_level_requests:
        return ""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    for name in quota.hard.keys() & _DEMANDED.keys():
        which, resource = _DEMANDED[name]
        if not all(resource in (each.requests if which == "requests" else each.limits) for each in containers):
            return f"{resource} {which}"
    return ""


def _limits(pod: Pod) -> ResourceList:
    return pod_limits(pod.spec.containers, pod.spec.init_containers, overhead=pod.spec.overhead)


def _fault(pod: Pod, limit_range: LimitRange) -> str:
    """The part of `pod` that a limit range does not admit."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    faults = (_fault_of(each.requests, each.limits, limit_range.of_containers) for each in containers)
    of_containers = next(filter(None, faults), "")
    if of_containers or limit_range.of_pods == UNBOUNDED:
        return of_containers
    return _fault_of(pod.spec.requests, _limits(pod), limit_range.of_pods)


def _fault_of(requests: ResourceList, limits: ResourceList, admitted: AdmittedRange) -> str:
    for name, nano in admitted.least.items():
        if requests.get(name, -1) < nano or limits.get(name, nano) < nano:
            return f"{name} is below the minimum"
    for name, nano in admitted.most.items():
        if limits.get(name, nano + 1) > nano or requests.get(name, 0) > nano:
            return f"{name} is above the maximum"
    for name, nano in admitted.ratio.items():
        requested, limit = requests.get(name, 0), limits.get(name, 0)
        if not (requested and limit) or limit * _ONE > requested * nano:
            return f"the limit of {name} is too far above its request (maxLimitRequestRatio)"
    return ""
