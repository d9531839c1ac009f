"""LowNodeUtilization's choice of pods on arrays: node by node, pod by pod, until the node is under its target.

Mirrors sigs.k8s.io/descheduler v0.34 `nodeutilization`: nodes by their usage, descending; pods of a node in the order
given (its own is by priority, which is equal here); an eviction counts at once against the node and against what all
underused nodes can take. The scheduler then places each evicted pod by LeastAllocated on any node that it fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from descheduler.planner.arrays import Floats, Ints
from descheduler.planner.placement import Placement
from tests.worlds.arrays import ArrayWorld

__all__ = ["Evicted", "evict_in_order"]


@dataclass(frozen=True, slots=True)
class Evicted:
    """What is left after evicting and scheduling: evictions, nodes over their target, pods that found no node."""

    num_evictions: int
    num_over: int
    num_pending: int


def evict_in_order(world: ArrayWorld, *, largest_first: bool) -> Evicted:
    """Evicts in the pods' own order, or each node's largest first, the best order that upstream can be given."""
    placement = Placement(world.problem)
    ceiling = world.ceiling.T.astype(np.float64)
    room = np.maximum(ceiling - placement.usage, 0.0).sum(axis=1)
    capacity = world.problem.capacity.T
    evictions = pending = 0
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
            pending += not _schedule(placement, pod, capacity)
    return Evicted(evictions, int((placement.usage > ceiling).any(axis=0).sum()), pending)


def _schedule(placement: Placement, pod: int, capacity: Ints) -> bool:
    """Puts the pod where LeastAllocated scores highest; False: it fits nowhere."""
    nodes = np.arange(placement.problem.num_nodes)
    open_nodes = nodes[placement.open_moves(np.array([pod]), nodes)[0]]
    if not len(open_nodes):
        placement.move(pod, -1)
        return False
    free: Floats = (placement.free[:, open_nodes] - placement.need[:, [pod]]) / capacity[:, open_nodes]
    placement.move(pod, int(open_nodes[np.argmax(free.mean(axis=0))]))
    return True
