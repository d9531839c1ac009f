"""A first plan of balancing: the pods of the cheapest covers, each on the node that it fits best."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np

from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.moves_left import MovesLeft
from descheduler.optimizer.objectives.balance_utilization.ceilings import Ceilings
from descheduler.optimizer.placement import Placement

__all__ = ["place_best", "place_covers", "send_home"]


def place_covers(ceilings: Ceilings, placement: Placement) -> None:
    """Moves the pods of covers that still are on their node, the largest first, each to the fullest node it fits.

    Where limits do not let all of them move, nodes are relieved that take the fewest moves; room that was found for no
    whole cover is given to others.
    """
    cold = np.flatnonzero(~ceilings.was_hot)
    tried: set[int] = set()
    while chosen := _within_limits(ceilings, placement, tried):
        tried.update(chosen)
        pods = np.concatenate(list(chosen.values()))
        pods = pods[placement.at[pods] == placement.origins[pods]]
        for pod in _largest_first(ceilings, pods):
            place_best(ceilings, placement, pod, cold)
        send_home(ceilings, placement)


def _within_limits(ceilings: Ceilings, placement: Placement, tried: AbstractSet[int]) -> dict[int, Ints]:
    """The pods to move from nodes that are over and were not `tried`, as far as limits let them all go."""
    over = ceilings.is_over(placement)
    left = MovesLeft(ceilings.problem, ceilings.problem.moved(placement.at))
    chosen: dict[int, Ints] = {}
    nodes = (node for node in ceilings.fewest if over[node] and node not in tried)
    for node in sorted(nodes, key=lambda node: len(ceilings.fewest[node])):
        cover = ceilings.covers[node]
        for pods in (cover.chosen if cover else (), ceilings.fewest[node]):
            found = np.array(pods, dtype=np.int64)
            if pods and left.take(found[placement.at[found] == placement.origins[found]]):
                chosen[node] = found
                break
    return chosen


def _largest_first(ceilings: Ceilings, pods: Ints) -> list[int]:
    share = (ceilings.problem.need[pods] * ceilings.scale.T[ceilings.problem.assignment[pods]]).max(axis=1, initial=0.0)
    return [int(pod) for pod in pods[np.argsort(-share, kind="stable")]]


def place_best(ceilings: Ceilings, placement: Placement, pod: int, nodes: Ints) -> bool:
    """Moves `pod` to the fullest of `nodes` that stays under its ceiling; False: there is none."""
    room = ceilings.ceiling[:, nodes] - placement.usage[:, nodes] - placement.need[:, [pod]]
    near = nodes[(room >= 0).all(axis=0)]
    is_open = placement.open_moves(np.array([pod]), near)[0]
    near = near[is_open]
    if not len(near):
        return False
    placement.move(pod, int(near[np.argmin(ceilings.slack(placement, near))]))
    return True


def send_home(ceilings: Ceilings, placement: Placement) -> None:
    """Takes back the moves of pods whose old node stays over its ceiling, or would be under it with the pod, too."""
    over = ceilings.is_over(placement)
    moved = ceilings.problem.moved(placement.at)
    for pod in moved.tolist():
        home = int(ceilings.problem.assignment[pod])
        if (over[home] or _has_room(ceilings, placement, pod, home)) and placement.is_open(pod, home):
            placement.move(pod, home)


def _has_room(ceilings: Ceilings, placement: Placement, pod: int, node: int) -> bool:
    fits: Bools = placement.usage[:, node] + placement.need[:, pod] <= ceilings.ceiling[:, node]
    return bool(fits.all())
