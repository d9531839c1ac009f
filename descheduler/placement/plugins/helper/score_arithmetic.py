"""Arithmetic of scores as Go does it on int64: division cut toward zero, and products that wrap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.shadow.node_masks import BoolMask

__all__ = ["MAX_SCORE", "Divide", "exact_div", "highest_of", "normalize", "tdiv"]

MAX_SCORE = 100
"""The best score that a plugin may give to a node, before its weight."""

Ints = NDArray[np.int64]


_EXACT = 2**53
"""Below this, float64 holds every whole number, and a quotient that is cut is the one that integers have."""


Divide = Callable[[Ints, Ints | int], Ints]
"""The quotient cut toward zero. The denominator is positive."""


def exact_div(numerator: Ints, denominator: Ints | int) -> Ints:
    """As `tdiv`, for numerators that are known to be below 2^53 either way."""
    return (numerator / denominator).astype(np.int64)


def tdiv(numerator: Ints, denominator: Ints | int) -> Ints:
    """The quotient cut toward zero, where `//` rounds down. The denominator is positive."""
    if _is_exact(numerator):
        # Several times faster than dividing integers. A denominator that float64 rounds is greater than the numerator
        # before and after, so that the quotient is cut to 0 as it should be.
        return exact_div(numerator, denominator)
    quotient = np.abs(numerator) // denominator
    return np.where(numerator < 0, -quotient, quotient)


def _is_exact(numbers: Ints) -> bool:
    """Whether float64 holds each of `numbers`; without a sign, those below 0 are beyond all others."""
    return _greatest(numbers) < _EXACT or _greatest(numbers + _EXACT) < 2 * _EXACT


def _greatest(numbers: Ints) -> int:
    unsigned = numbers.reshape(-1).view(np.uint64)
    return int(unsigned[unsigned.argmax()]) if len(unsigned) else 0


def highest_of(raw: Ints, feasible: BoolMask) -> int:
    """The highest of `raw` over the feasible nodes; 0 where none is above that."""
    found = raw * feasible
    return max(0, int(found[found.argmax()])) if len(found) else 0


def normalize(raw: Ints, highest: int, *, is_reversed: bool = False) -> Ints:
    """Scores in proportion to `highest`, that of the feasible nodes, or 100 minus that; all zeros stay, or become 100.

    `DefaultNormalizeScore` of `pkg/scheduler/framework/plugins/helper/normalize_score.go` (1.36).
    """
    scores = tdiv(raw * MAX_SCORE, highest) if highest else np.zeros_like(raw)
    return MAX_SCORE - scores if is_reversed else scores
