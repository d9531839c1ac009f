"""Limits on moves that not all nodes can be emptied within, such as budgets: what each node takes of them."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.rules import MoveLimit


class ContendedLimits:
    """The groups of limits of which the nodes that can be emptied have more pods than may be moved.

    taken: int64[L, N], how many pods of each such group nodes have. most: int64[L], how many may be moved.
    """

    def __init__(self, drains: Drains) -> None:
        self._drains = drains
        num_nodes = drains.problem.num_nodes
        pods = np.flatnonzero(drains.problem.assignment >= 0)
        pods = pods[drains.can_empty[drains.problem.assignment[pods]]]
        rows, self._groups, most = [np.zeros((0, num_nodes), np.int64)], list[tuple[MoveLimit, int]](), list[int]()
        for rule in drains.problem.move_limits:
            for group, limit in rule.binding(pods):
                members = pods[rule.group[pods] == group]
                rows.append(np.bincount(drains.problem.assignment[members], minlength=num_nodes)[None])
                self._groups.append((rule, group))
                most.append(limit)
        self.taken: Ints = np.concatenate(rows)
        self._most: Ints = np.array(most, dtype=np.int64)

    def left(self, placement: Arrangement) -> Ints:
        """int64[L]: how many pods more may be moved."""
        moved = self._drains.problem.moved(placement.at)
        counts = [int((rule.group[moved] == group).sum()) for rule, group in self._groups]
        return self._most - np.array(counts, dtype=np.int64)

    def in_the_way(self, placement: Arrangement, wanted: Ints, emptied: Ints) -> Floats:
        """float64[e]: how many limits each of `emptied` takes a part of that one of `wanted`, nodes, lacks."""
        spent = self.taken[:, self._drains.is_emptied(placement)].sum(axis=1)
        lacks = (self.taken[:, wanted] > (self._most - spent)[:, None]).any(axis=1)
        count: Floats = (self.taken[np.ix_(lacks, emptied)] > 0).sum(axis=0).astype(np.float64)
        return count
