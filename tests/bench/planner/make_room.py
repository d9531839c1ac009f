"""Room for pending pods in a nearly full cluster, against a greedy that evicts up to four pods for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.planner import Limits, MakeRoom, Problem, solve
from descheduler.planner.arrays import Ints
from descheduler.planner.placement import Placement
from tests.worlds.arrays import make_full_world

__all__ = ["report"]

_MOVES_A_POD = 4


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
    """(pods placed, moves): each pod to where it fits, or where moving the fewest of up to four makes room."""
    placement = Placement(problem)
    moves = landed = 0
    for pod in np.flatnonzero(problem.assignment < 0).tolist():
        spent = _make_room_for(placement, pod)
        landed += spent >= 0
        moves += max(spent, 0)
    return landed, moves


def _make_room_for(placement: Placement, pod: int) -> int:
    """How many pods were moved to place the pod; -1: four do not suffice anywhere."""
    lack = np.maximum(placement.need[:, [pod]] - placement.free, 0) / placement.problem.capacity.T
    nodes = np.argsort(lack.sum(axis=0), kind="stable")
    for limit in range(_MOVES_A_POD + 1):
        for node in nodes.tolist():
            spent = _try_node(placement, pod, node, limit)
            if spent >= 0:
                return spent
    return -1


def _try_node(placement: Placement, pod: int, node: int, limit: int) -> int:
    """Moves up to `limit` pods off the node, each the smallest that suffices, else the largest; -1: in vain, undone."""
    done: list[int] = []
    while (placement.need[:, pod] > placement.free[:, node]).any() and len(done) < limit:
        victim = _victim(placement, pod, node)
        targets = _targets(placement, victim, node) if victim >= 0 else []
        if not targets:
            break
        placement.move(victim, targets[0])
        done.append(victim)
    if placement.open_moves(np.array([pod]), np.array([node]))[0, 0]:
        placement.move(pod, node)
        return len(done)
    for victim in reversed(done):
        placement.move(victim, node)
    return -1


def _victim(placement: Placement, pod: int, node: int) -> int:
    pods = placement.evictable_on(node)
    pods = pods[placement.origins[pods] == node]
    short = placement.need[:, pod] - placement.free[:, node]
    size = placement.need[:, pods] / placement.problem.capacity[node][:, None]
    enough = (placement.need[:, pods] >= short[:, None]).all(axis=0)
    if enough.any():
        return int(pods[enough][np.argmin(size[:, enough].sum(axis=0))])
    return int(pods[np.argmax(size.sum(axis=0))]) if len(pods) else -1


def _targets(placement: Placement, victim: int, node: int) -> list[int]:
    nodes: Ints = np.delete(np.arange(placement.problem.num_nodes), node)
    nodes = nodes[placement.open_moves(np.array([victim]), nodes)[0]]
    return [int(other) for other in nodes[np.argsort(placement.free[:, nodes].sum(axis=0), kind="stable")]]
