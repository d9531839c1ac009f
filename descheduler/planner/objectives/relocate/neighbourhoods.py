"""Where misplaced pods might find room: nodes that lack little for them, and nodes that can take what leaves those."""

from __future__ import annotations

import numpy as np

from descheduler.planner.arrays import Ints
from descheduler.planner.objective import Neighbourhood
from descheduler.planner.objectives.relocate.misplaced import MisplacedPods
from descheduler.planner.objectives.weighted_sample import weighted_sample
from descheduler.planner.placement import Placement

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
    receivers = _receivers(placement, rng, max(3, num_pods // _PODS_PER_RECEIVER))
    nodes = np.union1d(landings, receivers)
    return Neighbourhood(nodes, _pods(misplaced, placement, landings, nodes, seeds))


def _landings(placement: Placement, rng: np.random.Generator, seeds: Ints, count: int) -> Ints:
    """For each seed nodes that are allowed, those that lack little for it more often; and where the seeds are now."""
    problem, found = placement.problem, [placement.at[seeds]]
    for seed in seeds.tolist():
        allowed = np.flatnonzero(problem.allowed[problem.pod_class[seed]])
        short = np.maximum(placement.need[:, [seed]] - placement.free[:, allowed], 0.0)
        lack = (short / np.maximum(problem.capacity.T[:, allowed], 1)).sum(axis=0)
        found.append(weighted_sample(allowed, 1.0 / (lack + 0.01), rng, max(1, count // len(seeds))))
    return np.unique(np.concatenate(found))


def _receivers(placement: Placement, rng: np.random.Generator, count: int) -> Ints:
    """Nodes with much room in their scarcest resource more often."""
    capacity = np.maximum(placement.problem.capacity.T, 1)
    room = np.maximum(placement.free / capacity, 0.0).min(axis=0)
    return weighted_sample(np.arange(placement.problem.num_nodes), room + 1e-3, rng, count)


def _pods(misplaced: MisplacedPods, placement: Placement, landings: Ints, nodes: Ints, seeds: Ints) -> Ints:
    """The seeds, all pods on or from the landings, and moved or misplaced pods on or from the other nodes."""
    problem = placement.problem
    near_landing = np.isin(placement.at, landings) | np.isin(placement.origins, landings)
    near = np.isin(placement.at, nodes) | np.isin(placement.origins, nodes)
    near &= (placement.at != placement.origins) | (misplaced.weight > 0)
    chosen = problem.evictable & (near_landing | near)
    chosen[seeds] = True
    return np.flatnonzero(chosen)
