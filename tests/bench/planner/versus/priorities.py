"""Small full clusters with four priorities: how often moves place more of the important pods, in 1 s and in 10 s."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from descheduler.optimizer import Limits, MakeRoom, Solution, solve
from descheduler.optimizer.arrays import PENDING
from tests.bench.planner.outcomes import limit_text
from tests.bench.planner.versus.comparison import Comparison, Options
from tests.worlds.priorities import NUM_PRIORITIES, PriorityWorld, make_priority_world

_SIZES = (4, 8, 16, 32)
_PODS_A_NODE = (4, 8)
_USAGES = (0.95, 1.0)
_SECONDS = (1.0, 10.0)
_PAPER = "more important pods placed in 44 % of the failing cases in 1 s and in 73 % in 10 s, 4 to 32 nodes"


def _lines(options: Options) -> Iterator[str]:
    for preempts, nodes in product((True, False), _SIZES):
        worlds = [world for world in _worlds(nodes, preempts, options.num_seeds) if _num_pending(world)]
        kind = f"{nodes} nodes, {'preemption' if preempts else 'no preemption'}"
        for limits in [Limits(amount) for amount in _SECONDS] if options.limits is None else [options.limits]:
            plans = [_plan(world, limits, options.num_workers) for world in worlds]
            yield f"{kind}, {limit_text(limits)}: {_figures(worlds, plans)}"
    yield f"the paper: {_PAPER}"


def _worlds(nodes: int, preempts: bool, num_seeds: int) -> list[PriorityWorld]:
    return [
        make_priority_world(nodes=nodes, pods_a_node=pods, usage=usage, seed=seed, preempts=preempts)
        for pods in _PODS_A_NODE
        for usage in _USAGES
        for seed in range(num_seeds)
    ]


def _num_pending(world: PriorityWorld) -> int:
    return int((world.problem.assignment == PENDING).sum())


def _plan(world: PriorityWorld, limits: Limits, num_workers: int) -> Solution:
    return solve(world.problem, MakeRoom(weight=world.weight), limits, num_workers=num_workers)


def _figures(worlds: Sequence[PriorityWorld], plans: Sequence[Solution]) -> str:
    """Cases in which pods wait: how many become better, the highest priority first, and what became of the pods."""
    better = optimal = moved = 0
    pending, placed = np.zeros(2, np.int64), np.zeros(2, np.int64)
    for world, plan in zip(worlds, plans, strict=True):
        before, after = world.placed(world.problem.assignment), world.placed(plan.assignment)
        better += after > before
        optimal += plan.is_optimal
        moved += len(world.problem.moved(plan.assignment))
        waits = np.bincount(world.priority[world.problem.assignment == PENDING], minlength=NUM_PRIORITIES)
        pending += waits.reshape(2, -1).sum(axis=1)[::-1]
        placed += (np.array(after) - before).reshape(2, -1).sum(axis=1)
    return (
        f"{better} of {len(worlds)} cases better ({better / (len(worlds) or 1):.0%}), {optimal} proven optimal; "
        f"{placed[0]} of {pending[0]} pending pods of the two high priorities placed, "
        f"{placed[1]} of {pending[1]} of the two low ones, {moved} pods moved"
    )


PRIORITIES = Comparison(
    "priorities", "CP-SAT as a fallback of kube-scheduler (arXiv 2511.08373) as published", "", _lines
)
