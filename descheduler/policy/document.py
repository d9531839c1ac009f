"""A policy document as a tree of values that know where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_NODES",
    "Document",
    "DocumentError",
    "Mark",
    "Member",
    "Node",
    "Value",
    "find",
    "kind_of",
    "measured",
    "to_plain",
]

MAX_BYTES = 4 * 1024 * 1024
"""Largest document read; a real policy has a few kilobytes."""
MAX_DEPTH = 100
"""Deepest nesting of lists and objects."""
MAX_NODES = 200_000
"""Most values in a document, those behind aliases counted each time they are used."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a text; both count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One entry of an object: where its key stands, and its value."""

    key_mark: Mark | None
    node: Node


Value: TypeAlias = "bool | int | float | str | tuple[Node, ...] | Mapping[str, Member] | None"


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One value. Aliases of YAML share nodes."""

    value: Value
    mark: Mark | None = None
    duplicates: tuple[tuple[str, Mark | None], ...] = ()
    """Keys of an object that occur again, with the place of the later one, whose value counts."""
    size: int = 1
    """Values in this tree, this one included, as if every alias were written out."""
    height: int = 0
    """Levels of lists and objects below this one."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document that could be parsed."""

    path: str
    root: Node
    form: Literal["yaml", "json", "object"]
    notes: tuple[tuple[Mark | None, str], ...] = ()
    """Remarks of the parser that become warnings."""


class DocumentError(ValueError):
    """Text that is no document; the message stands alone, without the place."""

    def __init__(self, message: str, mark: Mark | None = None) -> None:
        super().__init__(message)
        self.mark = mark


def kind_of(node: Node) -> str:
    """What a reader calls the value: `a string`, `a list`, `an object` and so on."""
    match node.value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case tuple():
            return "a list"
        case _:
            return "an object"


def find(node: Node, path: tuple[str | int, ...]) -> Node:
    """The node at `path` below `node`, or the nearest one above it when the document says nothing there."""
    for step in path:
        if isinstance(step, str) and isinstance(node.value, Mapping) and step in node.value:
            node = node.value[step].node
        elif isinstance(step, int) and isinstance(node.value, tuple) and step < len(node.value):
            node = node.value[step]
        else:
            break
    return node


def to_plain(node: Node) -> object:
    """`node` as plain dicts, lists and scalars."""
    if isinstance(node.value, tuple):
        return [to_plain(item) for item in node.value]
    if isinstance(node.value, Mapping):
        return {key: to_plain(member.node) for key, member in node.value.items()}
    return node.value


def measured(children: Iterator[Node], mark: Mark | None) -> tuple[int, int]:
    """Size and height of a list or object with these children. Raises DocumentError when it grows beyond the limits."""
    size, height = 1, 0
    for child in children:
        size += child.size
        height = max(height, child.height + 1)
    if size > MAX_NODES:
        raise DocumentError(f"holds more than {MAX_NODES} values, aliases written out; no policy needs that", mark)
    if height > MAX_DEPTH:
        raise DocumentError(f"is nested more than {MAX_DEPTH} levels deep", mark)
    return size, height
