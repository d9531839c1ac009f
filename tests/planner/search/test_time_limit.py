"""Clusters that are too large for the time limit: it is unknown which nodes are open to some pods, which stay."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.search_watch import SearchWatch
from descheduler.planner.problem.allowed_nodes import AskingOrder
from descheduler.planner.search import plan_search
from tests.builders import Object, make_node, make_pod
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted

NODES = [make_node(name, cpu="100", pods=3000) for name in ("few", "many", "most")]


def pods_on(node: str, number: int, cpu: str = "10") -> list[Pod]:
    return [make_pod(f"{node}-{n}", cpu=cpu, node=node, owners=[f"ReplicaSet/{node}"]) for n in range(number)]


PODS = [*pods_on("most", 4), *pods_on("many", 3), *pods_on("few", 2)]


@pytest.fixture
def limited_to(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Has planners ask about so many pods, however much time there is."""

    def limit(number: int) -> None:
        limited = partial(AskingOrder, may_go_on=lambda asked: asked < number)
        monkeypatch.setattr(plan_search, "AskingOrder", lambda may_go_on, **others: limited(**others))

    return limit


@pytest.fixture
def with_time_for(limited_to: Callable[[int], None]) -> Callable[[int], Decisions]:
    """What is decided where there is time to ask about so many pods."""

    def decisions(number: int) -> Decisions:
        limited_to(number)
        return run_objective("consolidateNodes", NODES, PODS)

    return decisions


def test_pods_of_nodes_with_few_are_asked_about_first(with_time_for: Callable[[int], Decisions]) -> None:
    assert sorted(evicted(with_time_for(2))) == ["few-0", "few-1"]


def test_no_pod_leaves_that_was_not_asked_about(with_time_for: Callable[[int], Decisions]) -> None:
    assert evicted(with_time_for(1)) == []


def test_a_bound_is_one_of_all_pods(with_time_for: Callable[[int], Decisions]) -> None:
    """More could be reached in more time."""
    goal = goal_of(with_time_for(2))

    assert (goal.levels[0].after, goal.levels[0].bound) == (2, 1)
    assert (goal.status, goal.search_ended_by) == ("feasible", "timeLimit")
    assert goal.sentence == (
        "3 nodes in use → 2 with 2 evictions (best possible: 1); no better plan was found within the limits; no time"
        " was left to ask which nodes are open to 7 of the pods"
    )


def test_goal_says_what_was_not_asked_about(with_time_for: Callable[[int], Decisions]) -> None:
    assert goal_of(with_time_for(0)).sentence == (
        "3 nodes in use → 3 with 0 evictions (best possible: 1); no better plan was found within the limits;"
        " pod default/few-0 and 8 more pods: no time was left to ask which nodes are open to its replacement"
    )


def test_all_is_asked_in_time(with_time_for: Callable[[int], Decisions]) -> None:
    goal = goal_of(with_time_for(len(PODS)))

    assert goal.sentence == "3 nodes in use → 1 with 5 evictions; no plan does better"
    assert goal.search_ended_by == ""


@pytest.mark.long
def test_a_thousand_pods_are_asked_about_however_late_it_is() -> None:
    pods = [*pods_on("most", 1001, "10m"), *pods_on("many", 1000, "10m")]

    decisions = run_objective("consolidateNodes", NODES[1:], pods, planner={"timeLimit": "0.001s"})

    assert "pod default/most-0 and 1,000 more pods: no time was left" in goal_of(decisions).sentence


def test_pods_are_not_asked_about_whose_node_is_not_emptied(limited_to: Callable[[int], None]) -> None:
    """A pod without an owner stays on the node with the fewest pods."""
    limited_to(3)
    stays = make_pod("stays", cpu="1", node="few", owners=[])

    decisions = run_objective("consolidateNodes", NODES, [*PODS, stays])

    assert sorted(evicted(decisions)) == ["many-0", "many-1", "many-2"]


def test_a_drain_asks_about_the_pods_of_its_nodes_alone(limited_to: Callable[[int], None]) -> None:
    limited_to(2)
    nodes = [make_node("few", cpu="100", unschedulable=True), *NODES[1:]]

    decisions = run_objective("drainNodes", nodes, PODS, args={"nodes": ["few"]})

    assert sorted(evicted(decisions)) == ["few-0", "few-1"]
    assert (goal_of(decisions).status, goal_of(decisions).search_ended_by) == ("optimal", "")


def test_each_objective_whose_search_was_interrupted_says_so() -> None:
    """The signal comes before the first search, and ends that of each objective."""
    objectives: list[Object] = [{"consolidateNodes": {}}, {"balanceUtilization": {"targetThresholds": {"cpu": 35}}}]
    decisions = run_objective(
        "consolidateNodes",
        NODES,
        PODS,
        planner={"objectives": objectives},
        search=SearchWatch(is_cancelled=lambda: True),
    )

    first, second = decisions.facts["p", "MigrationPlanner"].goals
    assert "interrupted" in first.sentence
    assert "interrupted" in second.sentence
