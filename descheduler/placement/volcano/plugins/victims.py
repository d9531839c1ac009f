"""Plugins conformance and pdb: pods of the system are not evicted, others within what PodDisruptionBudgets allow."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import Callbacks, Victims, as_before

_CLASSES = frozenset({"system-cluster-critical", "system-node-critical"})
_NAMESPACE = "kube-system"


def start_conformance(session: Session, option: PluginOption) -> Callbacks:
    """Victims outside of `kube-system` and of the two classes of the system."""

    def spare(initiator: Task, candidates: Sequence[Task]) -> Victims:
        return Victims([task for task in candidates if not _is_of_system(task)])

    return Callbacks(preemptable=spare, reclaimable=spare, reopen=as_before)


def _is_of_system(task: Task) -> bool:
    return task.pod.namespace == _NAMESPACE or task.pod.spec.priority_class_name in _CLASSES


def start_pdb(session: Session, option: PluginOption) -> Callbacks:
    """Victims that leave no budget below zero; a pod without labels is none, and every candidate counts."""
    snapshot = session.cluster.snapshot

    def allowed(candidates: Sequence[Task]) -> list[Task]:
        left = {budget.key: budget.stated_allowed for budget in snapshot.budgets}
        return [task for task in candidates if task.pod.labels and _take(task, left)]

    def _take(task: Task, left: dict[str, int]) -> bool:
        keys = [budget.key for budget in snapshot.budgets_of(task.pod) if not budget.selector.is_empty]
        for key in keys:
            left[key] -= 1
        return all(left[key] >= 0 for key in keys)

    def spare(initiator: Task, candidates: Sequence[Task]) -> Victims:
        return Victims(allowed(candidates))

    return Callbacks(preemptable=spare, reclaimable=spare, victim_tasks=allowed, reopen=as_before)
