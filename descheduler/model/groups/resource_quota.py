"""ResourceQuotas: which pods count for them, what a pod is charged with, and whether there is room for it.

Source: kubernetes `pkg/quota/v1/evaluator/core/pods.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, ResourceList, pod_limits
from descheduler.model.selection.affinity import Affinity

POD_OBJECTS = f"count/{PODS}"
"""The name by which a quota counts pods until their objects are gone."""
_ONE = 10**9
_SHORT_NAMES = (CPU, MEMORY, EPHEMERAL_STORAGE)
_HUGE_PAGES = "hugepages-"
_NOTHING: Mapping[str, int] = {}


class QuotaScope(msgspec.Struct, frozen=True):
    """One scope of a quota, such as `BestEffort`, and what its value has to be (`PriorityClass` In ...)."""

    name: str
    operator: str = "Exists"
    values: frozenset[str] = frozenset()


class ResourceQuota(msgspec.Struct, frozen=True):
    """A quota of a namespace: what its objects may take in all, and take now, in nano units by quota name
    (`requests.cpu`, `pods`, ...). `scopes` are what a pod has to meet to be counted."""

    namespace: str
    name: str
    hard: ResourceList = {}
    used: ResourceList = {}
    scopes: tuple[QuotaScope, ...] = ()

    def covers(self, pod: Pod, priority_class: str) -> bool:
        """Whether a pod of its namespace counts, with a template that names `priority_class`."""
        return all(_covers(scope, pod, priority_class) for scope in self.scopes)

    def short_of(
        self, charge: Mapping[str, int], *, released: Mapping[str, int] = _NOTHING, num_pods: int = 1
    ) -> Iterator[str]:
        """The names of which it has not enough for so many pods of this charge, once `released` is given back."""
        for name, hard in self.hard.items():
            added = charge.get(name, 0) * num_pods
            if added and self.used.get(name, 0) - released.get(name, 0) + added > hard:
                yield name


def charge_of(requests: ResourceList, limits: ResourceList) -> Mapping[str, int]:
    """What a pod is charged with, by the names that quotas use, in nano units."""
    charge = {PODS: _ONE, POD_OBJECTS: _ONE}
    for name, nano in requests.items():
        charge[f"requests.{name}"] = nano
        if name in _SHORT_NAMES or name.startswith(_HUGE_PAGES):
            charge[name] = nano
    for name, nano in limits.items():
        charge[f"limits.{name}"] = nano
    return charge


def charge_of_pod(pod: Pod) -> Mapping[str, int]:
    """The charge of a pod that exists, or of another one of its template."""
    spec = pod.spec
    return charge_of(spec.requests, pod_limits(spec.containers, spec.init_containers, overhead=spec.overhead))


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
