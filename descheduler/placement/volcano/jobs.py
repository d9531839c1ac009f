"""Tasks and jobs of a session: pods, and the PodGroups that they belong to, with what Volcano counts of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import TypeVar

from descheduler.model.groups.volcano import (
    GROUP_NAME_ANNOTATION,
    PREEMPTABLE_KEY,
    VolcanoPodGroup,
    VolcanoQueue,
    is_switched_on,
)
from descheduler.model.pod import Pod
from descheduler.model.requests import PODS, ResourceList, highest, pod_requests
from descheduler.placement.volcano.resources import (
    NOTHING,
    Amounts,
    added,
    amounts_of,
    exceeded_part,
    is_nothing,
    subtracted,
    total_of,
)

FoundType = TypeVar("FoundType")
_DOMAIN = "volcano.sh/"
_ROLE, _PRIORITY = f"{_DOMAIN}task-spec", f"{_DOMAIN}task-priority"
_PARTS_WITH_INDEX = 3
"""Names of pods are `<job>-<task>-<index>`."""
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_MOST_NEXT_STATES = 256
_NEVER = datetime.min.replace(tzinfo=UTC)


class Status(Enum):
    """What a task does; the members below `UNKNOWN` in the list exist within a session alone."""

    PENDING = "Pending"
    BOUND = "Bound"
    RUNNING = "Running"
    RELEASING = "Releasing"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"
    ALLOCATED = "Allocated"
    PIPELINED = "Pipelined"
    BINDING = "Binding"


_HOLDING = frozenset({Status.BOUND, Status.BINDING, Status.RUNNING, Status.ALLOCATED})
_READY = _HOLDING | {Status.SUCCEEDED}
_PREEMPTABLE_STATUSES = frozenset({Status.BOUND, Status.RUNNING})


class Phase(Enum):
    """The phase of a PodGroup."""

    PENDING = "Pending"
    INQUEUE = "Inqueue"
    RUNNING = "Running"
    COMPLETED = "Completed"
    UNKNOWN = "Unknown"


_NOT_ADMITTED = ("", Phase.PENDING.value)
_INQUEUE, _RUNNING = Phase.INQUEUE.value, Phase.RUNNING.value


class Task:
    """One pod. `node` is its index in the shadow cluster's table, negative for none; `job` is empty without any."""

    __slots__ = (
        "created_at",
        "index",
        "is_best_effort",
        "is_gated",
        "is_preemptable",
        "job",
        "key",
        "node",
        "pod",
        "priority",
        "request",
        "role",
        "status",
        "uid",
    )

    def __init__(self, pod: Pod, node: int) -> None:
        annotations, labels = pod.annotations, pod.labels
        self.pod = pod
        self.key = pod.key
        self.uid = pod.uid
        group = annotations.get(GROUP_NAME_ANNOTATION, "")
        self.job = f"{pod.namespace}/{group}" if group else ""
        self.request: Amounts = {**amounts_of(_requests_of(pod)), PODS: 1.0}
        self.is_best_effort = is_nothing(self.request)
        stated = annotations.get(_PRIORITY, "")
        own = 1 if pod.spec.priority is None else pod.spec.priority
        self.priority = int(stated) if stated and _WHOLE.fullmatch(stated) else own
        self.is_preemptable = is_switched_on(
            annotations.get(PREEMPTABLE_KEY, labels.get(PREEMPTABLE_KEY)), default=True
        )
        self.role = annotations.get(_ROLE, labels.get(_ROLE, ""))
        parts = pod.name.split("-")
        self.index = int(parts[-1]) if len(parts) >= _PARTS_WITH_INDEX and _WHOLE.fullmatch(parts[-1]) else None
        self.is_gated = bool(pod.spec.scheduling_gates)
        self.created_at = pod.created_at or _NEVER
        self.node = node
        self.status = status_of(pod)

    @property
    def holds(self) -> bool:
        """Whether it counts as allocated."""
        return self.status in _HOLDING

    @property
    def can_be_preempted(self) -> bool:
        """Whether it is bound or runs."""
        return self.status in _PREEMPTABLE_STATUSES


def _requests_of(pod: Pod) -> ResourceList:
    """What Volcano 1.10 takes a pod to ask for: overhead comes on top of its containers, not of its init containers."""
    spec = pod.spec
    if pod.resized is not None or not (spec.overhead and spec.init_containers):
        return spec.requests if pod.resized is None else pod.resized.requests
    sidecars = [each for each in spec.init_containers if each.is_sidecar]
    running = pod_requests(spec.containers, sidecars, pod_level={}, overhead=spec.overhead)
    return highest((running, pod_requests((), spec.init_containers, pod_level={}, overhead={})))


