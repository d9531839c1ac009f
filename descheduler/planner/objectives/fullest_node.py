"""The fullest node that a pod fits, which leaves the most room in one piece."""

from __future__ import annotations

import numpy as np

from descheduler.planner.placement import Placement

__all__ = ["place_on_fullest"]


def place_on_fullest(placement: Placement, pod: int) -> bool:
    """Places the pod on the fullest other node that it fits; False: it fits none."""
    nodes = np.arange(placement.problem.num_nodes)
    nodes = nodes[placement.open_moves(np.array([pod]), nodes)[0]]
    if not len(nodes):
        return False
    free = (placement.free[:, nodes] / np.maximum(placement.problem.capacity.T[:, nodes], 1)).sum(axis=0)
    placement.move(pod, int(nodes[np.argmin(free)]))
    return True
