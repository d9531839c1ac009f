"""Balancing of uneven zones with budgets, spread and anti-affinity as a dry run, its moves replayed here."""

from __future__ import annotations

import time
from collections.abc import Sequence

from descheduler.optimizer import Limits
from descheduler.optimizer.arrays import Ints
from tests.bench.planner.balance import MEAN_RATIOS
from tests.bench.planner.dry_run import TARGET, dry_run
from tests.bench.planner.zoned_replay import assignment_after, faults_of, usage_of
from tests.worlds.zoned import ZonedWorld, make_uneven_zoned_world

_SHARES = (1 / 60, 5 / 60, 20 / 60, 1.0)


def report(*, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int, chooses_nodes: bool = False) -> None:
    """Prints a line a cluster, the ratio of all evictions to what is needed at least, and the plans proven optimal."""
    for name, mean_ratio in MEAN_RATIOS.items():
        evictions = bound = num_optimal = 0
        for seed in seeds:
            world = make_uneven_zoned_world(nodes=nodes, seed=seed, mean_ratio=mean_ratio)
            started = time.monotonic()
            document = dry_run("plan-balance", list(world.objects()), limits, num_workers, chooses_nodes=chooses_nodes)
            seconds, after = time.monotonic() - started, assignment_after(world, document["moves"])
            goal, faults = document["goal"], list(faults_of(world, after))
            print(
                f"{nodes} {name} {seed}: {goal['objectives'][0]['sentence']}; replayed: {_num_over(world, after)} nodes"
                f" over, faults: {faults}; {goal['status']}, {seconds:.1f} s of the command",
                flush=True,
            )
            evictions, bound = evictions + len(document["moves"]), bound + (goal["bound"] or 0)
            num_optimal += goal["status"] == "optimal"
        print(
            f"{nodes} {name}, dry run: evictions {evictions / max(bound, 1):.4f} of the bound,"
            f" {num_optimal} of {len(seeds)} plans proven optimal"
        )


def report_more_time(
    *, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int, chooses_nodes: bool = False
) -> None:
    """Prints a line a cluster: nodes over and evictions in 1, 5, 20 and all of 60 parts of the limits."""
    for name, mean_ratio in MEAN_RATIOS.items():
        num_worse = 0
        for seed in seeds:
            world = make_uneven_zoned_world(nodes=nodes, seed=seed, mean_ratio=mean_ratio)
            objects, values = list(world.objects()), list[tuple[int, int]]()
            for share in _SHARES:
                part = limits.scaled(share)
                moves = dry_run("plan-balance", objects, part, num_workers, chooses_nodes=chooses_nodes)["moves"]
                values.append((_num_over(world, assignment_after(world, moves)), len(moves)))
            num_worse += values != sorted(values, reverse=True)
            print(f"{nodes} {name} {seed}: (nodes over, evictions) with more time: {values}", flush=True)
        print(f"{nodes} {name}, dry run: worse with more time in {num_worse} of {len(seeds)} clusters")


def _num_over(world: ZonedWorld, at: Ints) -> int:
    return int((usage_of(world, at) > TARGET * world.capacity).any(axis=1).sum())
