"""Resource quantities as exact integers.

A quantity is held in nano units (10^-9 of its base unit), the finest step that `k8s.io/apimachinery/pkg/api/resource`
keeps, so sums of any spelling (`100m`, `2Gi`, `12345n`, `1e3`) are exact. Conversions to coarser integers round up.
"""

from __future__ import annotations

import re
from fractions import Fraction

NANO = 10**9
"""Nano units in one base unit (a core, a byte, a device)."""

_MAX = (2**63 - 1) * NANO
_SYNTAX = re.compile(r"([+-]?)([0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?[0-9]{1,9}|)\Z")
_MOST_DIGITS = 4000
"""Python reads no more than 4,300 at a time; this many are more than any limit, or finer than a nano."""
_SCALE: dict[str, int] = {
    "n": 1,
    "u": 10**3,
    "m": 10**6,
    "": NANO,
    "k": NANO * 10**3,
    "M": NANO * 10**6,
    "G": NANO * 10**9,
    "T": NANO * 10**12,
    "P": NANO * 10**15,
    "E": NANO * 10**18,
    "Ki": NANO * 2**10,
    "Mi": NANO * 2**20,
    "Gi": NANO * 2**30,
    "Ti": NANO * 2**40,
    "Pi": NANO * 2**50,
    "Ei": NANO * 2**60,
}


class QuantityError(ValueError):
    """Text that Kubernetes does not read as a quantity."""


def parse_quantity(text: str) -> int:
    """The quantity in nano units, rounded away from zero, and capped at 2^63-1 base units as the API server does.

    Raises QuantityError naming the text.
    """
    match = _SYNTAX.match(text)
    if match is None:
        raise QuantityError(f"{text[:80]!r} is not a quantity (a number with a suffix such as m, k, Mi, G or e3)")
    sign, digits, suffix = match.groups()
    nano = _scaled(digits[:_MOST_DIGITS], suffix)
    return -min(nano, _MAX) if sign == "-" else min(nano, _MAX)


def _scaled(digits: str, suffix: str) -> int:
    scale = _SCALE.get(suffix)
    if scale is not None and "." not in digits:
        return int(digits) * scale
    if scale is not None:
        exact = Fraction(digits.removesuffix(".")) * scale
        return -(-exact.numerator // exact.denominator)
    exponent = int(suffix[1:])
    mantissa = Fraction(digits.removesuffix("."))
    if not mantissa:
        return 0
    if abs(exponent) > _MOST_DIGITS + 100:  # no digits make up for that
        return _MAX if exponent > 0 else 1
    exact = mantissa * Fraction(10) ** exponent * NANO
    return -(-exact.numerator // exact.denominator)


def ceil_value(nano: int) -> int:
    """Whole base units, rounded up (`Quantity.Value`)."""
    return -(-nano // NANO)


def ceil_milli(nano: int) -> int:
    """Thousandths of the base unit, rounded up (`Quantity.MilliValue`)."""
    return -(-nano // 10**6)


def format_quantity(nano: int) -> str:
    """The shortest decimal spelling that parses back to `nano`."""
    for suffix, scale in (("", NANO), ("m", 10**6), ("u", 10**3)):
        if nano % scale == 0:
            return f"{nano // scale}{suffix}"
    return f"{nano}n"
