"""Annealing by the compiled kernel: some millions of proposals a second, each of one move or swap."""

from __future__ import annotations

import importlib.util

import numpy as np

from descheduler.planner.limits import Budget
from descheduler.planner.objectives.reassign.kernel import State, compile_kernel
from descheduler.planner.placement import Placement

__all__ = ["CompiledAnnealing", "has_compiler"]

_STEPS, _WORK_OF_STEPS = 50_000, 0.01
_COOLING = 1e-3
_COLD = 1e-9
"""Below every change of whole numbers: only moves that cost nothing are made."""
_COLD_SHARE = 0.05
_SHARE, _SHARE_IF_CROWDED = 0.6, 0.95
_MOST_PODS_A_NODE = 30
"""Up to which the solver's neighbourhoods hold a few nodes with all their pods, and so gain more than single moves."""


def has_compiler() -> bool:
    """Whether the extra `fast` is installed."""
    return importlib.util.find_spec("numba") is not None


class CompiledAnnealing:
    """One annealing of one placement: down from `start` to a thousandth of it, then cold."""

    def __init__(self, placement: Placement, state: State, start: float, rng: np.random.Generator) -> None:
        self._placement, self._state, self._start = placement, state, start
        is_crowded = len(state.at) > _MOST_PODS_A_NODE * len(state.free)
        self.share = _SHARE_IF_CROWDED if is_crowded else _SHARE
        self._kernel = compile_kernel()
        self._random = rng.integers(1, 2**64, size=1, dtype=np.uint64)
        self._begun: float | None = None

    def run(self, budget: Budget, whole: Budget, until: float) -> None:
        """See `Annealer.run`."""
        if self._begun is None:
            self._kernel(self._state, self._random, _COLD, 1)  # compiles it
            self._begun = whole.progress
        while not budget.is_over and whole.progress < until:
            part = (whole.progress - self._begun) / (until - self._begun)
            self._kernel(self._state, self._random, self._temperature(part), _STEPS)
            budget.spend(_WORK_OF_STEPS)
        self._placement.reset(self._state.at)

    def _temperature(self, part: float) -> float:
        hot_part = part / (1.0 - _COLD_SHARE)
        return self._start * _COOLING**hot_part if hot_part < 1.0 else _COLD
