"""The one walk over the events of a YAML parser; what becomes of them is for derived classes to say.

Values are built from events, and no Python object is constructed from a tag. Nesting, aliases and numbers of values are
checked before anything recursive sees them. Scalars and merges mean what `sigs.k8s.io/yaml` takes them for. Plain
values of documents of any length are built an object at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec
import yaml

from descheduler.documents.document import DocumentError, Mark
from descheduler.documents.yaml_scalars import Scalar, ScalarError, key_text, resolve_plain, resolve_tagged

ValueT = TypeVar("ValueT")
MemberT = TypeVar("MemberT")
# The C parser is ten times faster; the two agree on everything but the wording of errors.
_LOADER: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_CACHED = 10_000
_MAX_CACHED_LENGTH = 64


class ByteStream(Protocol):
    """What a parser reads from."""

    def read(self, size: int = ..., /) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        ...


class YamlLimits(msgspec.Struct, frozen=True):
    """What a text may ask for, so that time and memory are bounded."""

    depth: int
    """Levels of lists and objects, those behind aliases included."""
    values: int
    """Values of one object, those behind aliases counted each time."""
    repeated: int
    """Values that aliases repeat in the whole text."""
    kept: int
    """Values that the anchors of one document keep in memory."""
    too_many: str
    """What is said of an object beyond `values`."""


class _Anchored(msgspec.Struct, Generic[ValueT], frozen=True):
    value: ValueT
    num_values: int
    height: int
    """Levels of lists and objects below the value."""


class YamlBuilder(ABC, Generic[ValueT, MemberT]):
    """Takes `events` from the parser and builds values from them, objects of members.

    `_num_values` counts the values of the present object, `_num_repeated` those that aliases repeat anywhere, and
    `_num_kept` those that anchors keep in memory. `_deepest` is the deepest level since it was last set.
    """

    def __init__(self, source: str | ByteStream, limits: YamlLimits) -> None:
        self.events: Iterator[yaml.Event] = yaml.parse(source, Loader=_LOADER)
        self._limits = limits
        self._plain: dict[str, Scalar] = {}
        self._anchors: dict[str, _Anchored[ValueT]] = {}
        self._num_values = 0
        self._num_repeated = 0
        self._num_kept = 0
        self._deepest = 0

    @abstractmethod
    def make_scalar(self, value: Scalar, event: yaml.ScalarEvent) -> ValueT:
        """The value of a scalar."""

    @abstractmethod
    def make_list(self, items: list[ValueT], start: yaml.Event) -> ValueT:
        """The value of a list that begins at `start`; `items` is the callee's to keep."""

    @abstractmethod
    def make_member(self, key: yaml.Event, value: ValueT) -> MemberT:
        """The member of an object whose key is `key`."""

    @abstractmethod
    def make_object(
        self, members: dict[str, MemberT], duplicates: Sequence[tuple[str, yaml.Event]], start: yaml.Event
    ) -> ValueT:
        """The value of an object that begins at `start`, with the keys that occur again; the last of each counts.

        `members` is the callee's to keep.
        """

    @abstractmethod
    def content(self, value: ValueT) -> Scalar | Sequence[ValueT] | Mapping[str, MemberT]:
        """What `value` consists of."""

    def start_document(self) -> None:
        """Forgets the anchors, which no other document can name."""
        self._anchors.clear()
        self._num_kept = 0

    def start_object(self) -> None:
        """Begins to count values again."""
        self._num_values = 0

    def value(self, event: yaml.Event, depth: int) -> ValueT:
        """The value that `event` begins, `depth` levels deep in its document. Raises DocumentError."""
        if depth > self._deepest:
            self._reach(depth, event)
        self._num_values += 1
        if self._num_values > self._limits.values:
            raise DocumentError(self._limits.too_many, mark_of(event))
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, depth)
        # No further frame a level: the deepest text allowed must fit Python's stack.
        before, deepest = self._num_values, self._deepest
        anchor = event.anchor if isinstance(event, yaml.NodeEvent) else None
        if anchor:
            self._deepest = depth
        if isinstance(event, yaml.ScalarEvent):
            value = self.make_scalar(self._scalar(event), event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._list(event, depth)
        else:
            value = self._object(event, depth)
        if anchor:
            self._keep(anchor, _Anchored(value, 1 + self._num_values - before, self._deepest - depth), event)
            self._deepest = max(self._deepest, deepest)
        return value

    def key(self, event: yaml.Event, depth: int) -> str | None:
        """The key that `event` begins; None for `<<`, which merges what follows it. Raises DocumentError."""
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
            return None
        content = self.content(self.value(event, depth))
        name = key_text(content) if isinstance(content, (bool, int, float, str)) else None
        if name is None:
            raise DocumentError("is used as a key; keys are strings", mark_of(event))
        return name

    def merged(self, value: ValueT, key: yaml.Event) -> dict[str, MemberT]:
        """Members that a `<<` key brings in; of a list of objects the earlier ones win. Raises DocumentError."""
        content = self.content(value)
        members: dict[str, MemberT] = {}
        for item in reversed(content) if isinstance(content, (list, tuple)) else (value,):
            source = self.content(item)
            if not isinstance(source, Mapping):
                raise DocumentError("'<<' merges objects, or a list of objects", mark_of(key))
            members.update(source)
        return members

    def _reach(self, depth: int, event: yaml.Event) -> None:
        self._deepest = depth
        if depth > self._limits.depth:
            raise DocumentError(f"is nested more than {self._limits.depth} levels deep", mark_of(event))

    def _keep(self, anchor: str, anchored: _Anchored[ValueT], event: yaml.Event) -> None:
        self._anchors[anchor] = anchored
        self._num_kept += anchored.num_values
        if self._num_kept > self._limits.kept:
            raise DocumentError(f"holds more than {self._limits.kept} values with anchors", mark_of(event))

    def _alias(self, event: yaml.AliasEvent, depth: int) -> ValueT:
        anchored = self._anchors.get(str(event.anchor))
        if anchored is None:
            raise DocumentError(f"alias *{event.anchor} has no anchor before it, or lies within it", mark_of(event))
        if depth + anchored.height > self._deepest:
            self._reach(depth + anchored.height, event)
        # The alias itself is counted already.
        self._num_values += anchored.num_values - 1
        self._num_repeated += anchored.num_values
        if self._num_repeated > self._limits.repeated:
            raise DocumentError(f"repeats more than {self._limits.repeated} values by aliases", mark_of(event))
        if self._num_values > self._limits.values:
            raise DocumentError(self._limits.too_many, mark_of(event))
        return anchored.value

    def _list(self, start: yaml.Event, depth: int) -> ValueT:
        items: list[ValueT] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.value(event, depth + 1))
        return self.make_list(items, start)

    def _object(self, start: yaml.Event, depth: int) -> ValueT:
        members: dict[str, MemberT] = {}
        duplicates: list[tuple[str, yaml.Event]] = []
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.key(event, depth + 1)
            value = self.value(next(self.events), depth + 1)
            if key is None:
                members |= self.merged(value, event)
                continue
            if key in members:
                duplicates.append((key, event))
            members[key] = self.make_member(event, value)
        return self.make_object(members, duplicates, start)

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        text = str(event.value)
        if event.tag is not None:
            try:
                return resolve_tagged(event.tag, text)
            except ScalarError as error:
                raise DocumentError(str(error), mark_of(event)) from error
        if not event.implicit[0] or len(text) > _MAX_CACHED_LENGTH:
            return resolve_plain(text) if event.implicit[0] else text
        try:
            return self._plain[text]
        except KeyError:
            if len(self._plain) == _MAX_CACHED:
                self._plain.clear()
            value = self._plain[text] = resolve_plain(text)
            return value


