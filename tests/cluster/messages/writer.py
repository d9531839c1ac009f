"""Objects in the API's protobuf, written without any library from their JSON: what the decoder of the package reads.

Field numbers are all those of Kubernetes 1.36 (`core_v1_messages.txt`), not only those that are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

_MAGIC = b"k8s\0"
_EMBEDDED = {"volumeSource", "handler", "ephemeralContainerCommon", "localObjectReference"}
"""Fields whose own fields stand in the object around them in JSON."""


def proto_object(kind: str, obj: Mapping[str, Any]) -> bytes:
    """`obj` as the message `kind`. Raises ValueError for what has no place in it."""
    return _message(kind, obj)


def proto_list(kind: str, items: Iterable[Mapping[str, Any]], *, version: str = "1", more: str = "") -> bytes:
    """The answer to a list of `kind`, with the envelope that the API server puts around it."""
    metadata = {"resourceVersion": version, "continue": more, "selfLink": ""}
    content = _field(1, _message("ListMeta", metadata)) + b"".join(_field(2, _message(kind, item)) for item in items)
    stated = _message("TypeMeta", {"apiVersion": "v1", "kind": f"{kind}List"})
    return _MAGIC + _field(1, stated) + _field(2, content) + _field(3, b"") + _field(4, b"")


def _message(kind: str, obj: Any) -> bytes:
    match kind:
        case "Time" | "MicroTime":
            return _varint(8) + _varint(int(datetime.fromisoformat(obj).timestamp())) + _varint(16) + _varint(0)
        case "Quantity":
            return _field(1, str(obj).encode())
        case "FieldsV1":
            return _field(1, json.dumps(obj).encode())
        case "IntOrString":
            value = {"type": 1, "strVal": obj} if isinstance(obj, str) else {"type": 0, "intVal": obj}
            return b"".join(_fields("IntOrString", value))
        case _:
            return b"".join(_fields(kind, obj))


def _fields(kind: str, obj: Mapping[str, Any]) -> Iterator[bytes]:
    messages = _messages()
    for name, (number, type_name) in messages[kind].items():
        if name in _EMBEDDED and name not in obj:
            embedded = {key: value for key, value in obj.items() if key in messages[type_name]}
            yield _field(number, _message(type_name, embedded))
        elif (value := obj.get(name)) is not None:
            yield from _encoded(number, type_name, value)


def _encoded(number: int, type_name: str, value: Any) -> Iterator[bytes]:
    if type_name.startswith("*"):
        for each in value:
            yield from _encoded(number, type_name[1:], each)
    elif type_name.startswith("%"):
        for key in sorted(value):
            entry = [*_encoded(1, "string", key), *_encoded(2, type_name[1:], value[key])]
            yield _field(number, b"".join(entry))
    elif type_name in ("int32", "int64", "bool"):
        yield _varint(number << 3) + _varint(int(value))
    elif type_name == "string":
        yield _field(number, value.encode())
    elif type_name == "bytes":
        yield _field(number, value)
    else:
        yield _field(number, _message(type_name, value))


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    value %= 1 << 64
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


@cache
def _messages() -> dict[str, dict[str, tuple[int, str]]]:
    messages = {}
    for line in Path(__file__).with_name("core_v1_messages.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, *fields = line.split()
            messages[name] = dict(_parsed(field) for field in fields)
    return messages


def _parsed(text: str) -> tuple[str, tuple[int, str]]:
    name, _, rest = text.partition("=")
    number, _, type_name = rest.partition(":")
    return name, (int(number), type_name or "string")
