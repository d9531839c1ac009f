"""Room held by a Reservation of Koordinator."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.kube.errors import ApiError, may_have_acted
from descheduler.kube.objects import ObjectCalls, is_object_name
from descheduler.migration.job.seen import ABSENT, Miss, Room, RoomState
from descheduler.migration.job.surge import is_surged
from descheduler.migration.pods import read_pod, read_whole_pod
from descheduler.migration.replacements import Replacements, Successors, came_after
from descheduler.migration.room.koordinator.live_reservations import (
    FoundReservation,
    decode_found_reservation,
    fault_of_reservation,
    name_of,
    names_of,
)
from descheduler.migration.room.koordinator.pending_rooms import awaits_its_pod, pending_reservations, room_names
from descheduler.migration.room.koordinator.template import reservation_of
from descheduler.migration.room.labels import OWNER_LABEL, manager_of
from descheduler.migration.room.provider import CannotHold, CannotHoldNow
from descheduler.migration.room.sweeping import KnownJobs, LabelledObject, Swept, sweep
from descheduler.model.annotations import RESERVATION_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.eviction_annotations import REPLACEMENT_ANNOTATION
from descheduler.model.koordinator.migration_job import JobConditionType, MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference, Reservation
from descheduler.model.pod import Pod
from descheduler.transport.errors import ExchangeError

_LIST_PATH = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
_SCHEDULED = "Scheduled"
_READY = "Ready"
_EXPIRED = "Expired"
_UNSCHEDULABLE = "Unschedulable"
_REFUSALS = frozenset({400, 422})
"""Answers that a repetition does not change: the Reservation is invalid."""
_MAY_BE_MISSED = frozenset({RoomState.HELD, RoomState.TAKEN, RoomState.ABSENT})
"""What does not end a job once its pod was asked to leave."""


class _Allocated(msgspec.Struct):
    name: str | None = None


_decode_allocated = msgspec.json.Decoder(_Allocated).decode


class ReservationRooms:
    """The provider `koordinator`, for the jobs of `owner`, a name that a label may have."""

    name = RoomProvider.KOORDINATOR.value

    def __init__(self, objects: ObjectCalls, owner: str) -> None:
        self._objects = objects
        self._owner = owner
        self._decode = partial(decode_found_reservation, owner=owner)
        self._replacements = Replacements(objects)

    def hold(self, job: MigrationJob, now: datetime) -> str:
        """Creates the Reservation named after the job's UID and those for its pending pods, or finds them created."""
        pod = read_whole_pod(self._objects, job.pod_namespace, job.pod_name)
        if pod is None or pod["metadata"]["uid"] != job.pod_uid:
            raise CannotHold(f"pod {job.pod_namespace}/{job.pod_name} is gone")
        try:
            wanted = reservation_of(job, pod, self._owner, now)
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise CannotHold("reservationOptions.template of the job is not that of a Reservation") from error
        for each in (wanted, *pending_reservations(job, self._objects, self._owner, now)):
            self._create(each, job)
        name: str = wanted["metadata"]["name"]
        return name

    def _create(self, wanted: Mapping[str, Any], job: MigrationJob) -> None:
        """Raises CannotHold, with nothing sent for what could not be read afterwards."""
        _require_readable(wanted)
        name = wanted["metadata"]["name"]
        try:
            created = self._objects.create(_LIST_PATH, wanted, self._decode, manager=manager_of(job.uid))
        except ExchangeError as error:
            if isinstance(error, ApiError) and error.status_code in _REFUSALS:
                kind = CannotHold if job.template else CannotHoldNow  # a template stays as it is
                raise kind(f"the Reservation cannot be created: {error}") from error
            if may_have_acted(error) and self._find(name, job) is not None:
                return
            raise
        if created is not None and created.differs:
            self._delete(created.reservation)
            raise CannotHold(f"the Reservation was not created as asked for: {created.differs}")
        if created is None and self._find(name, job) is None:
            raise CannotHold(f"a Reservation {name} exists, which is not of this job")

    def look(self, job: MigrationJob, now: datetime) -> tuple[Room, Pod | None]:
        """The Reservation as the API server has it, and the pod that consumed it.

        Once the pod is to be replaced, only its replacement counts: a pod of the same workload that is newer.
        """
        found = self._read_found(job.reservation_name)
        if found is not None and found.reservation.is_terminating:
            found = None
        room = ABSENT if found is None else _room(found.reservation)
        user = None if room.taken_by is None else self._pod(room.taken_by)
        is_awaited = job.found(JobConditionType.EVICTION) is not None or is_surged(job)
        if not is_awaited or room.is_for_the_pod:
            return room, user
        return self._after_eviction(job, found, room, user, now)

    def _after_eviction(
        self, job: MigrationJob, found: FoundReservation | None, room: Room, user: Pod | None, now: datetime
    ) -> tuple[Room, Pod | None]:
        """The same with the replacement told from others. A user that is gone counts: it was there."""
        successors = _successors(job, None if found is None else found.reservation)
        is_gone = room.taken_by is not None and user is None
        if is_gone or room.state not in _MAY_BE_MISSED or (found is not None and successors is None):
            return room, user
        if user is not None and successors is not None and successors.has(user) and came_after(user, job):
            return room, user
        replacement = self._replacement(job, successors, now)
        if user is not None:
            return _taken_by_another(job, room, user, replacement)
        if replacement is None or not replacement.node_name:
            return room, replacement
        if _reservation_used(replacement) == job.reservation_name:  # the status of the Reservation follows
            return (_used(job, replacement) if found is None else room), replacement
        miss = Miss.UNUSED if replacement.node_name == job.node_name else Miss.ELSEWHERE
        is_left_over = found is not None and found.is_of(job)
        return _missed(job, replacement, miss, is_left_over=is_left_over), replacement

    def release(self, job: MigrationJob) -> None:
        """Deletes the Reservation, if it was created for the job, whether or not the job knows that.

        As long as its pod was not asked to leave, those for pending pods go as well: there is no room for them.
        """
        for name in dict.fromkeys((job.reservation_name, name_of(job))):
            self._delete_of(job, name)
        if job.found(JobConditionType.EVICTION) is None:
            for name in room_names(job):
                self._delete_of(job, name, if_unused=True)

    def _delete_of(self, job: MigrationJob, name: str, *, if_unused: bool = False) -> None:
        found = self._read_found(name)
        if found is None or not found.was_created_for(job):
            return
        if not ((if_unused or job.has_ended) and found.reservation.current_owners):
            self._delete(found.reservation)

    def _find(self, name: str, job: MigrationJob) -> Reservation | None:
        """The Reservation of this name, if it is ours and of `job`."""
        found = self._read_found(name)
        return found.reservation if found is not None and found.is_of(job) else None

    def _delete(self, reservation: Reservation) -> bool:
        return self._objects.delete(f"{_LIST_PATH}/{reservation.name}", uid=reservation.uid)

    def sweep(self, jobs: KnownJobs) -> Swept:
        """Deletes the Reservations of jobs that are no more, but for the room of pending pods that still wait."""
        found = self._objects.list_readable(_LIST_PATH, self._decode, label_selector=f"{OWNER_LABEL}={self._owner}")
        by_uid = {each.reservation.uid: each for each in found if not _is_used(each.reservation)}
        candidates = (_candidate(each, jobs) for each in by_uid.values())
        return sweep(candidates, jobs, self._owner, lambda each: self._delete_unused(by_uid[each.uid]))

    def _delete_unused(self, found: FoundReservation) -> bool:
        reservation = found.reservation
        if awaits_its_pod(reservation, found.job_uid, self._objects):
            return False
        return self._delete(reservation)

    def _replacement(self, job: MigrationJob, successors: Successors | None, now: datetime) -> Pod | None:
        """The pod that came; of a user's job whose Reservation is gone, the one that it names.

        One that uses another Reservation may have come for the job of that.
        """
        if successors is not None:
            names = ("", job.reservation_name)
            return self._replacements.find(successors, job, now, lambda pod: _reservation_used(pod) in names)
        return None if job.replacement is None else self._pod(job.replacement)

    def _read_found(self, name: str) -> FoundReservation | None:
        """The Reservation of this name; None where there is none, or can be none."""
        return self._objects.read(f"{_LIST_PATH}/{name}", self._decode) if is_object_name(name) else None

    def _pod(self, reference: ObjectReference) -> Pod | None:
        pod = read_pod(self._objects, reference.namespace, reference.name)
        return pod if pod is not None and pod.uid == reference.uid else None


