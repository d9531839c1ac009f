"""The devices of all nodes: which state each node is in. Nodes that are alike share states, and answers about them.

Pods of the snapshot hold what their annotations say, until they leave; for pods that are placed the ledger holds it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from descheduler.cluster.decoding.koordinator.devices import decode_allocated
from descheduler.model.annotations import DEVICES_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.devices import AllocatedDevices
from descheduler.model.pod import Pod
from descheduler.placement.plugins.device_share.devices.device_state import (
    DeviceAmounts,
    DeviceState,
    Function,
    state_key,
)
from descheduler.placement.plugins.device_share.devices.hardware import Hardware, hardware_key, make_hardware, traits_of
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

__all__ = ["DeviceCache"]

_NOTHING: AllocatedDevices = {}
_MOST_STATES = 10_000
"""States that are kept; what is no longer of use is forgotten then. Answers of all kinds of pods have to have room."""


class DeviceCache:
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

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Its devices are in use until it is gone."""
        del is_terminating
        held = self.held_by(pod)
        if held and node != NO_NODE:
            self.change(node, held, 1)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Its devices are free again."""
        del is_terminating
        held = self.held_by(pod)
        if held and node != NO_NODE:
            self.change(node, held, -1)

    def fingerprint(self) -> object:
        """What is in use on each node."""
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
