"""The way of one job: room is held, the pod evicted, its replacement awaited.

Source: koordinator 1.8 `pkg/descheduler/controllers/migration/controller.go`; phases, conditions and reasons are those
that its users know. Six things are done better: a UID that the job states is that of its pod; a room that
found no node is given up after a while; room is released whenever a job fails; a pod that was gone when its turn came,
with the room held, has its replacement awaited all the same, since a run that was killed may have evicted it; a
time limit that passes after the eviction says that the pod was evicted; and a replacement that came without using
the room ends the job as well, which says so.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from descheduler.migration.job.conditions import failed, give_up, is_stuck, succeeded, with_condition
from descheduler.migration.job.seen import Miss, RoomState, Seen
from descheduler.migration.job.steps import End, Evict, HoldRoom, ReleaseRoom, Save, Step, WaitForChange
from descheduler.migration.job.surge import SurgePatience, surge_step
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION, EVICT_POLICY_LABEL
from descheduler.model.koordinator.migration_job import (
    JobCondition,
    JobConditionType,
    JobMode,
    JobPhase,
    JobReason,
    MigrationJob,
)
from descheduler.model.pod import Pod


class JobTerms(msgspec.Struct, frozen=True):
    """What counts for jobs that do not say otherwise.

    `unplaced_patience` is how long room may go without a node, None for as long as the job; after `yield_patience` a
    replacement that gets no node has what holds its room removed. For `surge_patience` the pod that comes beside the
    only replica of a workload may take to serve. A label of the pod, or else of the job, may choose one of
    `allowed_policies` in place of `eviction_policy`.
    """

    default_mode: str = JobMode.RESERVATION_FIRST.value
    eviction_policy: str = "Eviction"
    allowed_policies: tuple[str, ...] = ()
    unplaced_patience: timedelta | None = None
    yield_patience: timedelta = timedelta(seconds=5)
    surge_patience: timedelta = timedelta(minutes=5)


def next_step(job: MigrationJob, seen: Seen, terms: JobTerms, now: datetime) -> Step:
    """What is to be done next about `job`, of which this is seen at `now`, aware UTC."""
    if job.is_paused:
        return WaitForChange("it is paused")
    if job.has_ended:
        return End()
    if job.is_over_time(now):
        return give_up(job, JobReason.TIMEOUT, _time_is_over(job, seen))
    if job.phase in (JobPhase.NONE, JobPhase.PENDING):
        return _begin(job, seen)
    if (job.mode or terms.default_mode) == JobMode.EVICT_DIRECTLY:
        return _evict(job, seen, terms, now) or Save(succeeded(job))
    if not job.reservation_name:
        return HoldRoom() if seen.pod is not None else give_up(job, JobReason.MISSING_POD, _no_pod(job))
    if not job.has(JobConditionType.RESERVATION_CREATED) and seen.room.state is not RoomState.ABSENT:
        return Save(with_condition(job, JobConditionType.RESERVATION_CREATED, True, now))
    return _with_room(job, seen, terms, now)


def _begin(job: MigrationJob, seen: Seen) -> Step:
    if not (job.pod_namespace and job.pod_name):
        return Save(failed(job, JobReason.INVALID_POD, "podRef names no pod: set its namespace and name"))
    if seen.pod is None or job.pod_uid not in ("", seen.pod.uid):
        return Save(failed(job, JobReason.MISSING_POD, _no_pod(job)))
    return Save(replace(job, phase=JobPhase.RUNNING.value, pod_uid=seen.pod.uid))


def _with_room(job: MigrationJob, seen: Seen, terms: JobTerms, now: datetime) -> Step:
    """The job has asked for room."""
    room = seen.room
    if room.state is RoomState.ABSENT:
        return _without_room(job)
    if room.state.is_unplaced:
        return _await_node(job, seen, terms, now)
    if room.state is RoomState.EXPIRED:
        return give_up(job, JobReason.RESERVATION_EXPIRED, f"{job.reservation_name} has expired")
    if room.state is RoomState.LOST or not room.node:
        return give_up(job, JobReason.UNSCHEDULABLE, room.message or f"{job.reservation_name} has no node")
    if not job.has(JobConditionType.RESERVATION_SCHEDULED):
        return _placed(job, seen, now)
    if room.is_for_the_pod:
        return _await_the_pod(job, seen, now)
    patience = SurgePatience(terms.surge_patience, terms.yield_patience)
    policy = terms.eviction_policy if seen.pod is None else _policy(job, seen.pod, terms)
    if (step := surge_step(job, seen, policy, patience, now)) is not None:
        return step
    return _evict(job, seen, terms, now) or _await_replacement(job, seen, terms, now)


def why_no_room(job: MigrationJob) -> str:
    """Why no room could be created for a job of a user, which later runs try again until its `ttl`; "" for others."""
    created = job.found(JobConditionType.RESERVATION_CREATED)
    is_users = CREATED_BY_ANNOTATION not in job.annotations
    waits = is_users and bool(job.ttl) and not job.reservation_name and not job.has_ended
    if not waits or created is None or created.reason != JobReason.FAILED_CREATE_RESERVATION:
        return ""
    return created.message


def _without_room(job: MigrationJob) -> Step:
    """What holds the room is not there. A user may yet create it; what this program created for the job is lost."""
    message = f"{job.reservation_name} does not exist"
    if CREATED_BY_ANNOTATION not in job.annotations and job.ttl:
        return WaitForChange(message)
    return give_up(job, JobReason.MISSING_RESERVATION, message)


def _await_node(job: MigrationJob, seen: Seen, terms: JobTerms, now: datetime) -> Step:
    is_known = job.has(JobConditionType.RESERVATION_SCHEDULED)
    if seen.room.state is RoomState.UNSCHEDULABLE and not is_known:
        told = with_condition(
            job, JobConditionType.RESERVATION_SCHEDULED, False, now, JobReason.UNSCHEDULABLE, seen.room.message
        )
        if told is not job:
            return Save(told)
    created = job.found(JobConditionType.RESERVATION_CREATED)
    since = created.transitioned_at if created is not None else None
    if terms.unplaced_patience is not None and since is not None and now - since >= terms.unplaced_patience:
        return give_up(job, JobReason.UNSCHEDULABLE, _unplaced(job, seen))
    return WaitForChange(f"{job.reservation_name} waits for a node")


def _unplaced(job: MigrationJob, seen: Seen) -> str:
    """Why the room has no node. A user's job may name one and have a Reservation that nothing ties to it."""
    why = seen.room.message or "no node was found in time"
    is_tied = job.held_on and CREATED_BY_ANNOTATION in job.annotations
    return f"no room on node {job.held_on}: {why}" if is_tied else why


