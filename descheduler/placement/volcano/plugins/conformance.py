"""Plugin conformance: pods of the system are not evicted."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import Callbacks, Victims, as_before

__all__ = ["start"]

_CLASSES = frozenset({"system-cluster-critical", "system-node-critical"})
_NAMESPACE = "kube-system"


def start(session: Session, option: PluginOption) -> Callbacks:
    """Victims outside of `kube-system` and of the two classes of the system."""

    def spare(initiator: Task, candidates: Sequence[Task]) -> Victims:
        return Victims([task for task in candidates if not _is_of_system(task)])

    return Callbacks(preemptable=spare, reclaimable=spare, reopen=as_before)


def _is_of_system(task: Task) -> bool:
    return task.pod.namespace == _NAMESPACE or task.pod.spec.priority_class_name in _CLASSES
