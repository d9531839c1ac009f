"""What an expression is evaluated on: a device, the variables of its macros, and the steps left; and compiled nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from descheduler.placement.cel.errors import InvalidExpression, Unsupported
from descheduler.placement.cel.static_types import ANY, BOOL, DYN, INT, QUANTITY, STRING, Type, fits, map_of
from descheduler.placement.cel.syntax import Node, Select
from descheduler.placement.cel.values import DomainMap, Quantity, Value, Version

__all__ = [
    "MOST_STEPS",
    "CelDevice",
    "Compiled",
    "Evaluation",
    "Frame",
    "NodeCompiler",
    "device_field",
    "part_type",
    "require",
]

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


_FIELDS: Mapping[str, tuple[Type, str]] = {
    "driver": (STRING, "driver"),
    "allowMultipleAllocations": (BOOL, "allow_multiple_allocations"),
    "attributes": (map_of(STRING, map_of(STRING, ANY)), "attributes"),
    "capacity": (map_of(STRING, map_of(STRING, QUANTITY)), "capacity"),
}


class Compiled(NamedTuple):
    """A node: the type it is known to have, and how its value is found."""

    type: Type
    run: Evaluation


class NodeCompiler(Protocol):
    """What macros need of the compiler."""

    num_nodes: int

    def compile(self, node: Node) -> Compiled:
        """The node as a function. Raises InvalidExpression and Unsupported."""
        ...

    def variable(self, name: str, kind: Type, *, may_fail: bool = False) -> AbstractContextManager[int]:
        """The place of a variable that is in scope inside of the block; `may_fail`: an error may be its value."""
        ...


def require(compiled: Compiled, kind: Type, at: int) -> None:
    """Raises InvalidExpression when a node is known to be of another type than `kind`."""
    if not fits(compiled.type, kind, {}):
        raise InvalidExpression(f"expected {kind}, found {compiled.type} at position {at + 1}")


def device_field(node: Select) -> tuple[Type, str]:
    """The type of a field of the device, and the attribute of `CelDevice` that holds it."""
    found = _FIELDS.get(node.field)
    if found is None:
        raise Unsupported(f"device.{node.field} at position {node.at + 1}")
    return found


def part_type(whole: Type, key: Type, at: int) -> Type:
    """What a map with values of any type, or of a known one, holds under a key of type `key`."""
    if whole.is_dynamic:
        return DYN
    if whole.name == "map" and fits(key, whole.parts[0], {}):
        return whole.parts[1]
    if whole.name == "list" and key != STRING and fits(key, INT, {}):
        return whole.parts[0]
    raise InvalidExpression(f"{whole} has no part that {key} names at position {at + 1}")