def _taken_by_another(job: MigrationJob, room: Room, user: Pod, replacement: Pod | None) -> tuple[Room, Pod | None]:
    """The room that `user` has, which is not newer than the eviction or of another workload."""
    if replacement is not None and replacement.uid == user.uid:  # by the clocks it is none, and no other has come
        return room, user
    if replacement is None or not replacement.node_name:
        why = f"pod {user.key}, which is not the replacement, uses Reservation {job.reservation_name}"
        return Room(RoomState.TAKEN, room.node, why), replacement
    return _missed(job, replacement, Miss.TAKEN, is_left_over=False), replacement


def _successors(job: MigrationJob, found: Reservation | None) -> Successors | None:
    """By what the replacement is known; for a user's job that is whom its Reservation is for."""
    known = Successors.decoded(job.annotations.get(REPLACEMENT_ANNOTATION, ""))
    if known is not None or found is None:
        return known
    owners = [owner.controller.uid for owner in found.owners if owner.controller is not None and owner.controller.uid]
    return Successors(job.pod_namespace, owners[0]) if len(owners) == len(found.owners) == 1 else None


def _is_used(reservation: Reservation) -> bool:
    """Whether it holds no room any more, or a pod has it."""
    return reservation.is_terminating or bool(reservation.current_owners)


