"""The orders in which parts of a plan are tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import TypeVar

import numpy as np

_Part = TypeVar("_Part")

FEW_PARTS = 4
"""So many parts have few enough orders to try them all."""


def orders_of(parts: Sequence[_Part]) -> Iterator[Sequence[_Part]]:
    """The given order, then others: of few parts each once, else random ones without end. Each run has the same."""
    if len(parts) <= FEW_PARTS:
        yield from permutations(parts)
        return
    yield parts
    rng = np.random.default_rng(len(parts))
    while True:
        yield [parts[place] for place in rng.permutation(len(parts))]
