"""The objectives of a policy as exact models of tiny clusters: what is to be least over all final states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median_high
from typing import Any

from ortools.sat.python import cp_model

from tests.builders import Object
from tests.planner.tiny_states import FinalStates, Term
from tests.planner.tiny_worlds import CAPACITY, GPU, NUM_GPUS, PRICE, TinyPod, TinyTraits, TinyWorld

_TARGET = 7
"""CPUs of a node that balancing is to leave in use at most."""

_MOST_EVICTIONS = 2

_SPREAD = "RemovePodsViolatingTopologySpreadConstraint"


def load(world: TinyWorld, final: Mapping[str, str], node: str) -> int:
    """CPUs in use of a node where pods are at `final` (pod → node)."""
    return sum(pod.need for pod in world.pods if final.get(pod.name) == node)


def _drained(states: FinalStates, names: Sequence[str], *, takes: bool) -> Term:
    """How many of the nodes are left with pods, of which all leave or none; others' pods stay, and where emptied nodes
    could take pods (`takes`), none arrive."""
    emptied = {name: states.model.new_bool_var("") for name in names if states.world.on(name)}
    for pod in states.world.pods:
        states.model.add(states.moves[pod.name] == emptied.get(pod.node, 0))
    for name, variable in emptied.items() if takes else ():
        for arrival in states.arrivals(name):
            states.model.add_bool_or([arrival.negated(), variable.negated()])
    return len(emptied) - sum(emptied.values())


def _state_drains(states: FinalStates) -> Term:
    return _drained(states, states.world.old, takes=False)


def _state_consolidation(states: FinalStates) -> Term:
    for name in states.world.prices:
        if not states.world.on(name):
            for arrival in states.arrivals(name):
                states.model.add(arrival == 0)
    return _drained(states, list(states.world.prices), takes=True)


def _state_balance(states: FinalStates) -> Term:
    over = {name: states.model.new_bool_var("") for name in states.world.prices}
    for name, variable in over.items():
        states.model.add(states.load(name) <= _TARGET).only_enforce_if(variable.negated())
        for arrival in states.arrivals(name):
            states.model.add_bool_or([arrival.negated(), variable.negated()])
    return sum(over.values())


def _num_over(world: TinyWorld, final: Mapping[str, str]) -> int:
    return sum(load(world, final, name) > _TARGET for name in world.prices)


def _state_room(states: FinalStates) -> Term:
    waiting = [pod for pod in states.world.pods if not pod.node]
    return len(waiting) - sum(variable for pod in waiting for variable in _places(states, pod))


def _state_room_by_few(states: FinalStates) -> Term:
    states.model.add(cp_model.LinearExpr.sum(list(states.moves.values())) <= _MOST_EVICTIONS)
    return _state_room(states)


def _num_pending(world: TinyWorld, final: Mapping[str, str]) -> int:
    return sum(pod.name not in final for pod in world.pods)


def _places(states: FinalStates, pod: TinyPod) -> list[cp_model.IntVar]:
    return [variable for (name, _), variable in states.at.items() if name == pod.name]


def _state_cost(states: FinalStates) -> Term:
    need = {pod.name: pod.need for pod in states.world.pods}
    return sum(need[pod] * states.world.prices[node] * variable for (pod, node), variable in states.at.items())


def _cost(world: TinyWorld, final: Mapping[str, str]) -> int:
    return sum(pod.need * world.prices[final[pod.name]] for pod in world.pods)


def _state_gains(states: FinalStates) -> Term:
    """The cost, where pods go to nodes that cost less than their own."""
    prices = states.world.prices
    for pod in states.world.pods:
        for name in prices:
            if name != pod.node and prices[name] >= prices[pod.node]:
                states.model.add(states.at[pod.name, name] == 0)
    return _state_cost(states)


def _num_with_pods(world: TinyWorld, final: Mapping[str, str], names: Sequence[str]) -> int:
    return len(set(final.values()) & set(names))


def _state_violations(states: FinalStates) -> Term:
    world = states.world
    on_old = sum(variable for (_, node), variable in states.at.items() if node in world.old)
    too_many = list[cp_model.IntVar]()
    for name in set(world.prices) - set(world.old):
        for app in sorted(world.apart):
            too_many.append(states.model.new_int_var(0, len(world.pods), ""))
            states.model.add(too_many[-1] >= states.count(app, [name]) - 1)
    return on_old + sum(too_many)


def _selected(world: TinyWorld) -> list[TinyPod]:
    """Pods on old nodes; of those that keep apart on another one, all but the last by name."""
    last = {(pod.app, pod.node): pod.name for pod in sorted(world.pods, key=lambda pod: pod.name)}
    apart = [pod for pod in world.pods if pod.app in world.apart and pod.name != last[pod.app, pod.node]]
    return [pod for pod in world.pods if pod.node in world.old or pod in apart]


def _state_selected(states: FinalStates) -> Term:
    return sum(states.at[pod.name, pod.node] for pod in _selected(states.world))


def _violations(world: TinyWorld, final: Mapping[str, str]) -> int:
    """Pods on old nodes, whose taint they do not tolerate, and all but one of those that keep apart on another one."""
    on_old = sum(final[pod.name] in world.old for pod in world.pods)
    apart = Counter((pod.app, final[pod.name]) for pod in world.pods if pod.app in world.apart)
    return on_old + sum(number - 1 for (_, node), number in apart.items() if node not in world.old)


def _state_spread(states: FinalStates) -> Term:
    found = list[cp_model.IntVar]()
    for app in sorted(states.world.spread):
        found.append(states.model.new_int_var(0, len(states.world.pods), ""))
        for zone, other in _two_zones(states.world):
            states.model.add(2 * found[-1] + 1 >= states.difference(app, zone, other))
    return sum(found)


def _unspread(world: TinyWorld, final: Mapping[str, str]) -> int:
    """Of each app the pods that have to leave the fuller of two zones so that they differ by 1 at most."""
    number = Counter((pod.app, world.zones[final[pod.name]]) for pod in world.pods)
    ((one, other),) = combinations(sorted(set(world.zones.values())), 2)
    return sum(abs(number[app, one] - number[app, other]) // 2 for app in world.spread)


def _two_zones(world: TinyWorld) -> Iterable[tuple[str, str]]:
    one, other = sorted(set(world.zones.values()))
    return (one, other), (other, one)


def _state_fragments(states: FinalStates) -> Term:
    world = states.world
    stranded = sum(
        states.tabled(
            (states.load(node), states.gpus(node)),
            (CAPACITY, NUM_GPUS),
            lambda cpus, gpus: _stranded(world, cpus, gpus),
        )
        for node in world.prices
    )
    # Nodes that were one would strand no more. The solver does not see that, and proves little without it.
    totals = sum(pod.need for pod in world.pods if pod.node), sum(pod.gpus for pod in world.pods if pod.node)
    states.model.add(stranded >= _stranded(world, *totals, num_nodes=len(world.prices)))
    return stranded


def _fragments(world: TinyWorld, final: Mapping[str, str]) -> int:
    gpus = Counter[str]()
    for pod in world.pods:
        gpus[final[pod.name]] += pod.gpus
    return sum(_stranded(world, load(world, final, node), gpus[node]) for node in world.prices)


def _stranded(world: TinyWorld, cpus: int, gpus: int, num_nodes: int = 1) -> int:
    """GPUs that are left on a node with so many CPUs and GPUs in use, once it is filled with pods of one size, summed
    over all pods that request GPUs. Pods of a size count with the median of their CPUs. Some nodes count as one."""
    free_cpus, free_gpus, stranded = CAPACITY * num_nodes - cpus, NUM_GPUS * num_nodes - gpus, 0
    for size, number in Counter(pod.gpus for pod in world.pods if pod.gpus).items():
        median = median_high(pod.need for pod in world.pods if pod.gpus == size)
        stranded += number * (free_gpus - size * min(free_gpus // size, free_cpus // median))
    return stranded


@dataclass(frozen=True)
class Limit:
    """What plans do not do, as `text` says, and figures of plans that do not, as in `TinyObjective`."""

    text: str
    state: Callable[[FinalStates], Term]
    figure: Callable[[TinyWorld, Mapping[str, str]], int]
    most_cpus: int = CAPACITY
    """In use of a node once a pod has come to it."""


@dataclass(frozen=True)
class TinyObjective:
    """What a policy says, the figure of the exact model and that of a final state (pod → node).

    `key` is what a policy calls it, `strategies` are those of it with their arguments, and `planner` are further
    arguments of MigrationPlanner.
    """

    key: str
    args: Object
    state: Callable[[FinalStates], Term]
    figure: Callable[[TinyWorld, Mapping[str, str]], int]
    traits: TinyTraits = field(default_factory=TinyTraits)
    strategies: Mapping[str, Object] = field(default_factory=dict)
    planner: Mapping[str, Any] = field(default_factory=dict)
    scale: Callable[[TinyWorld], int] | None = lambda _: 1
    """How many of the figure are one in reports; None where reports count otherwise."""
    limit: Limit | None = None


OBJECTIVES: Mapping[str, TinyObjective] = {
    "balanceUtilization": TinyObjective(
        "balanceUtilization",
        {"targetThresholds": {"cpu": 100 * _TARGET // CAPACITY}},
        _state_balance,
        _num_over,
        limit=Limit("no pod brings a node over its target, even for a while", _state_balance, _num_over, _TARGET),
    ),
    "consolidateNodes": TinyObjective(
        "consolidateNodes",
        {},
        _state_consolidation,
        lambda world, final: _num_with_pods(world, final, list(world.prices)),
    ),
    "drainNodes": TinyObjective(
        "drainNodes",
        {"nodeSelector": {"matchLabels": {"pool": "old"}}, "maxUnavailable": 2},
        _state_drains,
        lambda world, final: _num_with_pods(world, final, world.old),
        TinyTraits(has_old=True),
    ),
    "makeRoom": TinyObjective(
        "makeRoom",
        {},
        _state_room,
        _num_pending,
        TinyTraits(has_pending=True),
    ),
    "makeRoom within maxEvictions": TinyObjective(
        "makeRoom",
        {},
        _state_room_by_few,
        _num_pending,
        TinyTraits(has_pending=True),
        planner={"maxEvictions": _MOST_EVICTIONS},
    ),
    "reduceCost": TinyObjective(
        "reduceCost",
        {"nodeCost": {"label": PRICE}},
        _state_cost,
        _cost,
        scale=None,
        limit=Limit("each eviction has to gain something by itself", _state_gains, _cost),
    ),
    "reduceFragmentation": TinyObjective(
        "reduceFragmentation",
        {"resource": GPU},
        _state_fragments,
        _fragments,
        TinyTraits(has_gpus=True),
        scale=lambda world: sum(pod.gpus > 0 for pod in world.pods),
    ),
    "repairViolations": TinyObjective(
        "repairViolations",
        {"strategies": ["RemovePodsViolatingNodeTaints", "RemovePodsViolatingInterPodAntiAffinity"]},
        _state_violations,
        _violations,
        TinyTraits(has_old=True, breaks_apart=True),
        {"RemovePodsViolatingNodeTaints": {}, "RemovePodsViolatingInterPodAntiAffinity": {}},
        limit=Limit(
            "strategies select another pod",
            _state_selected,
            lambda world, final: sum(final[pod.name] == pod.node for pod in _selected(world)),
        ),
    ),
    "repairViolations of spread": TinyObjective(
        "repairViolations",
        {"strategies": [_SPREAD]},
        _state_spread,
        _unspread,
        TinyTraits(breaks_spread=True),
        {_SPREAD: {"topologyBalanceNodeFit": False}},
    ),
}
