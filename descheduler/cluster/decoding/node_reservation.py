"""The reservation of a node, from the text of its annotation."""

from __future__ import annotations

import msgspec

from descheduler.cluster.decoding.blocks import decode_quantities
from descheduler.cluster.decoding.wire import ABSENT, Wire
from descheduler.model.node import NodeReservation
from descheduler.model.quantity import NANO
from descheduler.model.requests import CPU
from descheduler.model.text.cpu_list import parse_cpu_list

__all__ = ["decode_reservation"]

_WITHHOLDING_POLICIES = (None, "", "Default")


class _ReservationWire(Wire):
    resources: msgspec.Raw = ABSENT
    reserved_cpus: str | None = msgspec.field(default=None, name="reservedCPUs")
    apply_policy: str | None = None


_decode = msgspec.json.Decoder(_ReservationWire | None).decode


def decode_reservation(text: str) -> NodeReservation | None:
    """The reservation that the annotation states; None without one, and where it is invalid or all of it is zero.

    Source: koordinator 1.8 `apis/extension/node_reservation.go` and `pkg/util/node.go`.
    """
    if not text:
        return None
    try:
        wire = _decode(text) or _ReservationWire()
        amounts = dict(decode_quantities(bytes(wire.resources)))
        cpus = parse_cpu_list(wire.reserved_cpus or "")
    except (ValueError, RecursionError):
        return None
    if cpus:
        amounts[CPU] = len(cpus) * NANO
    if not any(amounts.values()):
        return None
    return NodeReservation(amounts, cpus, withholds_amounts=wire.apply_policy in _WITHHOLDING_POLICIES)