def status_of(pod: Pod) -> Status:
    """What a pod does when a cycle begins."""
    if pod.phase == "Running":
        return Status.RELEASING if pod.is_terminating else Status.RUNNING
    if pod.phase == "Pending":
        if pod.is_terminating:
            return Status.RELEASING
        return Status.BOUND if pod.node_name else Status.PENDING
    return {"Succeeded": Status.SUCCEEDED, "Failed": Status.FAILED}.get(pod.phase, Status.UNKNOWN)


def _without_rest(amounts: Amounts) -> Amounts:
    """`amounts` without resources of which nothing is left."""
    return {name: amount for name, amount in amounts.items() if amount or name in NOTHING}


class Job:
    """A PodGroup with its pods. `refused` has, for each task that found no node, the nodes that are beyond help."""

    def __init__(self, group: VolcanoPodGroup, priority: int) -> None:
        self.group = group
        self.id = group.gang_id
        self.queue = group.queue
        self.priority = priority
        self.min_available = group.min_member
        self.created_at = group.created_at or _NEVER
        self.min_resources = None if group.min_resources is None else amounts_of(group.min_resources)
        self.role_minimums: Mapping[str, int] = group.min_task_member
        self.role_minimum_total = sum(group.min_task_member.values())
        self.phase = group.phase
        self.conditions = dict(group.conditions)
        self.is_unschedulable = False
        """Whether this session, not an earlier one, says so."""
        self.tasks: dict[str, Task] = {}
        self.counts: Counter[Status] = Counter()
        self.num_pending_best_effort = 0
        self.allocated: Amounts = NOTHING
        self._pending: Amounts = NOTHING
        """What its pending tasks ask for."""
        self.num_ready = 0
        """Tasks that have a node for good, or are done."""
        self.refused: dict[str, frozenset[int]] = {}
        self._found: dict[Hashable, object] = {}
        """What was worked out since its tasks changed last."""
        self.state = 0
        """A number for its tasks and what each does: equal ones stand for the same."""
        self._num_states = 0
        self._next_states: dict[tuple[int, str, Status], int] = {}

    def add(self, task: Task) -> None:
        """One more pod of it."""
        self.tasks[task.uid] = task
        self._count(task, 1)

    def remove(self, task: Task) -> None:
        """`task` is no pod of it any more."""
        del self.tasks[task.uid]
        self._count(task, -1)
        self.allocated, self._pending = _without_rest(self.allocated), _without_rest(self._pending)

    def set_status(self, task: Task, status: Status) -> None:
        """`task` is in `status` from now on."""
        self._count(task, -1)
        task.status = status
        self._count(task, 1)

    def _count(self, task: Task, by: int) -> None:
        self._found.clear()
        self._change_state(task.uid, task.status)
        self.counts[task.status] += by
        self.num_ready += by * (task.status in _READY)
        if task.status is Status.PENDING and task.is_best_effort:
            self.num_pending_best_effort += by
        count = added if by > 0 else subtracted
        if task.holds:
            self.allocated = count(self.allocated, task.request)
        elif task.status is Status.PENDING:
            self._pending = count(self._pending, task.request)

    def _change_state(self, uid: str, status: Status) -> None:
        """A task comes in this status, or goes: either way back leads to the state that it was before."""
        before = self.state
        known = self._next_states.get((before, uid, status))
        if known is None:
            if len(self._next_states) >= _MOST_NEXT_STATES:
                self._next_states.clear()
            known = self._num_states = self._num_states + 1
            self._next_states[before, uid, status] = known
            self._next_states[known, uid, status] = before
        self.state = known

    def of_status(self, *statuses: Status) -> Iterator[Task]:
        """Its tasks that are in one of `statuses`."""
        return (task for task in self.tasks.values() if task.status in statuses)

    @property
    def is_pending(self) -> bool:
        """Whether it was not admitted yet."""
        return self.phase in _NOT_ADMITTED

    def _once(self, key: Hashable, find: Callable[[], FoundType]) -> FoundType:
        """What `find` gives, as long as no task changes."""
        if key not in self._found:
            self._found[key] = find()
        return self._found[key]  # type: ignore[return-value] # what `find` gave

    @property
    def num_waiting(self) -> int:
        """Tasks that wait for room that is being released."""
        return self.counts[Status.PIPELINED]

    @property
    def num_valid(self) -> int:
        """Tasks that run or may."""
        return self.num_ready + self.num_waiting + self.counts[Status.PENDING]

    @property
    def is_ready(self) -> bool:
        """Whether enough tasks have a node."""
        return self.num_ready + self.num_pending_best_effort >= self.min_available

    @property
    def is_pipelined(self) -> bool:
        """Whether enough tasks have one, or wait for the room."""
        return self.num_waiting + self.num_ready + self.num_pending_best_effort >= self.min_available

    @property
    def is_starving(self) -> bool:
        """Whether too few tasks have one or wait for it."""
        return self.num_waiting + self.num_ready < self.min_available

    @property
    def elastic(self) -> Amounts:
        """What it holds beyond its least resources; nothing unless it is more in every resource."""
        return self._once("elastic", self._elastic)

    def _elastic(self) -> Amounts:
        needed = self.min_resources or NOTHING
        if any(self.allocated.get(name, 0.0) <= needed.get(name, 0.0) for name in {**self.allocated, **needed}):
            return NOTHING
        return subtracted(self.allocated, needed)

    @property
    def wanted(self) -> Amounts:
        """The least resources of its tasks that are not gated, which an admitted job waits for."""
        return self._once("wanted", self._wanted)

    def _wanted(self) -> Amounts:
        if self.min_resources is None:
            return NOTHING
        gated = total_of(task.request for task in self.tasks.values() if task.is_gated)
        return exceeded_part(self.min_resources, gated)

    @property
    def inqueue(self) -> Amounts:
        """What it still waits for, which plugins hold against the admission of other jobs.

        All least resources once it is admitted; when it runs with enough tasks, what it does not hold yet.
        """
        if self.phase == _INQUEUE:
            return self.wanted
        if self.phase == _RUNNING and self.num_ready >= self.min_available:
            return exceeded_part(self.wanted, self.allocated)
        return NOTHING

    @property
    def requested(self) -> Amounts:
        """What its tasks ask for that hold room or are pending."""
        return added(self.allocated, self._pending)

    def has_roles(self, *statuses: Status) -> bool:
        """Whether each role has as many tasks as it needs that are done, hold room or are in one of `statuses`.

        Of pending tasks those count anyway that ask for nothing.
        """
        if not self.role_minimums or self.min_available < self.role_minimum_total:
            return True
        counts = self.num_by_role(*statuses)
        return all(counts[role] >= number for role, number in self.role_minimums.items())

    def num_by_role(self, *statuses: Status) -> Counter[str]:
        """How many tasks of each role count in `has_roles`."""
        return self._once(statuses, lambda: self._num_by_role(statuses))

    def _num_by_role(self, statuses: tuple[Status, ...]) -> Counter[str]:
        return Counter(
            task.role
            for task in self.tasks.values()
            if task.status in _READY
            or task.status in statuses
            or (task.status is Status.PENDING and task.is_best_effort)
        )

    @property
    def goes_on(self) -> bool:
        """Whether its other tasks are tried after one that found no node."""
        if self.min_available == len(self.tasks):
            return False
        failed = {self.tasks[uid].role for uid in self.refused}
        if self.min_available < self.role_minimum_total:
            left = sum(task.role not in failed for task in self.of_status(Status.PENDING))
            return self.num_ready + left >= self.min_available
        counts = self.num_by_role()
        return all(counts[role] >= self.role_minimums.get(role, 0) for role in failed)

    def phase_after(self) -> str:
        """The phase that the group is given at the end of a session."""
        if self.counts[Status.RUNNING] and self.is_unschedulable:
            return Phase.UNKNOWN.value
        if self.num_ready >= self.min_available:
            is_done = self.counts[Status.SUCCEEDED] == self.num_ready
            return Phase.COMPLETED.value if is_done else Phase.RUNNING.value
        return Phase.INQUEUE.value if self.phase == Phase.INQUEUE.value else Phase.PENDING.value


class Queue:
    """A queue, with its resources as Volcano counts them."""

    def __init__(self, queue: VolcanoQueue) -> None:
        self.name = queue.name
        self.queue = queue
        self.priority = queue.priority
        self.created_at = queue.created_at or _NEVER
        self.weight = queue.weight
        self.capability = amounts_of(queue.capability)
        self.guarantee = amounts_of(queue.guarantee)
        self.deserved = amounts_of(queue.deserved)
        self.is_reclaimable = queue.reclaimable
