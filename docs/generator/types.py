"""Types of arguments, in the words of a policy file, and their defaults."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping
from datetime import timedelta

import msgspec

from descheduler.model.duration import format_duration
from descheduler.policy.effective import args_to_document
from docs.generator.markdown import anchor

__all__ = ["default_text", "parts_of", "type_text"]

_NAMES: Mapping[object, str] = {
    str: "string",
    bool: "true or false",
    int: "integer",
    float: "number",
    timedelta: "duration",
}


def type_text(kind: object) -> str:
    """What a value of the type is, with links to the parts that have a section of their own."""
    if kind in _NAMES:
        return _NAMES[kind]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return f"[{kind.__name__}]({anchor(kind.__name__)})"
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return f"{type_text(arguments[0])}{_bound_text(arguments[1])}"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_text(argument) for argument in arguments if argument is not type(None))
    if origin is tuple:
        return f"list of {type_text(arguments[0])}"
    if origin is not None and issubclass(origin, Mapping):
        return f"map of string to {type_text(arguments[1])}"
    raise TypeError(f"no words for the type {kind!r}; add them")


def _bound_text(meta: object) -> str:
    return " from 0 up" if isinstance(meta, msgspec.Meta) and meta.ge == 0 else ""


def default_text(value: object) -> str:
    """A default as it would be written in the policy; empty for what is simply unset."""
    match value:
        case None | "" | () | {}:
            return ""
        case msgspec.Struct():
            document = args_to_document(value)
            return f"`{json.dumps(document)}`" if document else ""
        case timedelta():
            return f"`{format_duration(value)}`"
        case Mapping():
            parts = {key: args_to_document(part) for key, part in value.items()}
            return f"`{json.dumps(parts)}`"
        case tuple():
            return f"`{json.dumps(value)}`"
        case float() if value.is_integer():
            return f"`{int(value)}`"
        case _:
            return f"`{json.dumps(value)}`"


def parts_of(cls: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    """The Structs that the fields of `cls` hold, in order, parts of parts included."""
    found: dict[type[msgspec.Struct], None] = {}

    def visit(kind: object) -> None:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind not in found:
            found[kind] = None
            for field in msgspec.structs.fields(kind):
                visit(field.type)
        for argument in typing.get_args(kind):
            visit(argument)

    for field in msgspec.structs.fields(cls):
        visit(field.type)
    return list(found)
