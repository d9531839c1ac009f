"""Which moves a placement says are open, as pods move, is what a count from scratch says."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer import Problem
from descheduler.optimizer.arrangement import Arrangement
from tests.optimizer.tiny import is_feasible, random_problem


def _assignment_after(placement: Arrangement, pod: int, node: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    after = placement.at.copy()
    after[pod] = node
    return after


def _walk(problem: Problem, rng: np.random.Generator, steps: int) -> Arrangement:
    """A placement after some of the moves that it said were open."""
    placement = Arrangement(problem)
    pods, nodes = np.flatnonzero(problem.evictable), np.arange(problem.num_nodes)
    for _ in range(steps):
        choices = np.argwhere(placement.open_moves(pods, nodes))
        if len(choices):
            row, node = choices[int(rng.integers(len(choices)))].tolist()
            placement.move(int(pods[row]), node)
    return placement


@pytest.mark.long
def test_open_moves_lead_to_feasible_assignments_only() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, pending=int(rng.integers(0, 3)))

        placement = _walk(problem, rng, steps=6)

        assert is_feasible(problem, placement.at), seed


@pytest.mark.long
def test_first_move_is_open_wherever_its_end_is_feasible() -> None:
    for seed in range(200):
        problem = random_problem(np.random.default_rng(seed), pending=1)
        placement = Arrangement(problem)
        pods, nodes = np.flatnonzero(problem.evictable), np.arange(problem.num_nodes)

        is_open = placement.open_moves(pods, nodes)

        for row, pod in enumerate(pods.tolist()):
            for node in nodes.tolist():
                allowed = problem.allowed[problem.pod_class[pod], node] and node != placement.at[pod]
                expected = bool(allowed) and is_feasible(problem, _assignment_after(placement, pod, node))
                assert bool(is_open[row, node]) == expected, (seed, pod, node)


@pytest.mark.long
def test_counts_after_many_moves_equal_counts_of_a_new_placement() -> None:
    for seed in range(100):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, pending=1)
        walked = _walk(problem, rng, steps=20)
        pods, nodes = np.flatnonzero(problem.evictable), np.arange(problem.num_nodes)

        fresh = Arrangement(problem, walked.at)

        np.testing.assert_array_equal(walked.open_moves(pods, nodes), fresh.open_moves(pods, nodes))
        np.testing.assert_array_equal(walked.usage, fresh.usage)
