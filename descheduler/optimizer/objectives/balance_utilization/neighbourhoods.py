"""Pieces of a cluster in which balancing may gain: hot nodes that are not solved, with nodes that have room."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.objective import Neighbourhood
from descheduler.optimizer.objectives.balance_utilization.ceilings import Ceilings
from descheduler.optimizer.objectives.weighted_sample import weighted_sample

_SHARE_OF_WIDE = 0.5


def choose(ceilings: Ceilings, placement: Arrangement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
    """A node that is over or dearer than its cover, others that were hot, and cold ones; None: all are solved."""
    unsolved = _unsolved(ceilings, placement)
    if not len(unsolved):
        return None
    seed = int(rng.choice(unsolved))
    if rng.random() < _SHARE_OF_WIDE:
        return _wide(ceilings, placement, rng, seed, num_pods)
    cold = _cold_nodes(ceilings, placement, rng, max(3, num_pods // 14))
    guests = np.flatnonzero((placement.at != placement.origins) & np.isin(placement.at, cold))
    hot = _partners(ceilings, placement, rng, seed, guests, num_pods)
    nodes = np.concatenate((hot, cold, _origins_that_lost(ceilings, placement, guests, rng)))
    nodes = np.unique(nodes)
    return Neighbourhood(nodes, _pods(ceilings, placement, rng, nodes, num_pods))


def _wide(
    ceilings: Ceilings, placement: Arrangement, rng: np.random.Generator, seed: int, num_pods: int
) -> Neighbourhood:
    """A few hot nodes and many cold ones, of which only guests may move: other covers and other targets for them."""
    cold = _cold_nodes(ceilings, placement, rng, max(8, num_pods // 4))
    guests = np.flatnonzero((placement.at != placement.origins) & np.isin(placement.at, cold))
    hot = _partners(ceilings, placement, rng, seed, guests, 2 * num_pods)
    nodes = np.union1d(hot, cold)
    problem = ceilings.problem
    from_hot = problem.evictable & np.isin(problem.assignment, hot)
    return Neighbourhood(nodes, np.union1d(np.flatnonzero(from_hot), guests))


def _unsolved(ceilings: Ceilings, placement: Arrangement) -> Ints:
    """Hot nodes that are over, though they could be under, or that cost more than their cover; nodes that lost pods
    without having been hot."""
    moved = ceilings.problem.moved(placement.at)
    spent = np.zeros(ceilings.problem.num_nodes, np.int64)
    np.add.at(spent, placement.origins[moved], ceilings.problem.cost[moved])
    over = ceilings.is_over(placement)
    least = np.zeros_like(spent)
    for node, cover in ceilings.covers.items():
        least[node] = cover.cost if cover else 0
        over[node] &= cover is not None
    return np.flatnonzero(over) if over.any() else np.flatnonzero(spent > least)


def _cold_nodes(ceilings: Ceilings, placement: Arrangement, rng: np.random.Generator, count: int) -> Ints:
    """Nodes that were never hot, the ones with much room more often."""
    cold = np.flatnonzero(~ceilings.was_hot)
    slack = np.maximum(ceilings.slack(placement, cold), 0.0) + 1e-3
    return weighted_sample(cold, slack, rng, count)


def _partners(
    ceilings: Ceilings, placement: Arrangement, rng: np.random.Generator, seed: int, guests: Ints, num_pods: int
) -> Ints:
    """The seed and hot nodes, the origins of guests first, so that other pods of theirs may go instead."""
    others = rng.permutation(ceilings.hot[ceilings.hot != seed])
    is_origin = np.isin(others, placement.origins[guests])
    ranked = others[is_origin] if is_origin.any() else others
    return np.append(ranked[: max(1, num_pods // 40)], seed)


def _origins_that_lost(ceilings: Ceilings, placement: Arrangement, guests: Ints, rng: np.random.Generator) -> Ints:
    """At most two cold nodes that lost pods to the neighbourhood."""
    origins = np.unique(placement.origins[guests])
    return rng.permutation(origins[(origins >= 0) & ~ceilings.was_hot[origins]])[:2]


def _pods(ceilings: Ceilings, placement: Arrangement, rng: np.random.Generator, nodes: Ints, num_pods: int) -> Ints:
    """All evictable pods from or on hot nodes, all guests, and as many other pods as there is place for."""
    problem = ceilings.problem
    origins = placement.origins
    inside = problem.evictable & (np.isin(origins, nodes) | np.isin(placement.at, nodes))
    is_moved: Bools = placement.at != origins
    from_hot = np.zeros(problem.num_pods, bool)
    from_hot[origins >= 0] = ceilings.was_hot[origins[origins >= 0]] & np.isin(origins[origins >= 0], nodes)
    first = np.flatnonzero(inside & (is_moved | from_hot))
    others = np.flatnonzero(inside & ~is_moved & ~from_hot)
    extra = rng.permutation(others)[: max(num_pods - len(first), num_pods // 8)]
    return np.sort(np.concatenate((first, extra)))
