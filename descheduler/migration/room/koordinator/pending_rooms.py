"""Room for pending pods where the pod of a job leaves, held by a Reservation for each, which only that pod may use.

They are created before the eviction, so that no other pod takes the room that it makes. A pending pod may be scheduled
minutes after the job has succeeded: the Reservations outlast it, until they are used or their time is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from descheduler.kube.objects import ObjectCalls, is_object_name
from descheduler.migration.pods import read_pod, read_whole_pod
from descheduler.migration.room.koordinator.template import reservation_for_pending
from descheduler.migration.room.provider import CannotHold
from descheduler.model.koordinator.eviction_annotations import ROOMS_ANNOTATION
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.koordinator.reservation import Reservation
from descheduler.model.names import is_subdomain
from descheduler.model.text.printable import clipped
from descheduler.plan.planned import PlannedRoom

_MOST_ROOMS = 256
"""More than pods can run on a node by default. Each costs some calls."""
_DEFAULT_TTL = timedelta(minutes=5)
"""Where the job has no time limit, as the default of that."""
_LONGEST_UNTRIED = timedelta(minutes=6)
"""How long a pending pod may go untried, and more. The scheduler tries it when the evicted pod is gone, mostly some
milliseconds before its Reservation is Available, and for that koord-scheduler 1.8 does not try it again: it does when
another pod ends, and in a quiet cluster after 5 minutes (`podMaxInUnschedulablePodsDuration`), looking every 30 s.
"""
_AVAILABLE = "Available"
_MOST_SHOWN = 63
_MOST_NAMED = 3
_decode_rooms = msgspec.json.Decoder(list[PlannedRoom]).decode


def room_names(job: MigrationJob) -> list[str]:
    """The names of the Reservations for the pending pods of `job`; none where its annotation makes no sense."""
    try:
        rooms = _rooms_of(job)
    except CannotHold:
        return []
    return [_name(job, number) for number in range(len(rooms))]


def is_room_name(name: str, job_uid: str) -> bool:
    """Whether a Reservation for a pending pod of the job with this UID can have the name."""
    number = name.removeprefix(_prefix(job_uid))
    return bool(job_uid) and number != name and number.isascii() and number.isdecimal()


def awaits_its_pod(found: Reservation, job_uid: str, objects: ObjectCalls) -> bool:
    """Whether `found` is room of that job for a pending pod, which it holds and the pod has yet to be tried for."""
    if not is_room_name(found.name, job_uid) or found.phase != _AVAILABLE:
        return False
    for owner in found.owners:
        if owner.object is not None and owner.object.uid:
            pod = read_pod(objects, owner.object.namespace, owner.object.name)
            return pod is not None and pod.uid == owner.object.uid and not pod.node_name and pod.deleted_at is None
    return False


def pending_reservations(job: MigrationJob, objects: ObjectCalls, owner: str, now: datetime) -> list[dict[str, Any]]:
    """The Reservations for those pending pods of `job` that still wait for a node.

    Raises CannotHold where there were some and none of them waits: nothing is to be evicted for them then. Raises
    ExchangeError.
    """
    wanted, reasons = list[dict[str, Any]](), list[str]()
    for number, room in enumerate(_rooms_of(job)):
        pod = read_whole_pod(objects, room.namespace, room.name)
        if pod is None or (why := _why_not(room, pod)):
            reasons.append(
                f"pod {room.namespace}/{room.name}, for which it makes room, {'is gone' if pod is None else why}"
            )
            continue
        ttl = (job.ttl or _DEFAULT_TTL) + _LONGEST_UNTRIED
        wanted.append(reservation_for_pending(pod, room.node, job.uid, _name(job, number), owner, ttl, now))
    if reasons and not wanted:
        more = f" (and {len(reasons) - _MOST_NAMED} more)" if len(reasons) > _MOST_NAMED else ""
        raise CannotHold("; ".join(reasons[:_MOST_NAMED]) + more)
    return wanted


def _why_not(room: PlannedRoom, pod: Mapping[str, Any]) -> str:
    """What became of the pod that waited, "" while it does; `pod` has its name now."""
    metadata = pod["metadata"]
    if metadata["uid"] != room.uid or metadata.get("deletionTimestamp"):
        return "is gone"
    return "is scheduled already" if pod["spec"].get("nodeName") else ""


def _rooms_of(job: MigrationJob) -> list[PlannedRoom]:
    """What the annotation of a plan's job says, which somebody else may have changed: the store has taken it off the
    jobs of users. Raises CannotHold where it makes no sense.
    """
    if not (text := job.annotations.get(ROOMS_ANNOTATION, "")):
        return []
    try:
        rooms = _decode_rooms(text)
    except (ValueError, RecursionError) as error:
        raise _senseless("is not a list of pods with namespace, name, uid and node", text) from error
    if len(rooms) > _MOST_ROOMS:
        raise CannotHold(f"annotation {ROOMS_ANNOTATION} of the job names more than {_MOST_ROOMS} pods")
    for room in rooms:
        if not (is_object_name(room.namespace) and is_object_name(room.name) and room.uid):
            raise _senseless("does not name a pod", f"{room.namespace}/{room.name}")
        if not is_subdomain(room.node):
            raise _senseless("does not name a node", room.node)
    return rooms


def _senseless(why: str, text: str) -> CannotHold:
    return CannotHold(f"annotation {ROOMS_ANNOTATION} of the job {why}: '{clipped(text, _MOST_SHOWN)}'")


def _name(job: MigrationJob, number: int) -> str:
    return f"{_prefix(job.uid)}{number}"


def _prefix(job_uid: str) -> str:
    return f"{job_uid}-room-"