def _placed(job: MigrationJob, seen: Seen, now: datetime) -> Step:
    node = seen.room.node
    if not seen.room.is_for_the_pod and _is_on(node, job, seen):
        return give_up(
            job, JobReason.FORBIDDEN, f"{job.reservation_name} is on node {node}, where the pod runs already"
        )
    scheduled = with_condition(job, JobConditionType.RESERVATION_SCHEDULED, True, now)
    return Save(replace(scheduled, node_name=node))


def _await_the_pod(job: MigrationJob, seen: Seen, now: datetime) -> Step:
    """The pod of the job waits for a node itself, and nothing is evicted."""
    room, pod = seen.room, seen.pod
    if pod is None or pod.uid != job.pod_uid:
        return give_up(job, JobReason.MISSING_POD, _no_pod(job))
    if pod.node_name:
        return Save(succeeded(with_condition(job, JobConditionType.POD_SCHEDULED, True, now)))
    if room.state is RoomState.TAKEN and room.taken_by is not None and room.taken_by.uid != pod.uid:
        return give_up(job, JobReason.FORBIDDEN, _taken(job, seen))
    told = with_condition(job, JobConditionType.POD_SCHEDULED, False, now, JobReason.UNSCHEDULABLE)
    return WaitForChange("the pod waits for a node") if told is job else Save(told)


def _evict(job: MigrationJob, seen: Seen, terms: JobTerms, now: datetime) -> Step | None:
    """The next step of the eviction, None when the pod is gone."""
    known = job.found(JobConditionType.EVICTION)
    if known is not None and known.is_true:
        return None
    pod = seen.pod
    if pod is None or pod.uid != job.pod_uid:
        return _gone(job, known, now)
    if known is not None:
        return WaitForChange(f"pod {pod.key} is to leave node {pod.node_name}")
    if pod.deleted_at is not None:
        return Save(evicting(job, pod, now, asked_at=job.created_at))
    if seen.room.state is RoomState.TAKEN:
        return give_up(job, JobReason.FORBIDDEN, _taken(job, seen))
    return Evict(_policy(job, pod, terms))


