"""Kinds of pods: those of one kind need the same and may be on the same nodes."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Bools, Floats, Ints
from descheduler.optimizer.problem import Problem


class PodKinds:
    """The K kinds of some pods (int64[p]).

    of:       int64[P], the kind of each of the pods, -1 of others.
    need:     int64[K, R].
    allowed:  bool[A, N] and row, int64[K]: the nodes that each kind may be on are those of its row.
    can_take: bool[K, K], whether pods of the second, another kind fit wherever one of the first does.
    """

    def __init__(self, problem: Problem, pods: Ints) -> None:
        self.allowed, row = np.unique(problem.allowed, axis=0, return_inverse=True)
        look = np.column_stack((problem.need[pods], row.reshape(-1)[problem.pod_class[pods]]))
        kinds, kind = np.unique(look, axis=0, return_inverse=True)
        self.need, self.row = np.ascontiguousarray(kinds[:, :-1]), kinds[:, -1]
        self.of = np.full(problem.num_pods, -1)
        self.of[pods] = kind.reshape(-1)
        self.can_take = self._can_take()

    def __len__(self) -> int:
        """K."""
        return len(self.need)

    def _can_take(self) -> Bools:
        rows = self.allowed.astype(np.float32)
        can_take: Bools = (rows @ (1.0 - rows).T == 0)[self.row][:, self.row]
        for need in self.need.T:
            can_take &= need[:, None] >= need
        np.fill_diagonal(can_take, False)
        return can_take

    def handovers(self) -> list[tuple[int, int]]:
        """The pairs of `can_take` without those that follow from others."""
        can_take = self.can_take.astype(np.float32)
        return [(first, second) for first, second in np.argwhere(self.can_take & (can_take @ can_take == 0)).tolist()]

    def largest_first(self) -> list[int]:
        """The kinds in an order in which no kind comes before one that can take its pods."""
        order: list[int] = np.argsort(-self.can_take.sum(axis=1), kind="stable").tolist()
        return order

    def fit(self, kinds: Ints, free: Floats, nodes: Ints, possible: Bools) -> Bools:
        """bool[s, k]: whether a pod of each of `kinds` (int64[k]) fits one of the nodes (int64[s, n]) it may be on.

        free: float64[R, s, n], what the nodes have left. possible: bool[s, k], what need not be looked at if False.
        """
        fits = np.zeros((len(nodes), len(kinds)), bool)
        for row in np.unique(self.row[kinds]).tolist():
            is_allowed = self.allowed[row][nodes]
            columns = np.flatnonzero(is_allowed.any(axis=0))
            room = np.where(is_allowed[:, columns], free[:, :, columns], -1.0)
            for place in np.flatnonzero(self.row[kinds] == row).tolist():
                rows = np.flatnonzero(possible[:, place])
                enough = np.ones((len(rows), len(columns)), bool)
                for need, resource in zip(self.need[kinds[place]].tolist(), room, strict=True):
                    enough &= resource[rows] >= need
                fits[rows, place] = enough.any(axis=1)
        return fits
