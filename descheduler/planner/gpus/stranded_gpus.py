"""What is free on GPUs and what pods of the cluster's own sizes cannot use of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.optimizer.arrays import Floats
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.fragments import Fragments
from descheduler.placement.framework.node_parts import FreePart
from descheduler.placement.landings.openings import Openings
from descheduler.planner.gpus.gpu_classes import GpuClasses

_Known = tuple[object, bytes]


class StrandedGpus:
    """Percent of GPUs on `nodes` that are stranded for `classes`, as `Fragments` counts them, kept by node.

    Only nodes that have changed since they were last asked about are counted again.
    """

    def __init__(self, nodes: Sequence[str], classes: GpuClasses) -> None:
        self._nodes = tuple(nodes)
        self._classes = classes
        self._known: list[_Known | None] = [None] * len(self._nodes)
        self._stranded: Floats = np.zeros(len(self._nodes))

    def total(self, openings: Openings) -> int:
        """The sum over classes."""
        self._keep_up(openings)
        return round(float(self._stranded.sum()))

    def _keep_up(self, openings: Openings) -> None:
        columns = [openings.place_of(node) for node in self._nodes]
        free = np.maximum(openings.capacity[:, columns] - openings.taken[:, columns], 0).T
        changed: list[int] = []
        for number, row in enumerate(np.ascontiguousarray(free)):
            state, amounts = openings.parts.state(columns[number]), row.tobytes()
            known = self._known[number]
            if known is None or known[0] is not state or known[1] != amounts:
                self._known[number] = state, amounts
                changed.append(number)
        if changed:
            gpus = [list(openings.parts.free(columns[number]).values()) for number in changed]
            self._stranded[changed] = self._fragments(free.shape[1]).of(_by_gpu(gpus, free[changed]))

    def _fragments(self, num_resources: int) -> Fragments:
        classes = self._classes.over(num_resources)
        return Fragments(classes.shape[1] - 1, classes, self._classes.numbers, self._classes.weights)


def _by_gpu(gpus: Sequence[Sequence[FreePart]], free: Floats) -> Floats:
    """float64[R + 2, n, G]: what is left for a pod on each GPU of each node; -1: no such GPU."""
    most = max(map(len, gpus))
    found = np.full((free.shape[1] + 2, len(gpus), most), -1.0)
    for number, (some, row) in enumerate(zip(gpus, free, strict=True)):
        found[:-2, number, : len(some)] = row[:, None]
        found[-2:, number, : len(some)] = np.array(some, dtype=np.float64).reshape(-1, 2).T
    return found
