"""Whether the API server admits a replacement: quotas, limit ranges and priority classes of the snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.objects import UNBOUNDED, AdmittedRange, LimitRange, QuotaScope, ResourceQuota
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, ResourceList, pod_limits
from descheduler.model.selection.affinity import Affinity

__all__ = ["Admission", "FullQuota"]

_RulesT = TypeVar("_RulesT", LimitRange, ResourceQuota)

_ONE = 10**9
_COUNT = f"count/{PODS}"
_SHORT_NAMES = (CPU, MEMORY, EPHEMERAL_STORAGE)
_HUGE_PAGES = "hugepages-"
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
        """The limit ranges of a namespace."""
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
            for name in _short(quota, _charge(pod), {}, num_before + 1):
                full = FullQuota(quota.name, name == _COUNT or (full is not None and full.counts_objects))
        return full

    def _bar_of_quota(self, pod: Pod, victim: Pod, priority_class: str) -> str:
        for quota in self._quotas_of(pod, priority_class):
            lacking = _lacking(pod, quota)
            if lacking:
                return f"ResourceQuota {quota.name} admits no container without {lacking}"
            if next(_short(quota, _charge(pod), _charge(victim), 1), ""):
                return f"ResourceQuota {quota.name} is exceeded by the replacement pod, even without this pod"
        return ""

    def _quotas_of(self, pod: Pod, priority_class: str) -> Iterator[ResourceQuota]:
        for quota in self._quotas.get(pod.namespace, ()):
            if all(_covers(scope, pod, priority_class) for scope in quota.scopes):
                yield quota


def _by_namespace(objects: Iterable[_RulesT]) -> dict[str, list[_RulesT]]:
    found: dict[str, list[_RulesT]] = {}
    for each in objects:
        found.setdefault(each.namespace, []).append(each)
    return found


def _covers(scope: QuotaScope, pod: Pod, priority_class: str) -> bool:
    """Whether a pod is of a scope. `activeDeadlineSeconds` of pods is not read: no controller's pods end by it."""
    match scope.name:
        case "BestEffort":
            return pod.spec.qos_class == "BestEffort"
        case "NotBestEffort":
            return pod.spec.qos_class != "BestEffort"
        case "Terminating":
            return False
        case "CrossNamespacePodAffinity":
            return pod.spec.affinity is not None and _crosses_namespaces(pod.spec.affinity)
        case "PriorityClass":
            return _has_class(scope, priority_class)
    return True


def _crosses_namespaces(affinity: Affinity) -> bool:
    """Whether a term of affinity or anti-affinity to pods names namespaces."""
    weighted = (*affinity.pod_preferred, *affinity.anti_preferred)
    terms = (*affinity.pod_required, *affinity.anti_required, *(each.term for each in weighted))
    return any(term.namespaces or term.namespace_selector is not None for term in terms)


def _has_class(scope: QuotaScope, priority_class: str) -> bool:
    match scope.operator:
        case "In":
            return priority_class in scope.values
        case "NotIn":
            return priority_class not in scope.values
        case "DoesNotExist":
            return not priority_class
    return bool(priority_class)


def _short(
    quota: ResourceQuota, charge: Mapping[str, int], released: Mapping[str, int], num_pods: int
) -> Iterator[str]:
    """The names of which the quota has not enough for so many pods of this charge, once `released` is given back."""
    for name, hard in quota.hard.items():
        added = charge.get(name, 0) * num_pods
        if added and quota.used.get(name, 0) - released.get(name, 0) + added > hard:
            yield name


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


def _charge(pod: Pod) -> Mapping[str, int]:
    """What `pod` is charged with, by the names that quotas use, in nano units."""
    charge = {PODS: _ONE, _COUNT: _ONE}
    for name, nano in pod.spec.requests.items():
        charge[f"requests.{name}"] = nano
        if name in _SHORT_NAMES or name.startswith(_HUGE_PAGES):
            charge[name] = nano
    for name, nano in _limits(pod).items():
        charge[f"limits.{name}"] = nano
    return charge


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
