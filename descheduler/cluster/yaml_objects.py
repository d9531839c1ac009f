"""Values of YAML documents, built from the parser's events.

Scalars mean what `sigs.k8s.io/yaml` takes them for. Depth, aliases and anchors are bounded before anything is built.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import yaml

from descheduler.model.yaml_scalars import ScalarError, key_text, resolve_plain, resolve_tagged

__all__ = ["ByteStream", "Value", "YamlError", "YamlReader", "merged_into"]

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]

# The C parser is ten times faster; the two agree on everything but the wording of errors.
_LOADER: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH = 200
_MAX_VALUES = 1_000_000
"""Of one object; those of Kubernetes hold thousands."""
_MAX_ALIASED = 1_000_000
_MAX_KEPT = 1_000_000
_MAX_CACHED = 10_000
_MAX_CACHED_LENGTH = 64


class ByteStream(Protocol):
    """What the parser reads from."""

    def read(self, size: int = ..., /) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        ...


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


class YamlReader:
    """Takes `events` from the parser and builds values from them.

    `_num_values` counts the values of the present object, `_num_aliased` those that aliases repeat anywhere, and
    `_num_kept` those that anchors keep in memory.
    """

    def __init__(self, stream: ByteStream) -> None:
        self.events: Iterator[yaml.Event] = yaml.parse(stream, Loader=_LOADER)
        self._plain: dict[str, Value] = {}
        self._anchors: dict[str, tuple[Value, int]] = {}
        self._num_values = 0
        self._num_aliased = 0
        self._num_kept = 0

    def start_document(self) -> None:
        """Forgets the anchors, which no other document can name."""
        self._anchors.clear()
        self._num_kept = 0

    def start_object(self) -> None:
        """Begins to count values anew."""
        self._num_values = 0

    def value(self, event: yaml.Event, depth: int) -> Value:
        """The value that `event` begins, `depth` levels deep in its document. Raises YamlError."""
        if depth > _MAX_DEPTH:
            raise YamlError(f"is nested more than {_MAX_DEPTH} levels deep", event.start_mark)
        self._num_values += 1
        if self._num_values > _MAX_VALUES:
            raise YamlError(f"one object holds more than {_MAX_VALUES} values", event.start_mark)
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
            self._keep(event, value, 1 + self._num_values - before)
        return value

    def key(self, event: yaml.Event, depth: int) -> str | None:
        """The key that `event` begins; None for `<<`, which merges what follows it. Raises YamlError."""
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
            return None
        key = self.value(event, depth)
        name = None if isinstance(key, (list, dict)) else key_text(key)
        if name is None:
            raise YamlError("is used as a key; keys are strings", event.start_mark)
        return name

    def _keep(self, event: yaml.NodeEvent, value: Value, num_values: int) -> None:
        self._anchors[str(event.anchor)] = (value, num_values)
        self._num_kept += num_values
        if self._num_kept > _MAX_KEPT:
            raise YamlError(f"holds more than {_MAX_KEPT} values with anchors", event.start_mark)

    def _alias(self, event: yaml.AliasEvent) -> Value:
        anchor = str(event.anchor)
        if anchor not in self._anchors:
            raise YamlError(f"alias *{anchor} has no anchor before it, or lies within it", event.start_mark)
        value, num_values = self._anchors[anchor]
        self._num_values += num_values
        self._num_aliased += num_values
        if self._num_aliased > _MAX_ALIASED:
            raise YamlError(f"repeats more than {_MAX_ALIASED} values by aliases", event.start_mark)
        return value

    def _list(self, depth: int) -> Value:
        items: list[Value] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.value(event, depth + 1))
        return items

    def _object(self, depth: int) -> Value:
        members: dict[str, Value] = {}
        merged: dict[str, Value] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.key(event, depth + 1)
            value = self.value(next(self.events), depth + 1)
            if key is None:
                merged_into(merged, value, event)
            else:
                members[key] = value
        return merged | members if merged else members

    def _scalar(self, event: yaml.ScalarEvent) -> Value:
        text = str(event.value)
        if event.tag is not None:
            try:
                return resolve_tagged(event.tag, text)
            except ScalarError as error:
                raise YamlError(str(error), event.start_mark) from error
        if not event.implicit[0] or len(text) > _MAX_CACHED_LENGTH:
            return resolve_plain(text) if event.implicit[0] else text
        try:
            return self._plain[text]
        except KeyError:
            if len(self._plain) == _MAX_CACHED:
                self._plain.clear()
            value = self._plain[text] = resolve_plain(text)
            return value


def merged_into(merged: dict[str, Value], value: Value, event: yaml.Event) -> None:
    """Adds the members that a `<<` key at `event` brings in; of a list of objects the earlier ones win.

    Raises YamlError.
    """
    sources = value if isinstance(value, list) else [value]
    for source in reversed(sources):
        if not isinstance(source, dict):
            raise YamlError("'<<' merges objects, or a list of objects", event.start_mark)
        merged |= source
