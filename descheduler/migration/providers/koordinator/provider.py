"""Room held by a Reservation of Koordinator."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any

import msgspec

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.jobs.seen import ABSENT, Room, RoomState
from descheduler.migration.pods import read_pod, read_whole_pod
from descheduler.migration.providers.koordinator.live_reservations import decode_live_reservation
from descheduler.migration.providers.koordinator.template import reservation_of
from descheduler.migration.providers.labels import JOB_LABEL, OWNER_LABEL
from descheduler.migration.providers.provider import CannotHold
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference, Reservation
from descheduler.model.pod import Pod

__all__ = ["ReservationRooms"]

_LIST_PATH = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
_SCHEDULED = "Scheduled"
_READY = "Ready"
_EXPIRED = "Expired"
_UNSCHEDULABLE = "Unschedulable"


class ReservationRooms:
    """The provider `koordinator`, for the jobs of `owner`, a name that a label may have."""

    name = "koordinator"

    def __init__(self, objects: ObjectCalls, owner: str) -> None:
        self._objects = objects
        self._owner = owner

    def hold(self, job: MigrationJob, now: datetime) -> str:
        """Creates the Reservation named after the job's UID, or finds it created."""
        pod = read_whole_pod(self._objects, job.pod_namespace, job.pod_name)
        if pod is None or pod["metadata"]["uid"] != job.pod_uid:
            raise CannotHold(f"pod {job.pod_namespace}/{job.pod_name} is gone")
        try:
            wanted = reservation_of(job, pod, self._owner, now)
        except ValueError as error:
            raise CannotHold(str(error)) from error
        created = self._objects.create(_LIST_PATH, wanted, _json)
        name: str = wanted["metadata"]["name"]
        if created is None and not self._is_ours(name, job):
            raise CannotHold(f"a Reservation {name} exists, which is not of this job")
        return name

    def look(self, job: MigrationJob) -> tuple[Room, Pod | None]:
        """The Reservation as the API server has it, and the pod that consumed it."""
        found = self._read(job.reservation_name)
        if found is None or found.is_terminating:
            return ABSENT, None
        room = _room(found)
        return room, None if room.taken_by is None else self._pod(room.taken_by)

    def release(self, job: MigrationJob) -> None:
        """Deletes the Reservation, if it was created for the job."""
        found = self._read(job.reservation_name)
        if found is not None and _is_of(found, job):
            self._objects.delete(f"{_LIST_PATH}/{found.name}", uid=found.uid)

    def sweep(self, live: AbstractSet[str]) -> tuple[str, ...]:
        """Deletes the Reservations of jobs that are no more."""
        found = self._objects.list(_LIST_PATH, decode_live_reservation, label_selector=f"{OWNER_LABEL}={self._owner}")
        orphans = [each for each in found if each.labels.get(JOB_LABEL) not in live and not each.current_owners]
        gone = [each.name for each in orphans if self._objects.delete(f"{_LIST_PATH}/{each.name}", uid=each.uid)]
        return tuple(gone)

    def _is_ours(self, name: str, job: MigrationJob) -> bool:
        found = self._read(name)
        return found is not None and _is_of(found, job)

    def _read(self, name: str) -> Reservation | None:
        return self._objects.read(f"{_LIST_PATH}/{name}", decode_live_reservation)

    def _pod(self, reference: ObjectReference) -> Pod | None:
        pod = read_pod(self._objects, reference.namespace, reference.name)
        return pod if pod is not None and pod.uid == reference.uid else None


def _is_of(reservation: Reservation, job: MigrationJob) -> bool:
    return reservation.labels.get(JOB_LABEL) == job.uid


def _room(found: Reservation) -> Room:
    """How far a Reservation is; a user of it tells more than its phase, which follows later."""
    node, for_the_pod = found.node_name, found.is_for_one_pod
    scheduled, ready = found.condition(_SCHEDULED), found.condition(_READY)
    taken_by = found.current_owners[0] if found.current_owners else None
    if taken_by is not None or found.phase == "Succeeded":
        return Room(RoomState.TAKEN, node, taken_by=taken_by, is_for_the_pod=for_the_pod)
    if ready is not None and ready.reason == _EXPIRED:
        return Room(RoomState.EXPIRED, node)
    if found.phase == "Failed":
        return Room(RoomState.LOST, node, message="" if ready is None else ready.message)
    if node and scheduled is not None and scheduled.is_true:
        return Room(RoomState.HELD, node, is_for_the_pod=for_the_pod)
    if scheduled is not None and scheduled.reason == _UNSCHEDULABLE:
        return Room(RoomState.UNSCHEDULABLE, message=scheduled.message, is_for_the_pod=for_the_pod)
    return Room(RoomState.PENDING, is_for_the_pod=for_the_pod)


def _json(body: bytes) -> Any:
    return msgspec.json.decode(body)
