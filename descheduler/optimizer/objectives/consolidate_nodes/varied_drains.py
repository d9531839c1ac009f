"""A multi-start greedy: drains in an order that chance has a part in, of which some are taken back and others made.

Each start empties nodes one after the other, whole or not at all. Then a few drains are taken back and others tried,
again and again, and kept where no less is emptied: iterated greedy (Ruiz and Stützle 2007). Where that is in vain for
long, it begins again.
"""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes.contended_limits import ContendedLimits
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.objectives.consolidate_nodes.greedy import ORDERS, GreedyOrder
from descheduler.optimizer.objectives.consolidate_nodes.node_sets import NodeSets
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rules import MoveLimit, Together

_NOISE = 0.6
"""The standard deviation of the logarithm of what chance multiplies the place in an order by."""
_MOST_TAKEN_BACK = 4
_PATIENCE = 60
"""So many variations in vain, after which it begins again."""
_SHARE_OF_SETS = 0.5
"""Of the beginnings, those with a set of nodes."""
_MOST_TRIED, _AT_ONCE = 256, 64
"""Nodes that a variation tries to empty at most, and how many of them are looked at together before."""

_USUAL = GreedyOrder(fewest_pods_first=False, best_fit=True)
"""The order of what is varied; each beginning has one of all orders."""

_Moves = list[tuple[int, int]]
"""Pods of one node and where they went, in order."""


