"""One pod in one cycle of DeviceShare: what is said of it on each node, and which devices it gets there."""

from __future__ import annotations

from descheduler.placement.framework.extension_points import ReasonBits
from descheduler.placement.framework.restored_devices import ReservedDevices, RestoredDevices, reserved_devices
from descheduler.placement.plugins.device_share.allocation import Allocated, DeviceAllocator
from descheduler.placement.plugins.device_share.answers import StateAnswers
from descheduler.placement.plugins.device_share.device_cache import DeviceCache
from descheduler.placement.plugins.device_share.reasons import DeviceReason
from descheduler.placement.shadow.shadow_cluster import Cycle

__all__ = ["PodOnNodes"]

_NONE = ReservedDevices(())


class PodOnNodes:
    """One pod in one cycle: what is said of it on each node, and what it gets there."""

    def __init__(self, answers: StateAnswers, cache: DeviceCache, cycle: Cycle) -> None:
        self.answers = answers
        self._cache = cache
        self._reserved = reserved_devices(cycle)

    def bits(self) -> ReasonBits:
        """What stands against each node."""
        found = self.answers.bits()
        for node, reserved in self._reserved.items():
            state = self._cache.state(node)
            reason = self.answers.against(state)
            if reason is None and state.hardware.is_listed:
                allocated = self._allocated(node, reserved)
                reason = allocated if isinstance(allocated, DeviceReason) else None
            found[node] = 0 if reason is None else reason.bit
        return found

    def reserve(self, node: int) -> Allocated | DeviceReason | None:
        """The devices that the pod gets on a node; None where the scheduler leaves that to the kubelet."""
        if not self._cache.state(node).hardware.is_listed:
            return None
        return self._allocated(node, self._reserved.get(node, _NONE), is_reserve=True)

    def gets(self, node: int, restored: RestoredDevices) -> bool:
        """Whether the pod gets its devices on a node with what one reservation gives back."""
        state = self._cache.state(node)
        if not state.hardware.is_listed:
            return True
        allocator = DeviceAllocator(self.answers.pod, state, None, True, restored)
        return not isinstance(allocator.allocate(), DeviceReason)

    def _allocated(self, node: int, reserved: ReservedDevices, *, is_reserve: bool = False) -> Allocated | DeviceReason:
        state, pod = self._cache.state(node), self.answers.pod
        scorer = self.answers.scorer if is_reserve else None
        refused: DeviceReason | None = None
        for restored in reserved.reservations:
            found = DeviceAllocator(pod, state, scorer, not is_reserve, restored).allocate()
            if not isinstance(found, DeviceReason):
                return found
            refused = refused or found
        if refused is not None and reserved.is_required:
            return refused
        return DeviceAllocator(pod, state, scorer, not is_reserve).allocate()
