"""Checks that protect pods from eviction: each answers with a refusal, or None when it has nothing against.

DefaultEvictor and MigrationController are conjunctions of such checks; their order only decides which refusal is told.
Refusals are shared values, since filters run up to a million times in a cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.handle import Handle
from descheduler.model.pod import CRITICAL_PRIORITY, STAYING_ANNOTATIONS, Pod, asks_to_stay
from descheduler.model.selection.labels import LabelError, LabelSelector, parse_selector
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.eviction.node_fit import NodeSet

Check = Callable[[Pod], Verdict | None]
"""The refusal of a pod, or None."""


def first_refusal(checks: Iterable[Check], pod: Pod) -> Verdict:
    """The answer of the first of `checks` that has something against `pod`, else acceptance."""
    for check in checks:
        verdict = check(pod)
        if verdict is not None:
            return verdict
    return ACCEPTED


_MIRROR = refuse(Reason.MIRROR_POD, "mirror pod of a static pod")
_STATIC = refuse(Reason.STATIC_POD, "static pod, run by its kubelet")
_TERMINATING = refuse(Reason.TERMINATING, "the pod is being deleted")
_CRITICAL = refuse(Reason.SYSTEM_CRITICAL, f"system-critical priority ({CRITICAL_PRIORITY} or higher)")
_BARE = refuse(Reason.BARE_POD, "the pod has no owner that recreates it")
_BARE_NOT_FAILED = refuse(Reason.BARE_POD, "the pod has no owner that recreates it, and has not failed")
_LOCAL_STORAGE = refuse(Reason.LOCAL_STORAGE, "the pod has local storage (a hostPath or emptyDir volume)")
_DAEMON_SET = refuse(Reason.DAEMON_SET, "the pod belongs to a DaemonSet")
_VOLUME_CLAIM = refuse(Reason.PERSISTENT_VOLUME_CLAIM, "the pod mounts a PersistentVolumeClaim")
_NO_BUDGET = refuse(Reason.NO_DISRUPTION_BUDGET, "no PodDisruptionBudget covers the pod")
_RESOURCE_CLAIMS = refuse(Reason.RESOURCE_CLAIMS, "the pod uses resource claims")
_DO_NOT_DISRUPT = {
    text: refuse(Reason.DO_NOT_DISRUPT, f"annotation {text} is set (podProtections.extraEnabled: PodsWithDoNotDisrupt)")
    for text in STAYING_ANNOTATIONS
}
_SELECTOR = refuse(Reason.LABEL_SELECTOR, "the labels of the pod do not match labelSelector")


def check_kubelet_pod(pod: Pod) -> Verdict | None:
    """Refuses mirror pods and static pods."""
    if not pod.annotations:
        return None
    if pod.is_mirror:
        return _MIRROR
    return _STATIC if pod.is_static else None


def check_terminating(pod: Pod) -> Verdict | None:
    """Refuses pods with a deletion time."""
    return None if pod.deleted_at is None else _TERMINATING


def check_critical_priority(pod: Pod) -> Verdict | None:
    """Refuses pods of system-critical priority, whatever the name of their class."""
    priority = pod.spec.priority
    return None if priority is None or priority < CRITICAL_PRIORITY else _CRITICAL


def make_priority_check(threshold: int) -> Check:
    """Refuses pods whose priority is `threshold` or more; no priority is below every threshold."""
    refusal = refuse(
        Reason.PRIORITY_THRESHOLD,
        f"the priority of the pod is not below the threshold (priorityThreshold: {threshold})",
    )

    def check(pod: Pod) -> Verdict | None:
        priority = pod.spec.priority
        return None if priority is None or priority < threshold else refusal

    return check


def make_bare_pod_check(way_out: str) -> Check:
    """Refuses pods without owners, in any phase; `way_out` names the setting that would allow failed ones."""
    failed = refuse(Reason.BARE_POD, f"the failed pod has no owner that recreates it ({way_out})")

    def check(pod: Pod) -> Verdict | None:
        if pod.owners:
            return None
        return failed if pod.phase == "Failed" else _BARE

    return check


def check_bare_pod_unless_failed(pod: Pod) -> Verdict | None:
    """Refuses pods without owners that have not failed."""
    return None if pod.owners or pod.phase == "Failed" else _BARE_NOT_FAILED


def check_local_storage(pod: Pod) -> Verdict | None:
    """Refuses pods with `hostPath` or `emptyDir` volumes."""
    return _LOCAL_STORAGE if pod.spec.has_local_storage else None


def check_daemon_set(pod: Pod) -> Verdict | None:
    """Refuses pods that a DaemonSet owns."""
    for owner in pod.owners:
        if owner.kind == "DaemonSet":
            return _DAEMON_SET
    return None


def check_volume_claims(pod: Pod) -> Verdict | None:
    """Refuses pods that mount a PersistentVolumeClaim."""
    return _VOLUME_CLAIM if pod.claim_names else None


def check_resource_claims(pod: Pod) -> Verdict | None:
    """Refuses pods that use resource claims."""
    return _RESOURCE_CLAIMS if pod.spec.has_resource_claims else None


def check_do_not_disrupt(pod: Pod) -> Verdict | None:
    """Refuses pods whose annotations ask autoscalers not to evict them."""
    if not pod.annotations:
        return None
    annotation = asks_to_stay(pod)
    return _DO_NOT_DISRUPT[annotation] if annotation else None


def make_storage_class_check(snapshot: Snapshot, protected: Collection[str]) -> Check:
    """Refuses pods that mount a claim of a `protected` storage class, or one whose class cannot be told."""

    def check(pod: Pod) -> Verdict | None:
        for name in pod.claim_names:
            claim = snapshot.claims.get((pod.namespace, name))
            subject = f"{pod.namespace}/{name}"
            if claim is None or not claim.storage_class:
                message = f"the storage class of PersistentVolumeClaim {name} is unknown"
            elif claim.storage_class in protected:
                message = f"PersistentVolumeClaim {name} has the protected storage class {claim.storage_class}"
            else:
                continue
            return refuse(Reason.PERSISTENT_VOLUME_CLAIM, message, subject)
        return None

    return check


def make_budget_check(snapshot: Snapshot) -> Check:
    """Refuses pods that no PodDisruptionBudget of the snapshot covers."""
    covered: dict[tuple[str, int], bool] = {}

    def check(pod: Pod) -> Verdict | None:
        # Equal labels are one object in a snapshot, so its identity stands for them.
        key = pod.namespace, id(pod.labels)
        is_covered = covered.get(key)
        if is_covered is None:
            is_covered = covered[key] = bool(snapshot.budgets_of(pod))
        return None if is_covered else _NO_BUDGET

    return check


def make_selector_check(selector: LabelSelector) -> Check:
    """Refuses pods whose labels `selector` does not match."""
    return lambda pod: None if selector.matches(pod.labels) else _SELECTOR


def make_other_node_check(handle: Handle, node_selector: str, fits: Callable[[Pod, NodeSet], bool]) -> Check:
    """Refuses pods for which `fits` finds none among the ready nodes that `node_selector` selects.

    A selector that cannot be read refuses every pod; policies with such a selector load.
    """
    try:
        nodes = handle.view.ready_nodes(parse_selector(node_selector))
    except LabelError as error:
        unreadable = refuse(Reason.NO_NODE_FITS, f"nodeSelector is not valid: {error}")
        return lambda _: unreadable
    scope = f"ready nodes with {node_selector}" if node_selector else "ready nodes"
    refusal = refuse(Reason.NO_NODE_FITS, f"the pod does not fit on any of the other {scope} (nodeFit: true)")
    node_set: NodeSet | None = None

    def check(pod: Pod) -> Verdict | None:
        nonlocal node_set
        if node_set is None:
            node_set = handle.node_fit.node_set(nodes)
        return None if fits(pod, node_set) else refusal

    return check
