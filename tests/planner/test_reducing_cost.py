"""MigrationPlanner with ReduceCost: pods move to room that costs less."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Level
from descheduler.planner.objective_args import NodeCost, ReduceCostArgs
from tests.builders import Object, make_budget, make_node, make_pod
from tests.planner.choosing import run_choosing, targets
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted

KIND = "example.com/capacity"
COSTS = {"nodeCost": {"label": KIND, "prices": {"spot": 1, "committed": 0.2, "on-demand": 4}}}
ON_DEMAND = make_node("dear", cpu="10", memory="10Gi", labels={KIND: "on-demand"})
COMMITTED = make_node("paid", cpu="10", memory="10Gi", labels={KIND: "committed"})
SPOT = make_node("spot", cpu="10", memory="10Gi", labels={KIND: "spot"})


def pod(name: str, cpu: str, node: str, **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **facts)


def run(pods: Sequence[Pod], **others: Any) -> Decisions:
    nodes = others.pop("nodes", [ON_DEMAND, COMMITTED])
    return run_objective("reduceCost", nodes, pods, args=COSTS, packs=others.pop("packs", False), **others)


def test_pods_move_to_cheaper_free_room() -> None:
    """A pod of half the CPU costs a quarter of its node, and the one that stays an eighth."""
    decisions = run([pod("web", "5", "dear"), pod("stays", "2.5", "dear", owners=[])])

    (move,) = decisions.moves
    assert (move.pod.name, move.to_node) == ("web", "paid")
    assert move.reason == "other nodes have cheaper room (node dear costs 4)"
    assert goal_of(decisions).sentence == "cost of requests 1.5 → 0.55 with 1 eviction; no plan does better"
    assert goal_of(decisions).levels == (Level("cost of requests", 1500, 550, 550, 1000),)


@pytest.mark.parametrize(("spot", "where"), [(1, {"a": "spot"}), (9, {"b": "dear"})])
def test_pods_move_back_once_the_prices_say_so(spot: float, where: dict[str, str]) -> None:
    args = {"nodeCost": {"label": KIND, "prices": {"spot": spot, "on-demand": 4}}}

    decisions = run_choosing("reduceCost", [ON_DEMAND, SPOT], [pod("a", "5", "dear"), pod("b", "5", "spot")], args=args)

    assert targets(decisions) == where


@pytest.mark.parametrize(("least", "leave"), [(0.5, ["large"]), (2, [])])
def test_what_an_eviction_saves_has_to_reach_the_least_gain(least: float, leave: Sequence[str]) -> None:
    """The large pod saves 0.95, the small one 0.19."""
    decisions = run([pod("large", "5", "dear"), pod("small", "1", "dear")], planner={"minGainPerDisruption": least})

    assert evicted(decisions) == leave


def test_the_pods_that_save_most_get_the_room() -> None:
    pods = [pod("large", "5", "dear"), pod("small", "3", "dear"), pod("stays", "4", "paid", owners=[])]

    decisions = run_choosing("reduceCost", [ON_DEMAND, COMMITTED], pods, args=COSTS)

    assert targets(decisions) == {"large": "paid"}


def test_the_cheapest_of_several_rooms_is_taken_first() -> None:
    decisions = run_choosing("reduceCost", [ON_DEMAND, SPOT, COMMITTED], [pod("web", "5", "dear")], args=COSTS)

    assert targets(decisions) == {"web": "paid"}


def test_a_budget_keeps_a_pod_where_it_is() -> None:
    budgets = (make_budget("keep", {"app": "web"}, disruptions_allowed=0),)

    decisions = run([pod("web", "5", "dear", labels={"app": "web"})], budgets=budgets)

    assert evicted(decisions) == []
    assert goal_of(decisions).levels[0].bound == 1000


def test_nothing_is_done_where_requests_cost_the_same_everywhere() -> None:
    decisions = run([pod("web", "5", "dear")], nodes=[ON_DEMAND])

    assert goal_of(decisions).sentence == "requests cost the same on every node (nodeCost)"


def test_the_scheduler_may_prefer_the_dear_node_and_the_goal_says_what_helps() -> None:
    """With MostAllocated the fuller node is preferred."""
    decisions = run([pod("web", "5", "dear"), pod("other", "3", "dear", owners=[])], packs=True)

    assert evicted(decisions) == []
    assert "taint expensive nodes with PreferNoSchedule" in goal_of(decisions).sentence


def test_costs_are_required() -> None:
    assert [problem.path for problem in ReduceCostArgs().problems()] == [("nodeCost", "label")]
    assert not list(ReduceCostArgs(NodeCost(label=KIND)).problems())


@pytest.mark.parametrize("seed", range(8))
def test_no_final_state_of_a_tiny_cluster_costs_less(seed: int) -> None:
    """Beside every way to place the pods of the dear node, each where it was or where it costs less."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 5).tolist()
    pods = [pod(f"p{number}", str(size), "dear") for number, size in enumerate(sizes)]
    nodes = [make_node("dear", cpu="40", memory="10Gi", labels={KIND: "on-demand"}), SPOT, COMMITTED]
    rooms = {"dear": (40, 4000), "spot": (int(rng.integers(2, 7)), 1000), "paid": (int(rng.integers(2, 7)), 200)}
    filler = [pod(f"f-{name}", str(10 - rooms[name][0]), name, owners=[]) for name in ("spot", "paid")]

    decisions = run_choosing("reduceCost", nodes, [*pods, *filler], args=COSTS)

    def cost(places: Sequence[str]) -> float:
        taken = {name: sum(s for s, at in zip(sizes, places, strict=True) if at == name) for name in rooms}
        if any(taken[name] > room for name, (room, _) in rooms.items()):
            return float("inf")
        size_of = {"dear": 40, "spot": 10, "paid": 10}
        return float(sum(price * taken[name] / size_of[name] / 2 for name, (_, price) in rooms.items()))

    where = [targets(decisions).get(each.name, "dear") for each in pods]
    assert cost(where) == pytest.approx(min(map(cost, product(rooms, repeat=len(pods)))))
    (level,) = goal_of(decisions).levels
    assert level.bound <= level.after


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        pytest.param(
            {"label": "exmaple.com/capacity", "prices": {"spot": 1}},
            "requests cost the same on every node (nodeCost);"
            " nodeCost.label: no node has the label exmaple.com/capacity (default: 1)",
            id="a label that no node has",
        ),
        pytest.param(
            {"label": KIND, "prices": {"committed": 0.2, "ondemand": 4}, "default": 0.5},
            "nodeCost: 1 node has no price (default: 0.5): value on-demand;"
            " nodeCost.prices: no node has the value ondemand",
            id="a price that is of no node",
        ),
    ],
)
def test_nodes_without_a_price_are_said(cost: Object, said: str) -> None:
    nodes = [ON_DEMAND, COMMITTED]

    decisions = run_objective("reduceCost", nodes, [pod("web", "5", "dear")], args={"nodeCost": cost}, packs=False)

    assert goal_of(decisions).sentence.endswith(said)
