"""Plugins in the words that stand with their code: what they are for, and their arguments as a policy file has them.

Of arguments that is their types, their defaults, and what they mean.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import msgspec

from descheduler.documents.fields import Fields
from descheduler.explanation.docs.source import attribute_docs, docstring, paragraphs
from descheduler.model.text.duration import format_duration
from descheduler.policy.effective import args_to_document
from descheduler.policy.plugin import PluginSpec
from descheduler.policy.shared_args import WITHOUT_EFFECT, Percentage


class PluginArgument(Fields, frozen=True):
    """One argument as a policy spells it; a part of another one with a dot, an item of a list with `[]`.

    `default` is JSON, empty for one that is simply unset.
    """

    name: str
    type_text: str = msgspec.field(name="type")
    default: str
    meaning: str


_NAMES: Mapping[object, str] = {
    str: "string",
    bool: "true or false",
    int: "integer",
    float: "number",
    timedelta: "duration",
    Percentage: "percentage",
}


def type_words(kind: object, name_part: Callable[[type[msgspec.Struct]], str]) -> str:
    """What a value of the type is; `name_part` gives the words for an object with fields of its own."""
    if kind in _NAMES:
        return _NAMES[kind]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return name_part(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return f"{type_words(arguments[0], name_part)}{_bound_text(arguments[1])}"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_words(argument, name_part) for argument in arguments if argument is not type(None))
    if origin is tuple:
        return f"list of {type_words(arguments[0], name_part)}"
    if origin is not None and issubclass(origin, Mapping):
        return f"map of string to {type_words(arguments[1], name_part)}"
    raise TypeError(f"no words for the type {kind!r}; add them")


def default_json(value: object) -> str:
    """A default as it would be written in the policy; empty for what is simply unset."""
    match value:
        case None | "" | ():
            return ""
        case msgspec.Struct():
            document = args_to_document(value)
            return json.dumps(document) if document else ""
        case timedelta():
            return format_duration(value)
        case Mapping():  # a pattern `{}` would match every mapping
            parts = {key: args_to_document(v) if isinstance(v, msgspec.Struct) else v for key, v in value.items()}
            return json.dumps(parts) if parts else ""
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return json.dumps(value)


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


def part_of(kind: object) -> tuple[type[msgspec.Struct], str] | None:
    """The Struct that a value of the type is or holds, and how a path goes on to it: ``, `[]` or `.*`."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind, ""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    step = "[]" if origin is tuple else ".*" if origin is not None and _is_mapping(origin) else ""
    for argument in arguments:
        found = part_of(argument)
        if found is not None:
            return found[0], f"{step}{found[1]}"
    return None


def argument_docs(args: msgspec.Struct, lead: str = "") -> Iterator[PluginArgument]:
    """Every argument of the type of `args`, which holds the defaults; parts follow what they are part of."""
    docs = attribute_docs(type(args))
    for field in msgspec.structs.fields(type(args)):
        name = f"{lead}{field.encode_name}"
        value = getattr(args, field.name)
        yield PluginArgument(
            name=name,
            type_text=type_words(field.type, lambda _: "object"),
            default=default_json(value),
            meaning=docs.get(field.name) or (WITHOUT_EFFECT if _is_without_effect(field.type) else ""),
        )
        part = part_of(field.type)
        if part is not None:
            cls, step = part
            yield from argument_docs(value if isinstance(value, cls) else cls(), f"{name}{step}.")


def _is_without_effect(kind: object) -> bool:
    return typing.get_origin(kind) is typing.Annotated and WITHOUT_EFFECT in typing.get_args(kind)


def _bound_text(meta: object) -> str:
    return " from 0 up" if isinstance(meta, msgspec.Meta) and meta.ge == 0 else ""


def _is_mapping(origin: object) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


_NO_SOURCE = "Not described: this installation has no source files."
_ORDER = ("deschedule", "balance", "filter", "preEvictionFilter", "evict")


def purpose_of(spec: PluginSpec[Any]) -> str:
    """The rest of the first paragraph of the module that runs it, which starts with the plugin's name."""
    about = paragraphs(docstring(sys.modules[inspect.unwrap(spec.factory).__module__]))
    return _capitalised(re.sub(rf"^(Plugin )?{spec.name}: ", "", about[0])) if about else _NO_SOURCE


def procedure_of(spec: PluginSpec[Any]) -> Iterator[str]:
    """How it goes about it: the paragraphs at its extension points."""
    for point in ("deschedule", "balance"):
        if point in spec.extension_points:
            yield from paragraphs(docstring(getattr(inspect.unwrap(spec.factory), point)))


def points_of(spec: PluginSpec[Any]) -> tuple[str, ...]:
    """The extension points, in the order in which a run comes by them."""
    return tuple(point for point in _ORDER if point in spec.extension_points)


def about_arguments(spec: PluginSpec[Any]) -> str:
    """What is to be said of the arguments as a whole; often nothing."""
    about = paragraphs(docstring(spec.args_type))
    return _capitalised(re.sub(rf"Arguments of {spec.name}[;.] *", "", about[0])) if about else ""


def _capitalised(sentence: str) -> str:
    return f"{sentence[:1].upper()}{sentence[1:]}"
