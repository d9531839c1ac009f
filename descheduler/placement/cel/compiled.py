"""Compiled nodes, and what their types allow."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from descheduler.placement.cel.errors import InvalidExpression, Unsupported
from descheduler.placement.cel.frame import Evaluation
from descheduler.placement.cel.static_types import ANY, BOOL, DYN, INT, QUANTITY, STRING, Type, fits, map_of
from descheduler.placement.cel.syntax import Node, Select

__all__ = ["Compiled", "NodeCompiler", "device_field", "part_type", "require"]

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
