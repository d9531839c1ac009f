"""Where a pending pod might find room: the nodes that lack least for it, with the pods that could leave them."""

from __future__ import annotations

import numpy as np

from descheduler.planner.arrays import PENDING, Floats, Ints
from descheduler.planner.objective import Neighbourhood
from descheduler.planner.objectives.make_room.pending import PendingPods
from descheduler.planner.placement import Placement

__all__ = ["choose"]

_PODS_PER_NODE = 12
_MOST_UNITS = 4


def choose(pending: PendingPods, placement: Placement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
    """Some pending units, or a moved pod once none is left, with nodes near to having room; None: nothing to gain."""
    waiting = [unit for unit in pending.units if (placement.at[unit] == PENDING).any()]
    moved = placement.problem.moved(placement.at)
    if not waiting and not len(moved):
        return None
    if waiting:
        picked = rng.permutation(len(waiting))[: int(rng.integers(1, _MOST_UNITS + 1))]
        seeds = np.concatenate([waiting[number] for number in picked.tolist()])
    else:
        seeds = rng.choice(moved, size=1)
    nodes = _near_nodes(placement, rng, seeds, max(2, num_pods // _PODS_PER_NODE))
    return Neighbourhood(nodes, _pods(pending, placement, rng, nodes, seeds, num_pods))


def _near_nodes(placement: Placement, rng: np.random.Generator, seeds: Ints, count: int) -> Ints:
    """Nodes allowed to the first seed, those that lack little for it more often, and what the seeds are on or were."""
    problem = placement.problem
    lack = _lack(placement, int(seeds[0]))
    keys = np.where(
        problem.allowed[problem.pod_class[seeds[0]]], np.log(rng.random(len(lack))) * (lack + 0.02), -np.inf
    )
    near = np.argsort(-keys, kind="stable")[: max(count, len(seeds) + 1)]
    own = np.concatenate((placement.at[seeds], placement.origins[seeds]))
    return np.unique(np.concatenate((near[np.isfinite(keys[near])], own[own != PENDING])))


def _lack(placement: Placement, pod: int) -> Floats:
    """float64[N]: how much of each node would have to leave for the pod, as a share of it, summed over resources."""
    short = np.maximum(placement.need[:, [pod]] - placement.free, 0.0)
    lack: Floats = (short / np.maximum(placement.problem.capacity.T, 1)).sum(axis=0)
    return lack


def _pods(
    pending: PendingPods, placement: Placement, rng: np.random.Generator, nodes: Ints, seeds: Ints, num_pods: int
) -> Ints:
    """The seeds, moved pods from or on the nodes with whole gangs, and as many others as there is place for."""
    problem = placement.problem
    near = problem.evictable & (np.isin(placement.at, nodes) | np.isin(placement.origins, nodes))
    touched = np.flatnonzero(near & (placement.at != placement.origins))
    gangs = np.unique(pending.gang[np.concatenate((touched, seeds))])
    members = pending.pods[np.isin(pending.gang[pending.pods], gangs[gangs >= 0])]
    first = np.unique(np.concatenate((seeds, touched, members)))
    others = np.setdiff1d(np.flatnonzero(near), first)
    return np.union1d(first, rng.permutation(others)[: max(num_pods - len(first), num_pods // 2)])
