"""The integers in which koord-scheduler computes quotas: cpu in thousandths, everything else in whole units, rounded up
(`getQuantityValue`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from descheduler.model.requests import ResourceList, ceil_amount

__all__ = ["UNLIMITED", "Amounts", "capped", "row_of", "wrapped"]

Amounts = NDArray[np.int64]
"""An amount for each resource of a tree, in its order."""
UNLIMITED = 2**63 - 1
_RANGE = 2**64


def capped(amount: int) -> int:
    """The nearest integer of 64 bits."""
    return max(-UNLIMITED, min(amount, UNLIMITED))


def wrapped(amount: int) -> int:
    """What is left of `amount` in 64 bits: the built-in max as thousandths of a cpu comes out as -600."""
    return (amount + 2**63) % _RANGE - 2**63


def row_of(resources: Sequence[str], amounts: ResourceList, missing: int = 0) -> Amounts:
    """`amounts` (nano units) in units, in the order of `resources`; those that it does not name are `missing`."""
    found = (capped(ceil_amount(name, amounts[name])) if name in amounts else missing for name in resources)
    return np.fromiter(found, dtype=np.int64, count=len(resources))
