"""What Volcano would never evict, pod by pod: each rule a check, for profiles that verify landings.

The rules are those of the plugins conformance and cdp of volcano-sh/volcano after 1.16.0-alpha.1, and of the states of
its PodGroups and Queues. Its action shuffle asks for few of them, and its controllers know of no evictions by others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.placement_verification.placement_verification import VerifiedCheck
from descheduler.model.groups.gangs import volcano_gang_of
from descheduler.model.groups.volcano import (
    COOLDOWN_KEY,
    PREEMPTABLE_KEY,
    QUEUE_KIND,
    VolcanoPodGroup,
    VolcanoQueue,
    is_switched_on,
)
from descheduler.model.pod import Pod
from descheduler.model.text.duration import format_duration, parse_duration
from descheduler.model.verdict import Reason, Verdict, refuse
from descheduler.policy.types import Profile

_SYSTEM_CLASSES = frozenset({"system-cluster-critical", "system-node-critical"})
_SYSTEM_NAMESPACE = "kube-system"
_STARTED = ("", "Running")
"""Phases of a PodGroup whose job runs; a controller that has said nothing yet says nothing against it."""
_OPEN = ("", "Open")


class PreemptableCheck(VerifiedCheck):
    """Refuses pods that say so, or whose PodGroup does, and tasks that belong to the system."""

    def refusal(self, pod: Pod) -> Verdict | None:
        """The annotation, else the label, has to be true; no task of kube-system or of a class of the system goes.

        What a PodGroup states holds for pods that state nothing.
        """
        stated, group = _stated(pod), self._snapshot.gangs.volcano_group(pod)
        if not is_switched_on(stated, default=True):
            return refuse(Reason.NOT_PREEMPTABLE, f"{PREEMPTABLE_KEY} of the pod is {stated!r}", pod.key)
        if stated is None and group is not None and not is_switched_on(of_group := _stated(group), default=True):
            message = f"{PREEMPTABLE_KEY} of PodGroup {group.gang_id} is {of_group!r}"
            return refuse(Reason.NOT_PREEMPTABLE, message, group.gang_id)
        if not volcano_gang_of(pod):
            return None
        if pod.namespace == _SYSTEM_NAMESPACE:
            message = f"Volcano never evicts pods of namespace {_SYSTEM_NAMESPACE} (plugin conformance)"
        elif pod.spec.priority_class_name in _SYSTEM_CLASSES:
            message = f"Volcano never evicts pods of class {pod.spec.priority_class_name} (plugin conformance)"
        else:
            return None
        return refuse(Reason.NOT_PREEMPTABLE, message, pod.key)


def _stated(of: Pod | VolcanoPodGroup) -> str | None:
    """What the annotation says, else the label; None where neither is there."""
    return of.annotations.get(PREEMPTABLE_KEY, of.labels.get(PREEMPTABLE_KEY))


class TaskCooldownCheck(VerifiedCheck):
    """Refuses running pods that were scheduled less than their cooldown ago."""

    def __init__(self, profiles: Sequence[Profile], snapshot: Snapshot, now: datetime) -> None:
        super().__init__(profiles, snapshot)
        self._now = now

    def refusal(self, pod: Pod) -> Verdict | None:
        """The label comes before the annotation; a duration that cannot be read protects nothing."""
        stated = pod.labels.get(COOLDOWN_KEY, pod.annotations.get(COOLDOWN_KEY))
        if not stated or pod.phase != "Running":
            return None
        cooldown, scheduled_at = _duration(stated), _scheduled_at(pod)
        if cooldown is None or scheduled_at is None or self._now - scheduled_at >= cooldown:
            return None
        age = format_duration(timedelta(seconds=int((self._now - scheduled_at).total_seconds())))
        return refuse(Reason.TASK_COOLDOWN, f"scheduled {age} ago ({COOLDOWN_KEY}: {stated})", pod.key)


def _duration(text: str) -> timedelta | None:
    try:
        return parse_duration(text)
    except ValueError:
        return None


def _scheduled_at(pod: Pod) -> datetime | None:
    """When the scheduler placed the pod, by its condition."""
    found = (each for each in pod.conditions or () if each.type == "PodScheduled" and each.status == "True")
    return next((condition.transitioned_at for condition in found), None)


class PodGroupPhaseCheck(VerifiedCheck):
    """Refuses tasks of jobs that do not run as a whole: Volcano admits or places the rest of them first."""

    def refusal(self, pod: Pod) -> Verdict | None:
        """The phase has to be Running, or not be said."""
        group = self._snapshot.gangs.volcano_group(pod)
        if group is None or group.phase in _STARTED:
            return None
        return refuse(Reason.POD_GROUP_PHASE, f"PodGroup {group.gang_id} is in phase {group.phase}", group.gang_id)


class QueueStateCheck(VerifiedCheck):
    """Refuses tasks whose queue is closed or is not there: Volcano does not admit their job again."""

    def refusal(self, pod: Pod) -> Verdict | None:
        """The queue has to be open; where no Queue at all was read nothing is known."""
        group = self._snapshot.gangs.volcano_group(pod)
        if group is None or not self._queues:
            return None
        queue = self._queues.get(group.queue)
        if queue is None:
            return refuse(Reason.QUEUE_NOT_OPEN, f"queue {group.queue} does not exist", group.queue)
        if queue.state in _OPEN:
            return None
        return refuse(Reason.QUEUE_NOT_OPEN, f"queue {group.queue} is in state {queue.state}", group.queue)

    @cached_property
    def _queues(self) -> Mapping[str, VolcanoQueue]:
        return {queue.name: queue for queue in self._snapshot.objects.get(QUEUE_KIND, ())}
