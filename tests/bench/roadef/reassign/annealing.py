"""Simulated annealing by heat bath: each pod of a sample chooses among all nodes at once, by their costs.

A pod goes to node n with the odds exp(-change[n] / temperature), staying where it is being one of the choices; the
choice is drawn by Gumbel noise (the "Gumbel-max trick"), which is one more array operation. One evaluation of numpy
serves a whole sample, where Metropolis' rule would throw most of its proposals away.
"""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.local_search import shift_changes
from descheduler.optimizer.objective import Guide
from tests.bench.roadef.reassign.swaps import swap_changes, try_swap

_CELLS = 1 << 16
"""Pairs of a pod and a node in a sample, about: enough to make numpy's own time small."""
_SWAPS_PER_SAMPLE = 2
_CALIBRATION_PODS, _START_QUANTILE = 200, 0.3
"""Pods that the first temperature is taken from, and the quantile of what their best alternatives cost."""
_COOLING = 1e-3
"""The last temperature, as a share of the first."""


def _start_temperature(placement: Arrangement, guide: Guide, rng: np.random.Generator) -> float:
    """A quantile of what a pod's best alternative costs; sampled, because too hot and too cold cost factors."""
    movable = np.flatnonzero(placement.problem.evictable)
    pods = rng.choice(movable, size=min(_CALIBRATION_PODS, len(movable)), replace=False)
    change = shift_changes(placement, guide, np.sort(pods), np.arange(placement.problem.num_nodes))
    best = change.min(axis=1)
    best = best[np.isfinite(best) & (best > 0)]
    return float(np.quantile(best, _START_QUANTILE)) if len(best) else 1.0


class Annealing:
    """Implements `objective.Annealer`. The temperature starts where pods' best alternatives are often taken."""

    share = 0.6

    def __init__(self, placement: Arrangement, guide: Guide, rng: np.random.Generator) -> None:
        self._placement, self._guide, self._rng = placement, guide, rng
        self._pods = np.flatnonzero(placement.problem.evictable)
        self._nodes = np.arange(placement.problem.num_nodes)
        self._sample_size = int(np.clip(_CELLS // (len(self._nodes) * len(placement.usage)), 8, 400))
        self._start = _start_temperature(placement, guide, rng)

    def run(self, budget: Budget, whole: Budget, until: float) -> None:
        """Goes on until `budget` is over or `whole` is at the share `until`; the temperature falls with `whole`."""
        while not budget.is_over and whole.progress < until:
            temperature = self._start * _COOLING ** (whole.progress / until)
            self._shift_sample(temperature, budget)
            for _ in range(_SWAPS_PER_SAMPLE):
                self._swap_pair(temperature, budget)

    def _shift_sample(self, temperature: float, budget: Budget) -> None:
        size = min(self._sample_size, len(self._pods))
        pods = self._rng.choice(self._pods, size=size, replace=False)
        change = shift_changes(self._placement, self._guide, pods, self._nodes)
        budget.spend_evaluations(change.size * len(self._placement.usage))
        noisy = change - temperature * self._rng.gumbel(size=change.shape)
        best = np.argmin(noisy, axis=1)
        stays = -temperature * self._rng.gumbel(size=size)
        rows = np.flatnonzero(noisy[np.arange(size), best] < stays)
        self._make_apart(pods[rows], best[rows])

    def _make_apart(self, pods: Ints, targets: Ints) -> None:
        """Makes the moves that share no node with one before, so that what was evaluated still holds."""
        touched: set[int] = set()
        placement = self._placement
        for pod, target in zip(pods.tolist(), targets.tolist(), strict=True):
            source = int(placement.at[pod])
            if source in touched or target in touched:
                continue
            if placement.allowed_moves(np.array([pod]), np.array([target]))[0, 0]:
                placement.move(pod, target)
                touched.update((source, target))

    def _swap_pair(self, temperature: float, budget: Budget) -> None:
        first, second = self._rng.choice(self._nodes, size=2, replace=False).tolist()
        pods, others = self._sample_on(first), self._sample_on(second)
        if not len(pods) or not len(others):
            return
        change = swap_changes(self._placement, self._guide, pods, others)
        budget.spend_evaluations(change.size * len(self._placement.usage))
        noisy = change - temperature * self._rng.gumbel(size=change.shape)
        row, column = np.unravel_index(int(np.argmin(noisy)), change.shape)
        if noisy[row, column] < -temperature * self._rng.gumbel():
            try_swap(self._placement, int(pods[row]), int(others[column]))

    def _sample_on(self, node: int) -> Ints:
        pods = self._placement.evictable_on(node)
        most = 1 + int((_CELLS // len(self._placement.usage)) ** 0.5)
        return pods if len(pods) <= most else self._rng.choice(pods, size=most, replace=False)
