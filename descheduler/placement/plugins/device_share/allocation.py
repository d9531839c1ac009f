"""Which devices of a node a pod gets, or why it gets none.

Source: `pkg/scheduler/plugins/deviceshare/device_allocator.go` and `allocator_gpu.go` (koordinator 1.8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from descheduler.model.koordinator.devices import DEVICE_TYPES, GPU, AllocatedDevice, Amounts, VirtualFunction
from descheduler.placement.framework.matched_reservations import MatchedReservation
from descheduler.placement.plugins.device_share.args import DeviceScorer
from descheduler.placement.plugins.device_share.device_state import DeviceState, TypeView, fits, is_zero
from descheduler.placement.plugins.device_share.gpu_choice import gpus_by_partition, gpus_by_topology
from descheduler.placement.plugins.device_share.pod_devices import PodDevices
from descheduler.placement.plugins.device_share.reasons import DeviceReason, insufficient, lacking
from descheduler.placement.plugins.device_share.requests import WHOLE

Allocated = dict[str, tuple[AllocatedDevice, ...]]
"""Devices by type, in the order in which they were chosen; amounts of GPU memory as they were asked for."""
Chosen = tuple[AllocatedDevice, ...]


class _Instances(NamedTuple):
    """So many devices with `each` on every one."""

    each: Amounts
    number: int


_NOTHING = MatchedReservation("")


@dataclass(frozen=True)
class DeviceAllocator:
    """Allocates devices of a node in `state` to a pod that asks for `pod`.

    Without a `scorer`, as in Filter, devices are taken by their minors. `leaves_secondaries` says that secondary
    devices are not looked at where the node is known to have them next to the primary ones, as before Reserve.
    """

    pod: PodDevices
    state: DeviceState
    scorer: DeviceScorer | None = None
    leaves_secondaries: bool = True
    restored: MatchedReservation = _NOTHING

    def allocate(self) -> Allocated | DeviceReason:
        """The devices, or the first thing that keeps the pod from getting them."""
        instances = self.instances
        if isinstance(instances, DeviceReason):
            return instances
        found: Allocated = {}
        joint = self.pod.joint
        if joint is not None and joint.device_types and len(instances) > 1:
            together = self._together(joint.device_types, instances, is_same_pcie=joint.is_same_pcie)
            if isinstance(together, DeviceReason):
                return together
            found = together
        for device_type, (each, number) in instances.items():
            if device_type not in found:
                chosen = self._of_type(device_type, each, number)
                if isinstance(chosen, DeviceReason):
                    return chosen
                found[device_type] = chosen
        return found

    @cached_property
    def instances(self) -> dict[str, _Instances] | DeviceReason:
        """What is wanted of each type that is looked at, or why the node has nothing of the kind."""
        found: dict[str, _Instances] = {}
        for device_type in DEVICE_TYPES:
            if device_type not in self.pod.requests or self._is_left(device_type):
                continue
            wanted = self._instances_of(device_type)
            if isinstance(wanted, DeviceReason):
                return wanted
            found[device_type] = wanted
        for device_type in found:
            if self.pod.hint(device_type).function_selector is not None and not self._has_functions(device_type):
                return lacking(device_type, functions=True)
        return found

    def score(self, scorer: DeviceScorer) -> int:
        """How well the pod's devices go with the node: the sum over types."""
        instances = self.instances
        if isinstance(instances, DeviceReason):
            return 0
        views = ((each, self._view(device_type)) for device_type, (each, _) in instances.items() if not is_zero(each))
        return sum(scorer.node(each, view.total, view.free) for each, view in views if view.total)

    def _is_left(self, device_type: str) -> bool:
        primary = self.pod.primary
        if not primary or device_type == primary or not self.leaves_secondaries:
            return False
        return self.pod.gpu is not None and not self.pod.is_shared and self.state.hardware.has_planned_secondaries

    def _instances_of(self, device_type: str) -> _Instances | DeviceReason:
        total = self.state.total.get(device_type)
        if not total:
            return lacking(device_type)
        if device_type == GPU and self.pod.gpu is not None:
            return _Instances(self.pod.gpu.each, self.pod.gpu.number)
        requests = self.pod.requests[device_type]
        ((name, amount),) = requests.items()
        if amount > WHOLE and amount % WHOLE == 0:
            return _Instances({name: WHOLE}, amount // WHOLE)
        hint = self.pod.hint(device_type)
        if hint.applies_for_all:
            infos = self.state.hardware.infos.get(device_type, ())
            selector = hint.selector
            number = len(total) if selector is None else sum(selector.matches(info.labels) for info in infos)
            return _Instances(requests, number) if number else lacking(device_type)
        if hint.allocate_strategy == "RequestsAsCount":
            return _Instances({name: WHOLE if hint.exclusive_policy == "DeviceLevel" else 1}, amount)
        return _Instances(requests, 1)

    def _has_functions(self, device_type: str) -> bool:
        return any(info.function_groups for info in self.state.hardware.infos.get(device_type, ()))

    def _view(self, device_type: str) -> TypeView:
        restored = self.restored.devices.get(device_type) if self.restored.restricts else None
        return self.state.view(
            device_type,
            self.pod.hint(device_type).selector,
            reserved=restored,
            is_whole=not restored and not self.pod.has_selectors,
        )

    def _together(
        self, types: Sequence[str], instances: Mapping[str, _Instances], *, is_same_pcie: bool
    ) -> Allocated | DeviceReason:
        """Devices of `types`, the first of which leads."""
        primary = self._of_type(types[0], *instances[types[0]])
        if isinstance(primary, DeviceReason):
            return primary
        if not primary:
            return DeviceReason.NO_PRIMARY
        switches = self._switches(types[0], primary)
        found = {types[0]: primary}
        for device_type in types[1:]:
            each, number = instances[device_type]
            number = max(number, len(switches)) if is_same_pcie else number
            chosen = self._of_type(device_type, each, number, switches)
            if isinstance(chosen, DeviceReason):
                return chosen
            found[device_type] = chosen
        if is_same_pcie and any(self._switches(other, found[other]) != switches for other in types[1:]):
            return DeviceReason.JOINT_RULES
        return found

    def _switches(self, device_type: str, chosen: Chosen) -> frozenset[str]:
        found = (self.state.hardware.pcie_of(device_type, each.minor) for each in chosen)
        return frozenset(pcie for pcie in found if pcie is not None)

    def _of_type(
        self, device_type: str, each: Amounts, number: int, near: frozenset[str] = frozenset()
    ) -> Chosen | DeviceReason:
        """At least `number` devices, and one for each PCIe switch of `near` where there are as many."""
        most = max(number, len(near), 1)
        if device_type == GPU:
            return self._gpus(max(number, 1), most)
        return self._any(device_type, each, max(number, 1), most, near)

    def _gpus(self, number: int, most: int) -> Chosen | DeviceReason:
        names = None
        if self.pod.templates is not None:
            traits = self.state.hardware.traits
            names = self.pod.templates.get(f"{traits.vendor}-{traits.model}")
            if not names:
                return DeviceReason.NO_TEMPLATE
        if names is None or len(names) > 1:
            chosen = self._gpus_of_partition()
            return self._gpus_anywhere(number, most) if chosen is None else chosen
        chosen = self._gpus_anywhere(number, most)
        if isinstance(chosen, DeviceReason):
            return chosen
        return tuple(_with_template(each, names[0]) for each in chosen)

    def _gpus_of_partition(self) -> Chosen | DeviceReason | None:
        request = self.pod.gpu
        if request is None:
            return None
        minors = gpus_by_partition(request, self.pod.partition, self.state.hardware, self._view(GPU))
        return self._whole_gpus(minors) if isinstance(minors, tuple) else minors

    def _gpus_anywhere(self, number: int, most: int) -> Chosen | DeviceReason:
        request = self.pod.gpu
        assert request is not None  # noqa: S101 - GPUs are asked for
        scope = self.pod.hint(GPU).required_topology_scope
        minors = gpus_by_topology(request, scope, self.state, self._view(GPU), self.scorer)
        if minors is None:
            return self._any(GPU, request.each, number, most, frozenset())
        return self._whole_gpus(minors) if isinstance(minors, tuple) else minors

    def _whole_gpus(self, minors: Sequence[int]) -> Chosen:
        each = self.pod.gpu.each if self.pod.gpu is not None else {}
        return tuple(AllocatedDevice(minor, each) for minor in minors)

    def _any(
        self, device_type: str, each: Amounts, least: int, most: int, near: frozenset[str]
    ) -> Chosen | DeviceReason:
        """`least` to `most` devices with enough left, the best first."""
        view = self._view(device_type)
        required = self.restored.devices.get(device_type, {}) if self.restored.restricts else {}
        chosen: list[AllocatedDevice] = []
        for minor in self._order(device_type, each, view, near):
            free = view.free[minor]
            if (required and minor not in required) or is_zero(free) or not fits(each, free):
                continue
            functions = self._function(device_type, minor)
            if functions is not None:
                chosen.append(AllocatedDevice(minor, each, functions=functions))
                if len(chosen) == most:
                    break
        return tuple(chosen) if len(chosen) >= least else insufficient(device_type)

    def _order(self, device_type: str, each: Amounts, view: TypeView, near: frozenset[str]) -> list[int]:
        """Minors by preference: those that a reservation gives back, or that are `near`, then by score, then by minor.

        Of those that are near, the first of every switch comes before the second of any.
        """
        scores = dict.fromkeys(view.free, 0)
        if self.scorer is not None:
            scores = {minor: self.scorer.device(each, view.total[minor], view.free[minor]) for minor in view.free}
        order = sorted(view.free, key=lambda minor: (-scores[minor], minor))
        restored = self.restored.devices.get(device_type)
        if restored:
            return sorted(order, key=lambda minor: minor not in restored)
        if not near:
            return order
        rounds: dict[int, int] = {}
        num_seen: dict[str, int] = {}
        for minor in order:
            switch = self.state.hardware.pcie_of(device_type, minor)
            if switch is not None and switch in near:
                rounds[minor] = num_seen[switch] = num_seen.get(switch, -1) + 1
        return sorted(order, key=lambda minor: rounds.get(minor, len(order)))

    def _function(self, device_type: str, minor: int) -> tuple[VirtualFunction, ...] | None:
        """The virtual function of a device that is taken; empty where none is asked for, None where none is left."""
        selector = self.pod.hint(device_type).function_selector
        if selector is None:
            return ()
        groups = (
            group
            for info in self.state.hardware.infos.get(device_type, ())
            if info.minor == minor
            for group in info.function_groups
        )
        left = [
            function
            for group in groups
            if selector.matches(group.labels)
            for function in group.functions
            if (device_type, minor, function.bus_id) not in self.state.functions
        ]
        return (min(left, key=lambda function: function.bus_id),) if left else None


def _with_template(device: AllocatedDevice, name: str) -> AllocatedDevice:
    return AllocatedDevice(device.minor, device.resources, functions=device.functions, template=name)
