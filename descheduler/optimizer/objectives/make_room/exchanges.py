"""Exchanges of pods among machines by column generation.

An exchange is what one machine does: up to two of its pods depart, and places for pods of some kinds come of it. Which
exchanges go together is a linear program: for pods that depart and pending pods that are placed there are places of
their kind, or of a larger one; each machine has one exchange, and limits of moves hold. Its duals are prices of places
and moves, at which the exchanges that are worth more than they cost are looked for, machine by machine (Gilmore and
Gomory, Operations Research 9, 1961). When there are none left, or the time for it is over, whole exchanges are chosen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Floats, Ints
from descheduler.optimizer.cp_sat.column_program import ColumnProgram, Relaxed
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.make_room.departures import DepartureChoices, departures_of
from descheduler.optimizer.objectives.make_room.fillings import fill
from descheduler.optimizer.objectives.make_room.pending import PendingUnits
from descheduler.optimizer.objectives.make_room.pod_kinds import PodKinds
from descheduler.optimizer.parts import Parts

_MOST_NEW = 4000
"""Exchanges that are added in a round."""
_MOST_AT_ONCE = 8192
"""Departures that are looked at together, which bounds the memory."""
_MOST_WHOLE = 3000
"""Columns of which whole ones are chosen."""
_WORK_OF_WHOLE = 10.0
_SHARE_OF_WHOLE = 0.7
"""Of the time that is left then."""
_LEAST_SECONDS = 1.0
_CLOSE = 0.15
"""How much a departure may have been short of being worth while, as a share of a pod, to be looked at in each round."""
_ROUNDS_OF_CLOSE = 6
_LEAST_GAIN = 1e-6
_FIRST_PRICE, _FIRST_PRICE_OF_MOVE = 0.9, 0.15


@dataclass(frozen=True, slots=True)
class Exchange:
    """Pods that depart from a machine, and the places there are there then: (kind, node) each."""

    machine: int
    departing: tuple[int, ...]
    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Exchanges that go together, with (kind, weight, number) of pending pods placed.

    handed: by kind, how many of its places are given to which smaller kinds.
    """

    exchanges: Sequence[Exchange]
    placed: Sequence[tuple[int, int, int]]
    handed: Mapping[int, Sequence[tuple[int, int]]]


