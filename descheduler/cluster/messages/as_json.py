"""Messages of the API's protobuf as the JSON that the API server would have sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from google.protobuf.message import Message

__all__ = ["json_of", "moment_of"]

Value = None | bool | int | str | list["Value"] | dict[str, "Value"]
Reader = Callable[[Any], Value]


def json_of(message: Message) -> bytes:
    """`message` in JSON. Raises UnicodeDecodeError for text that is not UTF-8, ValueError for a time beyond years."""
    return msgspec.json.encode(_object(message))


def moment_of(time: Any) -> datetime | None:
    """A `Time`; None for the zero time of Go, which is written as nothing. Raises ValueError for one beyond years."""
    seconds = time.seconds
    if not seconds and not time.HasField("seconds"):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError) as error:
        raise ValueError(f"time of {time.seconds} seconds is out of range") from error


def _object(message: Message) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for field, value in message.ListFields():
        known = _known.get(field)
        if known is None:
            known = _known[field] = field.name, _reader(field, value)
        name, read = known
        if read is _embedded:
            found.update(_object(value))
        else:
            found[name] = read(value)
    return found


_known: dict[Any, tuple[str, Reader]] = {}
"""Descriptor of a field that was seen → its name and what reads it: descriptors take their time to say so."""


def _reader(field: Any, value: Any) -> Reader:
    """What reads this field, of which `value` is one."""
    kind = field.message_type
    if kind is None:
        return _same if isinstance(value, str | int) else list
    if isinstance(value, Message):
        return _embedded if kind.name == "VolumeSource" else _SPECIAL.get(kind.name, _object)
    return _entries if kind.name.endswith("Entry") else _objects


def _same(value: Any) -> Value:
    return value  # type: ignore[no-any-return]  # text, a number or a truth value


def _embedded(value: Any) -> Value:
    """Of what Go embeds the fields stand among those around it."""
    return _object(value)


def _objects(values: Iterable[Message]) -> Value:
    return [_object(each) for each in values]


def _entries(values: Iterable[Any]) -> Value:
    return {entry.key: _entry(entry.value) for entry in values}


def _entry(value: Any) -> Value:
    return value if isinstance(value, str) else _quantity(value)


def _quantity(value: Any) -> Value:
    return str(value.string) or "0"


def _time(value: Any) -> Value:
    moment = moment_of(value)
    return None if moment is None else moment.isoformat()


_SPECIAL: Mapping[str, Reader] = {"Time": _time, "Quantity": _quantity}
