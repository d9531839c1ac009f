"""A document as a tree of values that know where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

MAX_BYTES = 4 * 1024 * 1024
"""Largest document read; a real policy has a few kilobytes."""
MAX_DEPTH = 100
"""Deepest nesting of lists and objects."""
MAX_NODES = 200_000
"""Most values in a document, those behind aliases counted each time they are used."""


class Mark(msgspec.Struct, frozen=True):
    """A place in a text; both count from 1."""

    line: int
    column: int


class Member(msgspec.Struct, frozen=True, eq=False):
    """One entry of an object: where its key stands, and its value."""

    key_mark: Mark | None
    node: TreeNode
    earlier: tuple[TreeNode, ...] = ()
    """What a JSON text says under the same key before; YAML forgets it on the way to JSON."""


Value: TypeAlias = "bool | int | float | str | tuple[TreeNode, ...] | Mapping[str, Member] | None"


class TreeNode(msgspec.Struct, frozen=True, eq=False):
    """One value. Aliases of YAML share nodes."""

    value: Value
    mark: Mark | None = None
    duplicates: tuple[tuple[str, Mark | None], ...] = ()
    """Keys of an object that occur again, with the place of the later one, whose value counts."""


class Document(msgspec.Struct, frozen=True):
    """A document that could be parsed."""

    path: str
    root: TreeNode
    form: Literal["yaml", "json", "object", "lines"]
    notes: tuple[tuple[Mark | None, str], ...] = ()
    """Remarks of the parser that become warnings."""


class DocumentError(ValueError):
    """Text that is no document; the message stands alone, without the place."""

    def __init__(self, message: str, mark: Mark | None = None) -> None:
        super().__init__(message)
        self.mark = mark


def kind_of(node: TreeNode) -> str:
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


def find(node: TreeNode, path: tuple[str | int, ...]) -> TreeNode:
    """The node at `path` below `node`, or the nearest one above it when the document says nothing there."""
    for step in path:
        if isinstance(step, str) and isinstance(node.value, Mapping) and step in node.value:
            node = node.value[step].node
        elif isinstance(step, int) and isinstance(node.value, tuple) and step < len(node.value):
            node = node.value[step]
        else:
            break
    return node


def laid_over(under: TreeNode, over: TreeNode) -> TreeNode:
    """`over` with what it leaves open taken from `under`, as Go decodes into a value that is already filled.

    Objects share their members and lists their items, as far as `over` goes; null says nothing. Members that both have
    are kept apart, for the decoder to lay over each other in turn.
    """
    if over.value is None:
        return under
    if isinstance(under.value, tuple) and isinstance(over.value, tuple):
        items = [laid_over(*pair) for pair in zip(under.value, over.value, strict=False)]
        return replace(over, value=(*items, *over.value[len(items) :]))
    if isinstance(under.value, Mapping) and isinstance(over.value, Mapping):
        members = dict(under.value)
        for key, member in over.value.items():
            before = members.get(key)
            earlier = (*before.earlier, before.node, *member.earlier) if before else member.earlier
            members[key] = replace(member, earlier=earlier)
        return replace(over, value=members)
    return over


def member_node(node: TreeNode, key: str) -> TreeNode:
    """What the object `node` holds at `key`; null when there is nothing."""
    member = node.value.get(key) if isinstance(node.value, Mapping) else None
    return member.node if member else TreeNode(None)


def items_of(node: TreeNode) -> tuple[TreeNode, ...]:
    """The items of a list; none of anything else."""
    return node.value if isinstance(node.value, tuple) else ()


def member_text(node: TreeNode, key: str) -> str:
    """The string that the object `node` holds at `key`; empty when there is none."""
    value = member_node(node, key).value
    return value if isinstance(value, str) else ""


def to_plain(node: TreeNode) -> object:
    """`node` as plain dicts, lists and scalars."""
    if isinstance(node.value, tuple):
        return [to_plain(item) for item in node.value]
    if isinstance(node.value, Mapping):
        return {key: to_plain(member.node) for key, member in node.value.items()}
    return node.value
