"""Room for pending pods in a nearly full cluster, against a greedy that evicts up to four pods for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.planner import Limits, MakeRoom, Problem, solve
from descheduler.planner.objectives.make_room.greedy import make_room_for
from descheduler.planner.placement import Placement
from tests.worlds.arrays import make_full_world

__all__ = ["report"]


def report(*, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int) -> None:
    """Prints one line a snapshot and the sums."""
    totals = np.zeros(4, np.int64)
    for seed in seeds:
        problem = make_full_world(nodes=nodes, seed=seed)
        landed, moves = land_greedily(problem)
        plan = solve(problem, MakeRoom(), limits, seed=seed, num_workers=num_workers)
        ours = plan.value_before[0] - plan.value[0]
        print(
            f"{nodes} {seed}: {ours} of {plan.value_before[0]} pending pods placed with {plan.value[1]} evictions "
            f"(at most {plan.value_before[0] - plan.bound[0]} fit), greedy {landed} with {moves}; "
            f"{plan.seconds:.1f} s, {len(plan.waves)} waves, {plan.num_bounces} bounces",
            flush=True,
        )
        totals += (ours, plan.value[1], landed, moves)
    ours, evictions, landed, moves = totals.tolist()
    print(f"{nodes}: placed {ours} with {evictions} evictions, greedy {landed} with {moves}")


def land_greedily(problem: Problem) -> tuple[int, int]:
    """(pods placed, pods moved): each pending pod to where it fits, or where moving up to four pods makes room."""
    placement = Placement(problem)
    landed = sum(make_room_for(placement, pod) for pod in np.flatnonzero(problem.assignment < 0).tolist())
    return landed, len(problem.moved(placement.at))
