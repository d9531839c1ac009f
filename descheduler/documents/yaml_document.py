"""YAML text to a tree of values with their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import yaml

from descheduler.documents.document import MAX_DEPTH, MAX_NODES, Document, DocumentError, Mark, Member, TreeNode, Value
from descheduler.documents.yaml_builder import YamlBuilder, YamlLimits, mark_of, syntax_message
from descheduler.documents.yaml_scalars import Scalar

_Read = TypeVar("_Read")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LIMITS = YamlLimits(
    depth=MAX_DEPTH,
    values=MAX_NODES,
    repeated=MAX_NODES,
    kept=MAX_NODES,
    too_many=f"holds more than {MAX_NODES} values, those of aliases included; no policy needs that",
)


def parse_yaml(text: str, path: str) -> Document:
    """The first document of `text`; further ones are noted and not read. Raises DocumentError with the place."""
    return _parsed(text, lambda tree: tree.document(path))


def parse_yaml_documents(text: str) -> tuple[TreeNode, ...]:
    """All documents of `text`. Raises DocumentError with the place."""
    return _parsed(text, lambda tree: tuple(tree.roots()))


def _parsed(text: str, read: Callable[[_Tree], _Read]) -> _Read:
    if forbidden := _FORBIDDEN.search(text):
        line_start = text.rfind("\n", 0, forbidden.start()) + 1
        mark = Mark(text.count("\n", 0, line_start) + 1, forbidden.start() - line_start + 1)
        raise DocumentError(f"holds the character {forbidden[0]!a}, which YAML does not allow", mark)
    try:
        return read(_Tree(text, _LIMITS))
    except yaml.MarkedYAMLError as error:
        stop = error.problem_mark or error.context_mark
        place = Mark(stop.line + 1, stop.column + 1) if stop else None
        raise DocumentError(syntax_message(error, _faulty_line(error, text)), place) from error


def _faulty_line(error: yaml.MarkedYAMLError, text: str) -> str:
    lines = text.splitlines()
    mark = error.problem_mark
    return lines[mark.line] if mark and mark.line < len(lines) else ""


class _Tree(YamlBuilder[TreeNode, Member]):
    """Builds nodes; aliases share them."""

    _flow_level = 0

    def document(self, path: str) -> Document:
        """The first document, with what is to be noted about the rest."""
        for root in self.roots():
            return Document(path, root, "yaml", self._rest())
        return Document(path, TreeNode(None), "yaml")

    def roots(self) -> Iterator[TreeNode]:
        """The documents, one after another."""
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.start_document()
                root = self.value(next(self.events), 0)
                next(self.events)
                yield root

    def _rest(self) -> tuple[tuple[Mark | None, str], ...]:
        try:
            event = next(self.events)
        except yaml.YAMLError:
            return ((None, "only the first document is read; what follows it is not YAML"),)
        if isinstance(event, yaml.StreamEndEvent):
            return ()
        return ((mark_of(event), "another document begins here; only the first one of a file is read"),)

    def value(self, event: yaml.Event, depth: int) -> TreeNode:
        """As in the base; knows in how many brackets it is."""
        is_flow = isinstance(event, yaml.CollectionStartEvent) and bool(event.flow_style)
        self._flow_level += is_flow
        node = super().value(event, depth)
        self._flow_level -= is_flow
        return node

    def make_scalar(self, value: Scalar, event: yaml.ScalarEvent) -> TreeNode:
        """A node without children. Raises DocumentError for what Go's reader and ours would read differently."""
        if self._flow_level and not event.style and "?" in event.value[1:]:
            raise DocumentError("holds a '?' within brackets, where YAML 1.1 begins a key; quote it", mark_of(event))
        return TreeNode(value, mark_of(event))

    def make_list(self, items: list[TreeNode], start: yaml.Event) -> TreeNode:
        """A node with items."""
        return TreeNode(tuple(items), mark_of(start))

    def make_member(self, key: yaml.Event, value: TreeNode) -> Member:
        """A member with the place of its key."""
        return Member(mark_of(key), value)

    def make_object(
        self, members: dict[str, Member], duplicates: Sequence[tuple[str, yaml.Event]], start: yaml.Event
    ) -> TreeNode:
        """A node with members, and the places of keys that occur again."""
        return TreeNode(members, mark_of(start), tuple((key, mark_of(event)) for key, event in duplicates))

    def content(self, value: TreeNode) -> Value:
        """The value of the node."""
        return value.value
