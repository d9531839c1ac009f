"""The devices of all nodes: what is used, what is free, and a view of them for one pod.

Nodes that are alike share states, and answers about them. Pods of the snapshot hold what their annotations say, until
they leave; for pods that are placed the ledger holds it.

Source of the arithmetic: `pkg/scheduler/plugins/deviceshare/device_cache.go` (koordinator 1.8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.cluster.decoding.koordinator.devices import decode_allocated
from descheduler.model.annotations import DEVICES_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.devices import AllocatedDevices, Amounts
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import LabelSelector
from descheduler.placement.plugins.device_share.hardware import Hardware, hardware_key, make_hardware, traits_of
from descheduler.placement.shadow.follower import CountingFollower
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

DeviceAmounts = Mapping[int, Amounts]
"""Minor → amounts."""
Function = tuple[str, int, str]
"""Device type, minor and bus id of a virtual function."""

_NONE: DeviceAmounts = {}


class TypeView(NamedTuple):
    """The devices of one type that a pod may get: what each has and what is free, and the minors that are in use.

    Those in use may be outside of the view.
    """

    total: DeviceAmounts
    free: DeviceAmounts
    occupied: frozenset[int]


class DeviceState(msgspec.Struct, frozen=True, eq=False):
    """What pods use of the devices of a node: `used` by type and minor, without zeros. Equal states are one object.

    `free` and `total` are by type, too; `key` tells states of one hardware apart.
    """

    hardware: Hardware
    used: Mapping[str, DeviceAmounts]
    functions: frozenset[Function]
    total: Mapping[str, DeviceAmounts]
    free: Mapping[str, DeviceAmounts]

    @classmethod
    def of(
        cls, hardware: Hardware, used: Mapping[str, DeviceAmounts], functions: frozenset[Function] = frozenset()
    ) -> DeviceState:
        """The state in which `used` is in use."""
        total = {**hardware.total}
        for device_type, by_minor in used.items():
            missing = by_minor.keys() - total.get(device_type, _NONE).keys()
            if missing:
                total[device_type] = {**total.get(device_type, _NONE), **{minor: {} for minor in missing}}
        free = {name: _free(by_minor, used.get(name, _NONE)) for name, by_minor in total.items()}
        return cls(hardware, used, functions, total, free)

    @property
    def key(self) -> object:
        """A value that is equal for equal states of one hardware."""
        return state_key(self.used, self.functions)

    def changed(
        self, allocated: AllocatedDevices, sign: int
    ) -> tuple[Mapping[str, DeviceAmounts], frozenset[Function]]:
        """What is in use once `allocated` is added (`sign` 1) or given back (-1)."""
        used = {name: {minor: {**amounts} for minor, amounts in each.items()} for name, each in self.used.items()}
        for device_type, entries in allocated.items():
            of_type = used.setdefault(device_type, {})
            for entry in entries:
                amounts = of_type.setdefault(entry.minor, {})
                for name, amount in entry.resources.items():
                    amounts[name] = amounts.get(name, 0) + sign * amount
        functions = frozenset(_functions(allocated))
        return _without_zeros(used), (self.functions | functions if sign == 1 else self.functions - functions)

    def view(
        self,
        device_type: str,
        selector: LabelSelector | None = None,
        *,
        reserved: DeviceAmounts | None = None,
        is_whole: bool = True,
    ) -> TypeView:
        """The devices of a type: all of them where the view `is_whole`, else those that `selector` selects.

        `reserved` is what a reservation restricts the pod to, by minor.
        """
        total, used = self.total.get(device_type, _NONE), self.used.get(device_type, _NONE)
        free = self.free.get(device_type, _NONE)
        if is_whole:
            return TypeView(total, free, frozenset(used))
        if reserved is not None:
            free = {minor: _least(free[minor], reserved[minor]) for minor in free if minor in reserved}
        if all(map(is_zero, free.values())):
            return TypeView(_NONE, _NONE, frozenset(used))
        minors = [
            info.minor
            for info in self.hardware.infos.get(device_type, ())
            if selector is None or selector.matches(info.labels)
        ]
        seen = {minor: total[minor] for minor in minors if minor in free}
        taken = {minor for minor in seen if not is_zero(_difference(seen[minor], free[minor]))}
        return TypeView(seen, {minor: free[minor] for minor in seen}, frozenset((used.keys() - seen.keys()) | taken))


def fits(request: Amounts, free: Amounts) -> bool:
    """Whether a device has as much free; a resource that it does not have at all is not looked at.

    So does `quota.LessThanOrEqual` of `k8s.io/apiserver`.
    """
    return all(request[name] <= amount for name, amount in free.items() if name in request)


def is_zero(amounts: Amounts) -> bool:
    """Whether there is nothing."""
    return not any(amounts.values())


def state_key(used: Mapping[str, DeviceAmounts], functions: frozenset[Function]) -> object:
    """See `DeviceState.key`."""
    by_type = tuple(
        (name, tuple((minor, tuple(sorted(each[minor].items()))) for minor in sorted(each)))
        for name, each in sorted(used.items())
    )
    return by_type, functions


def _functions(allocated: AllocatedDevices) -> Iterable[Function]:
    for device_type, entries in allocated.items():
        for entry in entries:
            for function in entry.functions:
                yield device_type, entry.minor, function.bus_id


def _without_zeros(used: Mapping[str, Mapping[int, Amounts]]) -> dict[str, DeviceAmounts]:
    found: dict[str, DeviceAmounts] = {}
    for device_type, by_minor in used.items():
        kept = {minor: {name: amount for name, amount in each.items() if amount} for minor, each in by_minor.items()}
        kept = {minor: each for minor, each in kept.items() if each}
        if kept:
            found[device_type] = kept
    return found


def _free(total: DeviceAmounts, used: DeviceAmounts) -> DeviceAmounts:
    return {minor: _difference(amounts, used[minor]) if minor in used else amounts for minor, amounts in total.items()}


def _difference(amounts: Amounts, less: Amounts) -> Amounts:
    """At least 0 each; what only `less` has comes out as 0 (`quota.SubtractWithNonNegativeResult`)."""
    names = {**amounts, **less}
    return {name: max(0, amounts.get(name, 0) - less.get(name, 0)) for name in names}


def _least(amounts: Amounts, others: Amounts) -> Amounts:
    return {name: min(amount, others.get(name, amount)) for name, amount in amounts.items()}


_NOTHING: AllocatedDevices = {}
_MOST_STATES = 10_000
"""States that are kept; what is no longer of use is forgotten then. Answers of all kinds of pods have to have room."""


class DeviceCache(CountingFollower):
    """A follower that knows the state of each node's devices: `ids` by node, each the index of one of `states`.

    `generation` changes when ids get another meaning.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        self._allocated: dict[str, AllocatedDevices] = {}
        self.generation = 0
        self.states: list[DeviceState] = []
        self._interned: dict[tuple[int, object], int] = {}
        self._devices = cluster.snapshot.devices
        self._names = cluster.table.names
        by_key: dict[bytes, Hardware] = {}
        named = self._named_minors(cluster)
        hardware = []
        for index, node in enumerate(cluster.table.nodes):
            device, traits = self._devices.get(node.name), traits_of(node)
            key = hardware_key(traits, device, named.get(index, {}))
            known = by_key.get(key)
            if known is None:
                known = by_key[key] = make_hardware(traits, device, named.get(index, {}))
            hardware.append(known)
        self.ids: NDArray[np.intp] = np.array([self._intern(each, {}) for each in hardware], dtype=np.intp)

    def state(self, node: int) -> DeviceState:
        """The devices of a node."""
        return self.states[int(self.ids[node])]

    def id_of(self, node: int, device_type: str, minor: int) -> str:
        """The UUID or bus id of a device, empty where it is not told."""
        device = self._devices.get(self._names[node])
        found = () if device is None else device.devices
        return next((each.id for each in found if (each.type, each.minor) == (device_type, minor)), "")

    def change(self, node: int, allocated: AllocatedDevices, sign: int) -> None:
        """Takes `allocated` on a node (`sign` 1), or gives it back (-1)."""
        state = self.state(node)
        self.ids[node] = self._intern(state.hardware, *state.changed(allocated, sign))
        if len(self.states) > _MOST_STATES:
            self._forget()

    def held_by(self, pod: Pod) -> AllocatedDevices:
        """What the annotation of a pod says that it has; nothing for one that is not bound."""
        text = pod.annotations.get(DEVICES_ALLOCATED_ANNOTATION, "") if pod.annotations and pod.node_name else ""
        return self._decoded(text) if text else _NOTHING

    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        """The devices of a pod are in use until it is gone."""
        held = self.held_by(pod)
        if held and node != NO_NODE:
            self.change(node, held, sign)

    def fingerprint(self) -> object:
        used = ((node, self.states[state].key) for node, state in enumerate(self.ids))
        return [(node, key) for node, key in used if key != _UNUSED]

    def _named_minors(self, cluster: ShadowCluster) -> Mapping[int, Mapping[str, frozenset[int]]]:
        """The minors that annotations of pods name, by node and type."""
        found: dict[int, dict[str, frozenset[int]]] = {}
        for pod, node in cluster.placed_pods:
            for device_type, entries in self.held_by(pod).items():
                minors = found.setdefault(node, {})
                minors[device_type] = minors.get(device_type, frozenset()) | {entry.minor for entry in entries}
        return found

    def _decoded(self, text: str) -> AllocatedDevices:
        known = self._allocated.get(text)
        if known is None:
            try:
                known = decode_allocated(text)
            except (ValueError, RecursionError):  # the scheduler passes over such a pod, too
                known = _NOTHING
            self._allocated[text] = known
        return known

    def _intern(
        self,
        hardware: Hardware,
        used: Mapping[str, DeviceAmounts],
        functions: frozenset[Function] = frozenset(),
    ) -> int:
        key = id(hardware), state_key(used, functions)
        known = self._interned.get(key)
        if known is None:
            known = self._interned[key] = len(self.states)
            self.states.append(DeviceState.of(hardware, used, functions))
        return known

    def _forget(self) -> None:
        """Keeps the states alone that nodes are in."""
        states = [self.states[state] for state in self.ids]
        self.generation += 1
        self.states, self._interned = [], {}
        self.ids[:] = [self._intern(each.hardware, each.used, each.functions) for each in states]


_UNUSED = state_key({}, frozenset())
