"""Room held by a placeholder pod, in any cluster: the scheduler places it, and has it make way for the replacement.

Placeholders take turns in a namespace whose ResourceQuota has room for few of them at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from functools import partial
from threading import Lock
from typing import NamedTuple

import msgspec

from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.kube.errors import ApiError, may_have_acted
from descheduler.kube.objects import ObjectCalls, is_object_name
from descheduler.migration.job.seen import ABSENT, Miss, Room, RoomState
from descheduler.migration.job.surge import is_surged
from descheduler.migration.pods import decode_pod, pod_path, pods_path, read_whole_pod
from descheduler.migration.replacements import Replacements, Successors
from descheduler.migration.room.labels import OWNER_LABEL, manager_of, placeholder_name_of
from descheduler.migration.room.placeholder.ours import FoundPlaceholder, decode_placeholder
from descheduler.migration.room.placeholder.pod import placeholder_of, reachable_terms
from descheduler.migration.room.placement_away import narrow
from descheduler.migration.room.provider import CannotHold, CannotHoldNow, CannotHoldYet
from descheduler.migration.room.sweeping import KnownJobs, LabelledObject, Swept, sweep
from descheduler.model.koordinator.eviction_annotations import REPLACEMENT_ANNOTATION
from descheduler.model.koordinator.migration_job import JobConditionType, MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference
from descheduler.model.pod import Pod
from descheduler.transport.errors import ExchangeError

_REFUSALS = frozenset({400, 403, 404, 422})
"""Answers that a repetition does not change."""
_OVER_QUOTA = "exceeded quota: "
"""As the admission plugin ResourceQuota of the API server says that one has no room."""


class PlaceholderRooms:
    """The provider `placeholder`, for the jobs of `owner`, a name that a label may have.

    A node that a job names is that of the placeholder; nothing ties the replacement to it. Nothing is held for pending
    pods: a placeholder has the lowest priority, and would wait behind all of them.
    """

    name = RoomProvider.PLACEHOLDER.value

    def __init__(self, objects: ObjectCalls, owner: str) -> None:
        self._objects = objects
        self._owner = owner
        self._decode = partial(decode_placeholder, owner=owner)
        self._replacements = Replacements(objects)
        self._turns = PlaceholderTurns()

    def hold(self, job: MigrationJob, now: datetime) -> str:
        """Creates the placeholder named after the job's UID, or finds it created."""
        self._turns.begin(job, now)
        pod = read_whole_pod(self._objects, job.pod_namespace, job.pod_name)
        if pod is None or pod["metadata"]["uid"] != job.pod_uid:
            raise CannotHold(f"pod {job.pod_namespace}/{job.pod_name} is gone")
        wanted = placeholder_of(job, pod, decode_pod(msgspec.json.encode(pod)).spec.requests, self._owner)
        for terms in reachable_terms(self._objects, pod):
            narrow(wanted["spec"], terms)
        try:
            path, manager = pods_path(job.pod_namespace), manager_of(job.uid)
            self._check(job, self._objects.create(path, wanted, self._decode, manager=manager))
        except ExchangeError as error:
            if isinstance(error, ApiError) and error.status_code in _REFUSALS:
                if _OVER_QUOTA in str(error):
                    self._turns.refused(job, now)
                raise CannotHoldNow(f"the placeholder cannot be created: {error}") from error
            if not may_have_acted(error) or self._find(job) is None:
                raise
        return placeholder_name_of(job.uid)

    def _check(self, job: MigrationJob, created: FoundPlaceholder | None) -> None:
        """Gives back what was `created`, if it is no placeholder as admission has left it. Raises CannotHold then, and
        where another pod has the name.
        """
        if created is not None and created.differs:
            self._delete(created.pod)
            raise CannotHold(f"the placeholder was not created as asked for (admission webhook): {created.differs}")
        if created is None and self._find(job) is None:
            found = self._read(job)
            why = (found.differs if found is not None else "") or "it is being deleted"
            raise CannotHold(f"a pod {placeholder_name_of(job.uid)} exists, which is not of this job: {why}")

    def look(self, job: MigrationJob, now: datetime) -> tuple[Room, Pod | None]:
        """The placeholder as the API server has it; once the pod is to be replaced, the replacement too.

        A replacement on the node of the placeholder has taken its room, and another one has missed it.
        """
        placeholder = self._find(job)
        if job.found(JobConditionType.EVICTION) is None and not is_surged(job):
            return (ABSENT if placeholder is None else _room(placeholder)), None
        replacement = self._replacement(job, now)
        if replacement is not None and replacement.node_name:
            return _used(job, replacement, is_left_over=placeholder is not None), replacement
        if placeholder is None:
            return Room(RoomState.YIELDED, job.node_name, "the placeholder has made way"), replacement
        return _room(placeholder), replacement

    def release(self, job: MigrationJob) -> None:
        """Deletes the placeholder, whether or not the job knows that it was created, as admission has left it."""
        found = self._read(job)
        if found is not None and found.was_created_for(job) and found.pod.deleted_at is None:
            self._delete(found.pod)
        self._turns.end(job)

    def sweep(self, jobs: KnownJobs) -> Swept:
        """Deletes the placeholders of jobs that are no more, in all namespaces."""
        found = self._objects.list_readable("/api/v1/pods", self._decode, label_selector=f"{OWNER_LABEL}={self._owner}")
        by_uid = {each.pod.uid: each for each in found if each.pod.deleted_at is None or each.differs}
        candidates = (_candidate(each, jobs) for each in by_uid.values())
        return sweep(candidates, jobs, self._owner, lambda each: self._delete(by_uid[each.uid].pod), _differs_from)

    def _delete(self, placeholder: Pod) -> bool:
        path = pod_path(placeholder.namespace, placeholder.name)
        return self._objects.delete(path, uid=placeholder.uid, grace_period_seconds=0)

    def _find(self, job: MigrationJob) -> Pod | None:
        """The placeholder of the job, while it holds anything."""
        found = self._read(job)
        return None if found is None or not found.is_of(job.uid) or found.pod.deleted_at is not None else found.pod

    def _read(self, job: MigrationJob) -> FoundPlaceholder | None:
        """The pod that has the name of the placeholder of the job."""
        if not (is_object_name(job.pod_namespace) and is_object_name(placeholder_name_of(job.uid))):
            return None
        return self._objects.read(pod_path(job.pod_namespace, placeholder_name_of(job.uid)), self._decode)

    def _replacement(self, job: MigrationJob, now: datetime) -> Pod | None:
        successors = Successors.decoded(job.annotations.get(REPLACEMENT_ANNOTATION, ""))
        return None if successors is None else self._replacements.find(successors, job, now)


