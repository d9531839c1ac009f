"""Settings back to values of a document: numbers, text, lists and objects."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from descheduler.model.text.duration import format_duration

__all__ = ["args_to_document", "plain_value"]


def args_to_document(args: msgspec.Struct) -> dict[str, object]:
    """`args` in YAML spelling, fields at their zero value left out."""
    plain = {}
    for field in msgspec.structs.fields(args):
        value = getattr(args, field.name)
        default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
        if value != default:
            plain[field.encode_name] = plain_value(value)
    return plain


def plain_value(value: object) -> object:
    """`value` as YAML or JSON has it."""
    match value:
        case msgspec.Struct():
            return args_to_document(value)
        case timedelta():
            return format_duration(value)
        case tuple():
            return [plain_value(item) for item in value]
        case Mapping():
            return {key: plain_value(item) for key, item in value.items()}
        case float() if value.is_integer():
            return int(value)
        case _:
            return value
