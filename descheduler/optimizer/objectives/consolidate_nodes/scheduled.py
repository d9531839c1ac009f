"""Consolidation where a scheduler that prefers full nodes chooses the targets: nodes one after the other, each whole.

Targets are not free here, what is free is the order. A scheduler that prefers full nodes fills them up one by one, so
that the pods that leave next decide how well the fullest node is filled. Of a few nodes, each with two orders of its
pods, the one comes next that leaves the most useful room. From then on the sequence is bettered by large-neighbourhood
search (Shaw 1998): a piece is cut out, the rest played again, and the end built anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.objectives.consolidate_nodes.most_allocated import MostAllocated
from descheduler.optimizer.objectives.consolidate_nodes.node_sets import NodeSets

_SHARE_OF_SETS = 0.5
"""Of the times that nodes are chosen, for those that begin with a set: where limits are wide, room decides."""
_NODES_TRIED = 8
"""Of those that might be emptied next."""
_LARGEST_PIECE = 0.5
"""Of the sequence, which is cut out at once."""
_PATIENCE = 500
"""Pieces that were cut out without a better sequence, after which the search is over."""


class _Foreseen:
    """Of each of B drains, by itself.

    is_made:      bool[B], whether it can be made; the rest says something only of those that can.
    free:         float64[B, R, N], what nodes have left then.
    has_received: bool[B, N], nodes that one of its pods goes to.
    """

    def __init__(self, free: Floats, num_nodes: int) -> None:
        self.free = free
        self.is_made: Bools = np.ones(len(free), bool)
        self.has_received: Bools = np.zeros((len(free), num_nodes), bool)


class Drain(NamedTuple):
    """All pods of `node`, int64[p], in the order in which they leave, and where each of them goes, int64[p]."""

    node: int
    pods: Ints
    targets: Ints


class ScheduledDrains:
    """A sequence of drains on `placement`, whose targets `scheduler` chooses; `weight` (int64[N]) is what nodes count.

    Nodes that have received pods are not emptied, and nothing is scheduled onto those that are.
    """

    def __init__(
        self,
        drains: Drains,
        sets: NodeSets,
        weight: Ints,
        scheduler: MostAllocated,
        budget: Budget,
        rng: np.random.Generator,
    ) -> None:
        problem = drains.problem
        self.placement = Arrangement(problem)
        self._drains, self._sets, self._weight, self._scheduler = drains, sets, weight, scheduler
        self._budget, self._rng = budget, rng
        self._all_nodes = np.arange(problem.num_nodes)
        self._sequence: list[Drain] = []
        self._num_received = np.zeros(problem.num_nodes, np.int64)
        self._is_empty: Bools = ~drains.is_used
        share = (problem.need * drains.scale.T[problem.assignment]).max(axis=1, initial=0.0)
        self._by_size = [home[np.argsort(share[home], kind="stable")] for home in drains.home]

    def search(self, first: Iterable[int], last: Sequence[Drain], enough: int) -> list[Drain]:
        """The best sequence found until the budget is over, or one that empties the weight `enough`.

        It begins with the best of three: the drains of an earlier search, the nodes `first` in that order, or neither;
        each as far as that can be done, and with others after it.
        """
        again = [(drain.node, drain.pods) for drain in last]
        by_size = [(node, self._by_size[node][::-1]) for node in first]
        best = kept = max(map(self._begun_with, (*filter(None, (again, by_size)), ())), key=self._rank)
        self._restore(kept)
        in_vain = 0
        while kept and self._weight_of(best) < enough and in_vain < _PATIENCE and not self._budget.is_over:
            kept = self._varied(kept)
            is_better = self._rank(kept) > self._rank(best)
            best, in_vain = (kept, 0) if is_better else (best, in_vain + 1)
        return best

    def _begun_with(self, drains: Iterable[tuple[int, Ints]]) -> list[Drain]:
        self._take_back(0)
        for node, pods in drains:
            self._try(node, pods)
        self._extend()
        return list(self._sequence)

    def _varied(self, kept: list[Drain]) -> list[Drain]:
        """The sequence with a piece cut out and the end built anew, or `kept` where that empties less."""
        self._rebuild(*self._with_piece_cut_out())
        self._extend()
        if self._weight_of(self._sequence) < self._weight_of(kept):
            self._restore(kept)
        return list(self._sequence)

    def _rank(self, sequence: Sequence[Drain]) -> tuple[int, int]:
        """The higher the better: the weight of what is emptied, less what its pods cost."""
        return self._weight_of(sequence), -sum(int(self._drains.problem.cost[drain.pods].sum()) for drain in sequence)

    def _weight_of(self, sequence: Sequence[Drain]) -> int:
        return sum(int(self._weight[drain.node]) for drain in sequence)

    def _with_piece_cut_out(self) -> tuple[int, Sequence[Drain]]:
        """(how many drains stay as they are, those after the piece)."""
        num_drains = len(self._sequence)
        length = int(self._rng.integers(1, max(2, int(num_drains * _LARGEST_PIECE) + 1)))
        start = int(self._rng.integers(num_drains))
        return start, self._sequence[start + length :]

    def _rebuild(self, num_kept: int, rest: Sequence[Drain]) -> None:
        """Keeps so many drains and makes those of `rest` that can still be made; targets may be others than before."""
        self._take_back(num_kept)
        for drain in rest:
            self._try(drain.node, drain.pods)

    def _restore(self, sequence: Sequence[Drain]) -> None:
        """Makes the sequence again as it was, targets included."""
        same = next((i for i, (a, b) in enumerate(zip(self._sequence, sequence, strict=False)) if a is not b), 0)
        self._take_back(same)
        for drain in sequence[same:]:
            for pod, target in zip(drain.pods.tolist(), drain.targets.tolist(), strict=True):
                self.placement.move(pod, target)
            self._note(drain, is_made=True)

    def _take_back(self, num_kept: int) -> None:
        while len(self._sequence) > num_kept:
            drain = self._sequence[-1]
            self._note(drain, is_made=False)
            for pod in reversed(drain.pods.tolist()):
                self.placement.move(pod, drain.node)

    def _note(self, drain: Drain, *, is_made: bool) -> None:
        """Takes note that a drain is made, or that the last one is taken back."""
        if is_made:
            self._sequence.append(drain)
        else:
            self._sequence.pop()
        self._is_empty[drain.node] = is_made
        np.add.at(self._num_received, drain.targets, 1 if is_made else -1)

    def _extend(self) -> None:
        """Empties nodes while that is possible, each time the one of a few after which the room is worth most.

        Every other time, at random, those come first that limits let be emptied together with those that are.
        """
        emptied, together = [drain.node for drain in self._sequence], np.zeros(0, np.int64)
        if self._rng.random() < _SHARE_OF_SETS:
            together = self._sets.choose(self._rng, self._budget, emptied)
        left = self._candidates(together)
        while len(left) and not self._budget.is_over:
            asked = [(node, pods) for node in left[:_NODES_TRIED].tolist() for pods in self._orders(node)]
            if any(self._try(node, pods) for node, pods in self._by_prospect(asked)):
                left = self._candidates(together)
            else:
                left = left[_NODES_TRIED:]
        self._sets.note(together[~self._is_empty[together]])

    def _candidates(self, first: Ints) -> Ints:
        """The nodes that might be emptied next, at random, but those of `first` first."""
        left = self._rng.permutation(np.flatnonzero(self._is_candidate()))
        return left[np.argsort(~np.isin(left, first), kind="stable")]

    def _by_prospect(self, asked: Sequence[tuple[int, Ints]]) -> Iterator[tuple[int, Ints]]:
        """Those that can be made, the one first after which most can be emptied."""
        placement, scale = self.placement, self._weight.size * len(self.placement.need)
        self._budget.spend_evaluations(scale * len(asked) * max(len(pods) for _, pods in asked))
        found = _foresee(self._drains, placement, self._scheduler, self._is_empty, asked)
        candidates = self._is_candidate()
        prospects: dict[int, float] = {}
        for row in np.flatnonzero(found.is_made).tolist():
            node = asked[row][0]
            is_empty = self._is_empty.copy()
            is_empty[node] = True
            left = candidates & ~found.has_received[row] & ~is_empty
            prospects[row] = int(self._weight[node]) + self._prospect(found.free[row], left, is_empty)
        yield from (asked[row] for row in sorted(prospects, key=lambda row: -prospects[row]))

    def _orders(self, node: int) -> tuple[Ints, Ints]:
        """The largest first, and the smallest first."""
        return self._by_size[node][::-1], self._by_size[node]

    def _is_candidate(self) -> Bools:
        return np.asarray(self._drains.can_empty & ~self._is_empty & (self._num_received == 0))

    def _try(self, node: int, pods: Ints) -> bool:
        """Empties the node where the scheduler places its pods, in this order, where they do no harm; or nothing."""
        if self._budget.is_over or not self._is_candidate()[node]:
            return False
        targets: list[int] = []
        for pod in pods.tolist():
            target = self._target(node, pod)
            if target == PENDING:
                for moved in reversed(pods[: len(targets)].tolist()):
                    self.placement.move(moved, node)
                return False
            self.placement.move(pod, target)
            targets.append(target)
        self._note(Drain(node, pods, np.array(targets, dtype=np.int64)), is_made=True)
        return True

    def _target(self, node: int, pod: int) -> int:
        """The node of the scheduler's choice; -1 where it is the pod's own, out of use, or too full then."""
        placement = self.placement
        self._budget.spend_evaluations(placement.free.size)
        need, free = placement.need[:, pod], placement.free.copy()
        free[:, node] += need
        is_open = placement.open_moves(np.array([pod]), self._all_nodes)[0]
        is_open[node] = True
        target = int(np.argmax(np.where(is_open, self._scheduler.scores(free, need), -1.0)))
        if target == node or self._is_empty[target]:
            return PENDING
        room = self._drains.limit[:, target] - placement.usage[:, target]
        return PENDING if (need > np.maximum(room, 0.0)).any() else target

    def _prospect(self, free: Floats, candidates: Bools, is_empty: Bools) -> float:
        """How much weight the room that is left would be enough to empty, were it not in pieces.

        What a node has free (float64[R, N]) counts as far as it is in proportion to what pods that might leave need.
        """
        room = np.maximum(free + self._drains.above_free, 0.0)
        usage = self._drains.limit - room
        wanted = usage[:, candidates].sum(axis=1)
        needed = wanted > 0
        if not needed.any():
            return 0.0
        scale = 1.0 / wanted[needed][:, None]
        useful = np.where(is_empty, 0.0, (room[needed] * scale).min(axis=0))
        size = useful[candidates] + (usage[needed][:, candidates] * scale).max(axis=0)
        return _fraction(size, self._weight[candidates], float(useful.sum()))


def _fraction(size: Floats, weight: Ints, room: float) -> float:
    """The weight of what fits into the room, the least size per weight first, the last in part."""
    order = np.argsort(size / np.maximum(weight, 1), kind="stable")
    filled = np.concatenate(([0.0], np.cumsum(size[order])))
    reached = np.concatenate(([0.0], np.cumsum(weight[order])))
    return float(np.interp(room, filled, reached))


def _foresee(
    drains: Drains, placement: Arrangement, scheduler: MostAllocated, is_empty: Bools, asked: Sequence[tuple[int, Ints]]
) -> _Foreseen:
    """What becomes of draining each of `asked`: a node, and its pods (int64[p]) in the order in which they leave.

    `is_empty`, bool[N], are nodes that nothing may be scheduled onto. Each step takes one pod of every drain. That pods
    of one node may keep each other from a node is not looked at.
    """
    num_nodes, rows = placement.problem.num_nodes, np.arange(len(asked))
    longest = max(len(pods) for _, pods in asked)
    nodes = np.array([node for node, _ in asked])
    need = np.zeros((longest, len(asked), len(placement.need)))
    is_open = np.zeros((longest, len(asked), num_nodes), bool)
    for row, (node, pods) in enumerate(asked):
        need[: len(pods), row] = placement.need[:, pods].T
        is_open[: len(pods), row] = placement.allowed_moves(pods, np.arange(num_nodes))
        is_open[:, row, node] = True
    found = _Foreseen(np.repeat(placement.free[None], len(asked), axis=0), num_nodes)
    length = np.array([len(pods) for _, pods in asked])
    for step in range(longest):
        leaves = step < length
        wanted = need[step]
        found.free[rows, :, nodes] += wanted
        fits = is_open[step] & (wanted[:, :, None] <= np.maximum(found.free, 0.0)).all(axis=1)
        target = np.argmax(np.where(fits, scheduler.scores(found.free, wanted), -1.0), axis=1)
        left = np.maximum(found.free[rows, :, target] + drains.above_free[:, target].T, 0.0)
        is_good = (target != nodes) & ~is_empty[target] & (wanted <= left).all(axis=1)
        found.is_made &= is_good | ~leaves
        found.free[rows, :, target] -= wanted
        found.has_received[rows[leaves], target[leaves]] = True
    return found
