"""Pools of devices as one node sees them: which slices are in sight, and whether a pool can be used.

Mirrors `GatherPools` of `k8s.io/dynamic-resource-allocation/structured/internal` (1.36, 1.37).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple, TypeAlias

from descheduler.model.node import Node
from descheduler.model.resource_claims import (
    CounterSet,
    DeviceId,
    DeviceTaintRule,
    NodeReach,
    ResourceSlice,
    SliceDevice,
    TaintRules,
    listed_taints,
)
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.taints import NO_EXECUTE, NO_SCHEDULE, Taint
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules

_NO_COUNTERS: Mapping[str, Mapping[str, int]] = {}
_HARD = (NO_SCHEDULE, NO_EXECUTE)
_Mark: TypeAlias = tuple[str, str]
"""A label and its value, or `_NAME` and the name of a node."""
_NAME = ""
"""Which no label has."""


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

    def __init__(self, body: SliceDevice, piece: ResourceSlice, rules: TaintRules) -> None:
        self.id = DeviceId(piece.driver, piece.pool, body.name)
        self.body = body
        self.slice_reach = piece.reach
        self.reach: NodeReach | None = body.reach if piece.is_per_device else None
        """The nodes that can use it, where not all that see its slice can."""
        self.taints = _hard((*body.taints, *rules.on(self.id)))

    def is_usable_from(self, node: Node) -> bool:
        """Whether `node`, which sees its slice, can use it."""
        return self.reach is None or self.reach.holds(node.name, node.labels)

    @property
    def pins_to(self) -> NodeReach:
        """The nodes from which it can be used."""
        return self.slice_reach if self.reach is None else self.reach


class DevicePool:
    """A pool as some nodes see it: `devices` are those in sight, in the order in which they are tried.

    `counters` are the sets that they share, and `consumers` all devices that consume any of them: those of the slices
    in sight, and of all other slices of the pool where the slices in sight are fewer than `resourceSliceCount`.
    """

    __slots__ = ("consumers", "counters", "devices", "has_bindings", "is_alike", "key", "state")

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
        self.is_alike = not any(device.reach is not None or device.body.binds_to_node for device in devices)
        """Whether all nodes that see it can use the same of it."""

    @property
    def name(self) -> str:
        """As messages name it."""
        return f"{self.key.driver}/{self.key.pool}"

    @property
    def is_changing(self) -> bool:
        """Whether its driver is about to publish more of it, a matter of seconds."""
        return self.state in (PoolState.INCOMPLETE, PoolState.OBSOLETE)


class _PoolSlice:
    """A slice with its devices made up."""

    __slots__ = ("devices", "pool", "slice")

    def __init__(self, piece: ResourceSlice, rules: TaintRules) -> None:
        self.slice = piece
        self.pool = PoolKey(piece.driver, piece.pool)
        self.devices = tuple(PoolDevice(device, piece, rules) for device in piece.devices)


class _PoolSlices:
    """Slices of one generation of a pool; what they hold together is found out once, however many nodes see them."""

    def __init__(self, pieces: Sequence[_PoolSlice]) -> None:
        self.pieces = pieces

    @cached_property
    def numbers(self) -> frozenset[int]:
        """Of how many slices each says that the pool has."""
        return frozenset(each.slice.num_slices for each in self.pieces)

    @cached_property
    def counters(self) -> Mapping[str, Mapping[str, int]] | None:
        """The sets of counters; None where a name is there twice, or a device consumes what no set has."""
        sets = [each for piece in self.pieces for each in piece.slice.shared_counters]
        counters = {each.name: each.counters for each in sets}
        uses = [use for piece in self.pieces for device in piece.devices for use in device.body.consumes]
        is_valid = len(counters) == len(sets) and all(_is_defined(use, counters) for use in uses)
        return counters if is_valid else None

    @cached_property
    def consumers(self) -> tuple[PoolDevice, ...]:
        """All devices that consume counters."""
        return tuple(device for piece in self.pieces for device in piece.devices if device.body.consumes)


class _SlicesByNode:
    """Slices by the names and labels of the nodes that see them; those that nothing narrows are asked about each node.

    Slices of counters are in sight of all nodes where `sees_counters_by_node` is false.
    """

    def __init__(self, slices: Sequence[ResourceSlice], *, sees_counters_by_node: bool) -> None:
        self._slices = slices
        self._sees_counters_by_node = sees_counters_by_node
        self._by_mark: dict[_Mark, list[int]] = {}
        self._unmarked: list[int] = []
        for place, each in enumerate(slices):
            marks = None if self._is_always_seen(each) else _marks(_reaches(each))
            if marks is None:
                self._unmarked.append(place)
            for mark in marks or ():
                self._by_mark.setdefault(mark, []).append(place)
        self._labels = sorted({label for label, _ in self._by_mark} - {_NAME})

    def seen_from(self, node: Node) -> Iterator[int]:
        """The places of the slices in sight of `node`, each once."""
        marks = [(_NAME, node.name), *((label, node.labels[label]) for label in self._labels if label in node.labels)]
        places = dict.fromkeys(place for mark in marks for place in self._by_mark.get(mark, ()))
        for place in (*places, *self._unmarked):
            piece = self._slices[place]
            if self._is_always_seen(piece) or any(each.holds(node.name, node.labels) for each in _reaches(piece)):
                yield place

    def _is_always_seen(self, piece: ResourceSlice) -> bool:
        return bool(piece.shared_counters) and not self._sees_counters_by_node


def _reaches(piece: ResourceSlice) -> Sequence[NodeReach]:
    """A node that one of these holds sees the slice."""
    return [device.reach for device in piece.devices] if piece.is_per_device else [piece.reach]


def _marks(reaches: Iterable[NodeReach]) -> set[_Mark] | None:
    """Of which marks a node has one that any of these holds; None where nodes need none."""
    found = set[_Mark]()
    for reach in reaches:
        if reach.node_name:
            found.add((_NAME, reach.node_name))
            continue
        for term in reach.terms or ():
            marks = _marks_of(term)
            if marks is None:
                return None
            found.update(marks)
        if reach.terms is None and reach.is_everywhere:
            return None
    return found


def _marks_of(term: NodeSelectorTerm) -> Iterable[_Mark] | None:
    """The same of one term: those of a condition with the operator In."""
    listings = [(_NAME, each) for each in term.fields] + [(each.key, each) for each in term.expressions]
    listing = next(((key, each.values) for key, each in listings if each.operator == "In"), None)
    return None if listing is None else [(listing[0], value) for value in listing[1]]


class DevicePools:
    """The pools of one snapshot, by node. What a node sees is found out once."""

    def __init__(
        self, slices: Sequence[ResourceSlice], taint_rules: Iterable[DeviceTaintRule], rules: DeviceRules
    ) -> None:
        self._slices = slices
        self._tainting = TaintRules(taint_rules if rules.has_taint_rules else ())
        self._pieces = [_PoolSlice(each, self._tainting) for each in slices]
        self._by_node = _SlicesByNode(slices, sees_counters_by_node=rules.sees_counters_by_node)
        found: dict[PoolKey, dict[int, list[_PoolSlice]]] = {}
        for piece in self._pieces:
            found.setdefault(piece.pool, {}).setdefault(piece.slice.generation, []).append(piece)
        self._generations = {
            pool: {number: _PoolSlices(pieces) for number, pieces in generations.items()}
            for pool, generations in found.items()
        }
        self._seen: dict[str, tuple[DevicePool, ...]] = {}
        self._made: dict[tuple[int, ...], DevicePool] = {}

    def taints_of(self, device: DeviceId) -> tuple[Taint, ...]:
        """The taints that matter of a device; none of one that is in no slice any more."""
        own = self._own_taints.get(device)
        return () if own is None else _hard((*own, *self._tainting.on(device)))

    def seen_from(self, node: Node) -> tuple[DevicePool, ...]:
        """The pools in sight of `node`, in the order in which their devices are tried."""
        known = self._seen.get(node.name)
        if known is None:
            known = self._seen[node.name] = tuple(self._gathered(node))
        return known

    @cached_property
    def _own_taints(self) -> Mapping[DeviceId, Sequence[Taint]]:
        return listed_taints(self._slices)

    def _gathered(self, node: Node) -> list[DevicePool]:
        pieces: dict[PoolKey, list[_PoolSlice]] = {}
        for place in self._by_node.seen_from(node):
            pieces.setdefault(self._pieces[place].pool, []).append(self._pieces[place])
        pools = [self._pool(key, found) for key, found in pieces.items()]
        return sorted(pools, key=lambda pool: (pool.has_bindings, pool.key))

    def _pool(self, key: PoolKey, in_sight: list[_PoolSlice]) -> DevicePool:
        """What nodes that see these slices make of the pool."""
        identity = tuple(sorted(map(id, in_sight)))
        if identity not in self._made:
            self._made[identity] = self._make(key, in_sight)
        return self._made[identity]

    def _make(self, key: PoolKey, in_sight: list[_PoolSlice]) -> DevicePool:
        newest = max(piece.slice.generation for piece in in_sight)
        kept = sorted((each for each in in_sight if each.slice.generation == newest), key=lambda each: each.slice.name)
        devices = tuple(device for piece in kept for device in piece.devices)
        generation = self._generations[key][newest]
        if len(generation.numbers) > 1:
            return DevicePool(key, devices, PoolState.UNKNOWN)
        known, number = generation, kept[0].slice.num_slices
        if len(kept) == number < len(generation.pieces):
            known = _PoolSlices(kept)  # the scheduler looks for no further slices of the pool
        elif len(kept) != number:
            if newest < max(self._generations[key]):
                return DevicePool(key, (), PoolState.OBSOLETE)
            if len(generation.pieces) != number:
                return DevicePool(key, devices, PoolState.INCOMPLETE)
        names = [device.id.device for device in devices]
        if len({*names}) < len(names) or known.counters is None:
            return DevicePool(key, devices, PoolState.INVALID)
        return DevicePool(key, devices, PoolState.COMPLETE, known.counters, known.consumers)


def _hard(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    return tuple(taint for taint in taints if taint.effect in _HARD)


def _is_defined(use: CounterSet, counters: Mapping[str, Mapping[str, int]]) -> bool:
    return use.name in counters and use.counters.keys() <= counters[use.name].keys()
