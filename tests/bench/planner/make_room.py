"""Room for pending pods in a nearly full cluster, against the best of greedy orders with up to four moves a pod."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from descheduler.optimizer import Limits, MakeRoom, Problem, solve
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.objectives.make_room.greedy import make_room_for
from tests.worlds.arrays import make_crowded_world, make_full_world, make_stranded_world

_WORLDS: dict[str, Callable[[int, int], Problem]] = {
    "few pending": lambda nodes, seed: make_full_world(nodes=nodes, seed=seed),
    "many pending": lambda nodes, seed: make_crowded_world(nodes=nodes, seed=seed),
    "stranded, few pending": lambda nodes, seed: make_stranded_world(nodes=nodes, seed=seed, pending_ratio=0.3),
    "stranded, many pending": lambda nodes, seed: make_stranded_world(nodes=nodes, seed=seed, pending_ratio=0.6),
}


def report(*, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int) -> None:
    """Prints one line a snapshot and the sums, for clusters with few and with many pending pods."""
    for name, make_world in _WORLDS.items():
        totals = np.zeros(5, np.int64)
        for seed in seeds:
            problem = make_world(nodes, seed)
            landed, moves = land_greedily(problem)
            plan = solve(problem, MakeRoom(), limits, seed=seed, num_workers=num_workers)
            pending = plan.value_before[0]
            ours = pending - plan.value[0]
            print(
                f"{nodes} {name} {seed}: {ours} of {pending} pending pods placed with {plan.value[1]} evictions "
                f"(at most {pending - plan.bound[0]} fit, by at least {plan.bound[1]}), greedy {landed} with {moves}; "
                f"{plan.seconds:.1f} s, {len(plan.waves)} waves",
                flush=True,
            )
            totals += (pending, ours, plan.value[1], landed, moves)
        print(f"{nodes} {name}: {_sums(*totals.tolist())}", flush=True)


def _sums(pending: int, ours: int, evictions: int, landed: int, moves: int) -> str:
    return (
        f"of {pending} pods placed {ours} with {evictions} evictions, greedy {landed} with {moves}: "
        f"{ours / max(landed, 1):.3f} of its pods, {evictions / max(moves, 1):.3f} of its evictions"
    )


def land_greedily(problem: Problem) -> tuple[int, int]:
    """(pods placed, pods moved) of the best order of the pods: as they come, the smallest first, the largest first.

    Each pod goes to where it fits, or to where moving the fewest pods, four at most, makes room.
    """
    pods = np.flatnonzero(problem.assignment < 0)
    size = (problem.need[pods] / problem.capacity.mean(axis=0)).max(axis=1)
    ascending = pods[np.argsort(size, kind="stable")]
    return max((_land(problem, order) for order in (pods, ascending, ascending[::-1])), key=lambda it: (it[0], -it[1]))


def _land(problem: Problem, order: Ints) -> tuple[int, int]:
    placement = Arrangement(problem)
    landed = sum(make_room_for(placement, pod) for pod in order.tolist())
    return landed, len(problem.moved(placement.at))
