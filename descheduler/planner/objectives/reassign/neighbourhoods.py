"""Nodes whose pods are worth being dealt out anew: the dearest with others that differ from them."""

from __future__ import annotations

import numpy as np

from descheduler.planner.arrays import Floats, Ints
from descheduler.planner.objective import Neighbourhood
from descheduler.planner.placement import Placement

__all__ = ["choose"]

_FEWEST, _MOST = 2, 10


def choose(placement: Placement, cost: Floats, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
    """Two to ten nodes and at most `num_pods` of their pods, drawn with the nodes' costs as weights for the first."""
    count = min(int(rng.integers(_FEWEST, _MOST + 1)), placement.problem.num_nodes)
    weights = cost + cost.mean() * 0.2 + 1e-9
    first = int(rng.choice(len(weights), p=weights / weights.sum()))
    others = np.delete(np.arange(len(weights)), first)
    nodes = np.append(rng.choice(others, size=count - 1, replace=False), first)
    pods = np.concatenate([placement.evictable_on(node) for node in nodes.tolist()])
    if len(pods) > num_pods:
        pods = rng.choice(pods, size=num_pods, replace=False)
    return Neighbourhood(np.sort(nodes), np.sort(_distinct(pods)))


def _distinct(pods: Ints) -> Ints:
    return np.unique(pods)
