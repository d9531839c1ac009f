"""The annotations that some rule reads; objects carry many more, and most of these differ from object to object."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.cluster.decoding.blocks import decode_quantities, decode_text
from descheduler.cluster.decoding.wire import ABSENT, Wire
from descheduler.model.annotations import AnnotationKeys
from descheduler.model.node import NodeReservation
from descheduler.model.quantity import NANO
from descheduler.model.requests import CPU
from descheduler.model.text.numbers import parse_cpu_list

__all__ = ["AnnotationReader", "decode_reservation"]

_NONE: Mapping[str, str] = {}
_MAX_IDLE = 10_000
"""No cluster has so many names of annotations, unless something makes one up for each pod."""
_WITHHOLDING_POLICIES = (None, "", "Default")


class _ReservationWire(Wire):
    resources: msgspec.Raw = ABSENT
    reserved_cpus: str | None = msgspec.field(default=None, name="reservedCPUs")
    apply_policy: str | None = None


_decode_reservation = msgspec.json.Decoder(_ReservationWire | None).decode


class AnnotationReader:
    """Keeps the annotations of `keys`, which some rule reads, and drops all others."""

    def __init__(self, keys: AnnotationKeys) -> None:
        self._keys = keys
        self._idle: set[str] = set()

    def read(self, found: dict[str, msgspec.Raw] | None) -> Mapping[str, str]:
        """The annotations that some rule reads, mostly none. Raises ValueError for one that is not a string."""
        if not found or found.keys() <= self._idle:
            return _NONE
        return self._sort_out(found) or _NONE

    def _sort_out(self, found: dict[str, msgspec.Raw]) -> dict[str, str]:
        wanted: dict[str, str] = {}
        for key, raw in found.items():
            if key in self._keys:
                wanted[key] = decode_text(raw)
            elif len(self._idle) < _MAX_IDLE:
                self._idle.add(key)
        return wanted


def decode_reservation(text: str) -> NodeReservation | None:
    """The reservation that the annotation states; None without one, and where it is invalid or all of it is zero.

    Source: koordinator 1.8 `apis/extension/node_reservation.go` and `pkg/util/node.go`.
    """
    if not text:
        return None
    try:
        wire = _decode_reservation(text) or _ReservationWire()
        amounts = dict(decode_quantities(bytes(wire.resources)))
        cpus = parse_cpu_list(wire.reserved_cpus or "")
    except (ValueError, RecursionError):
        return None
    if cpus:
        amounts[CPU] = len(cpus) * NANO
    if not any(amounts.values()):
        return None
    return NodeReservation(amounts, cpus, withholds_amounts=wire.apply_policy in _WITHHOLDING_POLICIES)
