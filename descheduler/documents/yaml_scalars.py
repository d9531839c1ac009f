"""What a plain YAML scalar means, by the rules of go-yaml 2 that `sigs.k8s.io/yaml` reads Kubernetes files with.

These are the YAML 1.1 booleans (`y`, `on`, ...), integers with `0x`, `0o`, `0b` or a leading zero and with underscores,
and timestamps left as strings.
"""

from __future__ import annotations

import base64
import binascii
import math
import re

Scalar = bool | int | float | str | None

_TRUE = ("y", "yes", "true", "on")
_FALSE = ("n", "no", "false", "off")
_WORDS: dict[str, Scalar] = {
    **{form: True for word in _TRUE for form in (word, word.capitalize(), word.upper())},
    **{form: False for word in _FALSE for form in (word, word.capitalize(), word.upper())},
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_LONGEST_NUMBER = 400
_TAG = "tag:yaml.org,2002:"


class ScalarError(ValueError):
    """A scalar that its explicit tag does not allow."""


def resolve_plain(text: str) -> Scalar:
    """The value of an unquoted scalar; text that means nothing else is a string."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789" or len(text) > _LONGEST_NUMBER:
        return text
    plain = text if text[0] == "." else text.replace("_", "")
    match = _INTEGER.match(plain)
    if match and (number := _integer(match[1], match[2])) is not None:
        return number
    if _FLOAT.match(plain) and math.isfinite(fraction := float(plain)):
        return fraction
    return text


def _integer(sign: str, digits: str) -> int | None:
    """The number, or None when it fits neither Go's int64 nor uint64 and so becomes a float."""
    lower = digits.lower()
    if lower.startswith(("0x", "0b", "0o")):
        number = int(lower, 0)
    elif len(lower) > 1 and lower[0] == "0":
        number = int(lower, 8)
    else:
        number = int(lower)
    if sign == "-":
        number = -number
    largest = 2**63 - 1 if sign else 2**64 - 1
    return number if -(2**63) <= number <= largest else None


def resolve_tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with an explicit tag; unknown tags mean nothing. Raises ScalarError when they disagree."""
    if not tag.startswith(_TAG):
        return text
    kind = tag.removeprefix(_TAG)
    if kind == "binary":
        return _decode_binary(text)
    if kind not in ("null", "bool", "int", "float"):
        return text
    value = resolve_plain(text)
    if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    expected: type = {"null": type(None), "bool": bool, "int": int, "float": float}[kind]
    if type(value) is not expected:
        raise ScalarError(f"is tagged !!{kind}, but is not one")
    return value


def _decode_binary(text: str) -> str:
    try:
        return base64.b64decode(text, validate=False).decode("utf-8", errors="replace")
    except (binascii.Error, ValueError) as error:
        raise ScalarError("is tagged !!binary, but is not base64") from error


def key_text(value: Scalar) -> str | None:
    """The JSON object key that a YAML key becomes, or None for a key that has no such form."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return format(value, "g") if isinstance(value, float) else str(value)
        case _:
            return None
