"""How many nodes can be emptied at most, by volume: what leaves must fit into the room of what stays."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.objectives.knapsack import most_weight

__all__ = ["most_weight_emptied"]


def most_weight_emptied(drains: Drains, weight: Ints) -> int:
    """No set of nodes of more weight (int64[N]) can be emptied.

    Emptying node n takes usage[n] from it and its room[n] from the others: with y[n] = 1 for emptied nodes,
    sum_n y[n] * (usage[n, r] + room[n, r]) <= sum_n room[n, r] for every resource r.
    """
    nodes = np.flatnonzero(drains.can_empty)
    room = np.where(drains.is_used, np.maximum(drains.limit - drains.usage, 0.0), 0.0)
    return most_weight((drains.usage + room)[:, nodes], weight[nodes], room.sum(axis=1))
