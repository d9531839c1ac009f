"""Consolidation as node autoscalers do it: one node after the other, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Bools, Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains


@dataclass(frozen=True, slots=True)
class GreedyOrder:
    """Nodes with the fewest pods or the lowest utilisation first; pods to the fullest node or the first that fits."""

    fewest_pods_first: bool
    best_fit: bool


ORDERS = tuple(GreedyOrder(fewest, best) for fewest in (True, False) for best in (True, False))


_MOST_IN_VAIN = 3
"""So many nodes are opened one after the other without a gain, after which no more are."""


def drain_greedily(drains: Drains, placement: Arrangement, order: GreedyOrder, weight: Ints, *, budget: Budget) -> None:
    """Empties nodes in `order`, per unit of `weight` (int64[N]); a node that received pods is not emptied.

    Nodes that have no pods and count something are not opened.
    """
    _drain(drains, placement, order, weight, drains.is_used & ~(drains.opens & (weight > 0)), budget)


def drain_together(drains: Drains, placement: Arrangement, nodes: Ints, weight: Ints) -> None:
    """Empties those of `nodes` that can be, the largest first, onto nodes in use that are none of them."""
    is_open = drains.is_used & ~(drains.opens & (weight > 0))
    is_open[nodes] = False
    for node in nodes[np.argsort(-drains.volume[nodes], kind="stable")].tolist():
        _try_to_empty(drains, placement, node, _targets(drains, placement, node, is_open), best_fit=True)


def replace_greedily(
    drains: Drains, placement: Arrangement, order: GreedyOrder, weight: Ints, *, budget: Budget
) -> None:
    """Opens nodes without pods where more weight is emptied onto them than they count, the lightest first."""
    opened, num_in_vain = np.flatnonzero(drains.opens & (weight > 0)), 0
    is_open = drains.is_used & ~np.isin(np.arange(drains.problem.num_nodes), opened)
    for node in opened[np.argsort(weight[opened], kind="stable")].tolist():
        before, is_open[node] = placement.at.copy(), True
        emptied = _drain(drains, placement, order, weight, is_open, budget)
        if emptied <= weight[node]:
            placement.reset(before)
            is_open[node] = False
            num_in_vain += 1
        if num_in_vain == _MOST_IN_VAIN:
            break


def _drain(
    drains: Drains,
    placement: Arrangement,
    order: GreedyOrder,
    weight: Ints,
    is_open: Bools,
    budget: Budget,
) -> int:
    """Empties nodes onto those that are open (bool[N]); what they count together."""
    receives = np.zeros(drains.problem.num_nodes, bool)
    receives[placement.at[placement.problem.moved(placement.at)]] = True
    emptied = 0
    for node in _in_order(drains, placement, order, weight):
        if receives[node]:
            continue
        targets = _targets(drains, placement, node, is_open)
        budget.spend_evaluations(len(targets) * len(placement.need) * int(drains.num_pods[node]))
        taken = _try_to_empty(drains, placement, node, targets, best_fit=order.best_fit)
        receives[taken] = True
        emptied += int(weight[node]) if taken else 0
    return emptied


def _in_order(drains: Drains, placement: Arrangement, order: GreedyOrder, weight: Ints) -> Iterator[int]:
    nodes = np.flatnonzero(drains.can_empty & ~drains.is_emptied(placement))
    price: Floats = drains.num_pods[nodes].astype(np.float64) if order.fewest_pods_first else drains.share[nodes]
    yield from nodes[np.argsort(price / np.maximum(weight[nodes], 1), kind="stable")].tolist()


def _targets(drains: Drains, placement: Arrangement, node: int, is_open: Bools) -> Ints:
    """Open nodes in use other than `node`, ascending."""
    stays: Bools = is_open & ~drains.is_emptied(placement)
    stays[node] = False
    return np.flatnonzero(stays)


def _try_to_empty(drains: Drains, placement: Arrangement, node: int, targets: Ints, *, best_fit: bool) -> list[int]:
    """Moves all pods of `node` to `targets`, largest first; the nodes that got one, or nothing is moved and []."""
    done: list[tuple[int, int]] = []
    for pod in drains.largest_first(placement.evictable_on(node)).tolist():
        room = drains.room(placement, targets)
        fits = targets[(placement.need[:, [pod]] <= room).all(axis=0)]
        fits = fits[placement.open_moves(np.array([pod]), fits)[0]]
        if not len(fits):
            for moved, _ in reversed(done):
                placement.move(moved, node)
            return []
        target = int(fits[np.argmin(_slack(drains, placement, fits))]) if best_fit else int(fits[0])
        placement.move(pod, target)
        done.append((pod, target))
    return [target for _, target in done]


def _slack(drains: Drains, placement: Arrangement, nodes: Ints) -> Floats:
    slack: Floats = (drains.room(placement, nodes) * drains.scale[:, nodes]).sum(axis=0)
    return slack
