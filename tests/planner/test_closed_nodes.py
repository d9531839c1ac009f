"""Onto which nodes the plans of MigrationPlanner have no replacement scheduled: those that are to be drained."""

from __future__ import annotations

import pytest

from tests.builders import Object, make_node, make_pod
from tests.planner.runs import goal_of, run_objective, verified
from tests.strategies.runs import evicted, run_plugin

HOT = [make_pod(f"p{number}", node="hot", cpu="4") for number in (1, 2)]
BALANCE: Object = {"targetThresholds": {"cpu": 70}}


@pytest.mark.parametrize("condition", ["MaintenancePlanned", "DrainInProgress"])
def test_no_objective_moves_a_pod_onto_a_node_that_its_owner_is_about_to_drain(condition: str) -> None:
    nodes = [make_node("hot", cpu="10"), make_node("leaving", cpu="10", conditions=[condition])]

    decisions = run_objective("balanceUtilization", nodes, HOT, args=BALANCE, packs=False)

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence == (
        "1 node over target → 1 with 0 evictions; no plan does better;"
        f" 1 node receives no replacement pods (leaving has the condition {condition})"
    )


def test_no_room_is_made_on_a_node_that_its_owner_is_about_to_drain() -> None:
    nodes = [make_node("a", cpu="6"), make_node("leaving", cpu="6", conditions=["DrainInProgress"])]
    pods = [
        make_pod("p", node="a", cpu="3"),
        make_pod("q", node="leaving", cpu="3"),
        make_pod("large", node="", cpu="6", phase="Pending", owners=["ReplicaSet/large"]),
    ]

    assert evicted(run_objective("makeRoom", nodes, pods, args={"for": "pending"})) == []


@pytest.mark.parametrize("is_first", [True, False], ids=["drained first", "drained last"])
def test_no_objective_moves_a_pod_onto_a_node_that_another_one_is_to_drain(is_first: bool) -> None:
    """The bare pod keeps the node from being drained in this run, so that it is not cordoned."""
    nodes = [make_node("hot", cpu="10"), make_node("old", cpu="10")]
    drain: Object = {"drainNodes": {"nodes": ["old"]}}
    balance: Object = {"balanceUtilization": BALANCE}
    objectives = [drain, balance] if is_first else [balance, drain]
    planner: Object = {"objectives": objectives, "timeLimit": "60s", "workLimit": 2}

    decisions = run_plugin(
        "MigrationPlanner",
        nodes,
        [*HOT, make_pod("bare", node="old", cpu="1", owners=[])],
        policy=verified(planner, packs=False),
    )

    assert evicted(decisions) == []
    goals = {goal.objective: goal.sentence for goal in decisions.facts["p", "MigrationPlanner"].goals}
    assert goals["BalanceUtilization"].endswith("; 1 node receives no replacement pods (old is to be drained)")
