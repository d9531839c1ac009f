"""Pools of devices as one node sees them: which slices are in sight, and whether a pool can be used.

Mirrors `GatherPools` of `k8s.io/dynamic-resource-allocation/structured/internal` (1.36, 1.37).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from descheduler.model.node import Node
from descheduler.model.resource_claims import (
    CounterSet,
    DeviceId,
    DeviceTaintRule,
    NodeReach,
    ResourceSlice,
    SliceDevice,
)
from descheduler.model.selection.taints import NO_EXECUTE, NO_SCHEDULE, Taint
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules

__all__ = ["DevicePool", "DevicePools", "PoolDevice", "PoolKey", "PoolState"]

_NO_COUNTERS: Mapping[str, Mapping[str, int]] = {}
_HARD = (NO_SCHEDULE, NO_EXECUTE)


class PoolKey(NamedTuple):
    """What identifies a pool in the cluster."""

    driver: str
    pool: str


class PoolState(Enum):
    """Whether the devices of a pool can be had."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    OBSOLETE = "obsolete"
    """Of an older generation, of which a slice is missing. The scheduler ignores it."""
    INVALID = "invalid"
    UNKNOWN = "unknown"
    """Slices disagree on how many there are; the scheduler goes by any of them."""


class PoolDevice:
    """A device of a slice, with the taints that matter: its own and those of rules."""

    __slots__ = ("body", "id", "reach", "slice_reach", "taints")

    def __init__(self, body: SliceDevice, piece: ResourceSlice, rules: Sequence[DeviceTaintRule]) -> None:
        self.id = DeviceId(piece.driver, piece.pool, body.name)
        self.body = body
        self.slice_reach = piece.reach
        self.reach: NodeReach | None = body.reach if piece.is_per_device else None
        """The nodes that can use it, where not all that see its slice can."""
        taints = (*body.taints, *(rule.taint for rule in rules if rule.selects(self.id)))
        self.taints: tuple[Taint, ...] = tuple(taint for taint in taints if taint.effect in _HARD)

    @property
    def pins_to(self) -> NodeReach:
        """The nodes from which it can be used."""
        return self.slice_reach if self.reach is None else self.reach


class DevicePool:
    """A pool as some nodes see it: `devices` are those in sight, in the order in which they are tried.

    `counters` are the sets that they share, and `consumers` all devices of the pool that consume any of them, in sight
    or not.
    """

    __slots__ = ("consumers", "counters", "devices", "has_bindings", "key", "state")

    def __init__(
        self,
        key: PoolKey,
        devices: tuple[PoolDevice, ...],
        state: PoolState,
        counters: Mapping[str, Mapping[str, int]] = _NO_COUNTERS,
        consumers: tuple[PoolDevice, ...] = (),
    ) -> None:
        self.key = key
        self.devices = devices
        self.state = state
        self.counters = counters
        self.consumers = consumers
        self.has_bindings = any(device.body.binding_conditions for device in devices)

    @property
    def name(self) -> str:
        """As messages name it."""
        return f"{self.key.driver}/{self.key.pool}"

    @property
    def is_changing(self) -> bool:
        """Whether its driver is about to publish more of it, a matter of seconds."""
        return self.state in (PoolState.INCOMPLETE, PoolState.OBSOLETE)


class _Piece:
    """A slice with its devices made up."""

    __slots__ = ("devices", "slice")

    def __init__(self, piece: ResourceSlice, rules: Sequence[DeviceTaintRule]) -> None:
        self.slice = piece
        self.devices = tuple(PoolDevice(device, piece, rules) for device in piece.devices)

    def is_seen(self, node: Node) -> bool:
        """Whether the slice is in sight of `node`."""
        if self.slice.is_per_device:
            return any(device.body.reach.holds(node.name, node.labels) for device in self.devices)
        return self.slice.reach.holds(node.name, node.labels)