class Exchanges:
    """The exchanges found so far, from where the pods of `placement` are; none of `singles` (int64[p]) has a node.

    movable: int64[m], pods that have a node and may depart. kinds: those of all these pods. `is_done` says that no more
    exchanges are worth while, or that no prices were found.
    """

    def __init__(
        self,
        pending: PendingUnits,
        parts: Parts,
        placement: Arrangement,
        kinds: PodKinds,
        singles: Ints,
        movable: Ints,
        rng: np.random.Generator,
    ) -> None:
        problem = placement.problem
        self.kinds = kinds
        self._cost, self._singles, self._weight = problem.cost, singles, pending.weight[singles]
        self._departures = departures_of(placement, parts, self.kinds, movable)
        self._limits = _MoveRows(placement, len(self.kinds) + len(parts.nodes_of))
        self._scale = 1 + int(problem.cost[movable].sum())
        rows = (np.zeros(len(self.kinds), np.int64), np.ones(len(parts.nodes_of), np.int64), self._limits.left)
        self._program = ColumnProgram(np.concatenate(rows), self._scale)
        self._supply = self._add_supply()
        self._handovers = {
            self._program.add(0, problem.num_pods, {first: 1, second: -1}): (first, second)
            for first, second in self.kinds.handovers()
        }
        self._exchanges: dict[int, Exchange] = {}
        self._known: set[Exchange] = set()
        self._last = [np.full(len(departures.machine), np.inf) for departures in self._departures]
        self._prices = self._first_prices(rng)
        self._relaxed: Relaxed | None = None
        self._round = 0
        self.is_done = False

    def _add_supply(self) -> dict[int, tuple[int, int]]:
        """Columns of pending pods that are placed: the kind and weight of each."""
        look = np.column_stack((self.kinds.of[self._singles], self._weight))
        found, counts = np.unique(look, axis=0, return_counts=True)
        return {
            self._program.add(weight * self._scale, count, {kind: 1}): (kind, weight)
            for (kind, weight), count in zip(found.tolist(), counts.tolist(), strict=True)
        }

    def _first_prices(self, rng: np.random.Generator) -> Floats:
        """Places are worth what a pending pod that fits there counts, large ones more, about: so that seeds differ."""
        kinds = self.kinds
        dearest = np.zeros(len(kinds))
        np.maximum.at(dearest, kinds.of[self._singles], self._weight.astype(np.float64))
        mean = np.maximum(kinds.need[kinds.of[self._singles]].mean(axis=0), 1.0)
        by_size = (kinds.need / mean).mean(axis=1) * self._weight.mean()
        by_pod = np.where(kinds.can_take, dearest, 0.0).max(axis=1, initial=0.0)
        places = _FIRST_PRICE * np.maximum(np.maximum(dearest, by_pod), by_size) * rng.uniform(0.95, 1.05, len(kinds))
        prices = np.zeros(self._limits.first + len(self._limits.left))
        prices[: len(kinds)] = places
        prices[self._limits.first :] = _FIRST_PRICE_OF_MOVE * self._weight.mean()
        return prices

    def generate(self, budget: Budget, seconds: float) -> None:
        """One round: exchanges that are worth more than they cost, and new prices, for which there are `seconds`."""
        is_full = self._round == 0
        is_whole, added = self._price(budget, is_full=is_full)
        self._round = (self._round + 1) % _ROUNDS_OF_CLOSE if added else 0
        if not added:
            self.is_done = is_full and is_whole
            return
        relaxed = self._program.relax(seconds)
        if relaxed is None:
            self.is_done = True
            return
        budget.spend(relaxed.work)
        self._relaxed, self._prices = relaxed, relaxed.prices

    def _price(self, budget: Budget, *, is_full: bool) -> tuple[bool, int]:
        """Adds the exchanges worth most at the prices, of departures that were `_CLOSE` or of all.

        Returns whether there was time for all of these, and how many exchanges were added.
        """
        found: list[tuple[float, Exchange]] = []
        items = self._items()
        for departures, last in zip(self._departures, self._last, strict=True):
            paid = self._paid(departures)
            is_open = self._most(departures, items) > paid + _LEAST_GAIN
            if not is_full:
                is_open &= last > -_CLOSE
            rows = np.flatnonzero(is_open)
            for chosen in np.split(rows, range(_MOST_AT_ONCE, len(rows), _MOST_AT_ONCE)):
                if budget.is_over:
                    return False, self._add_best(found)
                found += self._worth_while(departures, chosen, last, paid, items)
                budget.spend_evaluations(chosen.size * len(items) * departures.left.shape[0])
        return True, self._add_best(found)

    def _add_best(self, found: list[tuple[float, Exchange]]) -> int:
        """Adds those of (gain, exchange) that are new, the most gainful first; their number."""
        found.sort(key=lambda one: -one[0])
        new = [exchange for _, exchange in found if exchange not in self._known][:_MOST_NEW]
        for exchange in new:
            self._add(exchange)
        return len(new)

    def _items(self) -> Ints:
        """The kinds of places that have a price, without those of which a smaller one is as dear."""
        price = self._prices[: len(self.kinds)]
        is_beaten = (self.kinds.can_take & (price >= price[:, None] - 1e-7)).any(axis=1)
        return np.flatnonzero((price > 1e-7) & ~is_beaten)

    def _paid(self, departures: DepartureChoices) -> Floats:
        """float64[S]: what departures cost: places for the pods, moves, and that the machine has no other exchange."""
        of_kind = np.append(self._prices[: len(self.kinds)], 0.0)[self.kinds.of]
        of_pod = np.append(of_kind + self._limits.prices(self._prices) + self._cost / self._scale, 0.0)
        paid: Floats = of_pod[departures.pods].sum(axis=1) + self._prices[len(self.kinds) + departures.machine]
        return paid

    def _most(self, departures: DepartureChoices, items: Ints) -> Floats:
        """float64[S]: no filling is worth more: all that is left of a resource goes where it is worth most."""
        most = np.full(len(departures.machine), np.inf)
        for need, rest in zip(self.kinds.need[items].T, departures.rest, strict=True):
            if (need > 0).all():
                most = np.minimum(most, rest * (self._prices[items] / need).max(initial=0.0))
        return most

    def _worth_while(
        self, departures: DepartureChoices, chosen: Ints, last: Floats, paid: Floats, items: Ints
    ) -> list[tuple[float, Exchange]]:
        """The best exchange of each machine and number of departing pods, if it gains something."""
        fillings = fill(departures, chosen, self.kinds, items, self._prices[items])
        gain = fillings.value - paid[chosen]
        last[chosen] = gain
        group = 3 * departures.machine[chosen] + (departures.pods[chosen] != PENDING).sum(axis=1)
        order = np.lexsort((-gain, group))
        is_best = np.append(True, group[order][1:] != group[order][:-1])[: len(order)]
        best = order[is_best & (gain[order] > _LEAST_GAIN)]
        return [
            (
                float(gain[row]),
                Exchange(
                    int(departures.machine[chosen[row]]),
                    tuple(pod for pod in departures.pods[chosen[row]].tolist() if pod != PENDING),
                    tuple(
                        (kind, node)
                        for kind, node in zip(fillings.kinds[row].tolist(), fillings.nodes[row].tolist(), strict=True)
                        if kind != PENDING
                    ),
                ),
            )
            for row in best.tolist()
        ]

    def _add(self, exchange: Exchange) -> None:
        coefficients = {len(self.kinds) + exchange.machine: 1}
        for kind, _ in exchange.places:
            coefficients[kind] = coefficients.get(kind, 0) - 1
        for pod in exchange.departing:
            for row in (int(self.kinds.of[pod]), *self._limits.of(pod)):
                coefficients[row] = coefficients.get(row, 0) + 1
        cost = int(self._cost[list(exchange.departing)].sum())
        self._exchanges[self._program.add(-cost, 1, coefficients)] = exchange
        self._known.add(exchange)

    def choose(self, budget: Budget, seed: int) -> Iterator[Chosen]:
        """The whole exchanges that are best together: of those in the best fractions, then of more where time is left.

        The first choice takes a second at most, and is made even where the time is over.
        """
        if self._relaxed is None or budget.is_cancelled:
            return
        yield self._whole(self._relaxed, 0, budget, max(budget.seconds_left, _LEAST_SECONDS), seed)
        if not budget.is_over:
            yield self._whole(self._relaxed, _MOST_WHOLE, budget, _SHARE_OF_WHOLE * budget.seconds_left, seed)

    def _whole(self, relaxed: Relaxed, most: int, budget: Budget, seconds: float, seed: int) -> Chosen:
        whole = self._program.solve_whole(relaxed, most, seconds=seconds, work=_WORK_OF_WHOLE, seed=seed)
        budget.spend(whole.work)
        return self._chosen(whole.values)

    def _chosen(self, values: Ints) -> Chosen:
        times = values.tolist()
        handed: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for column, (kind, smaller) in self._handovers.items():
            if times[column]:
                handed[kind].append((smaller, times[column]))
        return Chosen(
            exchanges=[exchange for column, exchange in self._exchanges.items() if times[column]],
            placed=[(kind, weight, times[column]) for column, (kind, weight) in self._supply.items()],
            handed=handed,
        )


class _MoveRows:
    """The rows of the program for limits of moves, `first` and those after it; `left` is int64[rows]."""

    def __init__(self, placement: Arrangement, first: int) -> None:
        problem = placement.problem
        moved = problem.moved(placement.at)
        self.first = first
        lefts = [np.zeros(0, np.int64)]
        self._rows = np.full((len(problem.move_limits), problem.num_pods), -1)
        for number, rule in enumerate(problem.move_limits):
            self._rows[number] = np.where(rule.group >= 0, first + rule.group, -1)
            lefts.append(np.maximum(rule.limit - rule.count(moved), 0))
            first += len(rule.limit)
        self.left = np.concatenate(lefts)

    def of(self, pod: int) -> list[int]:
        """The rows that count the pod."""
        return [row for row in self._rows[:, pod].tolist() if row >= 0]

    def prices(self, prices: Floats) -> Floats:
        """float64[P]: what it costs each pod to be moved, of prices of all rows."""
        paid: Floats = np.append(prices, 0.0)[self._rows].sum(axis=0)
        return paid
