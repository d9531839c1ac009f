"""Reservations with their conditions, which tell how far they are, and which of them are of this program.

As with placeholders, a label proves nothing. A Reservation is ours when its name follows from its job, it has no owner,
and it is of the form that this program gives Reservations. One that an admission webhook has changed is removed where
the API server says that it was created for a job of ours.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from descheduler.cluster.decoding.culprit import TOO_DEEP, explained_fault
from descheduler.cluster.decoding.decode import Decoding
from descheduler.cluster.decoding.koordinator.reservations import reservation_decoder
from descheduler.migration.room.koordinator.pending_rooms import is_room_name, room_names
from descheduler.migration.room.labels import JOB_LABEL, CreatorsWire, label_fault, manager_of
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.koordinator.reservation import Reservation, ReservationCondition
from descheduler.model.text.printable import clipped


class _Condition(msgspec.Struct):
    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Reservation(msgspec.Struct):
    status: _Status | None = None


class _Metadata(msgspec.Struct, rename="camel"):
    name: str
    uid: str
    labels: dict[str, str] | None = None
    deletion_timestamp: str | None = None


class _Identity(msgspec.Struct):
    metadata: _Metadata


_decode = msgspec.json.Decoder(_Reservation).decode
_decode_identity = msgspec.json.Decoder(_Identity).decode


def decode_live_reservation(block: bytes) -> Reservation:
    """One Reservation, by a decoder of its own: decoders keep what they have seen, and are not for several threads."""
    status = _decode(block).status or _Status()
    conditions = tuple(
        ReservationCondition(each.type or "", each.status == "True", each.reason or "", each.message or "")
        for each in status.conditions or ()
    )
    return msgspec.structs.replace(reservation_decoder(Decoding())(block), conditions=conditions)


def decode_any_reservation(block: bytes) -> Reservation:
    """The same; one that cannot be decoded holds room for no pod, and is one that failed, so that it can be released.

    Raises ValueError for what does not say which one it is.
    """
    try:
        return decode_live_reservation(block)
    except (ValueError, RecursionError):
        found = _decode_identity(block).metadata
    return Reservation(
        name=found.name,
        uid=found.uid,
        labels=found.labels or {},
        annotations={},
        pod=None,
        is_terminating=found.deletion_timestamp is not None,
        phase="Failed",
        conditions=(ReservationCondition("Ready", False, message=fault_of_reservation(block)),),
    )


def fault_of_reservation(block: bytes) -> str:
    """Why it cannot be decoded, with the field at fault; "" where it can be."""
    fault = _fault_of(block)
    return fault and f"the Reservation is invalid: {explained_fault(block, fault, _fault_of)}"


def _fault_of(block: bytes) -> str:
    try:
        decode_live_reservation(block)
    except RecursionError:
        return TOO_DEEP
    except ValueError as error:
        return str(error)
    return ""


_MOST_SHOWN = 100


class _Wire(msgspec.Struct):
    metadata: CreatorsWire


_decode_metadata = msgspec.json.Decoder(_Wire).decode


def name_of(job: MigrationJob) -> str:
    """The name of the Reservation that is created for `job`: that of its template, else its UID."""
    metadata = job.template.get("metadata")
    stated = metadata.get("name") if isinstance(metadata, dict) else None
    return stated if isinstance(stated, str) and stated else job.uid


def names_of(job: MigrationJob) -> frozenset[str]:
    """The names of all Reservations that may be created for `job`."""
    return frozenset({name_of(job), *room_names(job)})


class FoundReservation(msgspec.Struct, frozen=True):
    """A Reservation that may be ours. `differs` says what tells it from ours, but for its name; "" for nothing.

    `set_by` are the field managers that have stated fields of it, none where it has an owner.
    """

    reservation: Reservation
    differs: str
    set_by: frozenset[str] = frozenset()

    @property
    def job_uid(self) -> str:
        """The UID of the job that it says it holds room for."""
        return self.reservation.labels.get(JOB_LABEL, "")

    def is_of(self, job: MigrationJob) -> bool:
        """Whether it is ours, and holds room for `job`."""
        return not self.differs and self.job_uid == job.uid and not self.differs_in_name(names_of(job))

    def was_created_for(self, job: MigrationJob) -> bool:
        """Whether it is ours of `job`, or was so when it was created, and an admission webhook has changed it."""
        is_changed = manager_of(job.uid) in self.set_by and self.reservation.name in names_of(job)
        return is_changed or self.is_of(job)

    def differs_in_name(self, names: Collection[str] = ()) -> str:
        """What is wrong with its name, "" for nothing: it follows from its label, or is one of `names`."""
        name, uid = self.reservation.name, self.job_uid
        if name == uid or is_room_name(name, uid) or name in names:
            return ""
        return f"its name does not follow from the UID of its job, {clipped(uid, _MOST_SHOWN)} (label {JOB_LABEL})"


def decode_found_reservation(block: bytes, owner: str) -> FoundReservation:
    """The Reservation of these bytes, as one of ours of `owner` would be."""
    found = decode_any_reservation(block)
    try:
        metadata = _decode_metadata(block).metadata
    except (ValueError, RecursionError):
        return FoundReservation(found, "its ownerReferences cannot be read")
    return FoundReservation(found, _differs(found, metadata, owner), metadata.set_by)


def _differs(found: Reservation, metadata: CreatorsWire, owner: str) -> str:
    if fault := label_fault(found.labels, owner):
        return fault
    for reference in metadata.owner_references or ():
        return f"{clipped(f'{reference.kind} {reference.name}', _MOST_SHOWN)} owns it"
    if not found.allocate_once:
        return "it is for several pods (allocateOnce: false)"
    if is_room_name(found.name, found.labels[JOB_LABEL]) and not found.is_for_one_pod:
        return "it is not for one pod"
    return ""
