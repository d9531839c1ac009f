"""Reservations with their conditions, which tell how far they are."""

from __future__ import annotations

import msgspec

from descheduler.cluster.decoding.culprit import explained_fault
from descheduler.cluster.decoding.decode import Decoding
from descheduler.cluster.decoding.koordinator.reservations import reservation_decoder
from descheduler.model.koordinator.reservation import Reservation, ReservationCondition

__all__ = ["decode_any_reservation", "decode_live_reservation", "fault_of_reservation"]


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
_TOO_DEEP = "it is nested too deeply"


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
        return _TOO_DEEP
    except ValueError as error:
        return str(error)
    return ""
