"""YAML text to a tree of marked values, in bounded time and memory, and without constructing any Python object.

The tree is built from the parser's events, so nesting, aliases and size are checked before anything recursive sees
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import yaml

from descheduler.model.yaml_scalars import ScalarError, key_text, resolve_plain, resolve_tagged
from descheduler.policy.document import MAX_DEPTH, MAX_NODES, Document, DocumentError, Mark, Member, Node, measured

__all__ = ["parse_yaml"]

# The C parser is ten times faster; the two agree on everything but the wording of errors.
_LOADER: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parse_yaml(text: str, path: str) -> Document:
    """The first document of `text`; further ones are noted and not read. Raises DocumentError with the place."""
    if forbidden := _FORBIDDEN.search(text):
        line_start = text.rfind("\n", 0, forbidden.start()) + 1
        mark = Mark(text.count("\n", 0, line_start) + 1, forbidden.start() - line_start + 1)
        raise DocumentError(f"holds the character {forbidden[0]!a}, which YAML does not allow", mark)
    try:
        return _Builder(text).document(path)
    except yaml.MarkedYAMLError as error:
        stop = error.problem_mark or error.context_mark
        place = Mark(stop.line + 1, stop.column + 1) if stop else None
        raise DocumentError(_syntax_message(error, text), place) from error


def _syntax_message(error: yaml.MarkedYAMLError, text: str) -> str:
    message = " ".join(part for part in (error.context, error.problem) if part)
    mark = error.problem_mark
    lines = text.splitlines()
    line = lines[mark.line] if mark and mark.line < len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return f"not YAML: {message}; the line is indented with a tab, use spaces"
    return f"not YAML: {message}"


def _mark(event: yaml.Event) -> Mark:
    mark = event.start_mark
    return Mark(mark.line + 1, mark.column + 1) if mark else Mark(1, 1)


class _Builder:
    """Builds one tree. `_nodes` counts events, so that time and memory are bounded before sizes are known."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=_LOADER)
        self._anchors: dict[str, Node] = {}
        self._nodes = 0
        self._flow_level = 0

    def document(self, path: str) -> Document:
        root = Node(None)
        notes: tuple[tuple[Mark | None, str], ...] = ()
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                root = self._node(next(self._events), 0)
                next(self._events)
                notes = self._rest()
                break
        return Document(path, root, "yaml", notes)

    def _rest(self) -> tuple[tuple[Mark | None, str], ...]:
        try:
            event = next(self._events)
        except yaml.YAMLError:
            return ((None, "only the first document is read; what follows it is not YAML"),)
        if isinstance(event, yaml.StreamEndEvent):
            return ()
        return ((_mark(event), "another document begins here; only the first one of a file is read"),)

    def _node(self, event: yaml.Event, depth: int) -> Node:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise DocumentError(f"holds more than {MAX_NODES} values; no policy needs that", _mark(event))
        if depth > MAX_DEPTH:
            raise DocumentError(f"is nested more than {MAX_DEPTH} levels deep", _mark(event))
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if isinstance(event, yaml.ScalarEvent):
            if self._flow_level and not event.style and "?" in event.value[1:]:
                raise DocumentError("holds a '?' within brackets, where YAML 1.1 begins a key; quote it", _mark(event))
            node = _scalar(event)
        else:
            is_flow = isinstance(event, yaml.CollectionStartEvent) and bool(event.flow_style)
            self._flow_level += is_flow
            node = (
                self._list(event, depth) if isinstance(event, yaml.SequenceStartEvent) else self._object(event, depth)
            )
            self._flow_level -= is_flow
        if isinstance(event, yaml.NodeEvent) and event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: yaml.AliasEvent) -> Node:
        anchor = event.anchor
        if anchor is None or anchor not in self._anchors:
            raise DocumentError(f"alias *{anchor} has no anchor before it, or lies within it", _mark(event))
        return self._anchors[anchor]

    def _list(self, start: yaml.Event, depth: int) -> Node:
        items = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        size, height = measured(iter(items), _mark(start))
        return Node(tuple(items), _mark(start), size=size, height=height)

    def _object(self, start: yaml.Event, depth: int) -> Node:
        members: dict[str, Member] = {}
        duplicates = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key_node, merges = self._node(event, depth + 1), _is_merge(event)
            node = self._node(next(self._events), depth + 1)
            if merges:
                members.update(_merged(node, _mark(event)))
                continue
            key = None if isinstance(key_node.value, (tuple, Mapping)) else key_text(key_node.value)
            if key is None:
                raise DocumentError("is used as a key; keys are strings", _mark(event))
            if key in members:
                duplicates.append((key, _mark(event)))
            members[key] = Member(_mark(event), node)
        size, height = measured((member.node for member in members.values()), _mark(start))
        return Node(members, _mark(start), tuple(duplicates), size, height)


def _scalar(event: yaml.ScalarEvent) -> Node:
    tag: str | None = event.tag
    plain, text = bool(event.implicit[0]), str(event.value)
    try:
        if tag is not None:
            value = resolve_tagged(tag, text)
        else:
            value = resolve_plain(text) if plain else text
    except ScalarError as error:
        raise DocumentError(str(error), _mark(event)) from error
    return Node(value, _mark(event))


def _is_merge(event: yaml.Event) -> bool:
    return isinstance(event, yaml.ScalarEvent) and event.value == "<<" and bool(event.implicit[0])


def _merged(node: Node, mark: Mark) -> dict[str, Member]:
    """Members that a `<<` key brings in; of a list of objects the earlier ones win."""
    if isinstance(node.value, dict):
        return node.value
    if isinstance(node.value, tuple):
        objects = [item.value for item in node.value if isinstance(item.value, dict)]
        if len(objects) == len(node.value):
            return {key: member for members in reversed(objects) for key, member in members.items()}
    raise DocumentError("'<<' merges objects, or a list of objects", mark)
