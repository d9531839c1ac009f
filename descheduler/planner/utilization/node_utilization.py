"""What is taken of one node, by requests or as measured, beside what it has."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.optimizer.arrays import Ints


class NodeUtilization:
    """Amounts of `resources` of one node, taken and allocatable: int64[R] each, cpu in milli, all else in units."""

    def __init__(self, resources: Sequence[str], taken: Ints, allocatable: Ints) -> None:
        self.resources = tuple(resources)
        self.taken = taken
        self.allocatable = allocatable
