"""What blocks draining a node: the rules of `kubectl drain` (kubectl 1.36, `pkg/drain/filters.go`) and the budgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.checks.budgets import BudgetLedger
from descheduler.model.pod import Pod
from descheduler.report.explanation.node import DrainBlocker, DrainReason
from descheduler.report.identities import reference

__all__ = ["drain_blockers"]


def drain_blockers(pods: Iterable[Pod], snapshot: Snapshot) -> Iterator[DrainBlocker]:
    """What stops `kubectl drain` without flags at each of `pods`, which leave in this order as far as budgets let them.

    Mirror pods stay on any drained node and block nothing.
    """
    ledger = BudgetLedger(snapshot)
    for pod in pods:
        if pod.is_mirror or pod.is_static:
            continue
        for blocker, message, subject in _of_kubectl(pod):
            yield DrainBlocker(pod=reference(pod), blocker=blocker, message=message, subject=subject)
        if pod.controller is not None and pod.controller.kind == "DaemonSet":
            continue
        verdict = ledger.verdict(pod)
        if verdict.is_accepted:
            ledger.charge(pod)
        else:
            yield DrainBlocker(
                pod=reference(pod), blocker="PodDisruptionBudget", message=verdict.message, subject=verdict.subject
            )


def _of_kubectl(pod: Pod) -> Iterator[tuple[DrainReason, str, str]]:
    """What kubectl itself minds, and the flag that makes it go on."""
    owner = pod.controller
    if owner is not None and owner.kind == "DaemonSet":
        yield "DaemonSet", "managed by a DaemonSet: needs --ignore-daemonsets, and the pod is not evicted", owner.name
        return
    if owner is None:
        yield "BarePod", "no controller recreates the pod: needs --force, and the pod is lost", ""
    if pod.spec.has_local_storage:
        yield "LocalStorage", "has an emptyDir or hostPath volume: emptyDir needs --delete-emptydir-data", ""
