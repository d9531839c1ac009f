"""MigrationPlanner with ConsolidateNodes and `useEmptyNodes`: nodes are emptied onto cheaper ones without pods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.plan.decisions import Decisions
from tests.builders import make_node, make_pod
from tests.planner.choosing import run_choosing, targets
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted

COST = {"label": "cost"}
DEAR = [make_node(name, cpu="10", labels={"cost": "3"}) for name in "ab"]
PODS = [make_pod(f"{node}0", cpu="7", node=node) for node in "ab"]
"""Neither node has room for the pod of the other one."""


def nodes_with(cheap_cost: str) -> Sequence[Node]:
    """With an empty node c that has room for the pods of both, at that cost."""
    return [*DEAR, make_node("c", cpu="20", labels={"cost": cheap_cost})]


def run(cheap_cost: str, *, args: Any = None, packs: bool = False, **others: Any) -> Decisions:
    """Under kube-scheduler as it comes, which prefers empty nodes."""
    chosen = {"nodeCost": COST, "useEmptyNodes": True} if args is None else args
    return run_objective("consolidateNodes", nodes_with(cheap_cost), PODS, args=chosen, packs=packs, **others)


def test_two_nodes_are_replaced_by_one_that_costs_less_than_both() -> None:
    decisions = run("4")

    assert {move.pod.name: move.to_node for move in decisions.moves} == {"a0": "c", "b0": "c"}
    assert goal_of(decisions).sentence == "2 nodes in use → 1 (cost 6 → 4) with 2 evictions; no plan does better"


def test_pods_that_are_worth_the_new_node_only_together_are_one_bundle() -> None:
    """Node c costs more than each of the nodes alone, so that one eviction alone would cost more than before."""
    (bundle,) = {move.bundle for move in run("4").moves}

    assert bundle != 0


def test_one_node_is_replaced_where_the_other_cannot_be_emptied() -> None:
    bare = make_pod("bare", cpu="1", node="b", owners=[])

    decisions = run_objective(
        "consolidateNodes",
        nodes_with("1"),
        [*PODS, bare],
        args={"nodeCost": COST, "useEmptyNodes": True},
        packs=False,
    )

    assert {move.pod.name: move.to_node for move in decisions.moves} == {"a0": "c"}


@pytest.mark.parametrize("cost", ["6", "7"])
def test_nothing_moves_to_a_node_that_costs_no_less(cost: str) -> None:
    decisions = run(cost)

    assert evicted(decisions) == []
    assert goal_of(decisions).levels[0].bound == 6000


def test_without_costs_two_nodes_are_replaced_by_one() -> None:
    assert goal_of(run("0", args={"useEmptyNodes": True})).sentence.startswith("2 nodes in use → 1 with 2 evictions")


def test_empty_nodes_stay_empty_by_default() -> None:
    assert evicted(run("1", args={"nodeCost": COST})) == []


def test_a_cordoned_node_receives_no_pods() -> None:
    nodes = [*DEAR, make_node("c", cpu="20", labels={"cost": "1"}, unschedulable=True)]

    decisions = run_objective("consolidateNodes", nodes, PODS, args={"nodeCost": COST, "useEmptyNodes": True})

    assert evicted(decisions) == []


@pytest.mark.parametrize(("least", "leave"), [(0.9, ["a0", "b0"]), (1.1, [])])
def test_what_an_eviction_gains_is_less_what_the_new_node_costs(least: float, leave: Sequence[str]) -> None:
    """Two evictions gain 6 - 4."""
    decisions = run("4", planner={"minGainPerDisruption": least})

    assert sorted(evicted(decisions)) == leave


def test_a_limit_that_allows_one_eviction_replaces_nothing() -> None:
    assert evicted(run("4", policy={"maxNoOfPodsToEvictTotal": 1})) == []


def test_a_scheduler_that_prefers_full_nodes_would_return_the_pods_and_the_goal_says_so() -> None:
    decisions = run("4", packs=True)

    assert evicted(decisions) == []
    assert "the plan can choose the nodes (chooseNodes: true)" in goal_of(decisions).sentence


def test_the_plan_can_choose_the_nodes() -> None:
    decisions = run_choosing("consolidateNodes", nodes_with("4"), PODS, args={"nodeCost": COST, "useEmptyNodes": True})

    assert targets(decisions) == {"a0": "c", "b0": "c"}
