"""Nodes whose pods are worth being dealt out anew: dear ones more often."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.objective import Neighbourhood
from descheduler.optimizer.objectives.weighted_sample import weighted_sample
from descheduler.optimizer.placement import Arrangement

__all__ = ["choose_dear_nodes"]

_MOST_NODES = 20


def choose_dear_nodes(
    placement: Arrangement, cost: Floats, rng: np.random.Generator, num_pods: int, *, first: Ints | None = None
) -> Neighbourhood:
    """As many nodes as have `num_pods` pods, two at least, with all their pods or a sample.

    They are drawn without replacement by their costs (float64[N]), after those in `first`. Where nodes are made of
    parts, machines are drawn, each with all its nodes: `cost` and `first` are of machines.
    """
    weights = cost + 0.1 * cost.mean() + 1e-9
    order = weighted_sample(np.arange(len(weights)), weights, rng, len(weights))
    if first is not None:
        order = np.concatenate((first, order[~np.isin(order, first)]))
    order = order[:_MOST_NODES]
    parts = placement.problem.parts
    nodes = [order[[rank]] if parts is None else parts.nodes_of[one] for rank, one in enumerate(order.tolist())]
    pods = [np.concatenate([placement.evictable_on(node) for node in some.tolist()]) for some in nodes]
    count = max(2, int(np.searchsorted(np.cumsum([len(some) for some in pods]), num_pods, side="right")))
    chosen = np.concatenate(pods[:count])
    if len(chosen) > num_pods:
        chosen = rng.choice(chosen, size=num_pods, replace=False)
    return Neighbourhood(np.sort(np.concatenate(nodes[:count])), np.sort(chosen))
