"""What is said of a pod in each state that a node's devices can be in: worked out once a state, read by columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from descheduler.model.koordinator.devices import GPU
from descheduler.placement.framework.extension_points import ReasonBits
from descheduler.placement.plugins.device_share.allocation import DeviceAllocator
from descheduler.placement.plugins.device_share.args import DeviceShareArgs
from descheduler.placement.plugins.device_share.devices.device_cache import DeviceCache
from descheduler.placement.plugins.device_share.devices.device_state import DeviceState
from descheduler.placement.plugins.device_share.pod_devices import PodDevices, devices_of, request_key
from descheduler.placement.plugins.device_share.reasons import DeviceReason
from descheduler.placement.plugins.device_share.scoring import DeviceScorer
from descheduler.placement.shadow.placement_class import PlacementClass

__all__ = ["KnownAnswers", "StateAnswers"]

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
