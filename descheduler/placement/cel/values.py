"""The values of expressions, and how they compare.

int, double, string, bool and null are Python's own; a list is a tuple, a map a dict. Quantities and versions are those
of the Kubernetes CEL libraries (`k8s.io/apiserver/pkg/cel`, 0.36). Equality and order are of cel-go 0.26.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from descheduler.model.quantity import NANO, parse_quantity
from descheduler.placement.cel.errors import EvaluationError

LARGEST_INTEGER = 2**63 - 1
_MOST_EXACT_DIGITS = 18
_BINARY_EXPONENTS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_EXPONENTS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_VERSION = re.compile(
    r"(0|[1-9][0-9]{0,19})\.(0|[1-9][0-9]{0,19})\.(0|[1-9][0-9]{0,19})"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?\Z"
)
_SPELLING = re.compile(r"[+-]?0*([0-9]*)(?:\.([0-9]*))?(.*)\Z", re.DOTALL)


_Held = TypeVar("_Held")


class DomainMap(dict[str, dict[str, _Held]]):
    """Attributes or capacities by domain; a domain that is absent has none, but is not `in` the map."""

    def __missing__(self, domain: str) -> dict[str, _Held]:
        return {}

    def of(self, domain: Value) -> dict[str, _Held]:
        """The attributes or capacities of a domain; none for a key that is no string."""
        return self[domain] if type(domain) is str else {}


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount in nano units."""

    nano: int
    is_integer: bool
    """What `isInteger` says: of a spelling with a fraction or a small suffix it is false, even of `1000m`."""

    @classmethod
    @functools.lru_cache(maxsize=4096)
    def parse(cls, text: str) -> Quantity:
        """The amount that `text` spells. Raises QuantityError."""
        nano = parse_quantity(text)
        _, whole, fraction, suffix, _ = _SPELLING.split(text, maxsplit=1)
        is_integer = _is_integer(len(whole or "0"), len(fraction or ""), suffix)
        return cls(nano, is_integer and abs(nano) < LARGEST_INTEGER * NANO)

    def plus(self, other: Quantity) -> Quantity:
        """The sum."""
        if not (self.nano and other.nano):
            return self if self.nano else other
        nano = self.nano + other.nano
        return Quantity(nano, self.is_integer and other.is_integer and abs(nano) <= LARGEST_INTEGER * NANO)

    def minus(self, other: Quantity) -> Quantity:
        """The difference."""
        return self.plus(Quantity(-other.nano, other.is_integer))


def _is_integer(num_digits: int, num_decimals: int, suffix: str) -> bool:
    """Whether Kubernetes keeps a spelling as an integer, which is what its exact arithmetic has room for.

    `ParseQuantity` of `k8s.io/apimachinery/pkg/api/resource/quantity.go`, 0.36, counts digits.
    """
    if suffix in _BINARY_EXPONENTS:
        return not num_decimals and num_digits + _BINARY_EXPONENTS[suffix] * 3 // 10 <= 14
    exponent = _DECIMAL_EXPONENTS[suffix] if suffix in _DECIMAL_EXPONENTS else int(suffix[1:])
    return num_digits + num_decimals <= _MOST_EXACT_DIGITS and 0 <= exponent - num_decimals <= 18


@dataclass(frozen=True, slots=True)
class Version:
    """A semantic version (semver.org 2.0.0) without its build metadata, which no comparison sees."""

    major: int
    minor: int
    patch: int
    pre_release: tuple[tuple[int, int, str], ...] = ()
    """Its identifiers in comparable form; a number is below any word."""

    @classmethod
    @functools.lru_cache(maxsize=4096)
    def parse(cls, text: str) -> Version:
        """The version that `text` spells out in full, without a leading `v`. Raises ValueError."""
        match = _VERSION.match(text)
        major, minor, patch = (int(number) for number in match.groups()[:3]) if match else (2**64, 0, 0)
        words = match[4].split(".") if match and match[4] else []
        if max(major, minor, patch) >= 2**64 or any(_has_leading_zero(word) for word in words):
            raise ValueError(f"{text[:80]!r} is not a semantic version such as 1.2.3 or 1.2.3-beta.1")
        return cls(major, minor, patch, tuple((0, int(word), "") if word.isdigit() else (1, 0, word) for word in words))

    def compared(self, other: Version) -> int:
        """-1, 0 or 1, as this version is before, beside or after `other`; a pre-release is before its release."""
        mine, theirs = self._key, other._key
        return (mine > theirs) - (mine < theirs)

    @property
    def _key(self) -> tuple[int, int, int, bool, tuple[tuple[int, int, str], ...]]:
        return self.major, self.minor, self.patch, not self.pre_release, self.pre_release