def evicting(job: MigrationJob, pod: Pod, now: datetime, *, asked_at: datetime | None) -> MigrationJob:
    """`job` whose pod has been asked to leave, at `asked_at` or later; the condition was probed then."""
    message = f"pod {pod.key} was asked to leave node {pod.node_name}"
    return with_condition(job, JobConditionType.EVICTION, False, now, JobReason.EVICTING, message, probed_at=asked_at)


def _gone(job: MigrationJob, asked: JobCondition | None, now: datetime) -> Step:
    if asked is None and not job.reservation_name:
        return Save(failed(job, JobReason.MISSING_POD, _no_pod(job)))
    message = f"pod {job.pod_namespace}/{job.pod_name} is gone" + ("" if asked else " without an eviction of this job")
    asked_at = asked.probed_at if asked else job.created_at
    gone = with_condition(
        job, JobConditionType.EVICTION, True, now, JobReason.EVICT_COMPLETE, message, probed_at=asked_at
    )
    return Save(gone)


def _await_replacement(job: MigrationJob, seen: Seen, terms: JobTerms, now: datetime) -> Step:
    taken_by = seen.room.taken_by
    if seen.room.state is RoomState.HELD and is_stuck(job, seen.replacement, now - terms.yield_patience):
        return ReleaseRoom(job)
    if seen.room.state not in {RoomState.TAKEN, RoomState.MISSED} or taken_by is None:
        waiting = with_condition(
            job, JobConditionType.POD_BOUND_RESERVATION, False, now, JobReason.WAIT_FOR_BINDING, seen.room.message
        )
        return WaitForChange("no pod has taken the room yet") if waiting is job else Save(waiting)
    is_known = job.replacement is not None and job.replacement.uid == taken_by.uid
    if not is_known or seen.room.is_left_over:
        bound = replace(_bound(job, seen, now), replacement=taken_by)
        return ReleaseRoom(bound) if seen.room.is_left_over else Save(bound)
    if seen.replacement is not None and not seen.replacement.is_ready:
        waiting = with_condition(job, JobConditionType.BOUND_POD_READY, False, now, JobReason.WAIT_FOR_READY)
        return WaitForChange("the replacement is not ready yet") if waiting is job else Save(waiting)
    if not job.has(JobConditionType.BOUND_POD_READY):
        return Save(with_condition(job, JobConditionType.BOUND_POD_READY, True, now))
    match seen.room.miss:
        case None:
            return Save(succeeded(with_condition(job, JobConditionType.POD_BOUND_RESERVATION, True, now)))
        case Miss.TAKEN:
            return Save(failed(job, JobReason.FORBIDDEN, seen.room.message))
        case Miss.UNUSED | Miss.ELSEWHERE:
            return Save(succeeded(job, seen.room.message))


def _bound(job: MigrationJob, seen: Seen, now: datetime) -> MigrationJob:
    """`job` whose replacement has a node."""
    if seen.room.miss is None:
        return with_condition(job, JobConditionType.RESERVATION_BOUND, True, now)
    return with_condition(
        job, JobConditionType.POD_BOUND_RESERVATION, False, now, JobReason.WAIT_FOR_BINDING, seen.room.message
    )


def _policy(job: MigrationJob, pod: Pod, terms: JobTerms) -> str:
    wanted = pod.labels.get(EVICT_POLICY_LABEL) or job.labels.get(EVICT_POLICY_LABEL) or ""
    return wanted if wanted in terms.allowed_policies else terms.eviction_policy


def _is_on(node: str, job: MigrationJob, seen: Seen) -> bool:
    """Whether the pod that is to move, and no successor of its name, runs there."""
    return seen.pod is not None and (seen.pod.uid, seen.pod.node_name) == (job.pod_uid, node)


def _no_pod(job: MigrationJob) -> str:
    return f"there is no pod {job.pod_namespace}/{job.pod_name}" + (f" with UID {job.pod_uid}" if job.pod_uid else "")


def _taken(job: MigrationJob, seen: Seen) -> str:
    taken_by = seen.room.taken_by
    name = "another pod" if taken_by is None else f"pod {taken_by.namespace}/{taken_by.name}"
    return f"{name} has taken {job.reservation_name}"


def _time_is_over(job: MigrationJob, seen: Seen) -> str:
    if job.found(JobConditionType.EVICTION) is None:
        why = f": {seen.room.message}" if seen.room.message and not job.reservation_name else ""
        return f"its time limit (ttl) has passed; the pod was not evicted{why}"
    if not job.has(JobConditionType.EVICTION):
        return "its time limit (ttl) has passed; the pod was asked to leave and is not gone yet"
    return "its time limit (ttl) has passed; the pod was evicted, its replacement is not ready yet"
