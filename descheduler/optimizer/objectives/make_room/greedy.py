"""A greedy for pending pods: each to where it fits, or where moving up to four pods makes room for it."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.objectives.fullest_node import fullest

_MOST_MOVES = 4


def make_room_for(placement: Arrangement, pod: int) -> bool:
    """Places a pending pod where the fewest moves make room, of equal nodes where least is lacking; False: nowhere."""
    lack = np.maximum(placement.need[:, [pod]] - placement.free, 0) / np.maximum(placement.problem.capacity.T, 1)
    nodes = np.argsort(lack.sum(axis=0), kind="stable")
    nodes = nodes[placement.allowed_moves(np.array([pod]), nodes)[0]]
    best: list[tuple[int, int]] | None = None
    for node in nodes.tolist():
        moves = _moves_for(placement, pod, node, _MOST_MOVES if best is None else len(best) - 2)
        if moves is not None:
            best = [*moves, (pod, node)]
            if len(moves) <= 1:
                # Nodes that lack nothing come first, and those that need a move need one at least.
                break
    for moved, node in best or ():
        placement.move(moved, node)
    return best is not None


def _moves_for(placement: Arrangement, pod: int, node: int, limit: int) -> list[tuple[int, int]] | None:
    """Up to `limit` moves off the node, each of the smallest pod that suffices, else of the largest; None: too few.

    Leaves no trace.
    """
    if not _may_suffice(placement, pod, node, limit):
        return None
    done: list[tuple[int, int]] = []
    while (placement.need[:, pod] > placement.free[:, node]).any() and len(done) < limit:
        move = _move(placement, pod, node)
        if move is None:
            break
        placement.move(*move)
        done.append(move)
    is_open = placement.is_open(pod, node)
    for victim, _ in reversed(done):
        placement.move(victim, node)
    return done if is_open else None


def _may_suffice(placement: Arrangement, pod: int, node: int, limit: int) -> bool:
    """Whether the `limit` largest pods of the node free what is lacking there, resource by resource."""
    short = placement.need[:, pod] - placement.free[:, node]
    if limit <= 0 or (short <= 0).all():
        return bool((short <= 0).all())
    need = placement.need[:, placement.evictable_on(node)]
    return bool((np.sort(need, axis=1)[:, -limit:].sum(axis=1) >= short).all())


def _move(placement: Arrangement, pod: int, node: int) -> tuple[int, int] | None:
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


def _most_fitting(placement: Arrangement, pod: int, node: int, pods: Ints) -> int:
    """The place among `pods` of the smallest that suffices, else of the largest."""
    short = placement.need[:, pod] - placement.free[:, node]
    size = (placement.need[:, pods] / np.maximum(placement.problem.capacity[node], 1)[:, None]).sum(axis=0)
    enough = (placement.need[:, pods] >= short[:, None]).all(axis=0)
    return int(np.argmin(np.where(enough, size, np.inf)) if enough.any() else np.argmax(size))