def _has_leading_zero(word: str) -> bool:
    return word.isdigit() and len(word) > 1 and word.startswith("0")


@dataclass(frozen=True, slots=True)
class Optional:
    """A value, or none."""

    has_value: bool
    value: Value = None


NOTHING = Optional(False)

Value: TypeAlias = Any
"""What an expression gives: checked by its type at run time, as the values of attributes are of any type."""

_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    float: "double",
    str: "string",
    tuple: "list",
    dict: "map",
    DomainMap: "map",
    Quantity: "quantity",
    Version: "semver",
    Optional: "optional",
    type(None): "null",
}
_STRICT = (Quantity, Version)


def type_name(value: Value) -> str:
    """The name that CEL has for the type of `value`."""
    return _NAMES.get(type(value), "device")


def no_overload(name: str, *values: Value) -> EvaluationError:
    """The error of a function, or an operator, that is not defined for the types of `values`."""
    return EvaluationError(f"no such overload: {name}({', '.join(map(type_name, values))})")


def equal(left: Value, right: Value) -> bool:
    """Whether two values are equal; of different types they are not, but int and double compare as numbers.

    Raises EvaluationError where a quantity or a version on the left meets another type than its own, or null.
    """
    if type(left) is type(right):
        return _equal_of_one_type(left, right)
    if left is None or right is None:
        return False
    if type(left) in _STRICT:
        raise no_overload("==", left, right)
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        return float(left) == float(right)
    return isinstance(left, dict) and isinstance(right, dict) and _equal_maps(left, right)


_NUMBERS = (int, float)


def _equal_of_one_type(left: Value, right: Value) -> bool:
    if isinstance(left, tuple):
        return len(left) == len(right) and not any(_are_surely_unequal(*pair) for pair in zip(left, right, strict=True))
    if isinstance(left, dict):
        return _equal_maps(left, right)
    if isinstance(left, Optional):
        if left.has_value and right.has_value:
            return equal(left.value, right.value)
        return bool(left.has_value == right.has_value)
    if type(left) is Quantity:
        return bool(left.nano == right.nano)
    return bool(left == right)


def _equal_maps(left: dict[str, Value], right: dict[str, Value]) -> bool:
    return left.keys() == right.keys() and not any(_are_surely_unequal(each, right[key]) for key, each in left.items())


def _are_surely_unequal(left: Value, right: Value) -> bool:
    """Of elements of two lists or maps: an error counts as equal (cel-go 0.26)."""
    try:
        return not equal(left, right)
    except EvaluationError:
        return False


def _is_surely_equal(left: Value, right: Value) -> bool:
    """Of a value and an element: an error counts as unequal."""
    try:
        return equal(left, right)
    except EvaluationError:
        return False


def place_in_list(values: tuple[Value, ...], index: Value) -> int | None:
    """The place that `index` names, which may be a whole double; None where the list has no such place."""
    if type(index) is not int and not (type(index) is float and index.is_integer()):
        raise no_overload("[]", values, index)
    return int(index) if 0 <= index < len(values) else None


def contains(values: Value, wanted: Value) -> bool:
    """Whether a list has an element that equals `wanted`, or a map its key."""
    if type(values) is tuple:
        return any(_is_surely_equal(wanted, each) for each in values)
    if isinstance(values, dict):
        return type(wanted) is str and wanted in values
    raise no_overload("in", wanted, values)


def ordered(sign: str, left: Value, right: Value) -> int:
    """-1, 0 or 1, as `left` is below, equal to or above `right`: strings by code point, false before true.

    Raises EvaluationError for types without an order, for mixed ones but int and double, and for NaN.
    """
    kinds = type(left), type(right)
    if kinds == (int, float):
        left = float(left)
    elif kinds == (float, int):
        right = float(right)
    elif kinds[0] is not kinds[1] or kinds[0] not in (int, str, float, bool):
        raise no_overload(sign, left, right)
    if left != left or right != right:
        raise EvaluationError("NaN values cannot be ordered")
    return int(left > right) - int(left < right)
