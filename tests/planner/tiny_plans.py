"""Plans for tiny clusters, through the command line, beside the best of all final states of an exact model.

`python -m tests.planner.tiny_plans --objective drainNodes --worlds 200` plans that many and tells how many plans reach
it; without an objective it does so for each of them. Where a plan is worse, it tells why: no order of moves leads to
the best final state, a limit of the objective, or a deficit of the planner.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ortools.sat.python import cp_model

from descheduler.cli.main import main
from tests.planner.choosing import choosing_policy
from tests.planner.tiny_objectives import OBJECTIVES, load
from tests.planner.tiny_states import FinalStates, Term
from tests.planner.tiny_worlds import CAPACITY, NUM_GPUS, TinyWorld, make_tiny_world

_NUM_WORKERS = 8
"""Of the exact model: each searches in a way of its own, and together they prove more, on any number of cores."""
DEFICIT = "a better plan is possible"
_PLACED = re.compile(r"default/(\S+) onto (\S+?)[,)]")
"""Where pods can be scheduled, in the sentence of a goal."""


@dataclass(frozen=True, order=True)
class Reached:
    """The figure of a final state, and with how many evictions it is reached."""

    figure: int
    num_evictions: int


@dataclass(frozen=True)
class Planned:
    """What a plan says of itself, and where pods are then (pod → node; none of them is pending).

    In `world` the pending pods are on their nodes that the scheduler places without the plan.
    """

    goal: Mapping[str, Any]
    world: TinyWorld
    final: Mapping[str, str]
    reached: Reached


def world_of(case: str, seed: int) -> TinyWorld:
    """One for that case of an objective."""
    return make_tiny_world(seed, OBJECTIVES[case].traits)


def planned(case: str, world: TinyWorld, *, chooses: bool = True, work: int = 1) -> Planned:
    """What the command line plans for the case, with nodes that the plan `chooses`, or the scheduler.

    `work` is the limit of the search.
    """
    objective = OBJECTIVES[case]
    policy = choosing_policy({objective.key: objective.args}, chooses=chooses, workLimit=work, **objective.planner)
    (profile,) = policy["profiles"]
    profile["pluginConfig"] += [{"name": name, "args": args} for name, args in objective.strategies.items()]
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        dump, file = Path(folder, "cluster.jsonl"), Path(folder, "policy.json")
        dump.write_text("".join(json.dumps(found) + "\n" for found in world.objects()))
        file.write_text(json.dumps(policy))
        command = ["run", "--dry-run", "--policy-config-file", str(file), "--snapshot", str(dump), "-o", "json"]
        assert main(command) == 0
    document = json.loads(out.getvalue())
    (goal,) = document["goal"]["objectives"]
    places = {found["pod"]["name"]: found["to"] for found in goal["pendingPods"]}
    scheduled = {name: node for name, node in _PLACED.findall(goal["sentence"]) if name not in places}
    world = world.with_scheduled(scheduled)
    final = {pod.name: pod.node or places.get(pod.name, "") for pod in world.pods}
    final = {name: node for name, node in final.items() if node}
    final |= {move["pod"]["name"]: move["to"] for move in document["moves"]}
    reached = Reached(objective.figure(world, final), len(document["moves"]))
    return Planned({**document["goal"], **goal, "status": document["goal"]["status"]}, world, final, reached)


def best(case: str, world: TinyWorld) -> Reached:
    """The best of all final states, whatever the scheduler prefers."""
    return _least(OBJECTIVES[case].state, world)


def _least(state: Callable[[FinalStates], Term], world: TinyWorld, *, in_order: int = 0) -> Reached:
    """The best by `state`; with `in_order` to which moves lead that leave nodes with that many CPUs in use at most.

    The figure first, then the evictions: both together take ten times as long.
    """
    states = FinalStates(world)
    evictions, figure = cp_model.LinearExpr.sum(list(states.moves.values())), state(states)
    if in_order:
        states.in_order(in_order)
    least = _minimum(states.model, figure)
    states.model.add(figure == least)
    return Reached(least, _minimum(states.model, evictions))


def _minimum(model: cp_model.CpModel, term: Term) -> int:
    model.minimize(term)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = _NUM_WORKERS
    assert solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value)


def fault_of(case: str, plan: Planned) -> str:
    """What is wrong with a plan and what it says of itself; "" where nothing is."""
    return next(_faults(case, plan), "")


def _faults(case: str, plan: Planned) -> Iterator[str]:
    world, optimum = plan.world, best(case, plan.world)
    moved = [pod for pod in world.pods if pod.node and plan.final[pod.name] != pod.node]
    yield from _broken_rules(world, plan.final)
    for app, number in world.allowed.items():
        if sum(pod.app == app for pod in moved) > number:
            yield f"more than {number} pods of {app} are evicted"
    if plan.reached < optimum:
        yield f"better than any final state: {plan.reached}, {optimum}"
    (level,) = plan.goal["levels"]
    scale = OBJECTIVES[case].scale
    if scale is not None:
        after, least = (_in_units(each.figure, scale(world)) for each in (plan.reached, optimum))
        if level["after"] != after or level["bound"] > least:
            yield f"says {level}: it is {plan.reached}, and {optimum} is possible"
    if plan.goal["status"] == "optimal" and plan.reached > optimum:
        yield f"{plan.reached} is said to be optimal, and {optimum} is possible"
    bound = plan.goal["bound"]
    if bound is not None and plan.reached.figure == optimum.figure and bound > optimum.num_evictions:
        yield f"says that {bound} evictions are needed, and {optimum.num_evictions} are enough"


def _broken_rules(world: TinyWorld, final: Mapping[str, str]) -> Iterator[str]:
    """Rules that hold for pods that come to a node, and do not in the final state."""
    for node in world.prices:
        pods = [pod for pod in world.pods if final.get(pod.name) == node]
        if (cpus := load(world, final, node)) > CAPACITY:
            yield f"{node} holds {cpus} of {CAPACITY}"
        if (gpus := sum(pod.gpus for pod in pods)) > NUM_GPUS:
            yield f"{node} holds {gpus} of {NUM_GPUS} GPUs"
        apps = Counter(pod.app for pod in pods)
        came = {pod.app for pod in pods if pod.node != node}
        if shared := sorted(app for app in world.apart & came if apps[app] > 1):
            yield f"{node} has pods of {shared} together"


def _in_units(figure: int, scale: int) -> float:
    """As reports have it, rounded down to millionths."""
    return figure * 10**6 // scale / 10**6


def why_worse(case: str, plan: Planned) -> str:
    """What keeps a plan that chooses nodes from the best final state: moves one after the other lead to none that is
    better than the plan's, a limit of the objective, or of the search. Else a deficit of the planner."""
    if plan.reached <= _least(OBJECTIVES[case].state, plan.world, in_order=CAPACITY):
        return "no order leads to it"
    limit = OBJECTIVES[case].limit
    if limit is not None:
        reached = Reached(limit.figure(plan.world, plan.final), plan.reached.num_evictions)
        if reached <= _least(limit.state, plan.world, in_order=limit.most_cpus):
            return limit.text
    ended_by = plan.goal["searchEndedBy"]
    return f"the search ended by {ended_by}" if ended_by else DEFICIT


