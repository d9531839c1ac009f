"""How much of a device's capacity one allocation consumes (`requestPolicy`)."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.model.quantity import NANO, ceil_value
from descheduler.model.resource_claims import CapacityPolicy, DeviceCapacity

__all__ = ["consumption"]


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
