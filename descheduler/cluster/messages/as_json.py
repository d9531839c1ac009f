"""Messages of the API's protobuf as the JSON that the API server would have sent."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec
from google.protobuf.message import Message

__all__ = ["json_of", "json_of_all", "moment_of"]

Value = None | bool | int | str | list["Value"] | dict[str, "Value"]


def json_of(message: Message) -> bytes:
    """`message` in JSON. Raises UnicodeDecodeError for text that is not UTF-8, ValueError for a time beyond years."""
    return msgspec.json.encode(_object(message))


def json_of_all(messages: Iterable[Message]) -> bytes:
    """A JSON array of `messages`; raises as `json_of`."""
    return msgspec.json.encode([_object(message) for message in messages])


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
        kind = field.message_type
        if kind is None:
            found[field.name] = value if isinstance(value, str | int) else list(value)
        elif not isinstance(value, Message):
            is_map = kind.name.endswith("Entry")
            found[field.name] = {e.key: _entry(e) for e in value} if is_map else [_object(each) for each in value]
        elif kind.name == "VolumeSource":  # Go embeds it
            found.update(_object(value))
        else:
            found[field.name] = _special(kind.name, value)
    return found


def _special(kind: str, value: Any) -> Value:
    match kind:
        case "Time":
            moment = moment_of(value)
            return None if moment is None else moment.isoformat()
        case "Quantity":
            return str(value.string) or "0"
        case _:
            return _object(value)


def _entry(entry: Any) -> Value:
    value = entry.value
    return value if isinstance(value, str) else _special("Quantity", value)
