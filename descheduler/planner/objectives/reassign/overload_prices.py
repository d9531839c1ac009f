"""What annealing pays for overloaded nodes: a price for each unit that is short, raised where overload lasts.

Where nodes are nearly full, most moves of large pods are open only after others, which nothing rewards. An annealing
that may overload nodes makes them at once, and lets small pods flow out of the way: "strategic oscillation" (Glover,
Tabu Search, 1989), with a multiplier for each constraint as in Wah and Wang's "constrained simulated annealing" (1999).
"""

from __future__ import annotations

import numpy as np

from descheduler.planner.objectives.reassign.kernel import State

__all__ = ["OverloadPrices", "is_overloaded"]

_WEIGHTS_AT_FIRST = 5.0
"""The first price, in weights of the load's cost."""
_UP, _DOWN = 1.1, 0.99
_PROHIBITIVE = 1e9


def is_overloaded(state: State) -> bool:
    """Whether any node is short of anything, with what it holds for pods that moved away."""
    return bool((state.free_while_moving < 0.0).any())


class OverloadPrices:
    """The prices of a state, which may be overloaded until `close`."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._least = _WEIGHTS_AT_FIRST * float(state.weight.max(initial=1.0))
        state.price[:] = self._least
        state.is_lenient[0] = True

    def adapt(self, temperature: float) -> None:
        """Raises the price of what overload costs more than the temperature makes likely, and lowers all others."""
        price = self._state.price
        lasts = price * np.maximum(-self._state.free_while_moving, 0.0) > temperature
        price[lasts] *= _UP
        price[~lasts] = np.maximum(price[~lasts] * _DOWN, self._least)

    def forbid(self) -> None:
        """Has every move refused that adds to the overload there is."""
        self._state.price[:] = _PROHIBITIVE

    def close(self) -> None:
        """From here on no node is overloaded."""
        self._state.is_lenient[0] = False
