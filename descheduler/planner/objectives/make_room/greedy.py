"""A greedy for pending pods: each to where it fits, or where moving up to four pods makes room for it."""

from __future__ import annotations

import numpy as np

from descheduler.planner.arrays import Ints
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
        victim = _victim(placement, pod, node)
        targets = _targets(placement, victim, node) if victim >= 0 else np.array([], np.int64)
        if not len(targets):
            break
        placement.move(victim, int(targets[0]))
        done.append(victim)
    if placement.open_moves(np.array([pod]), np.array([node]))[0, 0]:
        placement.move(pod, node)
        return True
    for victim in reversed(done):
        placement.move(victim, node)
    return False


def _victim(placement: Placement, pod: int, node: int) -> int:
    """-1: no pod of the node has not been moved yet."""
    pods = placement.evictable_on(node)
    pods = pods[placement.origins[pods] == node]
    if not len(pods):
        return -1
    short = placement.need[:, pod] - placement.free[:, node]
    size = (placement.need[:, pods] / np.maximum(placement.problem.capacity[node], 1)[:, None]).sum(axis=0)
    enough = (placement.need[:, pods] >= short[:, None]).all(axis=0)
    if enough.any():
        return int(pods[enough][np.argmin(size[enough])])
    return int(pods[np.argmax(size)])


def _targets(placement: Placement, victim: int, node: int) -> Ints:
    """Nodes that the victim may go to, the fullest first."""
    nodes = np.delete(np.arange(placement.problem.num_nodes), node)
    nodes = nodes[placement.open_moves(np.array([victim]), nodes)[0]]
    share = placement.free[:, nodes] / np.maximum(placement.problem.capacity.T[:, nodes], 1)
    order = np.argsort(share.sum(axis=0), kind="stable")
    return np.asarray(nodes[order])
