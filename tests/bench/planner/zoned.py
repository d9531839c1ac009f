"""Consolidation of uneven zones as a dry run, beside a plain multi-start greedy that gets the same CPU time."""

from __future__ import annotations

import resource
from collections.abc import Sequence

import numpy as np

from descheduler.optimizer import Limits
from descheduler.optimizer.arrays import Ints
from tests.bench.planner.dry_run import dry_run
from tests.bench.planner.many_starts import most_emptied_at_random
from tests.bench.planner.zoned_replay import assignment_after, faults_of
from tests.worlds.zoned import ZonedWorld, make_zoned_world

_MEAN_RATIO = 0.6
_SHARES = (0.05, 0.25, 1.0)


def report(*, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int, chooses_nodes: bool = False) -> None:
    """Prints a line a cluster, and the nodes emptied by all plans and by the greedy."""
    totals, num_behind = np.zeros(2, np.int64), 0
    for seed in seeds:
        world = make_zoned_world(nodes=nodes, seed=seed, mean_ratio=_MEAN_RATIO)
        before = _cpu_seconds()
        document = dry_run("plan-consolidate", list(world.objects()), limits, num_workers, chooses_nodes=chooses_nodes)
        seconds, after = _cpu_seconds() - before, assignment_after(world, document["moves"])
        emptied = _num_emptied(world, after)
        greedy = most_emptied_at_random(world, chooses_nodes=chooses_nodes, cpu_seconds=seconds, seed=seed)
        print(
            f"{nodes} {seed}: {document['goal']['objectives'][0]['sentence']}; replayed: {emptied} nodes empty,"
            f" faults: {list(faults_of(world, after))}; multi-start greedy {greedy}; {seconds:.1f} s of CPU each",
            flush=True,
        )
        totals += (emptied, greedy)
        num_behind += emptied < greedy
    print(
        f"{nodes}, dry run: {totals[0]} nodes emptied, {totals[1]} by the multi-start greedy in the same CPU time,"
        f" which empties more in {num_behind} of {len(seeds)} clusters"
    )


def report_more_time(
    *, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int, chooses_nodes: bool = False
) -> None:
    """Prints a line a cluster: the nodes emptied in a twentieth of the limits, in a quarter and in all of them."""
    num_worse = 0
    for seed in seeds:
        world = make_zoned_world(nodes=nodes, seed=seed, mean_ratio=_MEAN_RATIO)
        objects, emptied = list(world.objects()), list[int]()
        for share in _SHARES:
            part = limits.scaled(share)
            document = dry_run("plan-consolidate", objects, part, num_workers, chooses_nodes=chooses_nodes)
            emptied.append(_num_emptied(world, assignment_after(world, document["moves"])))
        num_worse += emptied != sorted(emptied)
        print(
            f"{nodes} {seed}: nodes emptied in {', '.join(f'{share:.0%}' for share in _SHARES)}: {emptied}", flush=True
        )
    print(f"{nodes}, dry run: worse with more time in {num_worse} of {len(seeds)} clusters")


def _cpu_seconds() -> float:
    """Of all programs that this one has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _num_emptied(world: ZonedWorld, at: Ints) -> int:
    return len(set(world.node.tolist()) - set(at.tolist()))
