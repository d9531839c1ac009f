"""The surge of a job: the only replica of a workload gets a second one, and leaves once that serves.

Kept in an annotation of the job, so that any later run takes back what this one has raised.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

import msgspec
from msgspec.structs import replace

from descheduler.migration.job.conditions import give_up, is_stuck, with_condition, without_condition
from descheduler.migration.job.seen import RoomState, Seen
from descheduler.migration.job.steps import (
    Evict,
    LowerReplicas,
    PlanSurge,
    RaiseReplicas,
    ReleaseRoom,
    Save,
    Step,
    WaitForChange,
)
from descheduler.model.koordinator.eviction_annotations import (
    CREATED_BY_ANNOTATION,
    DELETION_COST_ANNOTATION,
    SURGE_ANNOTATION,
)
from descheduler.model.koordinator.migration_job import JobConditionType, JobReason, MigrationJob
from descheduler.model.pod import Pod

SINGLE = 1
"""The replicas of a workload that can be surged, before and after."""
RAISED = 2
"""Its replicas in between."""
LOWEST_COST = str(-(2**31))
"""The deletion cost of the pod that is to leave."""
SCALE_BACK = "ScaleBack"
"""How a pod leaves whose workload was surged: the workload is scaled back, and its controller deletes this pod."""


class Surge(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What was decided so far.

    With `is_required` the pod stays where its workload cannot be surged. `kind`, `name` and `uid` are those of the
    Deployment or ReplicaSet that is scaled, in the namespace of the pod; empty while nothing was planned. `declined`
    says why it is not scaled.
    """

    is_required: bool = False
    kind: Literal["", "Deployment", "ReplicaSet"] = ""
    name: str = ""
    uid: str = ""
    declined: str = ""

    @property
    def is_planned(self) -> bool:
        """Whether its workload is scaled, is about to be, or was."""
        return bool(self.uid)

    def decline(self, why: str) -> Surge:
        """Nothing is scaled: `why`."""
        return Surge(self.is_required, declined=why)

    def encoded(self) -> str:
        """As it stands in the annotation."""
        return msgspec.json.encode(self).decode()


_decode_surge = msgspec.json.Decoder(Surge).decode


def surge_of(job: MigrationJob) -> Surge | None:
    """The surge of `job`; None where none was asked for, or where the annotation says nothing of this kind.

    What a user writes into that annotation does not count: only policies say what is surged.
    """
    if CREATED_BY_ANNOTATION not in job.annotations:
        return None
    try:
        return _decode_surge(job.annotations.get(SURGE_ANNOTATION, ""))
    except (ValueError, RecursionError):
        return None


def is_surged(job: MigrationJob) -> bool:
    """Whether its workload is scaled, is about to be, or was: the replacement comes before the pod leaves."""
    surge = surge_of(job)
    return surge is not None and surge.is_planned


def with_surge(job: MigrationJob, surge: Surge) -> MigrationJob:
    """`job` with this surge."""
    return replace(job, annotations={**job.annotations, SURGE_ANNOTATION: surge.encoded()})


_EVICTION_API = "Eviction"


class SurgePatience(msgspec.Struct, frozen=True):
    """How long the new pod may take to serve, and how long it may want a node while its room is held."""

    to_serve: timedelta
    to_yield: timedelta


def surge_step(job: MigrationJob, seen: Seen, policy: str, patience: SurgePatience, now: datetime) -> Step | None:
    """What is to be done next about the surge of a job with room; None when the job goes on as others do.

    `policy` is how the pod would leave otherwise.
    """
    surge, pod = surge_of(job), seen.pod
    if surge is None:
        return None
    if pod is None or pod.uid != job.pod_uid or pod.deleted_at is not None:
        # The pod leaves, by this surge or for another reason: no more than its successor is wanted.
        return LowerReplicas() if seen.scale.is_raised else None
    if surge.declined:
        return _failed(job, f"the workload cannot be surged: {surge.declined}") if surge.is_required else None
    if not surge.is_planned:
        return _plan(job, surge, policy)
    if seen.scale.is_raised:
        return _while_raised(job, pod, seen, patience, now)
    if job.has(JobConditionType.SURGED):
        return _after(job, surge, seen)
    return _raise(job, surge, seen)


def _plan(job: MigrationJob, surge: Surge, policy: str) -> Step:
    if policy != _EVICTION_API:
        return Save(with_surge(job, surge.decline(f"evictionPolicy is {policy}")))
    return PlanSurge()


def _raise(job: MigrationJob, surge: Surge, seen: Seen) -> Step:
    """Nothing is scaled yet; what stood in no way before may do so now."""
    if seen.scale.obstacle:
        return Save(with_surge(job, surge.decline(seen.scale.obstacle)))
    if seen.room.state is not RoomState.HELD:
        return give_up(job, JobReason.MISSING_RESERVATION, f"{job.reservation_name} was lost before it was needed")
    return RaiseReplicas()


def _while_raised(job: MigrationJob, pod: Pod, seen: Seen, patience: SurgePatience, now: datetime) -> Step:
    if (since := job.found(JobConditionType.SURGED)) is None:
        message = f"the workload is scaled from {SINGLE} to {RAISED} replicas"
        return Save(with_condition(job, JobConditionType.SURGED, True, now, message=message))
    if pod.annotations.get(DELETION_COST_ANNOTATION, LOWEST_COST) != LOWEST_COST:
        return _failed(job, f"pod {pod.key} has got a deletion cost (annotation {DELETION_COST_ANNOTATION})")
    new = seen.replacement
    if new is not None and new.node_name and new.node_name == pod.node_name:
        return _failed(job, f"the new pod was scheduled onto node {new.node_name}, where the pod runs already")
    if seen.room.is_left_over and seen.room.state in {RoomState.TAKEN, RoomState.MISSED}:
        return ReleaseRoom(job)
    if _serves(new) and seen.scale.is_available:
        return Evict(SCALE_BACK)
    if since.transitioned_at is not None and now - since.transitioned_at >= patience.to_serve:
        return _failed(job, "the new pod did not become available in time")
    if seen.room.state is RoomState.HELD and is_stuck(job, new, now - patience.to_yield):
        return ReleaseRoom(job)
    return WaitForChange("the new pod is not available yet")


def _after(job: MigrationJob, surge: Surge, seen: Seen) -> Step:
    """The workload was scaled since, by this job or by another client, and the old pod stays so far."""
    replicas = seen.scale.replicas
    if replicas is None:
        return _failed(job, f"{surge.kind} {surge.name} does not exist any more")
    if replicas != SINGLE:
        return _failed(job, f"another client has scaled {surge.kind} {surge.name} to {replicas} replicas")
    if seen.replacement is None or seen.replacement.deleted_at is not None:
        return _failed(job, f"when {surge.kind} {surge.name} was scaled back, its controller deleted the new pod")
    return WaitForChange("the controller of the workload is to delete one of the two pods")


def _failed(job: MigrationJob, message: str) -> Step:
    """The pod stays, whatever was thought of it before."""
    return give_up(without_condition(job, JobConditionType.EVICTION), JobReason.SURGE_FAILED, message)


def _serves(new: Pod | None) -> bool:
    return new is not None and new.is_ready and new.deleted_at is None
