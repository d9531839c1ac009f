"""Consolidation and make-room as users run them: dry runs of their profiles on dumps, their moves replayed here.

The replacements are where the model of the scheduler places them, which fills nodes up. With chosen nodes they are
where the plan has them, as far as Reservations can hold room there. The greedy orders are free to choose theirs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from descheduler.optimizer import Limits, Problem
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.rules import AtMost
from tests.bench.planner.consolidate import MEAN_RATIO, emptied_by_greedy
from tests.bench.planner.dry_run import dry_run
from tests.bench.planner.make_room import land_greedily
from tests.bench.planner.outcomes import limit_text
from tests.worlds.arrays import make_consolidation_world, make_stranded_world
from tests.worlds.stored_arrays import objects_of, pod_number

_SHARES = (0.05, 0.25, 1.0)


def report_consolidation(
    *, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int, chooses_nodes: bool = False
) -> None:
    """Prints a line a cluster, and the nodes emptied by all plans and by the best greedy order for each."""
    totals = np.zeros(2, np.int64)
    for seed in seeds:
        world = make_consolidation_world(nodes=nodes, seed=seed, mean_ratio=MEAN_RATIO)
        objects = list(objects_of(world.problem, world.workload, has_owners=chooses_nodes))
        started = time.monotonic()
        document = dry_run("plan-consolidate", objects, limits, num_workers, chooses_nodes=chooses_nodes)
        seconds, after = time.monotonic() - started, assignment_after(world.problem, document["moves"])
        emptied = len(set(world.problem.assignment.tolist()) - set(after.tolist()))
        greedy = max(emptied_by_greedy(world, world.problem.capacity))
        print(
            f"{nodes} {seed}: {document['goal']['objectives'][0]['sentence']}; replayed: {emptied} nodes empty,"
            f" {_num_half_drained(world.problem, after)} half drained, faults: {faults_of(world.problem, after)};"
            f" greedy {greedy}; {seconds:.1f} s of the whole command",
            flush=True,
        )
        totals += (emptied, greedy)
    print(f"{nodes}, dry run: {totals[0]} nodes emptied, {totals[1]} by the best greedy order")


def report_more_time(*, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int) -> None:
    """Prints a line a cluster: the nodes emptied in a twentieth of the limits, in a quarter and in all of them."""
    num_worse = 0
    for seed in seeds:
        world = make_consolidation_world(nodes=nodes, seed=seed, mean_ratio=MEAN_RATIO)
        objects = list(objects_of(world.problem, world.workload))
        in_use = set(world.problem.assignment.tolist())
        emptied: list[int] = []
        for share in _SHARES:
            document = dry_run("plan-consolidate", objects, limits.scaled(share), num_workers)
            emptied.append(len(in_use - set(assignment_after(world.problem, document["moves"]).tolist())))
        num_worse += emptied != sorted(emptied)
        told = ", ".join(f"{each} in {share:.0%}" for each, share in zip(emptied, _SHARES, strict=True))
        print(f"{nodes} {seed}: nodes emptied: {told} of {limit_text(limits)}", flush=True)
    print(f"{nodes}, dry run: worse with more time in {num_worse} of {len(seeds)} clusters")


def report_room(
    *, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int, chooses_nodes: bool = False
) -> None:
    """Prints a line a cluster, and the sums beside those of the best greedy order for each."""
    for ratio in (0.3, 0.6):
        totals = np.zeros(4, np.int64)
        for seed in seeds:
            problem = make_stranded_world(nodes=nodes, seed=seed, pending_ratio=ratio)
            objects = list(objects_of(problem, has_owners=chooses_nodes))
            document = dry_run("plan-make-room", objects, limits, num_workers, chooses_nodes=chooses_nodes)
            after = assignment_after(problem, document["moves"])
            levels = [objective["levels"][0] for objective in document["goal"]["objectives"]]
            landed, moves = land_greedily(problem)
            found = (levels[0]["before"] - levels[-1]["after"], len(document["moves"]), landed, moves)
            print(
                f"{nodes} {ratio:g} {seed}: of {levels[0]['before']} pending pods {found[0]} scheduled with {found[1]}"
                f" evictions, faults: {faults_of(problem, after)}; greedy {landed} with {moves}",
                flush=True,
            )
            totals += found
        print(f"{nodes} {ratio:g}, dry run: {totals[0]} with {totals[1]}; greedy {totals[2]} with {totals[3]}")


def assignment_after(problem: Problem, moves: Sequence[Mapping[str, Any]]) -> Ints:
    """int64[P]: where pods are once the moves are made; pending pods stay so."""
    at = problem.assignment.copy()
    for move in moves:
        at[pod_number(move["pod"]["name"])] = pod_number(move["to"])
    return at


def faults_of(problem: Problem, at: Ints) -> list[str]:
    """What `at` breaks of the problem's capacity and rules, and pods that moved though they must not."""
    over = (problem.usage(at) > problem.capacity).any(axis=1).sum()
    pinned = (~problem.evictable & (at != problem.assignment)).sum()
    together = sum(_num_together(rule, at) for rule in problem.rules if isinstance(rule, AtMost))
    counted = {"nodes over capacity": over, "pinned pods moved": pinned, "pods not apart": together}
    return [f"{number} {what}" for what, number in counted.items() if number]


def _num_together(rule: AtMost, at: Ints) -> int:
    grouped = (rule.group >= 0) & (at >= 0)
    pairs = np.stack((rule.group[grouped], rule.domain[at[grouped]]), axis=1)
    return len(pairs) - len(np.unique(pairs, axis=0))


def _num_half_drained(problem: Problem, after: Ints) -> int:
    return len(set(problem.assignment[problem.moved(after)].tolist()) & set(after.tolist()))
