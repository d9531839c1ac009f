"""MigrationPlanner where requests add up to more than is counted exactly in bytes: 8 PiB of memory."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from tests.builders import Object, make_node, make_pod
from tests.planner.choosing import run_choosing, targets
from tests.planner.objective_over import objective_over
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted

NODES = [
    make_node(name, cpu="100", memory="8Pi", labels={"price": price}, allocatable={"example.com/gpu": "4"})
    for name, price in (("a", "3"), ("b", "1"), ("c", "1"))
]


def pod(name: str, memory: str, node: str, **facts: Any) -> Pod:
    return make_pod(name, memory=memory, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


PODS = [pod("p", "4Pi", "a"), pod("q", "2Pi", "a"), pod("r", "2Pi", "b"), pod("s", "3Pi", "c")]
ODD = pod("odd", "1000001", "b")
"""Its request has no divisor in common with others."""


def run(key: str, args: Object | None = None, pods: list[Pod] = PODS) -> Decisions:
    return run_choosing(key, NODES, pods, args=args)


BALANCE: Object = {"targetThresholds": {"memory": 70}}
COST: Object = {"nodeCost": {"label": "price"}}


@pytest.mark.parametrize("others", [[], [ODD]], ids=["multiples of a pebibyte", "any number of bytes"])
def test_a_plan_is_made_and_proven(others: list[Pod]) -> None:
    decisions = run("balanceUtilization", BALANCE, [*PODS, *others])

    assert targets(decisions) == {"q": "b"} or targets(decisions) == {"q": "c"}
    goal = goal_of(decisions)
    assert (goal.sentence, goal.status) == ("1 node over target → 0 with 1 eviction (at least 1 is needed)", "optimal")


@pytest.mark.parametrize("others", [[], [ODD]], ids=["multiples of a pebibyte", "any number of bytes"])
@pytest.mark.parametrize(
    ("key", "args", "sentence"),
    [
        ("consolidateNodes", {}, "3 nodes in use → 2 with"),
        ("drainNodes", {"nodes": ["a"]}, "1 node to be drained → 0 with 2 evictions (at least 2 are needed)"),
        ("makeRoom", {}, "1 pod pending → 0 (default/w onto"),
        ("reduceCost", COST, "cost of requests"),
    ],
)
def test_every_objective_is_planned(key: str, args: Object, sentence: str, others: list[Pod]) -> None:
    waiting = [pod("w", "7Pi", "", phase="Pending", ready=False)] if key == "makeRoom" else []

    decisions = run(key, args, [*PODS, *others, *waiting])

    assert evicted(decisions)
    assert goal_of(decisions).sentence.startswith(sentence)


def test_costs_are_those_of_the_amounts() -> None:
    """Pods p and q cost 3 · (6/8) / 2 on node a, and r and s 1 · (5/8) / 2; p and q cost a third on nodes b and c."""
    (level,) = goal_of(run("reduceCost", COST)).levels

    assert (level.before, level.after) == (1438, 688)


def test_it_is_said_where_rounded_amounts_prove_nothing() -> None:
    assert goal_of(run("reduceCost", COST, [*PODS, ODD])).sentence.endswith(
        "best possible: unknown, because requests add up to more than can be counted exactly"
    )


@pytest.mark.parametrize("key", ["balanceUtilization", "consolidateNodes", "drainNodes", "makeRoom", "reduceCost"])
@pytest.mark.parametrize("node", ["c", ""], ids=["running", "pending"])
def test_pods_with_absurd_requests_do_not_keep_others_from_being_planned(key: str, node: str) -> None:
    absurd = [
        make_pod(f"absurd-{number}", memory="8Ei", requests={"ephemeral-storage": "9E"}, node=node, owners=[])
        for number in range(12)
    ]
    nodes = [make_node(name, cpu="10", labels={"price": price}) for name, price in (("a", "2"), ("b", "1"), ("c", "1"))]
    pods = [
        make_pod("p", cpu="4", node="a", owners=["ReplicaSet/p"]),
        make_pod("q", cpu="4", node="a", owners=["ReplicaSet/q"]),
        make_pod("w", cpu="10", node="", node_selector={"price": "2"})
        if key == "makeRoom"
        else make_pod("x", node="b"),
    ]
    args: dict[str, Object] = {
        "balanceUtilization": {"targetThresholds": {"cpu": 70}},
        "drainNodes": {"nodes": ["a"]},
        "reduceCost": COST,
    }

    decisions = run_choosing(key, nodes, [*pods, *absurd], args=args.get(key))

    assert evicted(decisions)


def test_free_devices_are_made_usable_beside_large_amounts_of_memory() -> None:
    pods = [
        pod(name, "2Pi", node, requests={"example.com/gpu": gpus}, limits={"example.com/gpu": gpus})
        for name, node, gpus in (("p", "a", "1"), ("q", "b", "3"), ("r", "c", "4"))
    ]

    decisions = run_objective(
        "reduceFragmentation", NODES, [*pods, pod("s", "3Pi", "a"), ODD], args={"resource": "example.com/gpu"}
    )

    assert goal_of(decisions).levels[0].after <= goal_of(decisions).levels[0].before


@pytest.mark.parametrize(
    ("pending", "text"),
    [
        pytest.param(
            [pod("absurd", "7Ei", "")],
            "no room: pod default/absurd requests 7Ei memory, the largest node has 8Pi",
            id="far more than any amount that is counted",
        ),
        pytest.param(
            [pod(name, "9Pi", "") for name in "pqrst"],
            "no room: pod default/p requests 9Pi memory, the largest node has 8Pi;"
            " no room: pod default/q requests 9Pi memory, the largest node has 8Pi;"
            " no room: pod default/r requests 9Pi memory, the largest node has 8Pi;"
            " 2 more pods request more than any node has",
            id="many",
        ),
    ],
)
def test_pods_that_request_more_than_any_node_has_are_named(pending: list[Pod], text: str) -> None:
    assert objective_over("makeRoom", NODES, pending).objective.hopeless() == text
