"""rebalancer on the planner's own worlds: balance and consolidation, the same snapshots, seconds and cores."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from descheduler.optimizer import BalanceUtilization, ConsolidateNodes, Problem, solve
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.objective import Objective
from descheduler.optimizer.order.ordering import order_moves
from descheduler.optimizer.rules import AtMost
from tests.bench.planner.balance import MEAN_RATIOS
from tests.bench.planner.consolidate import MEAN_RATIO
from tests.bench.planner.versus import rebalancer_program as rival
from tests.bench.planner.versus.comparison import Comparison, Options
from tests.worlds.arrays import ArrayWorld, make_balance_world, make_consolidation_world

_SECONDS = 10.0
_NODES = 100


def cache_folder() -> Path:
    """Where programs of others are kept: `$XDG_CACHE_HOME/descheduler-bench`, or below `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "descheduler-bench"


def _lines(options: Options) -> Iterator[str]:
    python = rival.environment(cache_folder())
    limits = options.limits_or(_SECONDS)
    seconds = limits.seconds or limits.work or _SECONDS
    for seed in range(options.num_seeds):
        for name, ratio in MEAN_RATIOS.items():
            world = make_balance_world(nodes=_NODES, seed=seed, mean_ratio=ratio)
            calls = [*rival.calls_of(world.problem), *rival.balance_goals(world.ceiling, seconds)]
            yield from _both(
                f"balance, {name}, seed {seed}", world, BalanceUtilization(world.ceiling), calls, options, python
            )
        world = make_consolidation_world(nodes=_NODES, seed=seed, mean_ratio=MEAN_RATIO)
        calls = [*rival.calls_of(world.problem, world.ceiling), *rival.consolidation_goals(seconds)]
        yield from _both(f"consolidation, seed {seed}", world, ConsolidateNodes(world.ceiling), calls, options, python)


def _both(
    name: str, world: ArrayWorld, objective: Objective, calls: list[rival.Call], options: Options, python: Path
) -> Iterator[str]:
    cpu = time.process_time()
    plan = solve(world.problem, objective, options.limits_or(_SECONDS), num_workers=options.num_workers)
    spent = time.process_time() - cpu
    yield f"{name}: planner: {figures(world, plan.assignment)}; {plan.seconds:.1f} s, {spent:.1f} s CPU of this process"
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        answer = rival.run(python, calls, world.problem, cores=options.num_workers, folder=Path(folder))
    seconds = time.monotonic() - started
    yield (
        f"{name}: rebalancer: {figures(world, answer.assignment)}; {seconds:.1f} s with its start, "
        f"{answer.cpu_seconds:.1f} s CPU"
    )


def figures(world: ArrayWorld, assignment: Ints) -> str:
    """What a plan does to the world, counted from where its pods are; nothing is taken from the plan's own words."""
    problem = world.problem
    usage = problem.usage(assignment)
    moved = problem.moved(assignment)
    before = set(problem.assignment.tolist())
    emptied = before - set(assignment.tolist())
    left = set(problem.assignment[moved].tolist()) - emptied
    blocked = order_moves(problem, assignment).blocked
    return (
        f"{len(moved)} pods moved, {int((usage > world.ceiling).any(axis=1).sum())} nodes over their target, "
        f"{len(emptied)} nodes emptied, {len(left)} others lost pods, {len(blocked)} moves that no order allows, "
        f"{num_broken(problem, assignment)} rules or capacities broken"
    )


def num_broken(problem: Problem, assignment: Ints) -> int:
    """Nodes that are fuller than they are large and than before, and domains with more of a group than allowed."""
    usage, before = problem.usage(assignment), problem.usage(problem.assignment)
    broken = int(((usage > problem.capacity) & (usage > before)).any(axis=1).sum())
    for rule in problem.rules:
        if isinstance(rule, AtMost):
            pods = np.flatnonzero(rule.group >= 0)
            counts = np.zeros((len(rule.limit), int(rule.domain.max()) + 1), np.int64)
            np.add.at(counts, (rule.group[pods], rule.domain[assignment[pods]]), 1)
            broken += int((counts > rule.limit[:, None]).sum())
    return broken


REBALANCER = Comparison("rebalancer", f"rebalancer {rival.VERSION}", "Python 3.12 or later and PyPI", _lines)
