"""Consolidation: nodes emptied whole, against the best of four greedy orders and the volume bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.optimizer import ConsolidateNodes, Limits, Solution, solve
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.objectives.consolidate_nodes.greedy import ORDERS, drain_greedily
from tests.bench.planner.scheduling import evict_one_by_one
from tests.worlds.arrays import ArrayWorld, make_consolidation_world

MEAN_RATIO = 0.45


def report(*, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int) -> None:
    """Prints one line a snapshot and the sums."""
    totals = np.zeros(3, np.int64)
    for seed in seeds:
        world = make_consolidation_world(nodes=nodes, seed=seed, mean_ratio=MEAN_RATIO)
        greedy = max(emptied_by_greedy(world, world.ceiling))
        plan = solve(world.problem, ConsolidateNodes(world.ceiling), limits, seed=seed, num_workers=num_workers)
        emptied, most = plan.value_before[0] - plan.value[0], plan.value_before[0] - plan.bound[0]
        print(
            f"{nodes} {seed}: {emptied} nodes emptied (greedy {greedy}, at most {most}), {plan.value[1]} evictions, "
            f"{_half_drained(world, plan.assignment)} nodes half drained; {_scheduled(world, plan)}; "
            f"first plan {plan.first_seconds:.1f} s of {plan.seconds:.1f} s, {len(plan.waves)} waves",
            flush=True,
        )
        totals += (emptied, greedy, most)
    ours, greedy, most = totals.tolist()
    closed = (ours - greedy) / max(most - greedy, 1)
    print(f"{nodes}: {ours / max(greedy, 1):.3f} of the best greedy order, {closed:.0%} of its gap to the bound closed")


def emptied_by_greedy(world: ArrayWorld, ceiling: Ints) -> list[int]:
    """Nodes emptied by each of the greedy orders, which choose targets within `ceiling` (int64[N, R])."""
    problem = world.problem
    none = np.zeros(problem.num_nodes, bool)
    drains = Drains(problem, ceiling, protected=none, receives=none)
    found = []
    for order in ORDERS:
        placement = Arrangement(problem)
        drain_greedily(drains, placement, order, np.ones(problem.num_nodes, np.int64), budget=Budget(Limits(work=1e9)))
        found.append(int(drains.is_emptied(placement).sum()))
    return found


def _scheduled(world: ArrayWorld, plan: Solution) -> str:
    """What becomes of the same evictions where the scheduler is not told the targets."""
    pods = list(dict.fromkeys(move.pod for move in plan.moves))
    at = evict_one_by_one(world.problem, pods, most_allocated=True)
    emptied = len(set(world.problem.assignment.tolist()) - set(at.tolist()))
    return f"{emptied} and {int((at < 0).sum())} pods pending where the scheduler chooses"


def _half_drained(world: ArrayWorld, assignment: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    """Nodes that lost pods and are not empty."""
    lost = set(world.problem.assignment[world.problem.moved(assignment)].tolist())
    return len(lost & set(assignment.tolist()))
