"""DefaultEvictor: which pods can be evicted at all."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.default_evictor.protections import (
    Check,
    check_bare_pod_unless_failed,
    check_critical_priority,
    check_daemon_set,
    check_do_not_disrupt,
    check_kubelet_pod,
    check_local_storage,
    check_resource_claims,
    check_terminating,
    check_volume_claims,
    first_refusal,
    make_bare_pod_check,
    make_budget_check,
    make_other_node_check,
    make_priority_check,
    make_selector_check,
    make_storage_class_check,
)
from descheduler.eviction.handle import Handle
from descheduler.model.pod import CRITICAL_PRIORITY, EVICT_ANNOTATION, PREFER_NO_EVICTION_ANNOTATION, Pod
from descheduler.model.selection.labels import LabelSelector
from descheduler.model.text.duration import format_duration
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import (
    Args,
    LabelSelectorArg,
    PriorityThreshold,
    UInt,
    check_selector,
    compile_selector,
    one_of,
)

DEFAULT_PROTECTIONS = ("PodsWithLocalStorage", "SystemCriticalPods", "FailedBarePods", "DaemonSetPods")
"""Protections that are on unless `defaultDisabled` names them."""
DO_NOT_DISRUPT = "PodsWithDoNotDisrupt"
EXTRA_PROTECTIONS = ("PodsWithPVC", "PodsWithoutPDB", "PodsWithResourceClaims", DO_NOT_DISRUPT)
"""Protections that are off unless `extraEnabled` names them. kubernetes-sigs/descheduler has all but the last one."""
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
    """Name of the StorageClass."""


class PvcProtection(Args, frozen=True):
    """Restriction of the `PodsWithPVC` protection; an empty list restricts nothing."""

    protected_storage_classes: tuple[ProtectedStorageClass, ...] = ()
    """Only claims of these classes protect their pods."""


class ProtectionConfig(Args, frozen=True):
    """Settings of single protections."""

    pods_with_pvc: PvcProtection | None = msgspec.field(name="PodsWithPVC", default=None)
    """Narrows the protection `PodsWithPVC`."""


class PodProtections(Args, frozen=True):
    """Protections that differ from the default set."""

    default_disabled: tuple[Annotated[str, one_of(DEFAULT_PROTECTIONS)], ...] = ()
    """Protections to switch off: `PodsWithLocalStorage`, `SystemCriticalPods`, `FailedBarePods`, `DaemonSetPods`."""
    extra_enabled: tuple[Annotated[str, one_of(EXTRA_PROTECTIONS)], ...] = ()
    """Protections to switch on: `PodsWithPVC`, `PodsWithoutPDB`, `PodsWithResourceClaims`, and `PodsWithDoNotDisrupt`,
    which kubernetes-sigs/descheduler does not have: it protects pods with the annotation `karpenter.sh/do-not-disrupt:
    "true"` or `cluster-autoscaler.kubernetes.io/safe-to-evict: "false"`."""
    config: ProtectionConfig | None = None
    """Settings of single protections."""


class DefaultEvictorArgs(Args, frozen=True):
    """Arguments of DefaultEvictor.

    Source: kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/defaultevictor/types.go`.
    """

    node_selector: str = ""
    """Nodes that `nodeFit` considers. A syntax error has an effect only when the plugin runs: then every pod is
    rejected."""
    label_selector: LabelSelectorArg | None = None
    """Only pods with these labels can be evicted."""
    namespace_label_selector: LabelSelectorArg | None = None
    """Only pods of namespaces with these labels can be evicted."""
    priority_threshold: PriorityThreshold | None = None
    """Pods from this priority on are protected; 2000000000 when unset. The loader turns a name into a number."""
    node_fit: bool = False
    """Whether only pods that fit some other node can be evicted."""
    min_replicas: UInt = 0
    """Pods whose only owner has fewer pods are not evicted; has an effect above 1 only."""
    min_pod_age: timedelta | None = None
    """Pods that started less than this ago are not evicted."""
    no_eviction_policy: Annotated[str, one_of(_NO_EVICTION_POLICIES)] = ""
    """`Mandatory` protects pods with the annotation `prefer-no-eviction`; otherwise they are evicted last."""
    pod_protections: PodProtections = PodProtections()
    """What protects pods; cannot be used with the deprecated switches below."""
    evict_local_storage_pods: bool = False
    """Deprecated: switches `PodsWithLocalStorage` off."""
    evict_daemon_set_pods: bool = False
    """Deprecated: switches `DaemonSetPods` off."""
    evict_system_critical_pods: bool = False
    """Deprecated: switches `SystemCriticalPods` off, and `priorityThreshold` with it."""
    evict_failed_bare_pods: bool = False
    """Deprecated: switches `FailedBarePods` off."""
    ignore_pvc_pods: bool = False
    """Deprecated: switches `PodsWithPVC` on."""
    ignore_pods_without_pdb: bool = msgspec.field(name="ignorePodsWithoutPDB", default=False)
    """Deprecated: switches `PodsWithoutPDB` on."""


def needs(args: DefaultEvictorArgs) -> Needs:
    """What the filters read with these arguments."""
    kinds = set()
    if args.namespace_label_selector is not None:
        kinds.add("Namespace")
    config = args.pod_protections.config
    if config is not None and config.pods_with_pvc is not None and config.pods_with_pvc.protected_storage_classes:
        kinds.add("PersistentVolumeClaim")
    return Needs(frozenset(kinds))


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
    message = f"cannot be used together with {', '.join(used)} (deprecated); use podProtections for all of them"
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


def effective_protections(args: DefaultEvictorArgs) -> tuple[str, ...]:
    """The protections that are on: the default ones, then the extra ones, in the order that the reference gives them.

    `podProtections` counts once it names any protection; until then the deprecated switches do.
    """
    protections = args.pod_protections
    if protections.default_disabled or protections.extra_enabled:
        kept = (name for name in DEFAULT_PROTECTIONS if name not in protections.default_disabled)
        return *kept, *protections.extra_enabled
    switches = (
        ("PodsWithLocalStorage", not args.evict_local_storage_pods),
        ("DaemonSetPods", not args.evict_daemon_set_pods),
        ("SystemCriticalPods", not args.evict_system_critical_pods),
        ("FailedBarePods", not args.evict_failed_bare_pods),
        ("PodsWithPVC", args.ignore_pvc_pods),
        ("PodsWithoutPDB", args.ignore_pods_without_pdb),
    )
    return tuple(name for name, is_on in switches if is_on)


_FAILED_TOO = "evictFailedBarePods: false; to evict such pods, add FailedBarePods to podProtections.defaultDisabled"
_ASKS_TO_STAY = refuse(
    Reason.NO_EVICTION_ANNOTATION,
    f"annotation {PREFER_NO_EVICTION_ANNOTATION} is set (noEvictionPolicy: Mandatory)",
)
_NOT_STARTED = refuse(Reason.TOO_YOUNG, "the pod has not started, so its age is unknown")


class DefaultEvictor:
    """Mirrors kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/defaultevictor/defaultevictor.go`.

    Unlike there, the `PodsWithoutPDB` protection sees budgets outside of dry runs, too.
    """

    def __init__(self, args: DefaultEvictorArgs, handle: Handle) -> None:
        self._is_wish_mandatory = args.no_eviction_policy == "Mandatory"
        self._checks = (
            check_kubelet_pod,
            check_terminating,
            *_protection_checks(args, handle),
            *_choice_checks(args, handle),
        )
        self._pre_eviction_checks = tuple(_pre_eviction_checks(args, handle))

    def filter(self, pod: Pod) -> Verdict:
        """The first thing that forbids the eviction of `pod`, else acceptance.

        The evict annotation bypasses everything, whatever its value.
        """
        if pod.annotations:
            if EVICT_ANNOTATION in pod.annotations:
                return ACCEPTED
            if self._is_wish_mandatory and PREFER_NO_EVICTION_ANNOTATION in pod.annotations:
                return _ASKS_TO_STAY
        return first_refusal(self._checks, pod)

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        """Whether some other node fits, where that is asked for, and the labels of the pod's namespace match."""
        return first_refusal(self._pre_eviction_checks, pod)


