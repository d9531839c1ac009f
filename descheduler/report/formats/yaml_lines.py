"""Documents as YAML, line by line: a plan for a large cluster is never in memory as text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

import msgspec

from descheduler.documents.fields import Fields
from descheduler.documents.yaml_scalars import resolve_plain

_LONGEST_SIMPLE_KEY = 100
"""Parsers look 1,024 characters ahead for the colon of a key, escapes included; longer keys are marked as keys."""

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9 _./,;()%+*'\"=<>-]*(?<! )")
"""Text that can stand without quotes unless it is a word with a meaning; of much that could, only what is common."""

_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_ESCAPED = re.compile(r'["\\]|[^\x20-\x7e]')


def yaml_lines(document: Fields | Mapping[str, object]) -> Iterator[str]:
    """The document with its fields in the order of the JSON, as ASCII lines with their newlines."""
    inline = _inline(document)
    if inline is None:
        yield from _block(document, "", "")
    else:
        yield f"{inline}\n"


def _block(value: object, first: str, indent: str) -> Iterator[str]:
    """Lines of a list or an object that is not empty; the first begins with `first`, all others with `indent`."""
    lead = first
    if isinstance(value, (list, tuple)):
        for item in value:
            inline = _inline(item)
            if inline is None:
                yield from _block(item, f"{lead}- ", f"{indent}  ")
            else:
                yield f"{lead}- {inline}\n"
            lead = indent
        return
    for key, item in _members(value):
        inline = _inline(item)
        if inline is not None:
            yield f"{lead}{_key(key, indent)}: {inline}\n"
        else:
            inner = indent if isinstance(item, (list, tuple)) else f"{indent}  "
            yield f"{lead}{_key(key, indent)}:\n"
            yield from _block(item, inner, inner)
        lead = indent


def _members(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, msgspec.Struct):
        for name, field in zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True):
            yield name, getattr(value, field)
    elif isinstance(value, Mapping):
        yield from value.items()
    else:
        raise TypeError(f"documents hold no {type(value).__name__}")


def _key(key: str, indent: str) -> str:
    return _quoted(key) if len(key) <= _LONGEST_SIMPLE_KEY else f"? {_quoted(key)}\n{indent}"


def _inline(value: object) -> str | None:
    """`value` on the line of its key, or None for a list or an object with something in it."""
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return None if value else "[]"
    if isinstance(value, Mapping):
        return None if value else "{}"
    return None if isinstance(value, msgspec.Struct) else _quoted(str(msgspec.to_builtins(value)))


def _number(value: float) -> str:
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else f"{'-' if value < 0 else ''}.inf"
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")  # without a point it would read as text


@lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    """`text` as it is where that reads back as the same string, else in double quotes, everything unusual escaped."""
    if _PLAIN.fullmatch(text) and isinstance(resolve_plain(text), str):
        return text
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
