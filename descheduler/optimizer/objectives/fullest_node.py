"""The fullest node that a pod fits, which leaves the most room in one piece."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints


def place_on_fullest(placement: Arrangement, pod: int) -> bool:
    """Places the pod on the fullest other node that it fits; False: it fits none."""
    nodes = np.arange(placement.problem.num_nodes)
    nodes = nodes[placement.open_moves(np.array([pod]), nodes)[0]]
    if not len(nodes):
        return False
    placement.move(pod, fullest(placement, nodes))
    return True


def fullest(placement: Arrangement, nodes: Ints) -> int:
    """The node of `nodes`, one at least, with the least left, as shares of its resources together."""
    return int(nodes[np.argmin(placement.free_shares(nodes).sum(axis=0))])
