"""Annealing by the compiled kernel: some millions of proposals a second, each of one move or swap."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.limits import Budget
from tests.bench.roadef.reassign.kernel import State, compile_kernel
from tests.bench.roadef.reassign.overload_prices import OverloadPrices, is_overloaded

_STEPS, _WORK_OF_STEPS = 50_000, 0.01
_COOLING = 1e-3
_COLD = 1e-9
"""Below every change of whole numbers: only moves that cost nothing are made."""
_COLD_SHARE = 0.05
_PATIENT_UNTIL, _LENIENT_UNTIL = 0.6, 0.9
"""Parts of the annealing: until when overload is put up with, and when what is left of it is undone at any cost."""
_SHARES_IF_LENIENT = (0.5, 0.3)
"""See `State.shares`: where nodes may be overloaded, what moved pods hold at home is less in the way."""
_SHARE, _SHARE_IF_CROWDED = 0.8, 0.95
_MOST_PODS_A_NODE = 30
"""Up to which pods are so large that overload helps, and that the solver deals out a few nodes' pods at once."""


def has_compiler() -> bool:
    """Whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


class CompiledAnnealing:
    """One annealing of one placement: down from `start` to a thousandth of it, then cold.

    make_state: the state of the placement as it is when called.
    """

    def __init__(
        self, placement: Arrangement, make_state: Callable[[], State], start: float, rng: np.random.Generator
    ) -> None:
        self._placement, self._make_state, self._start = placement, make_state, start
        self._state = make_state()
        is_crowded = len(self._state.at) > _MOST_PODS_A_NODE * len(self._state.free)
        self.share = _SHARE_IF_CROWDED if is_crowded else _SHARE
        self._prices: OverloadPrices | None = None
        if not is_crowded and not is_overloaded(self._state):
            self._prices = OverloadPrices(self._state, _PATIENT_UNTIL)
            self._state.shares[:] = _SHARES_IF_LENIENT
        self._kernel = compile_kernel()
        self._random = rng.integers(1, 2**64, size=1, dtype=np.uint64)
        self._begun: float | None = None

    def run(self, budget: Budget, whole: Budget, until: float) -> None:
        """See `Annealer.run`. The placement follows where no node is overloaded."""
        if self._begun is None:
            self._kernel(self._state, self._random, _COLD, 1)  # compiles it
            self._begun = whole.progress
        while not budget.is_over and whole.progress < until:
            part = (whole.progress - self._begun) / (until - self._begun)
            temperature = self._temperature(part)
            if self._prices is not None:
                self._prices = self._govern(self._prices, part, temperature)
            self._kernel(self._state, self._random, temperature, _STEPS)
            budget.spend(_WORK_OF_STEPS)
        if self._prices is None or not is_overloaded(self._state):
            self._placement.reset(self._state.at)

    def _temperature(self, part: float) -> float:
        hot_part = part / (1.0 - _COLD_SHARE)
        return self._start * _COOLING**hot_part if hot_part < 1.0 else _COLD

    def _govern(self, prices: OverloadPrices, part: float, temperature: float) -> OverloadPrices | None:
        """The prices for the next steps; None from when on overload is forbidden."""
        if part >= _PATIENT_UNTIL and not is_overloaded(self._state):
            prices.close()
            return None
        if part >= 1.0 - _COLD_SHARE:
            self._state = self._make_state()
            return None
        if part < _LENIENT_UNTIL:
            prices.adapt(part, temperature)
        else:
            prices.forbid()
        return prices
