"""What goals of MigrationPlanner prove of the plan shown: bounds on it or none, and what is optimal."""

from __future__ import annotations

from typing import Any

from descheduler.model.pod import Pod
from descheduler.plan.goals import Level
from tests.builders import Object, make_node, make_pod, required_node_affinity
from tests.planner.runs import goal_of, run_objective

NODES = [make_node(name, cpu="10") for name in "abc"]
TARGET = {"targetThresholds": {"cpu": 70}}


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **facts)


def test_nothing_is_said_to_be_needed_for_figures_that_the_plan_does_not_reach() -> None:
    """A pod of 4 fits on b and on c, and brings either over its target."""
    goal = goal_of(
        run_objective(
            "balanceUtilization",
            NODES,
            [pod("x", "4"), pod("y", "4"), pod("b", "5", "b"), pod("c", "5", "c")],
            args=TARGET,
        )
    )

    assert goal.levels == (Level("nodes over target", 1, 1, 0),)
    assert (goal.bound, goal.cost_bound, goal.status) == (None, None, "feasible")


def test_a_plan_of_the_fewest_evictions_is_optimal_though_tie_breaks_cost_more() -> None:
    """The pod of low priority may run on c alone, and would bring that over its target."""
    only_c: Object = {"affinity": required_node_affinity("kubernetes.io/hostname", "c")}
    nodes = [make_node(name, cpu="10", labels={"kubernetes.io/hostname": name}) for name in "abc"]
    pods = [pod("low", "4", priority=0, **only_c), pod("high", "4", priority=1000), pod("c", "6", "c", priority=1000)]

    goal = goal_of(run_objective("balanceUtilization", nodes, pods, args=TARGET, packs=False))

    assert (goal.evictions, goal.bound) == (1, 1)
    assert goal.cost_bound == goal.cost - 10
    assert goal.status == "optimal"


def test_a_plan_is_not_optimal_where_another_may_cost_less_by_more_than_tie_breaks() -> None:
    only_c: Object = {"affinity": required_node_affinity("kubernetes.io/hostname", "c")}
    nodes = [make_node(name, cpu="10", labels={"kubernetes.io/hostname": name}) for name in "abc"]
    pods = [pod("low", "4", priority=0, **only_c), pod("high", "4", priority=1000), pod("c", "6", "c", priority=1000)]

    goal = goal_of(
        run_objective(
            "balanceUtilization", nodes, pods, args=TARGET, packs=False, planner={"disruptionCost": {"priority": 1}}
        )
    )

    assert (goal.evictions, goal.bound, goal.status) == (1, 1, "feasible")
