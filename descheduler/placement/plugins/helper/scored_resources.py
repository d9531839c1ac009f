"""What the nodes have of one resource, made ready for scores, which divide by it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.requests import CPU, EPHEMERAL_STORAGE, MEMORY
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import NodeTable

__all__ = ["ScoredResource", "is_scored_unasked", "scored_resource"]


class ScoredResource(NamedTuple):
    """One resource, by node: `allocatable` is at least 1, and `is_available` says where it is more than that stopgap.

    `is_available` is None where every node has the resource, which is the rule for cpu and memory.
    """

    row: int
    allocatable: NDArray[np.int64]
    is_available: BoolMask | None


def scored_resource(table: NodeTable, name: str) -> ScoredResource:
    """A counted resource as the nodes have it."""
    row = table.row(name)
    allocatable = table.allocatable[row]
    is_available = allocatable > 0
    return ScoredResource(row, np.maximum(allocatable, 1), None if is_available.all() else is_available)


def is_scored_unasked(name: str) -> bool:
    """Whether a resource is scored even for pods that ask for none of it, unlike extended ones and hugepages."""
    return name in (CPU, MEMORY, EPHEMERAL_STORAGE)
