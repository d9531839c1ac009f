"""Fragmentation of a look-alike of VMR2L's clusters: NUMA nodes, 16-core slots, 50 moves; against a longer run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from descheduler.planner import Defragment, Limits, solve
from tests.worlds.arrays import make_numa_world

__all__ = ["report"]

_LONGER = 10


def report(*, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int) -> None:
    """Prints one line a snapshot: stranded cores before, after, and after ten times the time."""
    for seed in seeds:
        problem = make_numa_world(nodes=nodes, seed=seed)
        objective = Defragment(resource=0, classes=np.array([[16, 0]]))
        short = solve(problem, objective, limits, seed=seed, num_workers=num_workers)
        longer = dataclasses.replace(limits, seconds=(limits.seconds or 0.0) * _LONGER)
        best = solve(problem, objective, longer, seed=seed + 1, num_workers=num_workers, hint=short.assignment)
        print(
            f"{nodes} {seed}: {problem.num_pods:,} pods, cores stranded {short.value_before[0]} -> {short.value[0]} "
            f"with {len(short.moves)} moves in {short.seconds:.1f} s; {best.value[0]} in {best.seconds:.1f} s "
            f"({short.value[0] / max(best.value[0], 1):.3f})",
            flush=True,
        )
