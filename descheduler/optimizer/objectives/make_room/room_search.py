"""The search for room on parts: exchanges of many machines at once, then relocations one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Value
from descheduler.optimizer.objectives.fullest_node import place_on_fullest
from descheduler.optimizer.objectives.make_room.carrying_out import carry_out
from descheduler.optimizer.objectives.make_room.exchanges import Exchanges
from descheduler.optimizer.objectives.make_room.pending import PendingUnits, SizeOrder
from descheduler.optimizer.objectives.make_room.pod_kinds import PodKinds
from descheduler.optimizer.objectives.make_room.relocations import Relocations
from descheduler.optimizer.parts import Parts
from descheduler.optimizer.rules import MoveLimit

_SHARE_OF_ROUNDS = 0.7
"""Of the limits; what is left is for the choice of whole exchanges, and for relocations."""

_MOST_KINDS = 2000
"""Each is compared with each."""


class RoomSearch:
    """Implements `objective.Annealer`. `value` tells which of two assignments is better."""

    share = 1.0

    def __init__(
        self,
        pending: PendingUnits,
        parts: Parts,
        placement: Arrangement,
        value: Callable[[Ints], Value],
        rng: np.random.Generator,
    ) -> None:
        self._pending, self._parts, self._placement, self._value, self._rng = pending, parts, placement, value, rng
        self._singles = pending.pods[pending.gang[pending.pods] < 0]
        self._relocations = Relocations(pending, parts, placement, rng)
        self._base = placement.at.copy()
        self._base[self._singles] = PENDING
        self._exchanges = self._make_exchanges()

    def _make_exchanges(self) -> Exchanges | None:
        """None where there is nothing to exchange, or no way to do it.

        What departs and is held at both ends leaves no place. And pods that were moved before may have been where rules
        needed pending pods that are taken off here.
        """
        problem = self._placement.problem
        base = Arrangement(problem, self._base)
        movable = np.flatnonzero(problem.evictable & (self._base != PENDING) & (self._base == problem.assignment))
        movable = movable[base.may_leave(movable)]
        is_free = all(isinstance(rule, MoveLimit) for rule in problem.rules)
        is_new = bool((self._base == problem.assignment).all())
        if problem.both_ends.any() or not (is_free or is_new) or not len(self._singles) or not len(movable):
            return None
        kinds = PodKinds(problem, np.union1d(self._singles, movable))
        if len(kinds) > _MOST_KINDS:
            return None
        return Exchanges(self._pending, self._parts, base, kinds, self._singles, movable, self._rng)

    def run(self, budget: Budget, whole: Budget, until: float) -> None:
        """See `Annealer.run`."""
        if self._exchanges is not None:
            until_choice = _SHARE_OF_ROUNDS * until
            while not budget.is_over and not self._exchanges.is_done and whole.progress < until_choice:
                self._exchanges.generate(budget, whole.seconds_left)
            if budget.is_over and not whole.is_over:
                return
            self._carry_out(self._exchanges, budget)
            self._exchanges = None
        self._relocations.run(budget, whole, until)

    def _carry_out(self, exchanges: Exchanges, budget: Budget) -> None:
        """Makes the best choice of the exchanges, where it is better than what was there."""
        waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
        for pod in self._singles.tolist():
            waiting[int(exchanges.kinds.of[pod]), int(self._pending.weight[pod])].append(pod)
        for chosen in exchanges.choose(budget, int(self._rng.integers(1 << 30))):
            placement = Arrangement(self._placement.problem, self._base)
            carry_out(placement, chosen, exchanges.kinds, waiting)
            self._pending.place_greedily(placement, place_on_fullest, SizeOrder.SMALLEST_FIRST)
            if self._value(placement.at) < self._value(self._placement.at):
                self._placement.reset(placement.at)
