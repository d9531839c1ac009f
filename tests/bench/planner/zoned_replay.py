"""The moves of a plan for a cluster in uneven zones, made on its arrays, and what they break."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from descheduler.optimizer.arrays import Ints
from tests.worlds.zoned import ZonedWorld, node_number


def assignment_after(world: ZonedWorld, moves: Sequence[Mapping[str, Any]]) -> Ints:
    """int64[P]: where pods are once the moves are made."""
    names = {f"web-{workload:04}": np.flatnonzero(world.workload == workload) for workload in range(len(world.need))}
    at = world.node.copy()
    for move in moves:
        owner, number = move["pod"]["name"].rsplit("-", 1)
        at[names[owner][int(number)]] = node_number(move["to"])
    return at


def usage_of(world: ZonedWorld, at: Ints) -> Ints:
    """int64[N, 2]: what pods request of each node."""
    used = np.zeros_like(world.capacity)
    np.add.at(used, at, world.need[world.workload])
    return used


def faults_of(world: ZonedWorld, at: Ints) -> Iterator[str]:
    """What `at` breaks of capacity, budgets, anti-affinity and spread."""
    if over := int((usage_of(world, at) > world.capacity).any(axis=1).sum()):
        yield f"{over} nodes over capacity"
    moved = np.bincount(world.workload[at != world.node], minlength=len(world.need))
    if over := int(((moved > world.budget) & (world.budget >= 0)).sum()):
        yield f"{over} budgets exceeded"
    for workload in np.flatnonzero(moved).tolist():
        places = at[world.workload == workload]
        zones = np.bincount(world.zone[places], minlength=3)
        if world.apart[workload] and len(set(places.tolist())) < len(places):
            yield f"workload {workload} shares a node"
        if world.spread[workload] and zones.max() - zones.min() > 1:
            yield f"workload {workload} is not spread"
