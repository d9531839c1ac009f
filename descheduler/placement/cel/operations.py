"""Arithmetic of expressions (64-bit integers, numbers of quantities), and functions on strings and lists.

Errors are those at the bounds of integers. The functions are those of cel-go 0.26 (`ext/strings.go`, version 2).
Positions count code points.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import TypeVar

from descheduler.model.quantity import NANO
from descheduler.placement.cel.errors import EvaluationError, Unsupported
from descheduler.placement.cel.values import Quantity, Value


def in_range(number: int) -> int:
    """`number`, which must fit 64 bits."""
    if not -(2**63) <= number < 2**63:
        raise EvaluationError("integer overflow")
    return number


def quotient(left: int, right: int) -> int:
    """The quotient, rounded towards zero."""
    if right == 0:
        raise EvaluationError("division by zero")
    magnitude = abs(left) // abs(right)
    return in_range(-magnitude if left * right < 0 else magnitude)


def remainder(left: int, right: int) -> int:
    """What `quotient` leaves; it has the sign of `left`."""
    if right == 0:
        raise EvaluationError("modulus by zero")
    return left - right * quotient(left, right)


def ratio(left: float, right: float) -> float:
    """The quotient of doubles (IEEE 754)."""
    if right:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def compared(left: Quantity, right: Quantity) -> int:
    """-1, 0 or 1, as `left` is below, equal to or above `right`."""
    return (left.nano > right.nano) - (left.nano < right.nano)


def integer_of(amount: Quantity) -> int:
    """The amount in base units, where it is an integer."""
    if not amount.is_integer:
        raise EvaluationError("cannot convert value to integer")
    return amount.nano // NANO


def float_of(amount: Quantity) -> float:
    """The amount in base units, about."""
    return amount.nano / NANO


def quantity_of(number: int) -> Quantity:
    """`number` base units."""
    return Quantity(number * NANO, True)


_LONGEST = 4096
"""Of a string or list that an expression makes: a selector compares short texts, and a growing one costs memory."""
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))

_Joinable = TypeVar("_Joinable", str, tuple[Value, ...])


def joined_pair(left: _Joinable, right: _Joinable) -> _Joinable:
    """Both strings, or lists, one after the other."""
    _check_length(len(left) + len(right))
    return left + right


def _check_length(length: int) -> None:
    if length > _LONGEST:
        raise Unsupported(f"a string or list of more than {_LONGEST} elements")


def lower_ascii(text: str) -> str:
    """`text` with A to Z in lower case."""
    return text.translate(_LOWER)


def upper_ascii(text: str) -> str:
    """`text` with a to z in upper case."""
    return text.translate(_UPPER)


def trimmed(text: str) -> str:
    """`text` without white space around it."""
    return text.strip(_SPACE)


def char_at(text: str, index: int) -> str:
    """The character at `index`; nothing right behind the last."""
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")
    return text[index : index + 1]


def substring(text: str, start: int, end: int | None = None) -> str:
    """The characters from `start` until before `end`."""
    last = len(text) if end is None else end
    if not 0 <= start <= last <= len(text):
        raise EvaluationError(f"index out of range: {start}, {last}")
    return text[start:last]


def split(text: str, separator: str, limit: int = -1) -> tuple[str, ...]:
    """The parts between separators, at most `limit` of them unless it is negative."""
    if limit == 0:
        return ()
    num_splits = max(limit - 1, -1)
    if separator:
        return tuple(text.split(separator, num_splits))
    if not 0 <= num_splits < len(text):
        return tuple(text)
    return (*text[:num_splits], text[num_splits:])


def replaced(text: str, old: str, new: str, limit: int = -1) -> str:
    """`text` with `new` in the place of `old`, as often as `limit` says unless it is negative."""
    _check_length(len(text) + (text.count(old) if limit < 0 else min(limit, text.count(old))) * len(new))
    return text.replace(old, new, limit)


def joined(parts: Sequence[Value], separator: str = "") -> str:
    """The strings of a list with `separator` between them."""
    if not all(type(part) is str for part in parts):
        raise EvaluationError("no such overload: join of a list with other elements than strings")
    _check_length(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


def full_version(text: str, lenient: bool) -> str:
    """`text`, where `lenient` without a leading `v` and zeros, and with zeros for numbers that are not given.

    `normalizeAndParse` of `k8s.io/apiserver/pkg/cel/library/semverlib.go`, 0.36.
    """
    if not lenient:
        return text
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    return ".".join([*parts, "0", "0"][:3])


def _without_zeros(part: str) -> str:
    if len(part) < 2:
        return part
    rest = part.lstrip("0")
    return rest if rest[:1] in tuple(string.digits) else f"0{rest}"