def mark_of(event: yaml.Event) -> Mark:
    """Where `event` begins."""
    mark = event.start_mark
    return Mark(mark.line + 1, mark.column + 1) if mark else Mark(1, 1)


def syntax_message(error: yaml.MarkedYAMLError, line: str) -> str:
    """What is wrong with the YAML on `line`, and that it is indented with a tab if it is."""
    message = " ".join(part for part in (error.context, error.problem) if part)
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return f"not YAML: {message}; the line is indented with a tab, use spaces"
    return f"not YAML: {message}"


Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]
_MOST = 1_000_000
"""Values of one object; those of Kubernetes hold thousands."""
_LIMITS = YamlLimits(
    depth=200, values=_MOST, repeated=_MOST, kept=_MOST, too_many=f"one object holds more than {_MOST} values"
)


class YamlReader(YamlBuilder[Value, Value]):
    """Values as JSON has them, without places. `start_object` is called before each object."""

    def __init__(self, stream: ByteStream) -> None:
        super().__init__(stream, _LIMITS)

    def make_scalar(self, value: Scalar, event: yaml.ScalarEvent) -> Value:
        """`value` itself."""
        return value

    def make_list(self, items: list[Value], start: yaml.Event) -> Value:
        """`items` themselves."""
        return items

    def make_member(self, key: yaml.Event, value: Value) -> Value:
        """`value` itself."""
        return value

    def make_object(
        self, members: dict[str, Value], duplicates: Sequence[tuple[str, yaml.Event]], start: yaml.Event
    ) -> Value:
        """`members` themselves."""
        return members

    def content(self, value: Value) -> Value:
        """`value` itself."""
        return value
