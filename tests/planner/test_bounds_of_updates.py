"""What plans prove in the middle of updates, beside all that orders of moves lead to in tiny clusters."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.groups.workloads import Workload
from descheduler.plan.goals import Goal
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, make_node, make_pod, make_snapshot, required_anti_affinity
from tests.planner.choosing import choosing_policy
from tests.planner.runs import goal_of
from tests.series import first_of

ZONE = "topology.kubernetes.io/zone"
NODES, CAPACITY, TARGET = range(3), 10, 5
BALANCE, CONSOLIDATE = "balanceUtilization", "consolidateNodes"
OBJECTIVES: Object = {BALANCE: {"targetThresholds": {"cpu": 100 * TARGET / CAPACITY}}, CONSOLIDATE: {}}


@dataclass(frozen=True)
class Updated:
    """A pod on a node, of a version that is spread or keeps apart; its replacement is of the version `after`."""

    node: int
    size: int
    rule: str
    before: str
    after: str
    is_movable: bool


State = tuple[tuple[int, bool], ...]
"""The node of each pod, and whether it has been moved."""


def make_pods(seed: int) -> list[Updated]:
    """Three to five pods of two apps on three nodes."""
    rng = random.Random(f"updates {seed}")
    rules = {app: rng.choice(["spread", "spread", "apart", ""]) for app in "xy"}
    found = list[Updated]()
    for number in range(rng.randint(3, 5)):
        node, size, app = rng.choice((0, 0, 1) if number < 3 else NODES), rng.randint(1, 4), rng.choice("xy")
        if size + sum(pod.size for pod in found if pod.node == node) <= CAPACITY:
            after = rng.choice([f"{app}1", f"{app}2", "y1" if app == "x" else "x1"])
            found.append(Updated(node, size, rules[app], f"{app}1", after, rng.random() < 0.75))
    return found


def rule_of(rule: str, version: str) -> Object:
    labels = {"version": version}
    if rule == "apart":
        return {"affinity": required_anti_affinity(labels)}
    selector = {"matchLabels": labels}
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return {"spread": [spread]} if rule else {}


def planned(key: str, pods: Sequence[Updated]) -> Goal:
    """What the plan for an objective says, where it chooses nodes."""
    there, workloads = [], {}
    for number, pod in enumerate(pods):
        name, facts = f"p{number}", {"cpu": str(pod.size)}
        owners = [f"ReplicaSet/{name}"] if pod.is_movable else []
        labels, rule = {"version": pod.before}, rule_of(pod.rule, pod.before)
        there.append(make_pod(name, node=str(pod.node), owners=owners, labels=labels, **facts, **rule))
        if pod.is_movable:
            uid, labels, rule = there[-1].owners[0].uid, {"version": pod.after}, rule_of(pod.rule, pod.after)
            template = make_pod(name, node="", labels=labels, **facts, **rule)
            workloads[uid] = Workload("ReplicaSet", "default", name, uid, 1, template=template)
    nodes = [make_node(str(node), cpu=str(CAPACITY), labels={ZONE: f"z{node}"}) for node in NODES]
    policy = load_policy(choosing_policy({key: OBJECTIVES[key]}), REGISTRY)
    return goal_of(decide(policy, make_snapshot(nodes, there, workloads=workloads), now=NOW))


def best(key: str, pods: Sequence[Updated]) -> tuple[int, int]:
    """The fewest nodes over target, or in use, that any order of moves leads to, and the fewest moves to that."""
    start: State = tuple((pod.node, False) for pod in pods)
    seen, left = {start}, [start]
    while left:
        state = left.pop()
        for following in moved(key, pods, state):
            if following not in seen:
                seen.add(following)
                left.append(following)
    ends = (state for state in seen if key == BALANCE or leaves_whole_nodes(pods, state))
    return min((figure_of(key, pods, state), sum(is_moved for _, is_moved in state)) for state in ends)


def leaves_whole_nodes(pods: Sequence[Updated], state: State) -> bool:
    """Whether each node that a pod has left has none of its own any more, as consolidation has it."""
    left = {pod.node for pod, (_, is_moved) in zip(pods, state, strict=True) if is_moved}
    return not any(pod.node in left and not is_moved for pod, (_, is_moved) in zip(pods, state, strict=True))


def used(pods: Sequence[Updated], state: State, node: int) -> int:
    return sum(pod.size for pod, (at, _) in zip(pods, state, strict=True) if at == node)


def figure_of(key: str, pods: Sequence[Updated], state: State) -> int:
    most = TARGET if key == BALANCE else 0
    return sum(used(pods, state, node) > most for node in NODES)


def moved(key: str, pods: Sequence[Updated], state: State) -> Iterator[State]:
    """The states that one move leads to, each pod moved once at most."""
    for number, pod in enumerate(pods):
        for node in NODES:
            is_new = node != state[number][0] and not state[number][1]
            if pod.is_movable and is_new and may_come(key, pods, state, number, node):
                yield (*state[:number], (node, True), *state[number + 1 :])


def may_come(key: str, pods: Sequence[Updated], state: State, number: int, node: int) -> bool:
    """Whether a replacement is scheduled onto the node, while its pod is there and once that has left.

    No move makes a spread worse by which both count, as plans have it.
    """
    pod, source = pods[number], state[number][0]
    if used(pods, state, node) + pod.size > (TARGET if key == BALANCE else CAPACITY):
        return False
    here = [
        (at, other.after if is_moved else other.before, other.rule)
        for other, (at, is_moved) in zip(pods, state, strict=True)
    ]
    for others in (here, here[:number] + here[number + 1 :]):
        counts = [sum(at == each and version == pod.after for at, version, _ in others) for each in NODES]
        if pod.rule == "spread" and counts[node] + 1 - min(counts) > 1:
            return False
        if counts[node] and (
            pod.rule == "apart"
            or any(at == node and rule == "apart" for at, version, rule in others if version == pod.after)
        ):
            return False
    if pod.before != pod.after or pod.rule != "spread":
        return True
    counts = [sum(at == each and version == pod.after for at, version, _ in here) for each in NODES]
    following = [count - (each == source) + (each == node) for each, count in enumerate(counts)]
    return max(following) - min(following) <= max(1, max(counts) - min(counts))


@pytest.mark.parametrize("seed", first_of(20, range(30, 330)))
@pytest.mark.parametrize("key", [BALANCE, CONSOLIDATE])
def test_no_order_of_moves_is_better_than_what_is_proven(key: str, seed: int) -> None:
    pods = make_pods(seed)

    goal = planned(key, pods)

    figure, num_moves = best(key, pods)
    (level,) = goal.levels
    assert goal.status == "nothing" or level.bound <= figure
    assert goal.bound is None or level.after > figure or goal.bound <= num_moves
    assert goal.status != "optimal" or level.after <= figure