class DevicePools:
    """The pools of one snapshot, by node. What a node sees is found out once."""

    def __init__(
        self, slices: Iterable[ResourceSlice], taint_rules: Sequence[DeviceTaintRule], rules: DeviceRules
    ) -> None:
        self._rules = rules
        self._by_node: dict[str, list[_Piece]] = {}
        self._shared: list[_Piece] = []
        self._of_pool: dict[PoolKey, list[_Piece]] = {}
        self._seen: dict[str, tuple[DevicePool, ...]] = {}
        self._made: dict[tuple[int, ...], DevicePool] = {}
        tainting = taint_rules if rules.has_taint_rules else ()
        for each in slices:
            piece = _Piece(each, tainting)
            self._of_pool.setdefault(PoolKey(each.driver, each.pool), []).append(piece)
            if each.reach.node_name and not (each.shared_counters and not rules.sees_counters_by_node):
                self._by_node.setdefault(each.reach.node_name, []).append(piece)
            else:
                self._shared.append(piece)

    def taints_of(self, device: DeviceId) -> tuple[Taint, ...]:
        """The taints that matter of a device; none of one that is in no slice any more."""
        pieces = self._of_pool.get(PoolKey(device.driver, device.pool), ())
        return next((each.taints for piece in pieces for each in piece.devices if each.id == device), ())

    def seen_from(self, node: Node) -> tuple[DevicePool, ...]:
        """The pools in sight of `node`, in the order in which their devices are tried."""
        known = self._seen.get(node.name)
        if known is None:
            known = self._seen[node.name] = tuple(self._gathered(node))
        return known

    def _gathered(self, node: Node) -> list[DevicePool]:
        pieces: dict[PoolKey, list[_Piece]] = {}
        always = not self._rules.sees_counters_by_node
        for piece in (*self._by_node.get(node.name, ()), *self._shared):
            if piece.is_seen(node) or (always and piece.slice.shared_counters):
                pieces.setdefault(PoolKey(piece.slice.driver, piece.slice.pool), []).append(piece)
        pools = [self._pool(key, found) for key, found in pieces.items()]
        return sorted(pools, key=lambda pool: (pool.has_bindings, pool.key))

    def _pool(self, key: PoolKey, in_sight: list[_Piece]) -> DevicePool:
        """What nodes that see these slices make of the pool."""
        identity = tuple(sorted(map(id, in_sight)))
        if identity not in self._made:
            self._made[identity] = self._make(key, in_sight)
        return self._made[identity]

    def _make(self, key: PoolKey, in_sight: list[_Piece]) -> DevicePool:
        newest = max(piece.slice.generation for piece in in_sight)
        kept = sorted((each for each in in_sight if each.slice.generation == newest), key=lambda each: each.slice.name)
        devices = tuple(device for piece in kept for device in piece.devices)
        all_of_it = self._of_pool[key]
        same = [each for each in all_of_it if each.slice.generation == newest]
        if len({each.slice.num_slices for each in same}) > 1:
            return DevicePool(key, devices, PoolState.UNKNOWN)
        whole = kept
        if len(kept) != kept[0].slice.num_slices:
            if any(each.slice.generation > newest for each in all_of_it):
                return DevicePool(key, (), PoolState.OBSOLETE)
            if len(same) != kept[0].slice.num_slices:
                return DevicePool(key, devices, PoolState.INCOMPLETE)
            whole = same
        return _complete(key, devices, whole, same)


def _complete(
    key: PoolKey, devices: tuple[PoolDevice, ...], known: Sequence[_Piece], all_of_it: Sequence[_Piece]
) -> DevicePool:
    """A pool of which no slice is missing; `known` are the slices whose counters and consumers are looked at."""
    names = [device.id.device for device in devices]
    sets = [each for piece in known for each in piece.slice.shared_counters]
    counters = {each.name: each.counters for each in sets}
    uses = [use for piece in known for device in piece.devices for use in device.body.consumes]
    if len({*names}) < len(names) or len(counters) < len(sets) or not all(_is_defined(use, counters) for use in uses):
        return DevicePool(key, devices, PoolState.INVALID)
    consumers = tuple(device for piece in all_of_it for device in piece.devices if device.body.consumes)
    return DevicePool(key, devices, PoolState.COMPLETE, counters, consumers)


def _is_defined(use: CounterSet, counters: Mapping[str, Mapping[str, int]]) -> bool:
    return use.name in counters and use.counters.keys() <= counters[use.name].keys()
