"""Ruin and recreate: some moves are taken back, the best ones are made instead, and the better plan stays."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.descent import Descent

__all__ = ["Recreation"]

_LEAST_TAKEN, _MOST_TAKEN = 2, 24
_LEAST_GAIN = 1e-6
_PATIENCE = 500
"""Tries in a row that better nothing, after which small clusters are taken to be done."""


class Recreation:
    """Implements `objective.Annealer`, by Schrimpf et al.'s principle (2000), and takes no plan that is worse."""

    share = 1.0

    def __init__(self, descent: Descent, rng: np.random.Generator) -> None:
        self._descent, self._rng = descent, rng
        self._in_vain = 0

    def run(self, budget: Budget, whole: Budget, until: float) -> None:
        """Goes on until `budget` is over, `whole` is at the share `until`, or nothing is bettered for long."""
        while not budget.is_over and whole.progress < until and self._in_vain < _PATIENCE:
            self._try_once(budget)

    def _try_once(self, budget: Budget) -> None:
        descent = self._descent
        placement = descent.placement
        before, stranded = placement.at.copy(), descent.stranded
        moved = placement.problem.moved(placement.at)
        size = int(self._rng.integers(_LEAST_TAKEN, _MOST_TAKEN + 1))
        for pod in self._rng.permutation(moved)[:size].tolist():
            home = int(placement.origins[pod])
            if placement.is_open(pod, home):
                descent.move(pod, home)
        descent.run(budget)
        budget.spend_evaluations(0)
        self._in_vain = 0 if descent.stranded < stranded - _LEAST_GAIN else self._in_vain + 1
        if descent.stranded > stranded:
            self._take_back(before)

    def _take_back(self, before: Ints) -> None:
        descent = self._descent
        changed = np.flatnonzero(descent.placement.at != before)
        touched = set(self._descent.machine[descent.placement.at[changed]].tolist())
        touched.update(self._descent.machine[before[changed]].tolist())
        descent.placement.reset(before)
        descent.refresh(touched)