def _candidate(found: FoundReservation, jobs: KnownJobs) -> LabelledObject:
    name, job_uid, job = found.reservation.name, found.job_uid, jobs.over.get(found.job_uid)
    names = frozenset[str]() if job is None else names_of(job)
    differs = found.differs or ("" if job_uid in jobs.live else found.differs_in_name(names))
    differs = "" if job is not None and found.was_created_for(job) else differs
    return LabelledObject("Reservation", name, f"{_LIST_PATH}/{name}", found.reservation.uid, job_uid, differs)


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


def _require_readable(wanted: Mapping[str, Any]) -> None:
    """Raises CannotHold for a Reservation that no run could read: whoever asked for it hears what is wrong."""
    try:
        fault = fault_of_reservation(msgspec.json.encode(wanted))
    except (ValueError, RecursionError):
        fault = "the Reservation is invalid: it is nested too deeply or holds text that is none"
    if fault:
        raise CannotHold(fault)


def _reservation_used(pod: Pod) -> str:
    """The name of the Reservation that `pod` says it uses, "" for none.

    koord-scheduler writes it only where the plugin Reservation is enabled under `reserve` in its profile: the manifest
    that koordinator 1.8 ships lacks that. The Reservation is never used up then, and holds room beside the replacement.
    """
    try:
        return _decode_allocated(pod.annotations.get(RESERVATION_ALLOCATED_ANNOTATION) or "{}").name or ""
    except (ValueError, RecursionError):
        return ""


def _used(job: MigrationJob, pod: Pod) -> Room:
    """The room of `job`, which its replacement `pod` uses."""
    return Room(RoomState.TAKEN, pod.node_name, taken_by=_reference(pod))


def _missed(job: MigrationJob, pod: Pod, miss: Miss, *, is_left_over: bool) -> Room:
    """The room of `job`, which its replacement `pod` does not use although it has a node."""
    name, where = job.reservation_name, f"replacement {pod.key} runs on node {pod.node_name}"
    match miss:
        case Miss.TAKEN:
            why = f"another pod of its workload used Reservation {name}; {where}"
        case Miss.UNUSED:
            profile = pod.spec.scheduler_name
            why = (
                f"{where} and does not use Reservation {name}: in the configuration of {profile}, enable the plugin "
                "Reservation under plugins.reserve"
            )
        case Miss.ELSEWHERE:
            why = f"{where}, not on {job.node_name} (Reservation {name})"
    return Room(RoomState.MISSED, job.node_name, why, _reference(pod), is_left_over=is_left_over, miss=miss)


def _reference(pod: Pod) -> ObjectReference:
    return ObjectReference(pod.namespace, pod.name, pod.uid)
