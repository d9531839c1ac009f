"""Small instances of the machine reassignment challenge, and their cost by the challenge's own sums."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer import AtMost, MinDomains, Together, make_problem
from descheduler.optimizer.arrays import Ints
from tests.bench.roadef.files import Instance
from tests.bench.roadef.reassign import Proportion, Reassign


def random_instance(seed: int, *, pods: int = 24, nodes: int = 5) -> Instance:
    """Two resources, one of them transient, some services with a spread and a dependency, one balance cost."""
    rng = np.random.default_rng(seed)
    need = rng.integers(1, 20, (pods, 2))
    assignment = np.arange(pods) % nodes
    used = np.zeros((nodes, 2), np.int64)
    np.add.at(used, assignment, need)
    service = np.arange(pods) // 3
    spread = np.ones(service.max() + 1, np.int64)
    spread[0] = 2
    problem = make_problem(
        need,
        used + rng.integers(10, 40, (nodes, 2)),
        assignment,
        cost=rng.integers(0, 5, pods),
        both_ends=[True, False],
        rules=[
            AtMost(service, np.arange(nodes), np.ones(len(spread), np.int64)),
            MinDomains(service, np.arange(nodes) // 2, spread),
            Together(service, np.zeros(nodes, np.int64), np.array([[0, 1]])),
        ],
    )
    objective = Reassign(
        safety=used + rng.integers(-40, 40, (nodes, 2)),
        weight=np.array([30, 10]),
        proportions=(Proportion(per=0, wanted=1, target=2, weight=50),),
        between=rng.integers(0, 3, (nodes, nodes)) * (1 - np.eye(nodes, dtype=np.int64)),
        group=service,
        group_weight=2,
    )
    return Instance(problem, objective)


def cost_of(instance: Instance, assignment: Ints) -> int:
    """The cost, machine by machine and process by process, as the challenge's document defines it."""
    problem, costs = instance.problem, instance.objective
    total = 0
    for node in range(problem.num_nodes):
        load = problem.need[assignment == node].sum(axis=0)
        free = problem.capacity[node] - load
        for resource, weight in enumerate(costs.weight.tolist()):
            total += weight * max(0, int(load[resource] - costs.safety[node, resource]))
        for part in costs.proportions:
            total += part.weight * max(0, part.target * int(free[part.per]) - int(free[part.wanted]))
    moved_of: dict[int, int] = {}
    for pod, (old, new) in enumerate(zip(problem.assignment.tolist(), assignment.tolist(), strict=True)):
        if old != new:
            total += int(problem.cost[pod]) + int(costs.between[old, new])
            moved_of[int(costs.group[pod])] = moved_of.get(int(costs.group[pod]), 0) + 1
    return total + costs.group_weight * max(moved_of.values(), default=0)
