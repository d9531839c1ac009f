"""Which nodes can be emptied, which are, and how full the others may get."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.leaving import can_leave, fits_elsewhere
from descheduler.optimizer.problem import Problem


class Drains:
    """The nodes of one problem, as consolidation sees them.

    can_empty:      bool[N], nodes with pods, all of which can leave and fit on another node beside the pods that it
                    has, that are not protected. Pods of nodes that stay in use stay there.
    is_used:        bool[N], nodes with pods, and those that may receive some.
    opens:          bool[N], those that may receive some and have none.
    num_pods, home: int64[N], and the pods of each node, int64[p].
    cost:           int64[N], what it costs to evict all of them.
    volume:         float64[N], the sum over them of what each needs of the node, by its scarcest resource.
    usage, share:   float64[R, N], and float64[N], the fullest resource of each node.
    limit:          float64[R, N], what a node that stays may hold: its ceiling, or its usage where that is more.
    above_free:     float64[R, N], the limit less the capacity: a node that has x left may still take x + above_free.
    scale:          float64[R, N], one over the capacity.
    All of it is as it was before the plan.
    """

    def __init__(self, problem: Problem, ceiling: Ints, protected: Bools, receives: Bools) -> None:
        self.problem = problem
        placed = problem.assignment >= 0
        self.num_pods = np.bincount(problem.assignment[placed], minlength=problem.num_nodes)
        self.is_used: Bools = (self.num_pods > 0) | receives
        self.opens: Bools = receives & (self.num_pods == 0)
        usage = problem.usage(problem.assignment)
        fits = fits_elsewhere(problem, np.maximum(ceiling - usage, 0), self.is_used)
        pinned = np.bincount(problem.assignment[placed & ~(fits & can_leave(problem))], minlength=problem.num_nodes)
        self.can_empty: Bools = (self.num_pods > 0) & (pinned == 0) & ~protected
        self.usage: Floats = np.ascontiguousarray(usage.T, dtype=np.float64)
        self.limit: Floats = np.maximum(ceiling.T, usage.T).astype(np.float64)
        self.above_free: Floats = self.limit - problem.capacity.T
        self.scale: Floats = 1.0 / np.maximum(problem.capacity.T.astype(np.float64), 1.0)
        self.share: Floats = (self.usage * self.scale).max(axis=0)
        by_node = np.argsort(problem.assignment, kind="stable")[np.count_nonzero(~placed) :]
        self.home = np.split(by_node, np.cumsum(self.num_pods)[:-1])
        self.cost: Ints = np.array([problem.cost[pods].sum() for pods in self.home], dtype=np.int64)
        shares = self._shares(by_node)
        self.volume: Floats = np.array([share.sum() for share in np.split(shares, np.cumsum(self.num_pods)[:-1])])

    def usage_of(self, pods: Bools) -> Floats:
        """float64[R, N]: what those of the pods (bool[P]) that have a node needed on it before the plan."""
        assignment = np.where(pods, self.problem.assignment, PENDING)
        return np.ascontiguousarray(self.problem.usage(assignment).T, dtype=np.float64)

    def is_emptied(self, placement: Arrangement) -> Bools:
        """bool[N]: nodes that had pods before the plan and have none now."""
        left = np.bincount(placement.at[placement.at >= 0], minlength=self.problem.num_nodes)
        emptied: Bools = (self.num_pods > 0) & (left == 0)
        return emptied

    def room(self, placement: Arrangement, nodes: Ints) -> Floats:
        """float64[R, n]: what nodes may still take within their limits."""
        return self.limit[:, nodes] - placement.usage[:, nodes]

    def largest_first(self, pods: Ints) -> Ints:
        """By the largest share of the pod's own node."""
        return pods[np.argsort(-self._shares(pods), kind="stable")]

    def _shares(self, pods: Ints) -> Floats:
        """float64[p]: what each pod needs of its own node, as a share of the scarcest resource."""
        share: Floats = (self.problem.need[pods] * self.scale.T[self.problem.assignment[pods]]).max(axis=1, initial=0.0)
        return share
