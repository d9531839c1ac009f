"""A greedy for pending pods: each to where it fits, or where moving up to four pods makes room for it."""

from __future__ import annotations

import numpy as np

from descheduler.planner.arrays import Ints
from descheduler.planner.objectives.fullest_node import fullest
from descheduler.planner.placement import Placement

__all__ = ["make_room_for"]

_MOST_MOVES = 4


def make_room_for(placement: Placement, pod: int) -> bool:
    """Places a pending pod where the fewest moves make room, of equal nodes where least is lacking; False: nowhere."""
    lack = np.maximum(placement.need[:, [pod]] - placement.free, 0) / np.maximum(placement.problem.capacity.T, 1)
    nodes = np.argsort(lack.sum(axis=0), kind="stable")
    nodes = nodes[placement.allowed_moves(np.array([pod]), nodes)[0]]
    return any(_try_node(placement, pod, node, limit) for limit in range(_MOST_MOVES + 1) for node in nodes.tolist())


def _try_node(placement: Placement, pod: int, node: int, limit: int) -> bool:
    """Moves up to `limit` pods off the node, each the smallest that suffices, else the largest; False: undone."""
    done: list[int] = []
    while (placement.need[:, pod] > placement.free[:, node]).any() and len(done) < limit:
        move = _move(placement, pod, node)
        if move is None:
            break
        placement.move(*move)
        done.append(move[0])
    if placement.is_open(pod, node):
        placement.move(pod, node)
        return True
    for victim in reversed(done):
        placement.move(victim, node)
    return False


def _move(placement: Placement, pod: int, node: int) -> tuple[int, int] | None:
    """A pod that leaves the node and the fullest node that it may go to; None: none of those there before may go."""
    pods = placement.evictable_on(node)
    pods = pods[placement.origins[pods] == node]
    nodes = np.delete(np.arange(placement.problem.num_nodes), node)
    is_open = placement.open_moves(pods, nodes)
    may_go = is_open.any(axis=1)
    if not may_go.any():
        return None
    victim = int(np.flatnonzero(may_go)[_most_fitting(placement, pod, node, pods[may_go])])
    return int(pods[victim]), fullest(placement, nodes[is_open[victim]])


def _most_fitting(placement: Placement, pod: int, node: int, pods: Ints) -> int:
    """The place among `pods` of the smallest that suffices, else of the largest."""
    short = placement.need[:, pod] - placement.free[:, node]
    size = (placement.need[:, pods] / np.maximum(placement.problem.capacity[node], 1)[:, None]).sum(axis=0)
    enough = (placement.need[:, pods] >= short[:, None]).all(axis=0)
    return int(np.argmin(np.where(enough, size, np.inf)) if enough.any() else np.argmax(size))
