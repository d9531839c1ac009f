"""Where misplaced pods might find room: nodes that lack little for them, and nodes that can take what leaves those."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.objective import Neighbourhood
from descheduler.optimizer.objectives.likely_nodes import nearly_fitting, with_room
from descheduler.optimizer.objectives.repair_violations.misplaced import MisplacedPods
from descheduler.optimizer.placement import Placement

__all__ = ["choose"]

_PODS_PER_LANDING = 25
_PODS_PER_RECEIVER = 12
_MOST_SEEDS = 4


def choose(misplaced: MisplacedPods, placement: Placement, rng: np.random.Generator, num_pods: int) -> Neighbourhood:
    """Some misplaced pods, nodes for them all of whose pods may leave, and receivers for these.

    Those that are on their old node come first; where all have moved, some may do so at less cost.
    """
    waiting = np.array(misplaced.in_order(placement.at), np.int64)
    seeds = rng.permutation(waiting if len(waiting) else misplaced.movable)[: int(rng.integers(1, _MOST_SEEDS + 1))]
    landings = _landings(placement, rng, seeds, max(2, num_pods // _PODS_PER_LANDING))
    receivers = with_room(placement, rng, max(3, num_pods // _PODS_PER_RECEIVER))
    nodes = np.union1d(landings, receivers)
    return Neighbourhood(nodes, _pods(misplaced, placement, landings, nodes, seeds))


def _landings(placement: Placement, rng: np.random.Generator, seeds: Ints, count: int) -> Ints:
    """For each seed nodes that are allowed, those that lack little for it more often; and where the seeds are now."""
    each = max(1, count // len(seeds))
    near = [nearly_fitting(placement, seed, rng, each) for seed in seeds.tolist()]
    return np.unique(np.concatenate([placement.at[seeds], *near]))


def _pods(misplaced: MisplacedPods, placement: Placement, landings: Ints, nodes: Ints, seeds: Ints) -> Ints:
    """The seeds, all pods on or from the landings, and moved or misplaced pods on or from the other nodes."""
    problem = placement.problem
    near_landing = np.isin(placement.at, landings) | np.isin(placement.origins, landings)
    near = np.isin(placement.at, nodes) | np.isin(placement.origins, nodes)
    near &= (placement.at != placement.origins) | (misplaced.weight > 0)
    chosen = problem.evictable & (near_landing | near)
    chosen[seeds] = True
    return np.flatnonzero(chosen)
