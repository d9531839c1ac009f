"""What is said of a pod on each node, worked out once for each state that the devices of a node can be in.

Source of what Reservations have to do with it: `pkg/scheduler/plugins/deviceshare/{reservation,scoring}.go`
(koordinator 1.8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from descheduler.model.koordinator.devices import GPU, AllocatedDevice, AllocatedDevices
from descheduler.placement.framework.extension_points import ReasonBits
from descheduler.placement.framework.matched_reservations import (
    MatchedReservation,
    MatchedReservations,
    matched_reservations,
    nominated_reservation,
)
from descheduler.placement.plugins.device_share.allocation import Allocated, DeviceAllocator
from descheduler.placement.plugins.device_share.args import DeviceScorer, DeviceShareArgs
from descheduler.placement.plugins.device_share.device_state import DeviceCache, DeviceState
from descheduler.placement.plugins.device_share.pod_devices import PodDevices, devices_of, request_key
from descheduler.placement.plugins.device_share.reasons import DeviceReason
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle

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


_UNKNOWN = -1
_MOST_CELLS = 4_000_000
"""Answers of one profile that are kept, eight bytes each."""


class StateAnswers:
    """The answers for pods that ask for the same, by the arguments of one profile."""

    def __init__(self, pod: PodDevices, args: DeviceShareArgs, cache: DeviceCache) -> None:
        self.pod = pod
        self._args = args
        self._cache = cache
        self.scorer = DeviceScorer(args)
        self._generation = cache.generation
        self._bits: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._scores: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    @property
    def num_cells(self) -> int:
        """How many answers it keeps room for."""
        return 2 * len(self._bits)

    def bits(self) -> ReasonBits:
        """The reasons that close each node."""
        self._keep_up()
        return self._column(self._bits, self._bits_in).astype(np.uint32)

    def scores(self) -> NDArray[np.int64]:
        """The score of each node before it is normalised."""
        self._keep_up()
        return self._column(self._scores, self._score_in)

    def against(self, state: DeviceState) -> DeviceReason | None:
        """What the labels of a node have against the pod, whatever its devices."""
        traits = state.hardware.traits
        if not self.pod.is_shared:
            return None
        if self.pod.isolation_provider and self.pod.isolation_provider != traits.isolation_provider:
            return DeviceReason.ISOLATION
        is_unshared = (traits.vendor, traits.model) in self._args.unshared_models
        return DeviceReason.UNSUPPORTED_MODEL if is_unshared else None

    def isolated(self) -> Iterator[int]:
        """Nodes with GPUs of which another provider isolates the parts."""
        for node in np.flatnonzero(self.bits() == DeviceReason.ISOLATION.bit):
            if self._cache.state(int(node)).total.get(GPU):
                yield int(node)

    def _keep_up(self) -> None:
        if self._generation != self._cache.generation:
            self._generation = self._cache.generation
            self._bits = self._scores = np.empty(0, dtype=np.int64)
        missing = len(self._cache.states) - len(self._bits)
        if missing > 0:
            more = np.full(missing + len(self._bits) // 2, _UNKNOWN, dtype=np.int64)
            self._bits = np.concatenate((self._bits, more))
            self._scores = np.concatenate((self._scores, more))

    def _column(self, known: NDArray[np.int64], answer: Callable[[DeviceState], int]) -> NDArray[np.int64]:
        ids = self._cache.ids
        found = known.take(ids)
        if len(found) and found.min() < 0:
            for state in set(ids[found < 0].tolist()):
                known[state] = answer(self._cache.states[state])
            found = known.take(ids)
        return found

    def _bits_in(self, state: DeviceState) -> int:
        reason = self.against(state)
        if reason is None and state.hardware.is_listed:
            found = DeviceAllocator(self.pod, state).allocate()
            reason = found if isinstance(found, DeviceReason) else None
        return 0 if reason is None else reason.bit

    def _score_in(self, state: DeviceState) -> int:
        return DeviceAllocator(self.pod, state).score(self.scorer) if state.hardware.is_listed else 0


class KnownAnswers:
    """The answers of one profile, by what pods ask for: classes that ask for the same share them."""

    def __init__(self, cache: DeviceCache, args: DeviceShareArgs) -> None:
        self._cache = cache
        self._args = args
        self._by_class: dict[PlacementClass, StateAnswers | None] = {}
        self._by_request: dict[object, StateAnswers | None] = {}

    def of(self, pod: PlacementClass) -> StateAnswers | None:
        """The answers for a class, None where it asks for no devices. Raises as `devices_of` does."""
        if pod not in self._by_class:
            self._bound()
            key = request_key(pod.pod)
            if key not in self._by_request:
                asked = devices_of(pod.pod, self._args)
                self._by_request[key] = None if asked is None else StateAnswers(asked, self._args, self._cache)
            self._by_class[pod] = self._by_request[key]
        return self._by_class[pod]

    def _bound(self) -> None:
        if sum(each.num_cells for each in self._by_request.values() if each is not None) > _MOST_CELLS:
            self._by_class.clear()
            self._by_request.clear()
