"""The cheapest set of pods whose removal brings a node under its target: a covering knapsack, solved exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import Bools, Floats, Ints

_MAX_LABELS = 4000
_MAX_COMPARED = 700


@dataclass(frozen=True, slots=True)
class Cover:
    """`chosen` (indexes of the given pods, ascending) removes the excess at `cost`; none does for less than `bound`."""

    chosen: tuple[int, ...]
    cost: int
    bound: int


@dataclass(slots=True)
class _Labels:
    """Sets of pods that do not cover yet: what each covers, float64[L, D], costs, float64[L], and holds, bool[L, M]."""

    covered: Floats
    spent: Floats
    chosen: Bools

    def keep(self, which: Bools) -> _Labels:
        return _Labels(self.covered[which], self.spent[which], self.chosen[which])

    def join(self, other: _Labels) -> _Labels:
        return _Labels(
            np.concatenate((self.covered, other.covered)),
            np.concatenate((self.spent, other.spent)),
            np.concatenate((self.chosen, other.chosen)),
        )


def smallest_cover(excess: Floats, need: Floats, cost: Ints) -> Cover | None:
    """The cheapest pods that need together at least `excess`, of equal cost the smaller ones; None: all need less.

    excess: float64[D], above 0. need: float64[M, D]. cost: int64[M].
    Labels are extended pod by pod and dropped where another one covers as much for as little, or where the cheapest
    pods left cannot bring it below the best cover known. With more than some thousand labels the search ends early, and
    `bound` is below `cost` where it might have found a cheaper one.
    """
    share = np.minimum(need / excess, 1.0)
    if (need.sum(axis=0) < excess).any():
        return None
    order = np.argsort(-share.sum(axis=1) / np.maximum(cost, 1e-9), kind="stable")
    order = order[share[order].any(axis=1)]
    best = _greedy(excess, need, cost, order)
    chosen, bound = _search(excess, need[order], cost[order].astype(np.float64), _total(cost, best))
    if chosen is not None:
        best = order[chosen]
    best = _needed(excess, need, cost, _smaller(excess, need, cost, best))
    return Cover(tuple(sorted(best.tolist())), _total(cost, best), bound)


def _total(cost: Ints, chosen: Ints) -> int:
    return int(cost[chosen].sum())


def _greedy(excess: Floats, need: Floats, cost: Ints, order: Ints) -> Ints:
    """Pods in the given order until they cover."""
    enough = int(np.argmax((np.cumsum(need[order], axis=0) >= excess).all(axis=1)))
    return _needed(excess, need, cost, order[: enough + 1])


def _needed(excess: Floats, need: Floats, cost: Ints, chosen: Ints) -> Ints:
    """The pods of a cover without those that it covers without, the dearest of these first."""
    for pod in sorted(chosen.tolist(), key=lambda pod: (-int(cost[pod]), float(need[pod].sum()))):
        without = chosen[chosen != pod]
        if (need[without].sum(axis=0) >= excess).all():
            chosen = without
    return chosen


def _search(excess: Floats, need: Floats, cost: Floats, best_cost: int) -> tuple[Bools | None, int]:
    """The cheapest cover below `best_cost` (None: none is), and what no cover is cheaper than."""
    size, width = need.shape
    best: Bools | None = None
    labels = _Labels(np.zeros((1, width)), np.zeros(1), np.zeros((1, size), bool))
    left = np.cumsum(need[::-1], axis=0)[::-1]
    rate = np.maximum.accumulate((need / np.maximum(cost, 1e-9)[:, None])[::-1], axis=0)[::-1]
    for pod in range(size):
        labels = _promising(labels, excess, left[pod], rate[pod], best_cost)
        if not len(labels.spent):
            break
        if len(labels.spent) > _MAX_LABELS:
            return best, int(labels.spent.min())
        more = _Labels(np.minimum(labels.covered + need[pod], excess), labels.spent + cost[pod], labels.chosen.copy())
        more.chosen[:, pod] = True
        done = np.asarray((more.covered >= excess).all(axis=1))
        cheapest = int(np.argmin(np.where(done, more.spent, np.inf)))
        if done[cheapest] and more.spent[cheapest] < best_cost:
            best, best_cost = more.chosen[cheapest], int(more.spent[cheapest])
        labels = _undominated(labels.join(more.keep(~done)))
    return best, best_cost


def _promising(labels: _Labels, excess: Floats, left: Floats, rate: Floats, best_cost: int) -> _Labels:
    """The labels that the pods left can still complete, and for less than `best_cost`."""
    missing = excess - labels.covered
    cheapest = np.max(missing / np.maximum(rate, 1e-12), axis=1)
    cheaper = labels.spent + np.ceil(cheapest - 1e-9) < best_cost
    can_cover: Bools = np.asarray((missing <= left).all(axis=1))
    return labels.keep(can_cover & cheaper)


def _undominated(labels: _Labels) -> _Labels:
    if len(labels.spent) > _MAX_COMPARED:
        return labels
    covers_more = np.asarray((labels.covered[:, None, :] <= labels.covered[None, :, :]).all(axis=2))
    dominated: Bools = covers_more & (labels.spent[:, None] >= labels.spent[None, :])
    first = np.arange(len(labels.spent))
    # Of equal labels the first stays.
    dominated &= ~dominated.T | (first[:, None] > first[None, :])
    return labels.keep(~np.asarray(dominated.any(axis=1)))


def _smaller(excess: Floats, need: Floats, cost: Ints, chosen: Ints) -> Ints:
    """The same cost with smaller pods, one exchanged at a time: small pods are easier to place."""
    size = (need / excess).sum(axis=1)
    picked = chosen.copy()
    for place in np.argsort(-size[picked], kind="stable"):
        rest = np.delete(picked, place)
        missing = excess - need[rest].sum(axis=0)
        fits = (need >= missing).all(axis=1) & (cost <= cost[picked[place]]) & (size < size[picked[place]])
        fits[picked] = False
        if fits.any():
            picked[place] = np.flatnonzero(fits)[np.argmin(size[fits])]
    return picked
