"""The score by which kube-scheduler prefers nodes that are full already."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints


class MostAllocated:
    """How full nodes would be with a pod. The scheduler takes the best, here the first of equal ones.

    allocatable: int64[N, R], of which the problem's capacity is what is left beside others than its pods.
    weight: int64[R], of each resource in the score, 0 for those that do not count; at least one is above 0.
    Mirrors `noderesources/most_allocated.go` of kube-scheduler 1.36: whole percentages, and their weighted mean cut.
    """

    def __init__(self, allocatable: Ints, weight: Ints) -> None:
        self._scored = np.flatnonzero(weight > 0)
        self._weight = weight[self._scored].astype(np.float64)
        self._allocatable: Floats = np.maximum(allocatable.T[self._scored], 1).astype(np.float64)

    def scores(self, free: Floats, need: Floats) -> Floats:
        """float64[..., N]: the scores of nodes with that much `free` (float64[..., R, N]) for a pod of that `need`.

        `need` is float64[..., R], for each of which there are nodes of their own.
        """
        wanted = self._allocatable - free[..., self._scored, :] + need[..., self._scored, None]
        percent = np.floor(100.0 * wanted / self._allocatable)
        scores: Floats = np.floor(self._weight @ percent / self._weight.sum())
        return scores
