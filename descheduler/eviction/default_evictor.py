"""DefaultEvictor: which pods may be evicted at all."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import Args, LabelSelectorArg, PriorityThreshold, UInt, check_selector

__all__ = [
    "DEFAULT_PROTECTIONS",
    "EXTRA_PROTECTIONS",
    "DefaultEvictorArgs",
    "PodProtections",
    "ProtectedStorageClass",
    "ProtectionConfig",
    "PvcProtection",
    "construction_problems",
    "validate_args",
]

DEFAULT_PROTECTIONS = ("PodsWithLocalStorage", "SystemCriticalPods", "FailedBarePods", "DaemonSetPods")
"""Protections that are on unless `defaultDisabled` names them."""
EXTRA_PROTECTIONS = ("PodsWithPVC", "PodsWithoutPDB", "PodsWithResourceClaims")
"""Protections that are off unless `extraEnabled` names them."""
_NO_EVICTION_POLICIES = ("Preferred", "Mandatory")
_DEPRECATED = {
    "evict_local_storage_pods": "evictLocalStoragePods",
    "evict_daemon_set_pods": "evictDaemonSetPods",
    "evict_system_critical_pods": "evictSystemCriticalPods",
    "ignore_pvc_pods": "ignorePvcPods",
    "ignore_pods_without_pdb": "ignorePodsWithoutPDB",
    "evict_failed_bare_pods": "evictFailedBarePods",
}


class ProtectedStorageClass(Args, frozen=True):
    """A storage class whose volumes protect their pods."""

    name: str = ""


class PvcProtection(Args, frozen=True):
    """Restriction of the `PodsWithPVC` protection; an empty list restricts nothing."""

    protected_storage_classes: tuple[ProtectedStorageClass, ...] = ()


class ProtectionConfig(Args, frozen=True):
    """Settings of single protections."""

    pods_with_pvc: PvcProtection | None = msgspec.field(name="PodsWithPVC", default=None)


class PodProtections(Args, frozen=True):
    """Protections that differ from the default set."""

    default_disabled: tuple[str, ...] = ()
    extra_enabled: tuple[str, ...] = ()
    config: ProtectionConfig | None = None


class DefaultEvictorArgs(Args, frozen=True):
    """Arguments of DefaultEvictor.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/defaultevictor/types.go`.
    """

    node_selector: str = ""
    """Nodes that node fit considers. A syntax error only shows when the plugin runs: then every pod is rejected."""
    label_selector: LabelSelectorArg | None = None
    namespace_label_selector: LabelSelectorArg | None = None
    priority_threshold: PriorityThreshold | None = None
    """Pods from this priority on are protected. The loader turns it into a number."""
    node_fit: bool = False
    min_replicas: UInt = 0
    """Only matters above 1."""
    min_pod_age: timedelta | None = None
    """Time since the pod's start."""
    no_eviction_policy: str = ""
    pod_protections: PodProtections = PodProtections()
    evict_local_storage_pods: bool = False
    evict_daemon_set_pods: bool = False
    evict_system_critical_pods: bool = False
    evict_failed_bare_pods: bool = False
    ignore_pvc_pods: bool = False
    ignore_pods_without_pdb: bool = msgspec.field(name="ignorePodsWithoutPDB", default=False)


def validate_args(args: DefaultEvictorArgs) -> list[ArgsProblem]:
    """Problems of `args`, all of them. The label selectors are judged by `construction_problems`."""
    problems = []
    threshold = args.priority_threshold
    if threshold and threshold.value is not None and threshold.name:
        problems.append(ArgsProblem(("priorityThreshold",), "value and name are both given; keep one of them"))
    if args.no_eviction_policy and args.no_eviction_policy not in _NO_EVICTION_POLICIES:
        message = f"{args.no_eviction_policy!r} is not one of {', '.join(_NO_EVICTION_POLICIES)}"
        problems.append(ArgsProblem(("noEvictionPolicy",), message))
    return problems + _check_protections(args)


def _check_protections(args: DefaultEvictorArgs) -> list[ArgsProblem]:
    protections = args.pod_protections
    if not (protections.default_disabled or protections.extra_enabled):
        return []
    return [
        *_check_deprecated(args),
        *_check_names("extraEnabled", protections.extra_enabled, EXTRA_PROTECTIONS),
        *_check_names("defaultDisabled", protections.default_disabled, DEFAULT_PROTECTIONS),
        *_check_storage_classes(protections),
    ]


def _check_deprecated(args: DefaultEvictorArgs) -> list[ArgsProblem]:
    used = [key for attribute, key in _DEPRECATED.items() if getattr(args, attribute)]
    if not used:
        return []
    message = f"does not go together with {', '.join(used)} (deprecated); use podProtections for all of them"
    return [ArgsProblem(("podProtections",), message)]


def _check_names(field: str, names: tuple[str, ...], allowed: tuple[str, ...]) -> list[ArgsProblem]:
    problems = []
    seen = set[str]()
    for index, name in enumerate(names):
        path = ("podProtections", field, index)
        if name not in allowed:
            problems.append(ArgsProblem(path, f"{name!r} is not one of {', '.join(allowed)}"))
        elif name in seen:
            problems.append(ArgsProblem(path, f"{name!r} is listed twice"))
        seen.add(name)
    return problems


def _check_storage_classes(protections: PodProtections) -> list[ArgsProblem]:
    # As in the reference, names do not matter unless the list that names the protection asks for it.
    config = protections.config
    if "PodsWithPVC" not in protections.extra_enabled or config is None or config.pods_with_pvc is None:
        return []
    path = ("podProtections", "config", "PodsWithPVC", "protectedStorageClasses")
    return [
        ArgsProblem((*path, index, "name"), "is empty; name a storage class")
        for index, storage_class in enumerate(config.pods_with_pvc.protected_storage_classes)
        if not storage_class.name
    ]


def construction_problems(args: DefaultEvictorArgs) -> list[ArgsProblem]:
    """What keeps the plugin from being built: label selectors that do not compile."""
    return [
        *check_selector("labelSelector", args.label_selector),
        *check_selector("namespaceLabelSelector", args.namespace_label_selector),
    ]
