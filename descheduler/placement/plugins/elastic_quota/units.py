"""The integers in which koord-scheduler computes quotas: cpu in thousandths, everything else in whole units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from descheduler.model.quantity import ceil_milli, ceil_value
from descheduler.model.requests import CPU, ResourceList

__all__ = ["UNLIMITED", "Amounts", "capped", "in_units", "row_of", "wrapped"]

Amounts = NDArray[np.int64]
"""An amount for each resource of a tree, in its order."""
UNLIMITED = 2**63 - 1
_RANGE = 2**64


def in_units(resource: str, nano: int) -> int:
    """`nano` units of `resource` in thousandths of a cpu, or in whole units, rounded up (`getQuantityValue`)."""
    return ceil_milli(nano) if resource == CPU else ceil_value(nano)


def capped(amount: int) -> int:
    """The nearest integer of 64 bits."""
    return max(-UNLIMITED, min(amount, UNLIMITED))


def wrapped(amount: int) -> int:
    """What is left of `amount` in 64 bits: the built-in max as thousandths of a cpu comes out as -600."""
    return (amount + 2**63) % _RANGE - 2**63


def row_of(resources: Sequence[str], amounts: ResourceList, missing: int = 0) -> Amounts:
    """`amounts` (nano units) in units, in the order of `resources`; those that it does not name are `missing`."""
    found = (capped(in_units(name, amounts[name])) if name in amounts else missing for name in resources)
    return np.fromiter(found, dtype=np.int64, count=len(resources))
