"""Where pending pods might find room: nodes that lack little for them, and nodes that can take what leaves those."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.objective import Neighbourhood
from descheduler.optimizer.objectives.likely_nodes import nearly_fitting, with_room
from descheduler.optimizer.objectives.make_room.pending import PendingPods
from descheduler.optimizer.placement import Placement

__all__ = ["choose"]

_PODS_PER_LANDING = 25
_PODS_PER_RECEIVER = 12
_MOST_UNITS = 2


def choose(pending: PendingPods, placement: Placement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
    """Some units with nodes to land on, all of whose pods may leave, and receivers; None: nothing is left to gain.

    Units that wait come first; where none does, units that are placed may land elsewhere with fewer evictions.
    """
    waiting = [unit for unit in pending.units if (placement.at[unit] == PENDING).any()]
    if not waiting and not len(placement.problem.moved(placement.at)):
        return None
    units = waiting or pending.units
    picked = rng.permutation(len(units))[: int(rng.integers(1, _MOST_UNITS + 1))]
    seeds = np.concatenate([units[number] for number in picked.tolist()])
    landings = _landings(placement, rng, seeds, max(2, num_pods // _PODS_PER_LANDING))
    receivers = with_room(placement, rng, max(3, num_pods // _PODS_PER_RECEIVER))
    nodes = np.union1d(landings, receivers)
    return Neighbourhood(nodes, _pods(pending, placement, landings, nodes, seeds))


def _landings(placement: Placement, rng: np.random.Generator, seeds: Ints, count: int) -> Ints:
    """Nodes allowed to the first seed, those that lack little for it more often, and what the seeds are on now."""
    near = nearly_fitting(placement, int(seeds[0]), rng, max(count, len(seeds)))
    own = placement.at[seeds]
    return np.union1d(near, own[own != PENDING])


def _pods(pending: PendingPods, placement: Placement, landings: Ints, nodes: Ints, seeds: Ints) -> Ints:
    """The seeds, all pods on or from the landings, moved pods on or from the other nodes, and their gangs whole."""
    problem = placement.problem
    near_landing = np.isin(placement.at, landings) | np.isin(placement.origins, landings)
    near = np.isin(placement.at, nodes) | np.isin(placement.origins, nodes)
    chosen = problem.evictable & (near_landing | (near & (placement.at != placement.origins)))
    chosen[seeds] = True
    gangs = np.unique(pending.gang[np.flatnonzero(chosen)])
    members = pending.pods[np.isin(pending.gang[pending.pods], gangs[gangs >= 0])]
    return np.union1d(np.flatnonzero(chosen), members)
