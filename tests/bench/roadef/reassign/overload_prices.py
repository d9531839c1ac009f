"""What annealing pays for overloaded nodes: a price for each unit that is short, raised where overload lasts.

Where nodes are nearly full, most moves of large pods are open only after others, which nothing rewards. An annealing
that may overload nodes makes them at once, and lets small pods flow out of the way: "strategic oscillation" (Glover,
Tabu Search, 1989), with a multiplier for each constraint as in Wah and Wang's "constrained simulated annealing" (1999).
"""

from __future__ import annotations

import numpy as np

from tests.bench.roadef.reassign.kernel import State

_WEIGHTS_AT_FIRST = 5.0
"""The first price, in weights of the load's cost."""
_RISE, _FALL = 100.0, 10.0
"""How many times a price is multiplied, or divided, by e in the whole of an annealing."""
_PROHIBITIVE = 1e9


def is_overloaded(state: State) -> bool:
    """Whether any node is short of anything, with what it holds for pods that moved away."""
    return bool((state.free_while_moving < 0.0).any())


class OverloadPrices:
    """The prices of a state, which may be overloaded until `close`.

    patient_until: the part of the annealing up to which less and less overload is put up with; from there on none is.
    """

    def __init__(self, state: State, patient_until: float) -> None:
        self._state, self._patient_until = state, patient_until
        self._least = _WEIGHTS_AT_FIRST * float(state.weight.max(initial=1.0))
        state.price[:] = self._least
        state.is_lenient[0] = True
        self._part = 0.0

    def adapt(self, part: float, temperature: float) -> None:
        """The prices for the next steps, at this part of the annealing (0 to 1).

        Overload that costs about the temperature is likely, and put up with at first; what costs more lasts.
        """
        price, step = self._state.price, part - self._part
        slack = max(1.0 - part / self._patient_until, 0.0)
        lasts = price * np.maximum(-self._state.free_while_moving, 0.0) > slack * temperature
        price[lasts] *= np.exp(_RISE * step)
        price[~lasts] = np.maximum(price[~lasts] * np.exp(-_FALL * slack * step), self._least)
        self._part = part

    def forbid(self) -> None:
        """Has every move refused that adds to the overload there is."""
        self._state.price[:] = _PROHIBITIVE

    def close(self) -> None:
        """From here on no node is overloaded."""
        self._state.is_lenient[0] = False
