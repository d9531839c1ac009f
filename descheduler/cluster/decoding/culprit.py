"""What keeps an object from being decoded, and which of its fields; what can be told of objects that are nested too
deeply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress

import msgspec

from descheduler.cluster.decoding.wire import ABSENT, ListMetadataWire, ObjectHeader
from descheduler.documents.json_values import JsonFaultError, elements, members

_Malformed = (JsonFaultError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

_decode_any = msgspec.json.Decoder().decode
_decode_text = msgspec.json.Decoder(str).decode
_decode_list_metadata = msgspec.json.Decoder(ListMetadataWire | None).decode


def deep_header(block: bytes) -> ObjectHeader:
    """What says which kind an object is that is nested too deeply to be decoded; nothing where that is too deep."""
    header = ObjectHeader()
    with suppress(*_Malformed):
        found = members(block)
        header.items = msgspec.Raw(found["items"]) if "items" in found else ABSENT
        header.kind, header.api_version = (_decode_text(found.get(name, b'""')) for name in ("kind", "apiVersion"))
        header.metadata = _decode_list_metadata(found.get("metadata", b"null"))
    return header


def deep_name_in(block: bytes) -> str:
    """Namespace and name of an object that is nested too deeply to be decoded; empty where they are, too."""
    try:
        metadata = members(members(block).get("metadata", b"{}"))
        parts = [_decode_text(metadata[name]) for name in ("namespace", "name") if name in metadata]
    except _Malformed:
        return ""
    return "/".join(parts)


def deep_object_in(page: bytes) -> str:
    """Namespace and name of the first object of a list that cannot be decoded for its depth; else `the list`."""
    with suppress(*_Malformed):
        for item, _ in elements(members(page).get("items", b"[]")):
            try:
                _decode_any(item)
            except RecursionError:
                return deep_name_in(item) or "an object without a name"
    return "the list"


TOO_DEEP = "it is nested too deeply"
_TRUNCATED, _INCOMPLETE = "Input data was truncated", "it is incomplete: the dump is truncated; create it again"
"""What the decoder says of a JSON document that ends too early, and what that means for a dump."""

_PLACE = re.compile(r" - at `\$[^`]*`\Z")
_MOST_TRIED_BYTES = 8 << 20
"""Of all trials of an object together. Somebody may have stored many large ones."""
_LONGEST_VALUE = 60

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]


def fault_of(error: Exception) -> str:
    """What `error`, with which decoding ended, says of the object."""
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if isinstance(error, UnicodeDecodeError):
        return "it holds bytes that are not UTF-8"
    return _INCOMPLETE if str(error) == _TRUNCATED else str(error)


def explained_fault(block: bytes, fault: str, fault_of: Callable[[bytes], str]) -> str:
    """`fault`, which `fault_of` finds with the object in `block`, with the field at fault and its value.

    Blocks that many objects share are decoded apart from the object, so that their faults do not tell the whole way to
    a field. Fields are taken away until the fault is gone.
    """
    try:
        value: Value = msgspec.json.decode(block)
        path, culprit = _Search(value, fault, fault_of).path()
    except (ValueError, RecursionError):
        return fault
    if not path:
        return fault
    text = _PLACE.sub("", fault)
    shown = "" if isinstance(culprit, (dict, list)) else msgspec.json.encode(culprit).decode()
    if not shown or shown.strip('"') in text or len(shown) > _LONGEST_VALUE:
        return f"{path}: {text}"
    return f"{path} is {shown}: {text}"


class _Search:
    def __init__(self, root: Value, fault: str, fault_of: Callable[[bytes], str]) -> None:
        self._root = root
        self._fault = fault
        self._fault_of = fault_of
        self._num_bytes = 0

    def path(self) -> tuple[str, Value]:
        """The way to the innermost value that is at fault, and the value; no way when it cannot be told."""
        steps: list[str] = []
        value = self._root
        while (found := self._part_at_fault(value)) is not None:
            step, value = found
            steps.append(step)
        return "".join(steps).removeprefix("."), value

    def _part_at_fault(self, value: Value) -> tuple[str, Value] | None:
        return next(((step, part) for step, part, is_at_fault in self._trials(value) if is_at_fault), None)

    def _trials(self, value: Value) -> Iterator[tuple[str, Value, bool]]:
        """Each part of `value`, and whether the fault lies in it."""
        if isinstance(value, dict):
            for key in list(value):
                part = value.pop(key)
                is_at_fault = not self._is_same()
                value[key] = part
                yield f".{key}" if key.isidentifier() else f"[{key!r}]", part, is_at_fault
        elif isinstance(value, list):
            parts = value.copy()
            value.clear()
            if self._is_same():  # no list should be here
                value[:] = parts
                return
            for index, part in enumerate(parts):
                # What follows is left out instead, as without an element the next ones would take its place.
                value[:] = parts[: index + 1]
                is_same = self._is_same()
                value[:] = parts
                yield f"[{index}]", part, is_same

    def _is_same(self) -> bool:
        block = msgspec.json.encode(self._root)
        self._num_bytes += len(block)
        if self._num_bytes > _MOST_TRIED_BYTES:
            raise ValueError("the fault is hidden among too many fields")
        return self._fault_of(block) == self._fault
