"""Plans for tiny clusters, through the command line, beside the best of all final states of an exact model.

`python -m tests.planner.tiny_plans --objective drainNodes --worlds 200` plans that many and tells how many plans reach
it; without an objective it does so for each of them. The exact model knows nothing of an order: where a plan is worse,
moves may be in each other's way.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ortools.sat.python import cp_model

from descheduler.cli.main import main
from tests.builders import Object
from tests.planner.choosing import choosing_policy
from tests.planner.tiny_worlds import CAPACITY, PRICE, TinyPod, TinyWorld, make_tiny_world

__all__ = ["OBJECTIVES", "Planned", "best", "fault_of", "planned", "world_of"]

_TARGET = 7
"""CPUs of a node that balancing is to leave in use at most."""

_SOMEWHERE = "somewhere"
"""Of a pod that is pending and has room without a plan."""

_Term = cp_model.LinearExprT


class _Model:
    """Final states: `at` has a variable for each pod and node that it may be on, `moves` is 1 where it is another."""

    def __init__(self, world: TinyWorld) -> None:
        self.world, self.model = world, cp_model.CpModel()
        self.at: dict[tuple[str, str], cp_model.IntVar] = {}
        self.moves: dict[str, _Term] = {}
        for pod in world.pods:
            nodes = [name for name in world.prices if name not in world.old or name == pod.node]
            self.at |= {(pod.name, name): self.model.new_bool_var("") for name in nodes}
            there = sum(self.at[pod.name, name] for name in nodes)
            self.model.add(there == 1 if pod.node else there <= 1)
            self.moves[pod.name] = 1 - self.at[pod.name, pod.node] if pod.node else 0
        for name in world.prices:
            self.model.add(self.load(name) <= CAPACITY)
            for app in world.apart:
                self.model.add(sum(self.at.get((pod.name, name), 0) for pod in world.pods if pod.app == app) <= 1)
        for app, number in world.allowed.items():
            self.model.add(sum(self.moves[pod.name] for pod in world.pods if pod.app == app) <= number)

    def load(self, node: str) -> _Term:
        """CPUs in use."""
        return sum(pod.need * self.at[pod.name, node] for pod in self.world.pods if (pod.name, node) in self.at)

    def arrivals(self, node: str) -> list[cp_model.IntVar]:
        """Variables of pods that come to a node."""
        pods = self.world.pods
        return [self.at[pod.name, node] for pod in pods if pod.node != node and (pod.name, node) in self.at]


def _drained(model: _Model, names: Sequence[str], *, takes: bool) -> _Term:
    """How many of the nodes are left with pods, of which all leave or none; others' pods stay, and where emptied nodes
    could take pods (`takes`), none arrive."""
    emptied = {name: model.model.new_bool_var("") for name in names if model.world.on(name)}
    for pod in model.world.pods:
        model.model.add(model.moves[pod.name] == emptied.get(pod.node, 0))
    for name, variable in emptied.items() if takes else ():
        for arrival in model.arrivals(name):
            model.model.add_bool_or([arrival.negated(), variable.negated()])
    return len(emptied) - sum(emptied.values())


def _state_drains(model: _Model) -> _Term:
    return _drained(model, model.world.old, takes=False)


def _state_consolidation(model: _Model) -> _Term:
    for name in model.world.prices:
        if not model.world.on(name):
            for arrival in model.arrivals(name):
                model.model.add(arrival == 0)
    return _drained(model, list(model.world.prices), takes=True)


def _state_balance(model: _Model) -> _Term:
    over = {name: model.model.new_bool_var("") for name in model.world.prices}
    for name, variable in over.items():
        model.model.add(model.load(name) <= _TARGET).only_enforce_if(variable.negated())
        for arrival in model.arrivals(name):
            model.model.add_bool_or([arrival.negated(), variable.negated()])
    return sum(over.values())


def _state_room(model: _Model) -> _Term:
    waiting = [pod for pod in model.world.pods if not pod.node]
    return len(waiting) - sum(variable for pod in waiting for variable in _places(model, pod))


def _places(model: _Model, pod: TinyPod) -> list[cp_model.IntVar]:
    return [variable for (name, _), variable in model.at.items() if name == pod.name]


def _state_cost(model: _Model) -> _Term:
    need = {pod.name: pod.need for pod in model.world.pods}
    return sum(need[pod] * model.world.prices[node] * variable for (pod, node), variable in model.at.items())


def _num_with_pods(world: TinyWorld, final: Mapping[str, str], names: Sequence[str]) -> int:
    return len(set(final.values()) & set(names))


def _load(world: TinyWorld, final: Mapping[str, str], node: str) -> int:
    return sum(pod.need for pod in world.pods if final.get(pod.name) == node)


@dataclass(frozen=True)
class _TinyObjective:
    """What a policy says, the figure of the exact model and that of a final state (pod → node)."""

    args: Object
    state: Callable[[_Model], _Term]
    figure: Callable[[TinyWorld, Mapping[str, str]], int]
    has_old: bool = False
    has_pending: bool = False
    says_figure: bool = True
    """Whether reports have the same figure."""


OBJECTIVES: Mapping[str, _TinyObjective] = {
    "balanceUtilization": _TinyObjective(
        {"targetThresholds": {"cpu": 100 * _TARGET // CAPACITY}},
        _state_balance,
        lambda world, final: sum(_load(world, final, name) > _TARGET for name in world.prices),
    ),
    "consolidateNodes": _TinyObjective(
        {}, _state_consolidation, lambda world, final: _num_with_pods(world, final, list(world.prices))
    ),
    "drainNodes": _TinyObjective(
        {"nodeSelector": {"matchLabels": {"pool": "old"}}, "maxUnavailable": 2},
        _state_drains,
        lambda world, final: _num_with_pods(world, final, world.old),
        has_old=True,
    ),
    "makeRoom": _TinyObjective(
        {},
        _state_room,
        lambda world, final: sum(pod.name not in final for pod in world.pods),
        has_pending=True,
    ),
    "reduceCost": _TinyObjective(
        {"nodeCost": {"label": PRICE}},
        _state_cost,
        lambda world, final: sum(pod.need * world.prices[final[pod.name]] for pod in world.pods),
        says_figure=False,
    ),
}


@dataclass(frozen=True, order=True)
class _Reached:
    """The figure of a final state, and with how many evictions it is reached."""

    figure: int
    num_evictions: int


@dataclass(frozen=True)
class Planned:
    """What a plan says of itself, and where pods are then (pod → node; none of them is pending)."""

    goal: Mapping[str, Any]
    final: Mapping[str, str]
    reached: _Reached


def world_of(key: str, seed: int) -> TinyWorld:
    """One for that objective."""
    objective = OBJECTIVES[key]
    return make_tiny_world(seed, has_old=objective.has_old, has_pending=objective.has_pending)


def planned(key: str, world: TinyWorld, *, chooses: bool = True) -> Planned:
    """What the command line plans for the objective, with nodes that the plan `chooses`, or the scheduler."""
    policy = choosing_policy({key: OBJECTIVES[key].args}, chooses=chooses)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        dump, file = Path(folder, "cluster.jsonl"), Path(folder, "policy.json")
        dump.write_text("".join(json.dumps(found) + "\n" for found in world.objects()))
        file.write_text(json.dumps(policy))
        command = ["run", "--dry-run", "--policy-config-file", str(file), "--snapshot", str(dump), "-o", "json"]
        assert main(command) == 0
    document = json.loads(out.getvalue())
    (objective,) = document["goal"]["objectives"]
    places = {found["pod"]["name"]: found["to"] for found in objective["pendingPods"]}
    final = {pod.name: pod.node or places.get(pod.name, _SOMEWHERE) for pod in world.pods}
    final = {name: node for name, node in final.items() if node}
    final |= {move["pod"]["name"]: move["to"] for move in document["moves"]}
    reached = _Reached(OBJECTIVES[key].figure(world, final), len(document["moves"]))
    return Planned({**document["goal"], **objective, "status": document["goal"]["status"]}, final, reached)


def best(key: str, world: TinyWorld) -> _Reached:
    """The best of all final states, whatever the scheduler prefers."""
    model = _Model(world)
    evictions = cp_model.LinearExpr.sum(list(model.moves.values()))
    figure = OBJECTIVES[key].state(model)
    model.model.minimize(cp_model.LinearExpr.weighted_sum([figure, evictions], [len(world.pods) + 1, 1]))
    solver = cp_model.CpSolver()
    assert solver.solve(model.model) == cp_model.OPTIMAL
    return _Reached(*divmod(round(solver.objective_value), len(world.pods) + 1))


def fault_of(key: str, world: TinyWorld, plan: Planned) -> str:
    """What is wrong with a plan and what it says of itself; "" where nothing is."""
    return next(_faults(key, world, plan), "")


def _faults(key: str, world: TinyWorld, plan: Planned) -> Iterator[str]:
    optimum, moved = best(key, world), [pod for pod in world.pods if pod.node and plan.final[pod.name] != pod.node]
    for node in world.prices:
        if (load := _load(world, plan.final, node)) > CAPACITY:
            yield f"{node} holds {load} of {CAPACITY}"
        apps = Counter(pod.app for pod in world.pods if plan.final.get(pod.name) == node)
        if shared := [app for app in world.apart if apps[app] > 1]:
            yield f"{node} has pods of {shared} together"
    for app, number in world.allowed.items():
        if sum(pod.app == app for pod in moved) > number:
            yield f"more than {number} pods of {app} are evicted"
    if plan.reached < optimum:
        yield f"better than any final state: {plan.reached}, {optimum}"
    (level,) = plan.goal["levels"]
    if OBJECTIVES[key].says_figure and (level["after"] != plan.reached.figure or level["bound"] > optimum.figure):
        yield f"says {level}: it is {plan.reached}, and {optimum} is possible"
    if plan.goal["status"] == "optimal" and plan.reached > optimum:
        yield f"{plan.reached} is said to be optimal, and {optimum} is possible"
    bound = plan.goal["bound"]
    if bound is not None and plan.reached.figure == optimum.figure and bound > optimum.num_evictions:
        yield f"says that {bound} evictions are needed, and {optimum.num_evictions} are enough"


def _compare(key: str, num_worlds: int, *, chooses: bool) -> int:
    """Prints how many plans are equal to the best; the number of those that have a fault."""
    counts, num_faults = Counter[str](), 0
    for seed in range(num_worlds):
        world = world_of(key, seed)
        plan, optimum = planned(key, world, chooses=chooses), best(key, world)
        if fault := fault_of(key, world, plan):
            num_faults += 1
            print(f"{key}, world {seed}: {fault}", flush=True)
        elif plan.reached > optimum:
            print(f"{key}, world {seed}: {plan.reached}, {optimum} is possible", flush=True)
        counts[f"{'equal' if plan.reached == optimum else 'worse'}, {plan.goal['status']}"] += 1
    print(f"{key}: {', '.join(f'{number} {what}' for what, number in sorted(counts.items()))}", flush=True)
    return num_faults


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objective", choices=sorted(OBJECTIVES))
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--scheduler-chooses", action="store_true", help="the nodes of replacements, not the plan")
    options = parser.parse_args()
    keys = [options.objective] if options.objective else sorted(OBJECTIVES)
    return 1 if sum(_compare(key, options.worlds, chooses=not options.scheduler_chooses) for key in keys) else 0


if __name__ == "__main__":
    raise SystemExit(_main())
