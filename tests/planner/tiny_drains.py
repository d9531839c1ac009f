"""Tiny clusters with nodes to be drained, and the most of them that any final state has without pods.

`python -m tests.planner.tiny_drains --worlds 200` plans that many and tells how many plans reach it.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from descheduler.cycle.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.disruption_budget import DisruptionBudget
from descheduler.model.node import Node
from descheduler.model.objects import Workload
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_budget, make_node, make_pod, make_snapshot
from tests.planner.choosing import choosing_policy
from tests.planner.runs import goal_of

__all__ = ["Reached", "TinyDrain", "fault_of", "planned", "tiny_drain"]

_OLD = {"pool": "old"}
_SIZES = (1, 1, 2, 2, 3, 4)
_CAPACITY, _MOST_PODS = 10, 25


@dataclass(frozen=True)
class TinyDrain:
    """Nodes of which `old` are to be drained, and pods of `need` whole CPUs, of an app `allowed` may leave at most."""

    nodes: Sequence[Node]
    pods: Sequence[Pod]
    need: Mapping[str, int]
    old: Sequence[str]
    allowed: Mapping[str, int]

    @property
    def budgets(self) -> Sequence[DisruptionBudget]:
        """One for each app that has any."""
        return [make_budget(app, {"app": app}, disruptions_allowed=number) for app, number in self.allowed.items()]

    def on(self, node: str) -> list[Pod]:
        """The pods of a node."""
        return [pod for pod in self.pods if pod.node_name == node]


@dataclass(frozen=True, order=True)
class Reached:
    """How many nodes with pods are left, and with how many evictions that is reached."""

    num_left: int
    num_evictions: int


def tiny_drain(seed: int) -> TinyDrain:
    """4 to 8 nodes, half of them cordoned and to be drained, and up to 25 pods, some under budgets."""
    rng = random.Random(f"tiny drain {seed}")
    names = [f"n{number}" for number in range(rng.randint(4, 8))]
    old = names[: len(names) // 2]
    nodes = [
        make_node(name, cpu=str(_CAPACITY), **({"labels": _OLD, "unschedulable": True} if name in old else {}))
        for name in names
    ]
    free, need, pods = dict.fromkeys(names, _CAPACITY), dict[str, int](), list[Pod]()
    for number in range(rng.randint(8, _MOST_PODS)):
        size, node, app = rng.choice(_SIZES), rng.choice(names), rng.choice("abcde")
        if size <= free[node]:
            free[node] -= size
            name = f"{app}{number}"
            need[name] = size
            pods.append(make_pod(name, cpu=str(size), node=node, labels={"app": app}))
    allowed = {app: rng.randint(0, 3) for app in "abcde" if rng.random() < 0.4}
    return TinyDrain(nodes, pods, need, old, allowed)


def planned(world: TinyDrain, *, chooses: bool = False) -> Decisions:
    """What MigrationPlanner decides in waves, with nodes that the scheduler chooses, or the plan if it `chooses`."""
    drain = {"drainNodes": {"nodeSelector": {"matchLabels": _OLD}, "maxUnavailable": 2}}
    policy = load_policy(choosing_policy(drain, chooses=chooses), REGISTRY)
    owned = Counter((pod.controller.uid, pod.controller.name) for pod in world.pods if pod.controller is not None)
    workloads = {uid: Workload("ReplicaSet", "default", name, uid, number) for (uid, name), number in owned.items()}
    return decide(policy, make_snapshot(world.nodes, world.pods, budgets=world.budgets, workloads=workloads), now=NOW)


def best(world: TinyDrain, *, others_stay: bool = True) -> Reached:
    """The best of all final states, whatever the scheduler prefers; pods of other nodes may move unless they stay."""
    model, moves = cp_model.CpModel(), dict[tuple[str, str], cp_model.IntVar]()
    staying = [node.name for node in world.nodes if node.name not in world.old]
    for pod in world.pods:
        moves |= {(pod.name, name): model.new_bool_var("") for name in staying if name != pod.node_name}
    leaves = {pod.name: sum(moves.get((pod.name, name), 0) for name in staying) for pod in world.pods}
    drained = {name: model.new_bool_var("") for name in world.old if world.on(name)}
    for pod in world.pods:
        if pod.node_name in drained or others_stay:
            model.add(leaves[pod.name] == drained.get(pod.node_name, 0))
        model.add(leaves[pod.name] <= 1)
    for name in staying:
        there = sum(world.need[pod.name] * (1 - leaves[pod.name]) for pod in world.on(name))
        come = sum(world.need[pod.name] * moves.get((pod.name, name), 0) for pod in world.pods)
        model.add(there + come <= _CAPACITY)
    for app, number in world.allowed.items():
        model.add(sum(leaves[pod.name] for pod in world.pods if pod.labels["app"] == app) <= number)
    num_left = len(drained) - sum(drained.values())
    model.minimize((len(world.pods) + 1) * num_left + sum(leaves.values()))
    solver = cp_model.CpSolver()
    assert solver.solve(model) == cp_model.OPTIMAL
    return Reached(*divmod(round(solver.objective_value), len(world.pods) + 1))


def reached(world: TinyDrain, decisions: Decisions) -> Reached:
    """What the moves of a plan lead to."""
    gone = {move.pod.name for move in decisions.leaving}
    left = [name for name in world.old if any(pod.name not in gone for pod in world.on(name))]
    return Reached(len(left), len(gone))


def fault_of(world: TinyDrain, decisions: Decisions) -> str:
    """What is wrong with a plan and what it says of itself; "" where nothing is."""
    return next(_faults(world, decisions), "")


def _faults(world: TinyDrain, decisions: Decisions) -> Iterator[str]:
    optimum, plan, goal = best(world), reached(world, decisions), goal_of(decisions)
    gone = {move.pod.name for move in decisions.leaving}
    for name in world.old:
        if 0 < sum(pod.name in gone for pod in world.on(name)) < len(world.on(name)):
            yield f"{name} is drained in part"
    taken = Counter[str]()
    for move in decisions.leaving:
        taken[move.to_node or ""] += world.need[move.pod.name]
    for node in world.nodes:
        staying = [pod for pod in world.on(node.name) if pod.name not in gone]
        there = sum(world.need[pod.name] for pod in staying) + taken[node.name]
        if taken[node.name] and (node.name in world.old or there > _CAPACITY):
            yield f"{node.name} is taken by replacements: {there} of {_CAPACITY}"
    if plan < best(world, others_stay=False):
        yield f"better than any final state: {plan}"
    (level,) = goal.levels
    if level.after != plan.num_left or level.bound > optimum.num_left:
        yield f"says {level}, and {optimum} is possible"
    if goal.status == "optimal" and plan > optimum:
        yield f"{plan} is said to be optimal, and {optimum} is possible"
    if goal.bound is not None and plan.num_left == optimum.num_left and goal.bound > optimum.num_evictions:
        yield f"says that {goal.bound} evictions are needed, and {optimum.num_evictions} are enough"


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--chooses", action="store_true", help="the plan chooses the nodes, not the scheduler")
    options = parser.parse_args()
    counts, num_faults = Counter[str](), 0
    for seed in range(options.worlds):
        world = tiny_drain(seed)
        decisions = planned(world, chooses=options.chooses)
        if fault := fault_of(world, decisions):
            num_faults += 1
            print(f"world {seed}: {fault}")
        plan, optimum = reached(world, decisions), best(world)
        compared = "equal" if plan == optimum else "worse" if plan > optimum else "better, by moves of other pods"
        counts[f"{compared}, {goal_of(decisions).status}"] += 1
    print(", ".join(f"{number} {what}" for what, number in sorted(counts.items())))
    return 1 if num_faults else 0


if __name__ == "__main__":
    raise SystemExit(_main())