def _candidate(found: FoundPlaceholder, jobs: KnownJobs) -> LabelledObject:
    pod, job = found.pod, jobs.over.get(found.job_uid)
    differs = "" if job is not None and found.was_created_for(job) else found.differs
    return LabelledObject("pod", pod.key, pod_path(pod.namespace, pod.name), pod.uid, found.job_uid, differs)


def _differs_from(each: LabelledObject, job: MigrationJob) -> str:
    """A placeholder is in the namespace of the pod that is to move."""
    namespace = each.name.partition("/")[0]
    return "" if namespace == job.pod_namespace else f"its job is for a pod in namespace {job.pod_namespace}"


def _used(job: MigrationJob, replacement: Pod, *, is_left_over: bool) -> Room:
    """The room of a replacement that has a node."""
    taken_by = ObjectReference(replacement.namespace, replacement.name, replacement.uid)
    node = replacement.node_name
    if node == job.node_name:
        return Room(RoomState.TAKEN, node, taken_by=taken_by, is_left_over=is_left_over)
    why = f"the scheduler placed replacement {replacement.key} on node {node}, not on {job.node_name} (placeholder)"
    return Room(RoomState.MISSED, node, why, taken_by, is_left_over=is_left_over, miss=Miss.ELSEWHERE)


def _room(placeholder: Pod) -> Room:
    if placeholder.node_name:
        return Room(RoomState.HELD, placeholder.node_name, is_left_over=True)
    for condition in placeholder.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            return Room(RoomState.UNSCHEDULABLE, message="the scheduler has found no node for the placeholder")
    return Room(RoomState.PENDING)


_UNTIL_COUNTED = timedelta(seconds=10)
"""A quota still counts a pod for a moment after it is deleted: the quota controller has to see that."""
_PAUSE = timedelta(seconds=2)
"""Between two attempts in a namespace in which no placeholder has been given back."""


class _Refusal(NamedTuple):
    at: datetime
    num_given_back: int

    def holds(self, now: datetime, num_given_back: int) -> bool:
        """Whether an attempt would be refused again, as far as that is known."""
        return num_given_back == self.num_given_back and now - self.at < _PAUSE


class PlaceholderTurns:
    """Which jobs of one run have placeholders in which namespace. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders: defaultdict[str, set[str]] = defaultdict(set)
        self._num_given_back: Counter[str] = Counter()
        self._last: dict[str, _Refusal] = {}
        self._alone_since: dict[str, datetime] = {}
        """By UID of a job, when its namespace was full for the first time without any other placeholder of the run."""

    def begin(self, job: MigrationJob, now: datetime) -> None:
        """A placeholder is asked for. Raises CannotHoldYet where a quota has refused one a moment ago."""
        namespace = job.pod_namespace
        with self._lock:
            holders, last = self._holders[namespace], self._last.get(namespace)
            is_full = last is not None and last.holds(now, self._num_given_back[namespace])
            if is_full and job.uid not in holders:
                raise _not_yet(namespace)
            holders.add(job.uid)

    def end(self, job: MigrationJob) -> None:
        """The placeholder is given back, if there was one."""
        with self._lock:
            if job.uid in self._holders[job.pod_namespace]:
                self._holders[job.pod_namespace].remove(job.uid)
                self._num_given_back[job.pod_namespace] += 1

    def refused(self, job: MigrationJob, now: datetime) -> None:
        """A quota has refused the placeholder. Raises CannotHoldYet where others of the run make room for it."""
        namespace = job.pod_namespace
        with self._lock:
            self._holders[namespace].discard(job.uid)
            if self._holders[namespace]:
                self._alone_since.pop(job.uid, None)
            else:
                since = self._alone_since.setdefault(job.uid, now)
                if now - since >= _UNTIL_COUNTED or not self._num_given_back[namespace]:
                    return
            self._last[namespace] = _Refusal(now, self._num_given_back[namespace])
        raise _not_yet(namespace)


def _not_yet(namespace: str) -> CannotHoldYet:
    return CannotHoldYet(f"other placeholders of this run use up the ResourceQuota of namespace {namespace}")
