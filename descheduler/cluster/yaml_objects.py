"""YAML documents as JSON, so that objects take one way through the decoder whatever they are written in.

Scalars mean what `sigs.k8s.io/yaml` takes them for. Depth and aliases are bounded before anything is built from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec
import yaml

from descheduler.model.yaml_scalars import ScalarError, key_text, resolve_plain, resolve_tagged

__all__ = ["YamlError", "json_documents"]

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]

# The C parser is ten times faster; the two agree on everything but the wording of errors.
_LOADER: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH = 200
_MAX_ALIASED = 1_000_000


class _Mark(Protocol):
    """A place in the text, counted from 0; the C parser has a type of its own for it."""

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...


class YamlError(ValueError):
    """Text that is not YAML; `line` and `column` count from 1, and are 0 where no place is known."""

    def __init__(self, message: str, mark: _Mark | None) -> None:
        super().__init__(message)
        self.line = mark.line + 1 if mark else 0
        self.column = mark.column + 1 if mark else 0


def json_documents(text: bytes) -> Iterator[tuple[bytes, int]]:
    """Each document of `text` that is not empty, as JSON, and the line it starts on. Raises YamlError."""
    try:
        yield from _Reader(text).documents()
    except yaml.reader.ReaderError as error:
        raise YamlError("holds bytes or characters that YAML does not allow", None) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(_syntax_message(error, text), mark) from error


def _syntax_message(error: yaml.MarkedYAMLError, text: bytes) -> str:
    message = " ".join(part for part in (error.context, error.problem) if part)
    mark = error.problem_mark
    lines = text.split(b"\n", mark.line + 1) if mark else []
    line = lines[mark.line] if mark and mark.line < len(lines) else b""
    if b"\t" in line[: len(line) - len(line.lstrip())]:
        return f"not YAML: {message}; the line is indented with a tab, use spaces"
    return f"not YAML: {message}"


class _Reader:
    """Builds values from the parser's events. `_aliased` counts the values that aliases repeat."""

    def __init__(self, text: bytes) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=_LOADER)
        self._plain: dict[str, Value] = {}
        self._anchors: dict[str, tuple[Value, int]] = {}
        self._num_values = 0
        self._aliased = 0

    def documents(self) -> Iterator[tuple[bytes, int]]:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                first = next(self._events)
                self._anchors.clear()
                value = self._value(first, 0)
                if value is not None:
                    yield msgspec.json.encode(value), first.start_mark.line + 1 if first.start_mark else 1

    def _value(self, event: yaml.Event, depth: int) -> Value:
        if depth > _MAX_DEPTH:
            raise YamlError(f"is nested more than {_MAX_DEPTH} levels deep", event.start_mark)
        self._num_values += 1
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        before = self._num_values
        value: Value
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._list(depth)
        else:
            value = self._object(depth)
        if isinstance(event, yaml.NodeEvent) and event.anchor:
            self._anchors[event.anchor] = (value, 1 + self._num_values - before)
        return value

    def _alias(self, event: yaml.AliasEvent) -> Value:
        anchor = str(event.anchor)
        if anchor not in self._anchors:
            raise YamlError(f"alias *{anchor} has no anchor before it, or lies within it", event.start_mark)
        value, num_values = self._anchors[anchor]
        self._num_values += num_values
        self._aliased += num_values
        if self._aliased > _MAX_ALIASED:
            raise YamlError(f"repeats more than {_MAX_ALIASED} values by aliases", event.start_mark)
        return value

    def _list(self, depth: int) -> Value:
        items: list[Value] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, depth + 1))
        return items

    def _object(self, depth: int) -> Value:
        members: dict[str, Value] = {}
        merged: dict[str, Value] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._value(event, depth + 1)
            is_merge = isinstance(event, yaml.ScalarEvent) and event.value == "<<" and bool(event.implicit[0])
            value = self._value(next(self._events), depth + 1)
            if is_merge:
                merged |= _merged(value, event)
                continue
            name = key if isinstance(key, str) else None if isinstance(key, (list, dict)) else key_text(key)
            if name is None:
                raise YamlError("is used as a key; keys are strings", event.start_mark)
            members[name] = value
        return merged | members if merged else members

    def _scalar(self, event: yaml.ScalarEvent) -> Value:
        text = str(event.value)
        if event.tag is not None:
            try:
                return resolve_tagged(event.tag, text)
            except ScalarError as error:
                raise YamlError(str(error), event.start_mark) from error
        if not event.implicit[0]:
            return text
        try:
            return self._plain[text]
        except KeyError:
            value = self._plain[text] = resolve_plain(text)
            return value


def _merged(value: Value, event: yaml.Event) -> dict[str, Value]:
    """Members that a `<<` key brings in; of a list of objects the earlier ones win."""
    sources = value if isinstance(value, list) else [value]
    members: dict[str, Value] = {}
    for source in reversed(sources):
        if not isinstance(source, dict):
            raise YamlError("'<<' merges objects, or a list of objects", event.start_mark)
        members |= source
    return members
