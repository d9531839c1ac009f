"""Fragmentation of a look-alike of VMR2L's clusters, 16-core slots and 50 moves: against a longer run, and greedy."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from descheduler.optimizer import Limits, ReduceFragmentation, solve
from tests.worlds.arrays import make_numa_world

_LONGER = 12


def report(*, seeds: Sequence[int], limits: Limits, num_workers: int) -> None:
    """Prints one line a snapshot: stranded cores before, after, after twelve times the time, and by single moves."""
    for seed in seeds:
        problem = make_numa_world(seed=seed)
        objective = ReduceFragmentation(resource=0, classes=np.array([[16, 32]]))
        short = solve(problem, objective, limits, seed=seed, num_workers=num_workers)
        longer = dataclasses.replace(limits, seconds=(limits.seconds or 0.0) * _LONGER)
        best = solve(problem, objective, longer, seed=seed + 1, num_workers=num_workers)
        greedy = solve(problem, objective, Limits(work=1e-9), seed=seed)
        free = int((problem.part_capacity - problem.usage(problem.assignment))[:, 0].sum())
        print(
            f"vmr2l {seed}: {problem.num_pods:,} pods, {short.value_before[0]} of {free} free cores stranded -> "
            f"{short.value[0]} with {short.value[1]} pods moved in {short.seconds:.1f} s ({len(short.waves)} waves); "
            f"{best.value[0]} in {best.seconds:.0f} s "
            f"({short.value[0] / max(best.value[0], 1):.3f} of it); best single moves {greedy.value[0]}",
            flush=True,
        )
