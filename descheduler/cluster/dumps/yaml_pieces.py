"""YAML of any size as JSON objects: a list is given out an element at a time, while it is parsed."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import msgspec
import yaml

from descheduler.cluster.dumps.json_pieces import LATE_KIND, MAX_OBJECT_BYTES, WAY_OUT, too_large
from descheduler.cluster.snapshot import SnapshotError
from descheduler.documents.document import DocumentError, Mark
from descheduler.documents.yaml_builder import Value, YamlReader, mark_of, syntax_message
from descheduler.model.text.printable import printable

_MAX_WAITING_BYTES = 256 << 20
_MAX_BYTES = 64 << 20
"""YAML takes twenty times as long to read as JSON does."""
_NUM_SHOWN = 40
_READ_BYTES = 16 << 10

_encode = msgspec.json.Encoder().encode


def read_yaml(chunks: Iterator[bytes], source: str, first_line: int) -> Iterator[tuple[bytes, int]]:
    """Each object in the documents of `chunks`, as JSON, with the line it starts on.

    Elements of a list that name no kind come in a list of the same kind each. Raises SnapshotError for what is no
    YAML, for an object that is larger than any of Kubernetes, and for more than 64 MiB of text.
    """
    text = _Text(chunks, source)
    is_empty = True
    try:
        for value, line in _Documents(text).objects():
            is_empty = False
            yield value, line + first_line - 1
    except DocumentError as error:
        mark = error.mark
        place = f"{source}:{mark.line + first_line - 1}:{mark.column}" if mark else source
        raise SnapshotError(f"{place}: {printable(str(error))}; {WAY_OUT}") from error
    except yaml.reader.ReaderError as error:
        raise SnapshotError(f"{source}: holds bytes or characters that YAML does not allow; {WAY_OUT}") from error
    except yaml.MarkedYAMLError as error:
        stop = error.problem_mark or error.context_mark
        place = f"{source}:{stop.line + first_line}:{stop.column + 1}" if stop else source
        raise SnapshotError(
            f"{place}: {printable(syntax_message(error, text.faulty_line(error)))}; {WAY_OUT}"
        ) from error
    if is_empty:
        raise SnapshotError(f"{source}: holds no objects; {WAY_OUT}")


class _Text(BytesIO):
    """What the parser reads from, the whole text. `object_start` is what it had read when an object ended last."""

    def __init__(self, chunks: Iterator[bytes], source: str) -> None:
        super().__init__()
        for chunk in chunks:
            self.write(chunk)
            if self.tell() > _MAX_BYTES:
                most = f"YAML of more than {_MAX_BYTES >> 20} MiB is not read"
                raise SnapshotError(f"{source}: {most}; take the dump in JSON (-o json)")
        self.seek(0)
        self.object_start = 0

    def read(self, size: int | None = None, /) -> bytes:
        """The next bytes. Raises DocumentError when they belong to an object that is too large."""
        if self.tell() - self.object_start > MAX_OBJECT_BYTES:
            raise DocumentError(too_large(MAX_OBJECT_BYTES), Mark(self.getvalue().count(b"\n", 0, self.tell()) + 1, 1))
        return super().read(min(size or _READ_BYTES, _READ_BYTES))

    def faulty_line(self, error: yaml.MarkedYAMLError) -> str:
        """The line where the parser stopped; empty behind the last one."""
        lines, mark = self.getvalue().split(b"\n"), error.problem_mark
        return lines[mark.line].decode(errors="replace") if mark and mark.line < len(lines) else ""


class _Documents:
    def __init__(self, text: _Text) -> None:
        self._text = text
        self._reader = YamlReader(text)
        self._events = self._reader.events

    def objects(self) -> Iterator[tuple[bytes, int]]:
        for event in self._events:
            if not isinstance(event, yaml.DocumentStartEvent):
                continue
            first = next(self._events)
            self._start_object()
            self._reader.start_document()
            if isinstance(first, yaml.MappingStartEvent):
                yield from self._object(mark_of(first).line)
            elif isinstance(first, yaml.SequenceStartEvent):
                yield from ((_encode(element), line) for element, line in self._elements())
            elif (value := self._reader.value(first, 0)) is not None:
                raise _no_object(value, first)

    def _object(self, line: int) -> Iterator[tuple[bytes, int]]:
        """The list that starts here, element by element, or the object as a whole."""
        members: dict[str, Value] = {}
        waiting: list[tuple[bytes, int]] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._reader.key(event, 1)
            begun = next(self._events)
            if key == "items" and isinstance(begun, yaml.SequenceStartEvent) and _may_be_list(members):
                members[key] = []
                yield from self._items(members, waiting)
            elif key is None:
                members |= self._reader.merged(self._reader.value(begun, 1), event)
            else:
                members[key] = self._reader.value(begun, 1)
        for element, place in waiting:
            yield _encode(_header(members) | {"items": [msgspec.Raw(element)]}), place
        yield _encode(members), line

    def _items(self, members: dict[str, Value], waiting: list[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
        """The elements of a list, as far as their kind is known; the others go among the `waiting`."""
        is_typed = members.get("kind") not in (None, "List") and "apiVersion" in members
        num_bytes = 0
        for element, line in self._elements():
            if is_typed:
                yield _encode(_header(members) | {"items": [element]}), line
            elif "kind" in element or members.get("kind") == "List":
                yield _encode(element), line
            else:
                waiting.append((_encode(element), line))
                num_bytes += len(waiting[-1][0])
                if num_bytes > _MAX_WAITING_BYTES:
                    raise DocumentError(LATE_KIND)

    def _start_object(self) -> None:
        self._text.object_start = self._text.tell()
        self._reader.start_object()

    def _elements(self) -> Iterator[tuple[dict[str, Value], int]]:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            element = self._reader.value(event, 2)
            if not isinstance(element, dict):
                raise _no_object(element, event)
            self._start_object()
            yield element, mark_of(event).line


def _may_be_list(members: dict[str, Value]) -> bool:
    return str(members.get("kind") or "List").endswith("List")


def _header(members: dict[str, Value]) -> dict[str, object]:
    return {"kind": members.get("kind"), "apiVersion": members.get("apiVersion")}


def _no_object(value: Value, event: yaml.Event) -> DocumentError:
    shown = _encode(value)[:_NUM_SHOWN].decode(errors="replace")
    return DocumentError(f"neither JSON nor YAML objects but {shown}", mark_of(event))