def _protection_checks(args: DefaultEvictorArgs, handle: Handle) -> Iterator[Check]:
    snapshot = handle.view.snapshot
    protections = effective_protections(args)
    threshold = args.priority_threshold.value if args.priority_threshold is not None else None
    protects_critical = "SystemCriticalPods" in protections
    if protects_critical:
        yield check_critical_priority
    # In the reference the threshold goes with the protection of critical pods, even one that the user has set.
    is_users_own = handle.policy.compatibility == "fixed" and threshold is not None and threshold < CRITICAL_PRIORITY
    if threshold is not None and (protects_critical or is_users_own):
        yield make_priority_check(threshold)
    yield make_bare_pod_check(_FAILED_TOO) if "FailedBarePods" in protections else check_bare_pod_unless_failed
    if "PodsWithLocalStorage" in protections:
        yield check_local_storage
    if "DaemonSetPods" in protections:
        yield check_daemon_set
    if "PodsWithPVC" in protections:
        classes = _protected_storage_classes(args.pod_protections)
        yield make_storage_class_check(snapshot, classes) if classes else check_volume_claims
    if "PodsWithoutPDB" in protections:
        yield make_budget_check(snapshot)
    if "PodsWithResourceClaims" in protections:
        yield check_resource_claims
    if DO_NOT_DISRUPT in protections:
        yield check_do_not_disrupt