def _compare(case: str, seeds: range, *, chooses: bool, work: int) -> int:
    """Prints how many plans are equal to the best, and why others are not; the number of those that have a fault."""
    counts, num_faults = Counter[str](), 0
    for seed in seeds:
        plan = planned(case, world_of(case, seed), chooses=chooses, work=work)
        optimum = best(case, plan.world)
        if fault := fault_of(case, plan):
            num_faults += 1
            print(f"{case}, world {seed}: {fault}", flush=True)
        kind = "equal to the best"
        if plan.reached > optimum:
            kind = why_worse(case, plan) if chooses else "worse"
            print(f"{case}, world {seed}: {plan.reached}, the best is {optimum}; {kind}", flush=True)
        counts[f"{kind} ({plan.goal['status']})"] += 1
    print(f"{case}: {', '.join(f'{number} {what}' for what, number in sorted(counts.items()))}", flush=True)
    return num_faults


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objective", choices=sorted(OBJECTIVES))
    parser.add_argument("--worlds", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first (default: 0)")
    parser.add_argument("--work", type=int, default=1, help="workLimit of each plan (default: 1)")
    parser.add_argument("--scheduler-chooses", action="store_true", help="the nodes of replacements, not the plan")
    options = parser.parse_args()
    cases = [options.objective] if options.objective else sorted(OBJECTIVES)
    seeds = range(options.first, options.first + options.worlds)
    faults = [_compare(case, seeds, chooses=not options.scheduler_chooses, work=options.work) for case in cases]
    return 1 if sum(faults) else 0


if __name__ == "__main__":
    raise SystemExit(_main())
