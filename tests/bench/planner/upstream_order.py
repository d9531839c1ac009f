"""LowNodeUtilization's choice of pods on arrays: node by node, pod by pod, until the node is under its target.

Mirrors sigs.k8s.io/descheduler v0.34 `nodeutilization`: nodes by their usage, descending; pods of a node in the order
given (its own is by priority, which is equal here); an eviction counts at once against the node and against what all
underused nodes can take. The scheduler then places each evicted pod by LeastAllocated on any node that it fits.
"""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from tests.bench.planner.outcomes import Outcome, outcome_of
from tests.bench.planner.scheduling import evict_and_schedule
from tests.worlds.arrays import ArrayWorld


def evict_in_order(world: ArrayWorld, *, largest_first: bool) -> Outcome:
    """Evicts in the pods' own order, or each node's largest first, the best order that upstream can be given."""
    placement = Arrangement(world.problem)
    ceiling = world.ceiling.T.astype(np.float64)
    room = np.maximum(ceiling - placement.usage, 0.0).sum(axis=1)
    capacity = world.problem.capacity.T
    evictions = 0
    over = np.flatnonzero((placement.usage > ceiling).any(axis=0))
    for node in over[np.argsort(-(placement.usage[:, over] / capacity[:, over]).sum(axis=0), kind="stable")].tolist():
        pods = placement.evictable_on(node)
        if largest_first:
            pods = pods[np.argsort(-(placement.need[:, pods] / capacity[:, [node]]).max(axis=0), kind="stable")]
        for pod in pods.tolist():
            need = placement.need[:, pod]
            if (placement.usage[:, node] <= ceiling[:, node]).all() or (need > room).any():
                break
            room -= need
            evictions += 1
            evict_and_schedule(placement, pod, most_allocated=False)
    return outcome_of(world, placement.at, evictions)
