"""Replacements that request more or less than their pods, since the template of the owner does."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Goal
from tests.builders import Object, make_node, make_pod
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted

BALANCE: Object = {"targetThresholds": {"cpu": 70}}
PRICES: Object = {"nodeCost": {"label": "price"}}
NODES = [make_node(name, cpu="10", labels={"price": price}) for name, price in (("a", "2"), ("b", "1"))]


def run(key: str, template: str, *pods: Pod, args: Object | None = None, **others: Any) -> Decisions:
    """Pod `x` of 4 CPU is on node a; its owner creates one that requests what the `template` does."""
    x = make_pod("x", cpu="4", node="a", owners=["ReplicaSet/x"])
    uid = x.owners[0].uid
    owner = Workload("ReplicaSet", "default", "x", uid, 1, template=make_pod("x", cpu=template, node=""))
    packs = key == "consolidateNodes"
    return run_objective(key, NODES, [x, *pods], args=args, packs=packs, workloads={uid: owner}, **others)


def stays(name: str, cpu: str, node: str) -> Pod:
    return make_pod(name, cpu=cpu, node=node, owners=[])


@pytest.mark.parametrize(("template", "leave"), [("4", ["x"]), ("5", [])])
def test_no_replacement_brings_a_node_over_its_target(template: str, leave: list[str]) -> None:
    decisions = run("balanceUtilization", template, stays("y", "4", "a"), stays("z", "3", "b"), args=BALANCE)

    assert evicted(decisions) == leave


@pytest.mark.parametrize(("template", "leave"), [("4", ["x"]), ("5", [])])
def test_no_replacement_brings_a_node_over_what_nodes_may_be_filled_to(template: str, leave: list[str]) -> None:
    decisions = run("consolidateNodes", template, stays("z", "3", "b"), args={"maxUtilization": {"cpu": 70}})

    assert evicted(decisions) == leave


@pytest.mark.parametrize(("template", "leave"), [("7", ["x"]), ("9", [])])
def test_a_replacement_that_costs_no_less_than_its_pod_does_not_come(template: str, leave: list[str]) -> None:
    decisions = run("reduceCost", template, stays("y", "1", "a"), args=PRICES)

    assert evicted(decisions) == leave


@pytest.mark.parametrize(("template", "leave"), [("5", ["x"]), ("7", [])])
def test_what_an_eviction_saves_is_what_its_replacement_costs_less(template: str, leave: list[str]) -> None:
    """The pod costs 0.4. On node b its replacement costs 0.25, or 0.35."""
    decisions = run("reduceCost", template, stays("y", "1", "a"), args=PRICES, planner={"minGainPerDisruption": 0.1})

    assert evicted(decisions) == leave


def proven(goal: Goal) -> tuple[float, str]:
    (level,) = goal.levels
    return level.bound, goal.status


def test_a_node_is_not_said_to_stay_in_use_that_a_smaller_replacement_would_empty() -> None:
    bound, status = proven(goal_of(run("consolidateNodes", "2", stays("z", "7", "b"))))

    assert (bound, status) == (1, "feasible")


def test_a_node_is_not_said_to_stay_over_its_target_that_a_smaller_replacement_would_relieve() -> None:
    pods = stays("y", "4", "a"), stays("z", "5", "b")

    assert proven(goal_of(run("balanceUtilization", "2", *pods, args=BALANCE))) == (0, "feasible")


def test_evictions_are_proven_to_be_needed_whatever_size_the_replacement_has() -> None:
    goal = goal_of(run("balanceUtilization", "2", stays("y", "4", "a"), args=BALANCE))

    assert goal.sentence == "1 node over target → 0 with 1 eviction (at least 1 is needed)"


def test_nothing_is_proven_of_what_requests_cost_where_a_smaller_replacement_costs_less() -> None:
    goal = goal_of(run("reduceCost", "1", stays("y", "1", "a"), args=PRICES))

    assert goal.levels[0].after == 150
    assert proven(goal) == (0, "feasible")
    assert goal.sentence.endswith(
        "best possible: unknown, because the replacement of pod default/x may request other amounts than the pod"
    )


@pytest.mark.parametrize(
    ("key", "args"),
    [
        ("balanceUtilization", BALANCE),
        ("consolidateNodes", {"maxUtilization": {"cpu": 70}}),
        ("drainNodes", {"nodes": ["a"]}),
        ("makeRoom", {}),
        ("reduceCost", PRICES),
        ("reduceFragmentation", {"resource": "nvidia.com/gpu"}),
    ],
)
def test_a_replacement_may_request_what_no_node_and_no_other_pod_has(key: str, args: Object) -> None:
    """It fits on no node, so that its pod stays."""
    x = make_pod("x", cpu="4", node="a", owners=["ReplicaSet/x"])
    template = make_pod("x", cpu="4", node="", requests={"example.com/new": "1"})
    owner = Workload("ReplicaSet", "default", "x", x.owners[0].uid, 1, template=template)
    pods = [x, stays("y", "4", "a"), stays("z", "1", "b"), make_pod("waits", cpu="6", node="")]

    decisions = run_objective(key, NODES, pods, args=args, workloads={owner.uid: owner})

    assert evicted(decisions) == []
