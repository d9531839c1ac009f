"""Sets of nodes that limits and volume let be emptied together, by a small integer program that knows of no places.

Where limits on moves decide, such as budgets of many workloads, the nodes are hard to choose, and places for their pods
are easy to find: drains that are made one after the other seldom find a set that uses the limits up. Nodes of a set
whose pods turn out to have no places are in later sets less often.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes.contended_limits import ContendedLimits
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.objectives.consolidate_nodes.most_emptied import Row, program_of, rows_of

_WORK = 0.2
"""Of one set, at most."""
_WORK_OF_CELL = 2e-6
"""Of building the program, for each node and row."""
_GAIN, _NOISE, _LOST, _MOST_LOST = 1000, 60, 40, 8
"""What a node gains per weight, the most that chance adds, and what it loses for each time that it was left, as often
as that is counted."""
_MOST_WEIGHT = 10**6
"""Of a node: larger weights are counted in larger units, as CP-SAT takes no sums beyond 2^62."""
_TIMES_OF_KEPT = 10
"""What a node that is to be kept gains more."""
_REMEMBERED = 0.9
"""Of how often a node was left, what is remembered with each further set."""


class NodeSets:
    """Sets of those nodes of `drains` that can be emptied; `weight` (int64[N]) is what nodes count."""

    def __init__(self, drains: Drains, contended: ContendedLimits, weight: Ints) -> None:
        self._drains, self._contended = drains, contended
        self._weight = weight // max(int(weight.max(initial=0)) // _MOST_WEIGHT, 1)
        self._nodes = np.flatnonzero(drains.can_empty)
        self._times_left: Floats = np.zeros(len(weight))

    @cached_property
    def _rows(self) -> list[Row]:
        return rows_of(self._drains, self._nodes)

    def choose(self, rng: np.random.Generator, budget: Budget, kept: Sequence[int] = ()) -> Ints:
        """int64[n]: a set of nearly the most weight, each time another one, with the nodes `kept` if possible.

        Empty where none is found in time, and where no limit keeps any node from being emptied.
        """
        if not len(self._contended.taken) or budget.is_over:
            return np.zeros(0, np.int64)
        nodes = self._nodes
        lost = (_LOST * np.minimum(self._times_left[nodes], _MOST_LOST)).astype(np.int64)
        gain = self._weight[nodes] * (_GAIN - lost + rng.integers(_NOISE, size=len(nodes)))
        gain[np.isin(nodes, kept)] *= _TIMES_OF_KEPT
        program = program_of(self._rows, len(nodes), min(_WORK, budget.work_left))
        program.most_gained(dict(enumerate(gain.tolist())))
        budget.spend(program.spent + _WORK_OF_CELL * len(nodes) * len(self._rows))
        found: Ints = nodes[np.flatnonzero(program.taken)]
        return found

    def note(self, left: Ints) -> None:
        """Takes note of the nodes of a set that could not be emptied."""
        self._times_left *= _REMEMBERED
        self._times_left[left] += 1.0
