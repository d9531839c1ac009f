"""What placed pods change of Reservations: owners that use them, and reserve pods that find a node."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from descheduler.model.koordinator.devices import AllocatedDevices
from descheduler.placement.framework.matched_reservations import Allocation, MatchedReservation, taken_devices
from descheduler.placement.framework.obstacle import Fact
from descheduler.placement.plugins.reservation.holdings import Amounts, HeldReservation, Holdings
from descheduler.placement.plugins.reservation.pod_protocol import OwnerMatch, ReservationRequest
from descheduler.placement.shadow.shadow_cluster import NO_NODE, Cycle, ShadowCluster

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


class Use(NamedTuple):
    """What one pod took of a Reservation."""

    held: HeldReservation
    amounts: Amounts
    devices: AllocatedDevices
    """Known once all ledgers have reserved."""


class OwnerLedger:
    """The pods placed since the snapshot was taken that use a Reservation; one that is for a single pod is then gone.

    `holdings` is None where the snapshot has no Reservations.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        self.holdings = cluster.follow(Holdings) if cluster.snapshot.reservations else None

    def reserve(self, cycle: Cycle, node: int) -> Use | None:
        """Takes the pod's requests of the Reservation that is nominated for it on `node`, if any."""
        state = state_of(cycle)
        nominees = () if state is None else state.nominated.get(node, ())
        if not nominees:
            return None
        taken = Use(nominees[0], cycle.pod.demand.amounts, taken_devices(cycle))
        self.restore(taken)
        return taken

    def release(self, taken: Use) -> None:
        taken.held.change(taken.amounts, taken.devices, -1)

    def restore(self, taken: Use) -> None:
        taken.held.change(taken.amounts, taken.devices, 1)

    def allocations(self, taken: Use) -> tuple[Allocation, ...]:
        """The Reservation."""
        return (Allocation(RESERVATION, "reservation", taken.held.name),)

    def fingerprint(self) -> object:
        return None if self.holdings is None else self.holdings.fingerprint()


class BoundReservation(NamedTuple):
    """Where a Reservation was bound, and the devices that it got there."""

    held: HeldReservation
    node: int
    devices: AllocatedDevices


class ReservePodLedger:
    """Where reserve pods were put since the snapshot was taken: their Reservations hold room and devices there.

    It is asked after the other ledgers.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster

    def reserve(self, cycle: Cycle, node: int) -> BoundReservation | None:
        """Binds the Reservation of the cycle's pod to `node`."""
        state = state_of(cycle)
        if state is None or state.own is None:
            return None
        taken = BoundReservation(state.own, node, taken_devices(cycle))
        self.restore(taken)
        return taken

    def release(self, taken: BoundReservation) -> None:
        taken.held.node = NO_NODE
        taken.held.devices.hold({})

    def restore(self, taken: BoundReservation) -> None:
        taken.held.node = taken.node
        taken.held.devices.hold(taken.devices)

    def fingerprint(self) -> object:
        """Nothing beyond what OwnerLedger tells."""
        return None
