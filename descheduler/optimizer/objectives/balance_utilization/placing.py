"""Greedy placements of the pods that leave nodes over their ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.moves_left import MovesLeft
from descheduler.optimizer.objectives.balance_utilization.ceilings import Ceilings
from descheduler.optimizer.objectives.balance_utilization.large_pods import LargePods
from descheduler.optimizer.objectives.balance_utilization.relief import RelaxedPlan

_ORDERS = 50
"""In how many orders large pods are tried to be moved."""


def place_relief(ceilings: Ceilings, placement: Arrangement, relief: RelaxedPlan, large: LargePods) -> None:
    """Moves the pods that leave in `relief`: large ones to their places, once others have left these, then the rest.

    Pods that leave these places, and all others, go to the fullest nodes that they fit.
    """
    leaving = np.array(relief.leaving, dtype=np.int64)
    cold, places = np.flatnonzero(~ceilings.was_hot), {node for nodes in relief.places.values() for node in nodes}
    makes_room, elsewhere = np.isin(placement.origins[leaving], list(places)), np.setdiff1d(cold, list(places))
    is_small = large.kind[leaving] < 0
    for pod in _largest_first(ceilings, leaving[is_small & makes_room]):
        _place_best(ceilings, placement, pod, elsewhere)
    _place_large(ceilings, placement, relief, _largest_first(ceilings, leaving[~is_small]), large)
    for pod in _largest_first(ceilings, leaving[is_small & ~makes_room]):
        _place_best(ceilings, placement, pod, cold)
    send_home(ceilings, placement)


def _place_large(
    ceilings: Ceilings, placement: Arrangement, relief: RelaxedPlan, pods: Sequence[int], large: LargePods
) -> None:
    """As many as can be moved, one after the other, in one of several orders.

    Pods of a kind are alike, but where they are spread it matters which one leaves which domain for which, and when.
    """
    rng = np.random.default_rng(0)
    best: list[tuple[int, int]] = []
    for number in range(_ORDERS):
        order, free = list(pods), {kind: list(nodes) for kind, nodes in relief.places.items()}
        for each in (order, *free.values()) if number else ():
            rng.shuffle(each)
        made = _moved_large(ceilings, placement, order, free, large)
        for pod, _ in reversed(made):
            placement.move(pod, int(placement.origins[pod]))
        best = max(best, made, key=len)
        if len(best) == len(pods):
            break
    for pod, node in best:
        placement.move(pod, node)


def _moved_large(
    ceilings: Ceilings, placement: Arrangement, pods: list[int], free: Mapping[int, list[int]], large: LargePods
) -> list[tuple[int, int]]:
    """The moves, until no further one is open: a large pod may wait for another one to leave its place."""
    made, num_left = list[tuple[int, int]](), -1
    while num_left != len(pods):
        num_left, waiting = len(pods), list[int]()
        for pod in pods:
            nodes = free.get(int(large.kind[pod]), [])
            node = next((node for node in nodes if _fits(ceilings, placement, pod, node)), None)
            if node is None:
                waiting.append(pod)
            else:
                nodes.remove(node)
                placement.move(pod, node)
                made.append((pod, node))
        pods = waiting
    return made


def _fits(ceilings: Ceilings, placement: Arrangement, pod: int, node: int) -> bool:
    return _has_room(ceilings, placement, pod, node) and placement.is_open(pod, node)


def place_covers(ceilings: Ceilings, placement: Arrangement) -> None:
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
            _place_best(ceilings, placement, pod, cold)
        send_home(ceilings, placement)


def _within_limits(ceilings: Ceilings, placement: Arrangement, tried: AbstractSet[int]) -> dict[int, Ints]:
    """The pods to move from nodes that are over and were not `tried`, as far as limits allow all of them."""
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


def _place_best(ceilings: Ceilings, placement: Arrangement, pod: int, nodes: Ints) -> bool:
    """Moves `pod` to the fullest of `nodes` that stays under its ceiling; False: there is none."""
    room = ceilings.ceiling[:, nodes] - placement.usage[:, nodes] - placement.need[:, [pod]]
    near = nodes[(room >= 0).all(axis=0)]
    is_open = placement.open_moves(np.array([pod]), near)[0]
    near = near[is_open]
    if not len(near):
        return False
    placement.move(pod, int(near[np.argmin(ceilings.slack(placement, near))]))
    return True


def send_home(ceilings: Ceilings, placement: Arrangement) -> None:
    """Takes back moves off or onto nodes that stay over their ceiling, and off those that are under it with the pod."""
    over = ceilings.is_over(placement)
    moved = ceilings.problem.moved(placement.at)
    for pod in moved.tolist():
        home = int(ceilings.problem.assignment[pod])
        if (over[[home, placement.at[pod]]].any() or _has_room(ceilings, placement, pod, home)) and placement.is_open(
            pod, home
        ):
            placement.move(pod, home)


def _has_room(ceilings: Ceilings, placement: Arrangement, pod: int, node: int) -> bool:
    fits: Bools = placement.usage[:, node] + placement.need[:, pod] <= ceilings.ceiling[:, node]
    return bool(fits.all())
