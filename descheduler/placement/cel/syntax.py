"""The syntax tree of an expression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Call", "Conditional", "Identifier", "ListOf", "Literal", "Logical", "MapOf", "Node", "Select"]


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    at: int
    value: str | int | float | bool | None
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name."""

    at: int
    name: str
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`, or `operand.?field` when it is `optional`."""

    at: int
    operand: Node
    field: str
    optional: bool
    depth: int


@dataclass(frozen=True, slots=True)
class Call:
    """`name(arguments)` or `target.name(arguments)`; operators are called by their sign, `[?]` is an optional index."""

    at: int
    name: str
    target: Node | None
    arguments: Sequence[Node]
    depth: int

    @property
    def operands(self) -> Sequence[Node]:
        """The target, if there is one, and the arguments."""
        return self.arguments if self.target is None else (self.target, *self.arguments)


@dataclass(frozen=True, slots=True)
class Logical:
    """Operands joined by one of `&&` and `||`."""

    at: int
    sign: str
    operands: Sequence[Node]
    depth: int


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? chosen : other`."""

    at: int
    condition: Node
    chosen: Node
    other: Node
    depth: int


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list literal."""

    at: int
    elements: Sequence[Node]
    depth: int


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map literal."""

    at: int
    entries: Sequence[tuple[Node, Node]]
    depth: int


Node: TypeAlias = Literal | Identifier | Select | Call | Logical | Conditional | ListOf | MapOf
