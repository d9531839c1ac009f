"""Constraints over the attributes of the devices of one claim, while devices are added and given back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from descheduler.model.quantity import NANO, ceil_value
from descheduler.model.resource_claims import Attribute, AttributeConstraint, CapacityPolicy, DeviceCapacity
from descheduler.placement.plugins.dynamic_resources.pools import PoolDevice
from descheduler.placement.plugins.dynamic_resources.requests import AskedDevices


def consumption(capacity: Mapping[str, DeviceCapacity], requested: Mapping[str, int]) -> dict[str, int] | None:
    """What an allocation with these requests consumes of each capacity; None where the device refuses them."""
    if not requested.keys() <= capacity.keys():
        return None
    found = {name: _consumed(each, requested.get(name)) for name, each in capacity.items()}
    amounts = {name: amount for name, amount in found.items() if amount is not None}
    if len(amounts) < len(found):
        return None
    is_possible = all(0 <= amounts[name] <= each.value for name, each in capacity.items())
    return amounts if is_possible else None


def _consumed(capacity: DeviceCapacity, requested: int | None) -> int | None:
    policy = capacity.policy
    if requested is None:
        return capacity.value if policy is None or policy.default is None else policy.default
    if policy is None:
        return requested
    rounded = _rounded(policy, requested)
    return rounded if rounded == policy.default or _is_valid(policy, rounded) else None


def _rounded(policy: CapacityPolicy, requested: int) -> int:
    """What is requested, up to the next amount that the policy allows."""
    if policy.range_min is not None:
        if requested <= policy.range_min:
            return policy.range_min
        if policy.range_step is None or policy.range_step <= 0:
            return requested
        # Steps are counted in whole units.
        start, step = ceil_value(policy.range_min), ceil_value(policy.range_step)
        num_steps = -(-(ceil_value(requested) - start) // step)
        return (start + num_steps * step) * NANO
    return min((value for value in policy.valid_values if value >= requested), default=requested)


def _is_valid(policy: CapacityPolicy, amount: int) -> bool:
    if policy.range_max is not None and amount > policy.range_max:
        return False
    return policy.range_min is not None or not policy.valid_values or amount in policy.valid_values


_Value: TypeAlias = "tuple[type[Attribute], Attribute]"


class Constraint(Protocol):
    """One constraint, and the devices that it has seen so far."""

    def add(self, asked: AskedDevices, device: PoolDevice) -> bool:
        """Whether a device may be taken; it is then counted."""

    def remove(self, asked: AskedDevices, device: PoolDevice) -> None:
        """The inverse of `add`, for the device that was added last."""


def make_constraint(stated: AttributeConstraint, *, keeps_all_values: bool) -> Constraint:
    """A constraint that has seen no device."""
    if not stated.is_distinct:
        return _Matching(stated)
    return _Distinct(stated) if keeps_all_values else _DistinctByRequest(stated)


def attribute_of(name: str, device: PoolDevice) -> _Value | None:
    """The type and value of an attribute; the driver's own is found without its domain as well."""
    attributes = device.body.attributes
    value = attributes.get(name)
    if value is None:
        domain, _, identifier = name.partition("/")
        value = attributes.get(identifier) if domain == device.id.driver else None
    return None if value is None else (type(value), value)


class _Stated:
    def __init__(self, stated: AttributeConstraint) -> None:
        self._stated = stated

    def _concerns(self, asked: AskedDevices) -> bool:
        return self._stated.concerns(asked.request, asked.alternative)

    def _value(self, device: PoolDevice) -> _Value | None:
        return attribute_of(self._stated.attribute, device)


class _Matching(_Stated):
    """`matchAttribute`: the first device fixes the value."""

    def __init__(self, stated: AttributeConstraint) -> None:
        super().__init__(stated)
        self._fixed: _Value | None = None
        self._num_devices = 0

    def add(self, asked: AskedDevices, device: PoolDevice) -> bool:
        if not self._concerns(asked):
            return True
        value = self._value(device)
        if value is None or (self._num_devices and value != self._fixed):
            return False
        self._fixed = value
        self._num_devices += 1
        return True

    def remove(self, asked: AskedDevices, device: PoolDevice) -> None:
        self._num_devices -= self._concerns(asked)


class _Distinct(_Stated):
    """`distinctAttribute`: no value twice."""

    def __init__(self, stated: AttributeConstraint) -> None:
        super().__init__(stated)
        self._values: set[_Value] = set()

    def add(self, asked: AskedDevices, device: PoolDevice) -> bool:
        if not self._concerns(asked):
            return True
        value = self._value(device)
        if value is None or value in self._values:
            return False
        self._values.add(value)
        return True

    def remove(self, asked: AskedDevices, device: PoolDevice) -> None:
        value = self._value(device)
        if self._concerns(asked) and value is not None:
            self._values.discard(value)


class _DistinctByRequest(_Stated):
    """The same as kube-scheduler 1.36 has it: of each request the value of its last device alone is remembered."""

    def __init__(self, stated: AttributeConstraint) -> None:
        super().__init__(stated)
        self._values: dict[str, _Value] = {}

    def add(self, asked: AskedDevices, device: PoolDevice) -> bool:
        if not self._concerns(asked):
            return True
        value = self._value(device)
        if value is None or value in self._values.values():
            return False
        self._values[asked.request] = value
        return True

    def remove(self, asked: AskedDevices, device: PoolDevice) -> None:
        if self._concerns(asked):
            self._values.pop(asked.request, None)
