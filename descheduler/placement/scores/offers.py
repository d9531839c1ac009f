"""What the nodes offer of one resource, made ready for scores, which divide by it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.requests import CPU, EPHEMERAL_STORAGE, MEMORY
from descheduler.placement.framework import BoolMask
from descheduler.placement.node_table import NodeTable

__all__ = ["Offer", "is_scored_unasked", "offer"]


class Offer(NamedTuple):
    """One resource, by node: `allocatable` is at least 1, and `is_offered` says where it is more than that stopgap.

    `is_offered` is None where every node offers the resource, which is the rule for cpu and memory.
    """

    row: int
    allocatable: NDArray[np.int64]
    is_offered: BoolMask | None


def offer(table: NodeTable, name: str) -> Offer:
    """The offer of a counted resource."""
    row = table.row(name)
    allocatable = table.allocatable[row]
    is_offered = allocatable > 0
    return Offer(row, np.maximum(allocatable, 1), None if is_offered.all() else is_offered)


def is_scored_unasked(name: str) -> bool:
    """Whether a resource is scored even for pods that ask for none of it, unlike extended ones and hugepages."""
    return name in (CPU, MEMORY, EPHEMERAL_STORAGE)
