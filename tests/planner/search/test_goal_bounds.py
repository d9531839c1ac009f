"""What goals of MigrationPlanner prove of the plan shown: bounds on it or none, and what is optimal."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.optimizer.solving import Solution, solve
from descheduler.placement.plugins.elastic_quota.quota_usage import ELASTIC_QUOTA_KIND
from descheduler.plan.goals import Level
from descheduler.planner.search import plan_search
from tests.builders import (
    Object,
    make_budget,
    make_node,
    make_pod,
    owner,
    required_anti_affinity,
)
from tests.placement.plugins.elastic_quota.quotas import make_quota, quota_pod
from tests.planner import swap
from tests.planner.choosing import run_choosing
from tests.planner.runs import goal_of, run_objective

NODES = [make_node(name, cpu="10") for name in "abc"]
TARGET = {"targetThresholds": {"cpu": 70}}


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **facts)


def test_nothing_is_said_to_be_needed_for_figures_that_the_plan_does_not_reach() -> None:
    goal = goal_of(run_objective("balanceUtilization", swap.NODES, swap.PODS, args=TARGET, packs=False))

    assert goal.levels == (Level("nodes over target", 2, 1, 0),)
    assert (goal.bound, goal.cost_bound, goal.status) == (None, None, "feasible")


def test_that_a_node_stays_over_its_target_is_proven_where_its_pods_fit_under_no_other() -> None:
    """A pod of 4 has room on b and on c, and brings either over its target."""
    pods = [pod("x", "4"), pod("y", "4"), pod("b", "5", "b"), pod("c", "5", "c")]

    goal = goal_of(run_objective("balanceUtilization", NODES, pods, args=TARGET))

    assert goal.levels == (Level("nodes over target", 1, 1, 1),)
    assert goal.status == "optimal"


PORT: Object = {"spec": {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}]}}


@pytest.mark.parametrize(
    ("of_both", "of_first", "of_other"),
    [
        pytest.param(PORT, {}, {}, id="the host port of another pod"),
        pytest.param({}, {"affinity": required_anti_affinity({"app": "other"})}, {}, id="its own anti-affinity"),
        pytest.param({}, {}, {"affinity": required_anti_affinity({"app": "first"})}, id="that of another pod"),
    ],
)
def test_nothing_is_proven_of_a_node_that_is_closed_by_a_pod_which_could_leave(
    of_both: Object, of_first: Object, of_other: Object
) -> None:
    """The first pod may run on b alone, where the other one is, for which c has room."""
    nodes = [make_node(name, cpu="10", labels={"kubernetes.io/hostname": name}) for name in "bc"]
    first = make_pod(
        "first",
        labels={"app": "first"},
        node="",
        phase="Pending",
        node_selector={"kubernetes.io/hostname": "b"},
        **of_both,
        **of_first,
    )
    other = make_pod("other", labels={"app": "other"}, node="b", **of_both, **of_other)

    goal = goal_of(run_objective("makeRoom", nodes, [first, other]))

    assert (goal.levels[0].after, goal.levels[0].bound) == (1, 0)
    assert (goal.bound, goal.status) == (None, "feasible")
    assert "no better plan was found" in goal.sentence


def test_nothing_is_proven_of_a_pod_that_follows_another_one_which_could_leave() -> None:
    """Node c, where the leader is, has no room for the follower."""
    nodes = [
        make_node(name, cpu="10", unschedulable=name == "a", labels={"kubernetes.io/hostname": name}) for name in "abc"
    ]
    term = {"labelSelector": {"matchLabels": {"app": "leader"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    pods = [pod("leader", "9", "c", labels={"app": "leader"}), pod("follower", "2", affinity=affinity)]

    goal = goal_of(run_objective("drainNodes", nodes, pods, args={"nodes": ["a"]}))

    assert (goal.levels[0].after, goal.levels[0].bound, goal.status) == (1, 0, "feasible")


def test_a_node_is_not_said_to_stay_over_its_target_for_a_spread_that_counts_pods_without_it() -> None:
    """Zone 1 has 3 pods that count, of which only the large one states it, so that zone 2 may take that; node b has
    room for it once another pod has left."""
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    nodes = [make_node(name, cpu="10", labels={"zone": zone}) for name, zone in (("a", "1"), ("b", "2"), ("c", "1"))]
    fixed: Object = {"owners": []}
    pods = [
        pod("large", "5", labels={"app": "x"}, spread=[spread], owners=["ReplicaSet/l"]),
        pod("agent", "4", **fixed),
        *(pod(f"old-{number}", "0.1", labels={"app": "x"}, **fixed) for number in range(2)),
        pod("in-b", "1", "b", labels={"app": "x"}, spread=[spread], **fixed),
        pod("leaves", "3", "b", owners=["ReplicaSet/m"]),
        pod("in-c", "4", "c", **fixed),
    ]

    goal = goal_of(run_choosing("balanceUtilization", nodes, pods, args=TARGET))

    assert goal.levels == (Level("nodes over target", 1, 0, 0),)
    assert goal.evictions == 2


IDLE = Workload("ReplicaSet", "default", "idle", "idle", 0)


@pytest.mark.parametrize(
    ("key", "args", "node"),
    [pytest.param("makeRoom", {}, "", id="pending"), pytest.param("drainNodes", {"nodes": ["a"]}, "a", id="to leave")],
)
def test_nothing_is_proven_of_a_pod_that_its_quota_refuses_where_another_one_could_leave_it(
    key: str, args: Object, node: str
) -> None:
    """The quota has room for the pod once the idle one has left, for which nothing is created."""
    nodes = [make_node("a", cpu="10", unschedulable=True), make_node("b", cpu="10")]
    quota = make_quota("team", most={"cpu": "4"})
    idle = quota_pod("idle", "team", cpu="4", node="b", owners=[owner("ReplicaSet/idle", uid="idle")])
    refused = quota_pod("refused", "team", cpu="4", node=node, phase="Running" if node else "Pending")

    goal = goal_of(
        run_objective(
            key,
            nodes,
            [idle, refused],
            args=args,
            packs=False,
            objects={ELASTIC_QUOTA_KIND: (quota,)},
            workloads={"idle": IDLE},
        )
    )

    assert goal.levels[0].bound == 0
    assert "no plan does better" not in goal.sentence


def test_goal_names_a_node_with_more_pods_of_a_budget_than_may_leave_at_once() -> None:
    pods = [*(pod(f"a{n}", "1", labels={"app": "x"}) for n in range(3)), pod("bare", "5", "b", owners=[])]
    budget = make_budget("guard", {"app": "x"}, disruptions_allowed=2)

    goal = goal_of(run_objective("consolidateNodes", NODES[:2], pods, budgets=(budget,)))

    assert goal.sentence.startswith(
        "2 nodes in use → 2 with 0 evictions; proven best for PodDisruptionBudget default/guard (2 disruptions now);"
        " the rest needs at least 3 more evictions;"
        " node a has 3 pods that PodDisruptionBudget default/guard (2 disruptions now) counts together: 2 may leave in"
        " a run"
    )


def contended() -> tuple[list[Node], list[Pod]]:
    """The pod of low priority may run on c alone, without the pod that is there: bounds count c as open to it."""
    nodes = [make_node(name, cpu="10", labels={"kubernetes.io/hostname": name}) for name in "abc"]
    on_c, apart = {"kubernetes.io/hostname": "c"}, required_anti_affinity({"app": "c"})
    low = pod("low", "4", priority=0, node_selector=on_c, affinity=apart)
    of_a = [low, pod("high", "4", priority=1000)]
    return nodes, [*of_a, pod("c", "3", "c", priority=1000, labels={"app": "c"})]


@pytest.mark.long
def test_a_plan_of_the_fewest_evictions_is_optimal_though_tie_breaks_cost_more() -> None:
    goal = goal_of(run_objective("balanceUtilization", *contended(), args=TARGET, packs=False))

    assert (goal.evictions, goal.bound) == (1, 1)
    assert goal.cost_bound == goal.cost - 10
    assert goal.status == "optimal"


@pytest.mark.long
def test_a_plan_is_not_optimal_where_another_may_cost_less_by_more_than_tie_breaks() -> None:
    planner = {"disruptionCost": {"priority": 1}}

    goal = goal_of(run_objective("balanceUtilization", *contended(), args=TARGET, packs=False, planner=planner))

    assert (goal.evictions, goal.bound, goal.status) == (1, 1, "feasible")


@pytest.mark.long
def test_more_plans_are_made_where_one_may_cost_less(monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Solution] = []

    def solved(*args: Any, **options: Any) -> Solution:
        plans.append(solve(*args, **options))
        return plans[-1]

    monkeypatch.setattr(plan_search, "solve", solved)
    run_objective("balanceUtilization", *contended(), args=TARGET, packs=False)
    num_proven = len(plans)
    dear = {"disruptionCost": {"priority": 1}}
    run_objective("balanceUtilization", *contended(), args=TARGET, packs=False, planner=dear)

    assert len(plans) - num_proven > num_proven