def _protected_storage_classes(protections: PodProtections) -> frozenset[str]:
    config = protections.config
    if config is None or config.pods_with_pvc is None:
        return frozenset()
    return frozenset(storage_class.name for storage_class in config.pods_with_pvc.protected_storage_classes)


def _choice_checks(args: DefaultEvictorArgs, handle: Handle) -> Iterator[Check]:
    selector = compile_selector(args.label_selector)
    if selector is not None and not selector.is_empty:
        yield make_selector_check(selector)
    if args.min_replicas > 1:
        yield _make_replicas_check(args.min_replicas, handle)
    if args.min_pod_age is not None:
        yield _make_age_check(args.min_pod_age, handle)


def _make_replicas_check(least: int, handle: Handle) -> Check:
    """Refuses pods whose only owner has fewer than `least` pods; several owners, or none, are not looked at."""

    def check(pod: Pod) -> Verdict | None:
        if len(pod.owners) != 1:
            return None
        owner = pod.owners[0]
        num_replicas = handle.view.pods_of_owner(owner.uid)
        if num_replicas >= least:
            return None
        subject = f"{owner.kind}/{owner.name}"
        return refuse(Reason.TOO_FEW_REPLICAS, f"{subject} has {_pods(num_replicas)} (minReplicas: {least})", subject)

    return check


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"


def _make_age_check(least: timedelta, handle: Handle) -> Check:
    """Refuses pods that started less than `least` ago, or whose start is unknown."""
    too_young = refuse(Reason.TOO_YOUNG, f"the pod is too young (minPodAge: {format_duration(least)})")

    def check(pod: Pod) -> Verdict | None:
        if pod.started_at is None:
            return _NOT_STARTED
        return too_young if handle.now - pod.started_at < least else None

    return check


def _pre_eviction_checks(args: DefaultEvictorArgs, handle: Handle) -> Iterator[Check]:
    if args.node_fit:
        yield make_other_node_check(handle, args.node_selector, handle.node_fit.fits_any_other)
    selector = compile_selector(args.namespace_label_selector)
    if selector is not None and not selector.is_empty:
        yield _make_namespace_check(selector, handle.view.snapshot)


def _make_namespace_check(selector: LabelSelector, snapshot: Snapshot) -> Check:
    """Refuses pods of namespaces whose labels `selector` does not match, and of namespaces that are not known."""

    def check(pod: Pod) -> Verdict | None:
        namespace = snapshot.namespaces.get(pod.namespace)
        if namespace is None:
            message = f"namespace {pod.namespace} was not found"
        elif selector.matches(namespace.labels):
            return None
        else:
            message = f"the labels of namespace {pod.namespace} do not match namespaceLabelSelector"
        return refuse(Reason.NAMESPACE_LABELS, message, pod.namespace)

    return check
