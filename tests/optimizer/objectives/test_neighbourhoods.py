"""Pieces of a cluster to balance, of which one node that lost a pod is number 0."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer import BalanceUtilization, make_problem
from descheduler.optimizer.arrangement import Arrangement


def test_a_full_node_that_lost_a_pod_to_a_piece_is_in_it() -> None:
    """Node 0 was just at its ceiling, and its pod of 1 is on node 1. Nodes 8 and 9 are over theirs."""
    at = [0, 0, *range(1, 8), 8, 8, 8, 9, 9, 9]
    problem = make_problem(
        [[1], [6]] + [[2]] * 7 + [[3]] * 6, [[10]] * 10, at, evictable=[True, False] + [False] * 7 + [True] * 6
    )
    goal = BalanceUtilization(np.array([[7]] + [[6]] * 9)).prepare(problem)
    placement = Arrangement(problem)
    placement.move(0, 1)

    found = [goal.neighbourhood(placement, np.random.default_rng(seed), 12) for seed in range(60)]

    narrow = [piece for piece in found if piece is not None and 1 in piece.nodes and len(piece.nodes) <= 6]
    assert len(narrow) > 5
    assert all(0 in piece.nodes and 0 in piece.pods for piece in narrow)
