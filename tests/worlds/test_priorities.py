"""The clusters of four priorities: nothing is over its capacity, and nobody waits who could go somewhere alone."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.optimizer.arrays import PENDING
from tests.worlds.priorities import make_priority_world


@pytest.mark.parametrize("preempts", [True, False])
def test_pending_pods_fit_nowhere_as_they_are(preempts: bool) -> None:
    """The scheduler did what it can by itself."""
    world = make_priority_world(nodes=8, pods_a_node=8, usage=1.0, seed=2, preempts=preempts)
    problem = world.problem
    free = problem.capacity - problem.usage(problem.assignment)

    waiting = np.flatnonzero(problem.assignment == PENDING)

    assert len(waiting)
    assert (free >= 0).all()
    assert not [pod for pod in waiting.tolist() if (free >= problem.need[pod]).all(axis=1).any()]


def test_weight_of_a_pod_exceeds_all_pods_of_lower_priority() -> None:
    """So plans place the important pods first."""
    world = make_priority_world(nodes=4, pods_a_node=4, usage=0.95, seed=0, preempts=True)

    sums = [int(world.weight[world.priority < level].sum()) for level in range(1, 4)]

    assert all(total < (world.problem.num_pods + 1) ** level for level, total in enumerate(sums, start=1))


def test_placed_pods_are_counted_from_the_highest_priority() -> None:
    """Pods without a node do not count."""
    world = make_priority_world(nodes=4, pods_a_node=4, usage=0.95, seed=0, preempts=True)

    counts = world.placed(np.where(world.priority == 3, 0, PENDING))

    assert counts == (int((world.priority == 3).sum()), 0, 0, 0)
