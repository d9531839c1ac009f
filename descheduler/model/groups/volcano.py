"""Queues and Jobs of Volcano, and what its PodGroups say beside the size of a gang."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

import msgspec

from descheduler.model.groups.workloads import Workload
from descheduler.model.koordinator.gang_settings import PodGroup
from descheduler.model.pod import Pod
from descheduler.model.requests import ResourceList

JOB_KIND = "Job.batch.volcano.sh"
QUEUE_KIND = "Queue.scheduling.volcano.sh"
POD_GROUP_KIND = "PodGroup.scheduling.volcano.sh"
VOLCANO_ANNOTATIONS = ("volcano.sh/", "sla-waiting-time", "nvidia.com/use-gputype", "nvidia.com/nouse-gputype")
"""Annotations of pods, PodGroups, queues and nodes that Volcano reads; the first stands for a whole domain."""
GROUP_NAME_ANNOTATION = "scheduling.k8s.io/group-name"
"""Names the PodGroup of a pod."""
QUEUE_NAME_ANNOTATION = "scheduling.volcano.sh/queue-name"
"""Names the queue of a pod without a PodGroup."""

TASK_KEY = "volcano.sh/task-spec"
"""Names the task of its job that a pod belongs to, as an annotation or a label."""
PREEMPTABLE_KEY = "volcano.sh/preemptable"
"""Whether a pod may be evicted, as an annotation or else a label."""
COOLDOWN_KEY = "volcano.sh/cooldown-time"
"""How long a pod is spared once it is scheduled, as a label or else an annotation."""
POD_EVICTED = "PodEvicted"
"""The event of a job whose pod is deleted, by an eviction or otherwise."""
JOB_ENDS = frozenset({"AbortJob", "TerminateJob", "CompleteJob"})
"""Actions after which a job runs no pods."""
JOB_RESTARTS = frozenset({"RestartJob", "RestartTask", "RestartPartition"})
"""Actions that delete more pods than one, and create all of them again."""
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


def is_switched_on(text: str | None, *, default: bool) -> bool:
    """The boolean of an annotation or label; one that cannot be read is false."""
    return default if text is None else text in _TRUE


def task_of(pod: Pod) -> str:
    """The task of its job that `pod` belongs to; empty for a pod of none."""
    return pod.annotations.get(TASK_KEY) or pod.labels.get(TASK_KEY, "")


class LifecyclePolicy(msgspec.Struct, frozen=True):
    """What the controller of a job does on one of `events`; `*` stands for all of them."""

    action: str
    events: frozenset[str] = frozenset()

    def answers(self, event: str) -> bool:
        """Whether the policy is about `event`."""
        return event in self.events or "*" in self.events


class VolcanoTask(msgspec.Struct, frozen=True):
    """One task of a Job; `replicas` is None where they are not known, as in old dumps."""

    replicas: int | None = None
    policies: tuple[LifecyclePolicy, ...] = ()


class VolcanoJob(Workload, frozen=True):
    """A Job of Volcano (`batch.volcano.sh/v1alpha1`): its policies and, by name, its tasks.

    It fails with the restart that makes `max_retry` of them; it has had `num_restarts`. `phase` is that of its status.
    """

    policies: tuple[LifecyclePolicy, ...] = ()
    tasks: Mapping[str, VolcanoTask] = {}
    max_retry: int = 3
    num_restarts: int = 0
    phase: str = ""

    @property
    def are_replicas_known(self) -> bool:
        """Whether each of its tasks states its replicas; tasks in old dumps do not."""
        return all(task.replicas is not None for task in self.tasks.values())

    @property
    def succeeded_are_available(self) -> bool:
        """They are: a task of the job ends when its pods have succeeded."""
        return True

    def action_on(self, event: str, task: str) -> str:
        """What an event of a pod of `task` makes of the job; empty where no policy is about it."""
        own = self.tasks.get(task)
        policies = (*(() if own is None else own.policies), *self.policies)
        return next((policy.action for policy in policies if policy.answers(event)), "")


class VolcanoPodGroup(PodGroup, frozen=True):
    """A PodGroup of Volcano: a job of its scheduler. `min_resources` is None where the group states none."""

    uid: str = ""
    labels: Mapping[str, str] = {}
    queue: str = "default"
    priority_class_name: str = ""
    min_resources: ResourceList | None = None
    phase: str = ""
    conditions: tuple[tuple[str, str], ...] = ()
    """Type and reason of those that are true."""


class NodeGroups(msgspec.Struct, frozen=True):
    """Groups of nodes that the affinity of a queue names, by what it says of them."""

    required: frozenset[str] = frozenset()
    preferred: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    avoided: frozenset[str] = frozenset()


class VolcanoQueue(msgspec.Struct, frozen=True):
    """A Queue. Resources are in nano units; `reclaimable` is true where the queue does not say."""

    name: str
    uid: str = ""
    created_at: datetime | None = None
    annotations: Mapping[str, str] = {}
    weight: int = 1
    priority: int = 0
    capability: ResourceList = {}
    guarantee: ResourceList = {}
    deserved: ResourceList = {}
    reclaimable: bool = True
    parent: str = ""
    state: str = ""
    node_groups: NodeGroups = NodeGroups()


_MINIMUM, _MAXIMUM = "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"
_AMOUNT = re.compile(r"([0-9]{1,9})(%?)", re.ASCII)


class JobBudget:
    """One annotation: so many pods, or so many percent of them rounded up, have to run, or may be away."""

    def __init__(self, key: str, amount: str) -> None:
        self.is_minimum = key == _MINIMUM
        self._amount = amount
        self.text = f"{key}: {amount}"

    @classmethod
    def of(cls, group: VolcanoPodGroup) -> JobBudget | None:
        """The budget of a PodGroup; None where it states none that can be read. The minimum comes first."""
        stated = ((key, group.annotations.get(key, "")) for key in (_MINIMUM, _MAXIMUM))
        return next((cls(key, amount) for key, amount in stated if _AMOUNT.fullmatch(amount)), None)

    def num_allowed(self, num_pods: int, num_finished: int, num_running: int) -> int:
        """How many more of the running pods may be away; below 0 where more are away than may."""
        whole = int(self._amount.removesuffix("%"))
        amount = -(-num_pods * whole // 100) if self._amount.endswith("%") else whole
        return num_running - amount if self.is_minimum else amount - (num_pods - num_finished - num_running)
