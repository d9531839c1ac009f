"""Which pods can leave their node at all, whatever else a plan does."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import PENDING, Bools, Ints
from descheduler.optimizer.problem import Problem

_ROUNDS = 3
"""Pods that turn out to stay take room from others. Each round is right; more of them are seldom better."""


def can_leave(problem: Problem) -> Bools:
    """bool[P]: pods that have a node and that some assignment has on another one.

    A pod stays where it is not evictable, where a limit lets none of its group be moved, and where no other node is
    allowed that has room for it beside the pods that stay. So False is a proof, and True is none.
    Raises ValueError where nodes share parts.
    """
    problem.refuse_parts("can_leave")
    leaves: Bools = problem.evictable & (problem.assignment != PENDING)
    for rule in problem.move_limits:
        leaves &= ~((rule.group >= 0) & (rule.limit[rule.group] <= 0))
    for _ in range(_ROUNDS):
        stays = problem.usage(np.where(leaves | (problem.assignment == PENDING), PENDING, problem.assignment))
        left: Bools = leaves & fits_elsewhere(problem, problem.capacity - stays)
        if (left == leaves).all():
            break
        leaves = left
    return leaves


def fits_elsewhere(problem: Problem, room: Ints, nodes: Bools | None = None) -> Bools:
    """bool[P]: pods for which one of `nodes` (bool[N], None: all) other than their own is allowed and has `room`.

    room: int64[N, R], what nodes have left.
    """
    kinds, kind = _kinds(problem)
    is_open = _open_nodes(problem, kinds, room)
    if nodes is not None:
        is_open &= nodes
    others = is_open.sum(axis=1)[kind] - is_open[kind, np.maximum(problem.assignment, 0)]
    return np.asarray(others > 0)


def _kinds(problem: Problem) -> tuple[Ints, Ints]:
    """The first pod of each kind, int64[K], and the kind of each pod, int64[P]; pods of one kind need the same."""
    kind = np.zeros(problem.num_pods, dtype=np.int64)
    for column in (problem.pod_class, *problem.need.T):  # several times as fast as to compare whole rows
        values, value = np.unique(column, return_inverse=True)
        if len(values) > 1:
            _, kind = np.unique(kind * len(values) + value, return_inverse=True)
    _, first = np.unique(kind, return_index=True)
    return first.astype(np.int64), kind.astype(np.int64)


def _open_nodes(problem: Problem, kinds: Ints, room: Ints) -> Bools:
    """bool[K, N]: the nodes that are allowed to each kind and have room for one pod of it; a need of 0 finds room."""
    is_open = problem.allowed[problem.pod_class[kinds]].copy()
    for resource, need in enumerate(problem.need[kinds].T):
        is_open &= (need[:, None] <= room[:, resource]) | (need[:, None] == 0)
    return is_open
