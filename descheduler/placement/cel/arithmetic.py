"""Arithmetic of expressions: 64-bit integers with errors at their bounds, and numbers of quantities."""

from __future__ import annotations

import math

from descheduler.model.quantity import NANO
from descheduler.placement.cel.errors import EvaluationError
from descheduler.placement.cel.values import Quantity

__all__ = ["compared", "float_of", "in_range", "integer_of", "quantity_of", "quotient", "ratio", "remainder"]


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
    return in_range(magnitude if (left < 0) == (right < 0) else -magnitude)


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
