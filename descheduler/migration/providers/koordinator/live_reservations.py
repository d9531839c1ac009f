"""Reservations with their conditions, which tell how far they are."""

from __future__ import annotations

import msgspec

from descheduler.cluster.decoding.decode import Decoding
from descheduler.cluster.decoding.koordinator.reservations import reservation_decoder
from descheduler.model.koordinator.reservation import Reservation, ReservationCondition

__all__ = ["decode_live_reservation"]


class _Condition(msgspec.Struct):
    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Reservation(msgspec.Struct):
    status: _Status | None = None


_decode = msgspec.json.Decoder(_Reservation).decode


def decode_live_reservation(block: bytes) -> Reservation:
    """One Reservation, by a decoder of its own: decoders keep what they have seen, and are not for several threads."""
    status = _decode(block).status or _Status()
    conditions = tuple(
        ReservationCondition(each.type or "", each.status == "True", each.reason or "", each.message or "")
        for each in status.conditions or ()
    )
    return msgspec.structs.replace(reservation_decoder(Decoding())(block), conditions=conditions)
