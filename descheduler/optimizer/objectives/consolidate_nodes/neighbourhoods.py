"""Pieces of a cluster in which one more node may be emptied: it, nodes with room, and some that are empty already."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.objective import Neighbourhood
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.objectives.weighted_sample import weighted_sample
from descheduler.optimizer.placement import Placement

__all__ = ["choose"]

_PODS_PER_TARGET = 12


def choose(drains: Drains, placement: Placement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
    """Some nodes whose pods may leave or come back, and nodes that take them; None: no node can be emptied any more."""
    emptied = drains.is_emptied(placement)
    if not (drains.can_empty & ~emptied).any():
        return None
    undecided = _undecided_nodes(drains, rng, num_pods, emptied)
    targets = _targets(drains, placement, rng, max(4, num_pods // _PODS_PER_TARGET), emptied, undecided)
    nodes = np.unique(np.concatenate((undecided, targets)))
    home = np.concatenate([drains.home[node] for node in undecided.tolist()])
    guests = np.flatnonzero((placement.at != placement.origins) & np.isin(placement.at, nodes))
    return Neighbourhood(nodes, np.union1d(home, guests))


def _undecided_nodes(drains: Drains, rng: np.random.Generator, num_pods: int, emptied: Bools) -> Ints:
    """One to three nodes that might be emptied, the ones with few pods more often, and as many that are emptied."""
    left = np.flatnonzero(drains.can_empty & ~emptied)
    weights = 1.0 / (1.0 + drains.num_pods[left] * drains.share[left])
    order = weighted_sample(left, weights, rng, len(left))
    gone = rng.permutation(np.flatnonzero(emptied & drains.can_empty))
    chosen: list[int] = []
    pods = 0
    for pair in zip(order.tolist(), [*gone.tolist(), *[-1] * len(order)], strict=False):
        for node in pair:
            if node >= 0 and (not chosen or pods + drains.num_pods[node] <= num_pods * 0.7):
                chosen.append(node)
                pods += int(drains.num_pods[node])
        if pods > num_pods * 0.5 or len(chosen) >= 6:
            break
    return np.array(chosen)


def _targets(
    drains: Drains, placement: Placement, rng: np.random.Generator, count: int, emptied: Bools, undecided: Ints
) -> Ints:
    """Nodes that stay, the ones with much room more often."""
    stays = drains.is_used & ~emptied
    stays[undecided] = False
    nodes = np.flatnonzero(stays)
    room = (drains.room(placement, nodes) * drains.scale[:, nodes]).min(axis=0)
    return weighted_sample(nodes, np.maximum(room, 0.0) + 0.01, rng, count)
