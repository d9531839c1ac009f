"""What the plugin finds out about one pod in one cycle."""

from __future__ import annotations

import msgspec

from descheduler.placement.framework.koordinator.matched_reservations import MatchedReservation
from descheduler.placement.framework.obstacle import Fact
from descheduler.placement.plugins.reservation.holdings import HeldReservation
from descheduler.placement.plugins.reservation.matching import OwnerMatch
from descheduler.placement.plugins.reservation.pod_protocol import ReservationRequest
from descheduler.placement.shadow.shadow_cluster import Cycle

__all__ = ["RESERVATION", "CycleState", "state_of"]

RESERVATION = "Reservation"
"""The plugin's name."""


class CycleState(msgspec.Struct):
    """`matches` is what came of each Reservation on a node that the pod's own terms select; `own` is the Reservation
    of a reserve pod.

    By node: `usable` are those whose room the pod may use, `short` what is against it all the same, `nominated` those
    of which it uses the first if it goes there, all equally good. `restored` is what the usable ones give back.
    """

    request: ReservationRequest
    matches: list[tuple[HeldReservation, OwnerMatch]] = msgspec.field(default_factory=list)
    usable: dict[int, list[HeldReservation]] = msgspec.field(default_factory=dict)
    short: dict[int, tuple[Fact, ...]] = msgspec.field(default_factory=dict)
    nominated: dict[int, tuple[HeldReservation, ...]] = msgspec.field(default_factory=dict)
    restored: dict[HeldReservation, MatchedReservation] = msgspec.field(default_factory=dict)
    own: HeldReservation | None = None


def state_of(cycle: Cycle) -> CycleState | None:
    """The state that the transformer made; None where no Reservation matters."""
    state = cycle.scratch.get(RESERVATION)
    return state if isinstance(state, CycleState) else None
