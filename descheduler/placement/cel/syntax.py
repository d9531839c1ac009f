"""The tokens of an expression (CEL language definition, section "Lexis"), and its syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from descheduler.placement.cel.errors import InvalidExpression, Unsupported

IDENTIFIER = "identifier"
INTEGER = "integer"
FLOAT = "float"
STRING = "string"
PUNCTUATION = "punctuation"
END = "end"


def _quoted(style: str, *, long: str, double: str, single: str) -> str:
    """The pattern of a string in any of its four quotations; what is inside is a group."""
    bodies = ((r"\"{3}", long), ("'{3}", long), (r"\"", double), ("'", single))
    return "|".join(
        f"{quote}(?P<{style}_{which}>{body}){quote}" for which, (quote, body) in zip(_QUOTATIONS, bodies, strict=True)
    )


_QUOTATIONS = "abcd"
_RAW = _quoted("raw", long=r".*?", double=r"[^\"\r\n]*", single=r"[^'\r\n]*")
_COOKED = _quoted(
    "cooked", long=r"(?:[^\\]|\\.)*?", double=r"(?:[^\"\\\r\n]|\\[^\r\n])*", single=r"(?:[^'\\\r\n]|\\[^\r\n])*"
)
_PATTERN = re.compile(
    rf"""
    (?P<space>[\t\n\f\r\ ]+|//[^\n]*)
    |(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<integer>(?:0x[0-9a-fA-F]+|[0-9]+)(?P<unsigned>[uU])?)
    |(?P<raw>(?:[rR]|(?P<raw_bytes>[rR][bB]|[bB][rR]))(?:{_RAW}))
    |(?P<cooked>(?P<cooked_bytes>[bB])?(?:{_COOKED}))
    |(?P<identifier>[_a-zA-Z][_a-zA-Z0-9]*)
    |(?P<punctuation>==|!=|<=|>=|&&|\|\||[-+*/%!<>?:.,()\[\]{{}}])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([abfnrtv\\?\"'`])|)", re.DOTALL
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LARGEST_INTEGER_DIGITS = 20
"""More than any literal that fits; Python reads no more than 4,300 at a time."""


class Token(NamedTuple):
    """A token, where it begins (from 0), and its text, which of a string is without quotes and escapes."""

    kind: str
    at: int
    value: str
    number: int | float = 0


def tokens_of(text: str) -> Iterator[Token]:
    """The tokens in order, and one of kind `END` after the last.

    Raises InvalidExpression where no token begins, and Unsupported for bytes and unsigned integers.
    """
    at = 0
    while at < len(text):
        match = _PATTERN.match(text, at)
        if match is None:
            raise InvalidExpression(f"syntax error at position {at + 1}: {text[at : at + 20]!r}")
        if match.lastgroup != "space":
            yield _token(match, at)
        at = match.end()
    yield Token(END, at, "the end")


def _token(match: re.Match[str], at: int) -> Token:
    for kind in (IDENTIFIER, PUNCTUATION):
        if match[kind] is not None:
            return Token(kind, at, match[kind])
    if match[INTEGER] is not None:
        if match["unsigned"]:
            raise Unsupported(f"an unsigned integer at position {at + 1}")
        return Token(INTEGER, at, match[INTEGER], _integer(match[INTEGER]))
    if match[FLOAT] is not None:
        return Token(FLOAT, at, match[FLOAT], float(match[FLOAT]))
    style = "raw" if match["raw"] is not None else "cooked"
    if match[f"{style}_bytes"]:
        raise Unsupported(f"a bytes literal at position {at + 1}")
    body = next(match[f"{style}_{one}"] for one in _QUOTATIONS if match[f"{style}_{one}"] is not None)
    return Token(STRING, at, body if style == "raw" else _ESCAPE.sub(lambda escape: _unescaped(escape, at), body))


def _integer(text: str) -> int:
    digits = text.removeprefix("0x")
    if len(digits.lstrip("0")) > _LARGEST_INTEGER_DIGITS:
        return 2**64
    return int(digits, 16 if digits != text else 10)


def _unescaped(escape: re.Match[str], at: int) -> str:
    if escape[5] is not None:
        return _SIMPLE.get(escape[5], escape[5])
    for digits, base in ((escape[1], 16), (escape[2], 16), (escape[3], 16), (escape[4], 8)):
        if digits is not None:
            code = int(digits, base)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                break
            return chr(code)
    raise InvalidExpression(f"invalid escape sequence in the string at position {at + 1}")


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    at: int
    value: str | int | float | bool | None
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name."""

    at: int
    name: str
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`, or `operand.?field` when it is `optional`."""

    at: int
    operand: Node
    field: str
    optional: bool
    depth: int


@dataclass(frozen=True, slots=True)
class Call:
    """`name(arguments)` or `target.name(arguments)`; operators are called by their sign, `[?]` is an optional index."""

    at: int
    name: str
    target: Node | None
    arguments: Sequence[Node]
    depth: int

    @property
    def operands(self) -> Sequence[Node]:
        """The target, if there is one, and the arguments."""
        return self.arguments if self.target is None else (self.target, *self.arguments)


@dataclass(frozen=True, slots=True)
class Logical:
    """Operands joined by one of `&&` and `||`."""

    at: int
    sign: str
    operands: Sequence[Node]
    depth: int


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? chosen : other`."""

    at: int
    condition: Node
    chosen: Node
    other: Node
    depth: int


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list literal."""

    at: int
    elements: Sequence[Node]
    depth: int


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map literal."""

    at: int
    entries: Sequence[tuple[Node, Node]]
    depth: int


Node: TypeAlias = Literal | Identifier | Select | Call | Logical | Conditional | ListOf | MapOf