class VariedDrains:
    """Drains on `placement`, which it changes; `weight` (int64[N]) is what nodes count.

    Nodes that have received pods are not emptied, nor those of which some pods have left. Nodes without pods that count
    something are not opened.
    """

    def __init__(
        self,
        drains: Drains,
        contended: ContendedLimits,
        sets: NodeSets,
        weight: Ints,
        placement: Arrangement,
        rng: np.random.Generator,
        budget: Budget,
    ) -> None:
        self._drains, self._contended, self._sets, self._weight = drains, contended, sets, weight
        self._placement, self._rng, self._budget = placement, rng, budget
        self._pods = [drains.largest_first(home) for home in drains.home]
        self._largest = np.array([pods[0] if len(pods) else 0 for pods in self._pods])
        self._size = drains.volume / np.maximum(weight, 1)
        self._num_pods = drains.num_pods / np.maximum(weight, 1)
        is_emptied = drains.is_emptied(placement)
        moved = placement.problem.moved(placement.at)
        has_lost = np.bincount(placement.origins[moved], minlength=len(weight)) > 0
        self._hangs_together = _hanging_together(placement.problem)
        self._can_empty: Bools = drains.can_empty & (is_emptied | ~has_lost)
        self._num_received = np.bincount(placement.at[moved], minlength=len(weight))
        self._is_target: Bools = drains.is_used & ~is_emptied
        self._is_target &= ~drains.opens | (weight == 0) | (self._num_received > 0)
        self._room = np.maximum(drains.room(placement, np.arange(len(weight))), 0.0)
        self._slack: Floats = (self._room * drains.scale).sum(axis=0)
        self._left = contended.left(placement)
        emptied = np.flatnonzero(is_emptied & drains.can_empty).tolist()
        self._made = {node: [(pod, int(placement.at[pod])) for pod in self._pods[node].tolist()] for node in emptied}

    def search(self) -> None:
        """Goes on until the budget is over; leaves the best of all placements, by weight in use and then cost."""
        best, best_rank = self._placement.at.copy(), self._rank()
        num_in_vain = 0
        while self._can_empty.any() and not self._budget.is_over:
            self._budget.spend_evaluations(0)
            if num_in_vain < _PATIENCE:
                self._vary()
            else:
                self._begin_again()
                num_in_vain = 0
            rank = self._rank()
            num_in_vain = 0 if rank > best_rank else num_in_vain + 1
            if rank > best_rank:
                best, best_rank = self._placement.at.copy(), rank
        self._placement.reset(best)

    def _rank(self) -> tuple[int, int]:
        """The higher the better: the weight of what is emptied, less what its pods cost."""
        cost = self._drains.cost
        return self._weight_emptied(), -sum(int(cost[node]) for node in self._made)

    def _weight_emptied(self) -> int:
        opened = self._drains.opens & (self._num_received > 0)
        return sum(int(self._weight[node]) for node in self._made) - int(self._weight[opened].sum())

    def _vary(self) -> None:
        """Takes some drains back and tries others. Undone where less is emptied then."""
        before, weight = dict(self._made), self._weight_emptied()
        number = int(self._rng.integers(1, _MOST_TAKEN_BACK + 1))
        for node in self._rng.permutation(list(before))[:number].tolist():
            self._take_back(node)
        self._make_others(_MOST_TRIED, _USUAL)
        if self._weight_emptied() < weight:
            self._restore(before)

    def _restore(self, before: dict[int, _Moves]) -> None:
        for node in [node for node, moves in self._made.items() if before.get(node) is not moves]:
            self._undo(node)
        for node in [node for node in before if node not in self._made]:
            for pod, target in before[node]:
                self._move(pod, node, target)
            self._note(node, before[node])

    def _begin_again(self) -> None:
        """With a set of nodes that limits let be emptied together, or in one of the orders."""
        for node in list(self._made):
            self._take_back(node)
        if self._rng.random() < _SHARE_OF_SETS:
            self._make_together(self._sets.choose(self._rng, self._budget))
        self._make_others(len(self._weight), ORDERS[int(self._rng.integers(len(ORDERS)))])

    def _make_together(self, nodes: Ints) -> None:
        """Empties those of `nodes` that can be, large ones earlier more often, onto nodes that are none of them."""
        nodes = nodes[self._can_empty[nodes] & self._is_target[nodes] & (self._num_received[nodes] == 0)]
        price = self._size[nodes] * self._rng.lognormal(0.0, _NOISE, len(nodes))
        self._is_target[nodes] = False
        for node in nodes[np.argsort(-price, kind="stable")].tolist():
            if not self._budget.is_over and self._is_within_limits(node):
                self._empty(node, best_fit=True)
        left = np.array([node for node in nodes.tolist() if node not in self._made], dtype=np.int64)
        self._is_target[left] = True
        self._sets.note(left)

    def _make_others(self, most: int, order: GreedyOrder) -> None:
        """Tries up to so many nodes that can still be emptied, those that are first in `order` earlier more often."""
        nodes = np.flatnonzero(self._can_empty & self._is_target & (self._num_received == 0))
        size = self._num_pods if order.fewest_pods_first else self._size
        price = size[nodes] * self._rng.lognormal(0.0, _NOISE, len(nodes))
        nodes = nodes[np.argsort(price, kind="stable")][:most]
        for start in range(0, len(nodes), _AT_ONCE):
            for node in self._promising(nodes[start : start + _AT_ONCE]):
                if self._budget.is_over:
                    return
                if not self._num_received[node] and self._is_within_limits(node):
                    self._empty(node, best_fit=order.best_fit)

    def _promising(self, nodes: Ints) -> list[int]:
        """The nodes whose largest pod has room elsewhere, and whose pods limits let leave."""
        within = (self._contended.taken[:, nodes] <= self._left[:, None]).all(axis=0)
        nodes = nodes[within]
        targets = np.flatnonzero(self._is_target)
        self._budget.spend_evaluations(len(nodes) * len(targets) * len(self._room))
        pods = self._largest[nodes]
        fits: Bools = nodes[:, None] != targets
        for resource, need in enumerate(self._placement.need[:, pods]):
            fits &= need[:, None] <= self._room[resource, targets]
        found: list[int] = nodes[fits.any(axis=1)].tolist()
        return found

    def _is_within_limits(self, node: int) -> bool:
        return bool((self._contended.taken[:, node] <= self._left).all())

    def _empty(self, node: int, *, best_fit: bool) -> None:
        """Moves all pods of the node, the largest first, each to the fullest or the first node that takes it; or none
        of them."""
        moves: _Moves = []
        for pod in self._pods[node].tolist():
            target = self._target(pod, node, best_fit=best_fit)
            if target < 0:
                for done, there in reversed(moves):
                    self._move(done, there, node)
                return
            self._move(pod, node, target)
            moves.append((pod, target))
        self._note(node, moves)

    def _target(self, pod: int, source: int, *, best_fit: bool) -> int:
        """The fullest or the first node that takes the pod; -1 for none."""
        need = self._placement.need[:, pod]
        fits = self._is_target & (need[:, None] <= self._room).all(axis=0)
        fits[source] = False
        nodes = np.flatnonzero(fits)
        self._budget.spend_evaluations(self._room.size)
        if len(nodes):
            nodes = nodes[self._placement.open_moves(np.array([pod]), nodes)[0]]
        if not len(nodes):
            return -1
        return int(nodes[np.argmin(self._slack[nodes])] if best_fit else nodes[0])

    def _note(self, node: int, moves: _Moves) -> None:
        self._made[node] = moves
        self._is_target[node] = False
        self._left -= self._contended.taken[:, node]
        np.add.at(self._num_received, [target for _, target in moves], 1)

    def _take_back(self, node: int) -> None:
        """Undoes a drain, unless rules are in the way of a pod that comes home now."""
        moves = self._made[node]
        if not self._placement.open_moves(self._pods[node], np.array([node])).all():
            return
        for number, (pod, target) in enumerate(moves):
            if self._hangs_together[pod] and not self._placement.is_open(pod, node):
                for done, there in moves[:number]:
                    self._move(done, node, there)
                return
            self._move(pod, target, node)
        self._forget(node)

    def _undo(self, node: int) -> None:
        for pod, target in self._made[node]:
            self._move(pod, target, node)
        self._forget(node)

    def _forget(self, node: int) -> None:
        moves = self._made.pop(node)
        self._is_target[node] = True
        self._left += self._contended.taken[:, node]
        np.subtract.at(self._num_received, [target for _, target in moves], 1)

    def _move(self, pod: int, source: int, target: int) -> None:
        self._placement.move(pod, target)
        for node in (source, target):
            self._room[:, node] = np.maximum(self._drains.limit[:, node] - self._placement.usage[:, node], 0.0)
            self._slack[node] = self._room[:, node] @ self._drains.scale[:, node]


def _hanging_together(problem: Problem) -> Bools:
    """bool[P]: pods that another one of their node may keep from coming home: both are in the same group of a rule.

    Limits of moves keep no pod from home.
    """
    found = np.zeros(problem.num_pods, bool)
    for rule in problem.rules:
        if isinstance(rule, MoveLimit):
            continue
        pods = np.flatnonzero((rule.group >= 0) & (problem.assignment != PENDING))
        group = np.zeros_like(pods) if isinstance(rule, Together) else rule.group[pods]
        _, pair, count = np.unique(
            np.stack((problem.assignment[pods], group)), axis=1, return_inverse=True, return_counts=True
        )
        found[pods] |= count[pair.ravel()] > 1
    return found
