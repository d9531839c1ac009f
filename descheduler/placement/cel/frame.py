"""What an expression is evaluated on: one device, the variables of its macros, and the steps that are left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from descheduler.placement.cel.errors import Unsupported
from descheduler.placement.cel.values import DomainMap, Quantity, Value, Version

__all__ = ["MOST_STEPS", "CelDevice", "Evaluation", "Frame"]

MOST_STEPS = 20_000
"""Nodes that one evaluation visits within macros. The API server's limit is a cost of 1,000,000 units."""


@dataclass(frozen=True, slots=True)
class CelDevice:
    """A device as its slice publishes it; plain names of attributes and capacities belong to the driver's domain."""

    driver: str
    attributes: DomainMap[str | int | bool | Version]
    capacity: DomainMap[Quantity]
    allow_multiple_allocations: bool = False

    @classmethod
    def of(
        cls,
        driver: str,
        attributes: Mapping[str, str | int | bool | Version],
        capacity: Mapping[str, Quantity],
        *,
        allow_multiple_allocations: bool = False,
    ) -> CelDevice:
        """The device whose attributes and capacities have these names, `domain/id` or `id`."""
        return cls(driver, _by_domain(driver, attributes), _by_domain(driver, capacity), allow_multiple_allocations)


def _by_domain(driver: str, named: Mapping[str, Value]) -> DomainMap[Value]:
    domains: DomainMap[Value] = DomainMap()
    for name, value in named.items():
        domain, slash, identifier = name.partition("/")
        domains.setdefault(*((domain, {}) if slash else (driver, {})))[identifier if slash else name] = value
    return domains


class Frame:
    """The state of one evaluation."""

    __slots__ = ("device", "left", "variables")

    def __init__(self, device: CelDevice, num_variables: int) -> None:
        self.device = device
        self.variables: list[Value] = [None] * num_variables
        self.left = MOST_STEPS

    def spend(self, steps: int) -> None:
        """Counts `steps`. Raises Unsupported when there are more than `MOST_STEPS`."""
        self.left -= steps
        if self.left < 0:
            raise Unsupported(f"an evaluation of more than {MOST_STEPS:,} steps")


Evaluation: TypeAlias = Callable[[Frame], Value]
"""A node of an expression, ready to run."""
