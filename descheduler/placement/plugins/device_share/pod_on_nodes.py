"""One pod in one cycle of DeviceShare: what is said of it on each node, and which devices it gets there.

Source of what Reservations have to do with it: `pkg/scheduler/plugins/deviceshare/{reservation,scoring}.go`
(koordinator 1.8).
"""

from __future__ import annotations

from descheduler.model.koordinator.devices import AllocatedDevice, AllocatedDevices
from descheduler.placement.framework.extension_points import ReasonBits
from descheduler.placement.framework.koordinator.matched_reservations import (
    MatchedReservation,
    MatchedReservations,
    matched_reservations,
    nominated_reservation,
)
from descheduler.placement.plugins.device_share.allocation import Allocated, DeviceAllocator
from descheduler.placement.plugins.device_share.answers import StateAnswers
from descheduler.placement.plugins.device_share.devices.device_cache import DeviceCache
from descheduler.placement.plugins.device_share.devices.device_state import DeviceState
from descheduler.placement.plugins.device_share.reasons import DeviceReason
from descheduler.placement.shadow.shadow_cluster import Cycle

__all__ = ["PodOnNodes"]

_NONE = MatchedReservations()


class PodOnNodes:
    """One pod in one cycle: what is said of it on each node, and what it gets there."""

    def __init__(self, answers: StateAnswers, cache: DeviceCache, cycle: Cycle) -> None:
        self.answers = answers
        self._cache = cache
        self._cycle = cycle
        self._matched = {node: found for node, found in matched_reservations(cycle).items() if _with_devices(found)}

    def bits(self) -> ReasonBits:
        """The reasons that close each node."""
        found = self.answers.bits()
        for node, matched in self._matched.items():
            state = self._cache.state(node)
            reason = self.answers.against(state)
            if reason is None and state.hardware.is_listed:
                allocated = self._allocated(node, matched)
                reason = allocated if isinstance(allocated, DeviceReason) else None
            found[node] = 0 if reason is None else reason.bit
        return found

    def reserve(self, node: int) -> Allocated | DeviceReason | None:
        """The devices that the pod gets on a node; None where the scheduler leaves that to the kubelet.

        Those of the nominated Reservation come first, and only then what nothing holds.
        """
        if not self._cache.state(node).hardware.is_listed:
            return None
        nominated = nominated_reservation(self._cycle, node)
        own = MatchedReservations() if nominated is None else MatchedReservations((nominated,))
        return self._allocated(node, own, is_reserve=True)

    def gets(self, node: int, reservation: MatchedReservation) -> bool:
        """Whether the pod gets its devices on a node with what `reservation` gives back; one without any is fine."""
        if not reservation.devices or not self._cache.state(node).hardware.is_listed:
            return True
        return not isinstance(self._allocator(node, reservation).allocate(), DeviceReason)

    def score(self, node: int, reservation: MatchedReservation) -> int:
        """How well the pod goes with `reservation` on a node: nothing where it has no devices."""
        if not reservation.devices or not self._cache.state(node).hardware.is_listed:
            return 0
        return self._allocator(node, reservation).score(self.answers.scorer)

    def _allocated(
        self, node: int, matched: MatchedReservations, *, is_reserve: bool = False
    ) -> Allocated | DeviceReason:
        refused: DeviceReason | None = None
        for reservation in _with_devices(matched):
            found = self._allocator(node, reservation, is_reserve=is_reserve).allocate()
            if not isinstance(found, DeviceReason):
                return found
            refused = refused or found
        if refused is not None and matched.is_required:
            return refused
        scorer = self.answers.scorer if is_reserve else None
        return DeviceAllocator(self.answers.pod, self._cache.state(node), scorer, not is_reserve).allocate()

    def _allocator(self, node: int, reservation: MatchedReservation, *, is_reserve: bool = False) -> DeviceAllocator:
        """For what `reservation` gives back and what nothing holds: other Reservations keep what they have."""
        scorer = self.answers.scorer if is_reserve else None
        return DeviceAllocator(self.answers.pod, self._state(node, reservation), scorer, not is_reserve, reservation)

    def _state(self, node: int, reservation: MatchedReservation) -> DeviceState:
        state = self._cache.state(node)
        for other in _with_devices(self._matched.get(node, _NONE)):
            if other.name != reservation.name:
                state = DeviceState.of(state.hardware, *state.changed(_held_by(other), 1))
        return state


def _with_devices(matched: MatchedReservations) -> list[MatchedReservation]:
    return [each for each in matched.reservations if each.devices]


def _held_by(reservation: MatchedReservation) -> AllocatedDevices:
    """What is left of its devices, as what a pod has."""
    return {
        name: tuple([AllocatedDevice(minor, amounts) for minor, amounts in by_minor.items()])
        for name, by_minor in reservation.devices.items()
    }
