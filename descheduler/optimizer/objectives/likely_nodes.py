"""Nodes that are likely to be of use in a neighbourhood, drawn at random."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.objectives.weighted_sample import weighted_sample


def nearly_fitting(placement: Arrangement, pod: int, rng: np.random.Generator, count: int) -> Ints:
    """Nodes that `pod` may run on, those that lack little room for it more often."""
    problem = placement.problem
    allowed = np.flatnonzero(problem.allowed[problem.pod_class[pod]])
    short = np.maximum(placement.need[:, [pod]] - placement.free[:, allowed], 0.0)
    lack = (short / np.maximum(problem.capacity.T[:, allowed], 1)).sum(axis=0)
    return weighted_sample(allowed, 1.0 / (lack + 0.01), rng, count)


def with_room(placement: Arrangement, rng: np.random.Generator, count: int) -> Ints:
    """Nodes with much room in their scarcest resource more often."""
    nodes = np.arange(placement.problem.num_nodes)
    room = np.maximum(placement.free_shares(nodes), 0.0).min(axis=0)
    return weighted_sample(nodes, room + 1e-3, rng, count)
