"""MigrationPlanner with ConsolidateNodes: nodes are emptied whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.background import EvictionAnswer
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Level
from descheduler.plan.moves import Move
from descheduler.planner.objective_args import NodeCost
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, make_budget, make_node, make_pod, make_snapshot
from tests.planner.choosing import run_choosing
from tests.planner.runs import goal_of, run_objective, verified
from tests.strategies.runs import evicted

NODES = [make_node(name, cpu="10") for name in "abc"]


def pod(name: str, cpu: str, node: str, **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **facts)


def run(pods: Sequence[Pod], **others: Any) -> Decisions:
    return run_objective("consolidateNodes", others.pop("nodes", NODES), pods, **others)


SPREAD_OUT = [pod("a0", "2", "a"), pod("a1", "1", "a"), *(pod(f"{node}0", "8", node, owners=[]) for node in "bc")]
"""Node a can be emptied; b and c have a bare pod."""


def test_the_pods_of_a_node_leave_for_nodes_that_are_in_use() -> None:
    decisions = run(SPREAD_OUT)

    assert sorted(evicted(decisions)) == ["a0", "a1"]
    assert {move.to_node for move in decisions.moves} <= {"b", "c"}
    assert decisions.moves[0].reason == "empties node a (requests: cpu 30%, memory 0% of allocatable)"


def test_goal_says_how_many_nodes_are_in_use() -> None:
    goal = goal_of(run(SPREAD_OUT))

    assert goal.levels == (Level("nodes in use", 3, 2, 2),)
    assert goal.sentence == "3 nodes in use → 2 with 2 evictions; no plan does better"


def test_the_pods_of_a_node_are_evicted_as_one_bundle() -> None:
    """What carries the plan out ends with the first pod that does not leave."""
    (bundle,) = {move.bundle for move in run(SPREAD_OUT).moves}

    assert bundle != 0


def test_no_pod_leaves_a_node_that_a_pending_pod_would_take() -> None:
    """Once its pods have left, node a has room for the pending pod, which no node has before."""
    decisions = run([*SPREAD_OUT, make_pod("large", cpu="9", node="", phase="Pending")])

    assert evicted(decisions) == []
    assert goal_of(decisions).levels[0].after == 3


@pytest.mark.parametrize("chooses", [True, False], ids=["the plan chooses", "the scheduler chooses"])
def test_pods_leave_for_a_node_that_is_in_use_by_a_pending_pod_alone(chooses: bool) -> None:
    """The scheduler places it there as things are; no other node has room for it."""
    nodes = [make_node("a", cpu="2"), make_node("b", cpu="20")]
    waiting = make_pod("waiting", cpu="9", node="", phase="Pending", priority=9, owners=["ReplicaSet/waiting"])
    pods = [pod("p", "2", "a"), waiting]

    key = "consolidateNodes"
    decisions = run_choosing(key, nodes, pods) if chooses else run_objective(key, nodes, pods, packs=False)

    assert {move.pod.name: move.to_node for move in decisions.moves} == {"p": "b"}
    assert goal_of(decisions).sentence == "2 nodes in use → 1 with 1 eviction; no plan does better"


def test_nothing_leaves_where_all_pods_are_pending() -> None:
    pending = [make_pod(f"p{number}", cpu="9", node="", phase="Pending") for number in range(2)]

    decisions = run(pending, nodes=NODES[:2])

    assert evicted(decisions) == []


def test_pods_are_told_apart_whose_uids_are_equal() -> None:
    """As in a dump that was written by hand."""
    pods = [pod("a0", "1", "a", uid="same"), pod("agent", "1", "b", uid="same", owners=["DaemonSet/agent"])]

    decisions = run([*pods, pod("b0", "3", "b", owners=[])], nodes=NODES[:2])

    assert evicted(decisions) == ["a0"]


@pytest.mark.parametrize("cost", [-1.0, 1e9, 1e300, float("inf"), float("nan")])
def test_costs_of_nodes_are_numbers_that_can_be_added(cost: float) -> None:
    costs = NodeCost(label="type", prices={"large": cost}, default=cost)

    assert [problem.path for problem in costs.problems()] == [("prices", "large"), ("default",)]


def test_pods_of_daemon_sets_and_static_pods_do_not_keep_a_node_in_use() -> None:
    others = [
        pod("d", "1", "a", owners=["DaemonSet/d"]),
        pod("s", "1", "a", owners=["Node/a"], annotations={"kubernetes.io/config.mirror": "x"}),
    ]

    decisions = run([*SPREAD_OUT, *others])

    assert sorted(evicted(decisions)) == ["a0", "a1"]
    assert goal_of(decisions).levels[0].after == 2


def test_requests_of_daemon_sets_come_off_the_capacity() -> None:
    """Without them 2 cores fit beside 8."""
    daemons = [pod(f"d{node}", "500m", node, owners=["DaemonSet/d"]) for node in "bc"]

    assert evicted(run([pod("a0", "2", "a"), *SPREAD_OUT[2:], *daemons])) == []


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({"policy": {"maxNoOfPodsToEvictTotal": 1}}, id="limit of the run"),
        pytest.param({"policy": {"maxNoOfPodsToEvictPerNode": 1}}, id="limit per node"),
        pytest.param({"planner": {"maxEvictions": 1}}, id="limit of the planner"),
        pytest.param({"args": {"maxUtilization": {"cpu": 60}}}, id="utilization"),
        pytest.param({"args": {"protectedNodes": {"matchLabels": {"kubernetes.io/hostname": "a"}}}}, id="protected"),
        pytest.param({"budgets": (make_budget("guard", {"app": "x"}, disruptions_allowed=1),)}, id="budget"),
    ],
)
def test_no_node_is_half_drained(others: Object) -> None:
    pods = [
        pod(each.name, f"{number}", "a", labels={"app": "x"}) for number, each in zip("21", SPREAD_OUT[:2], strict=True)
    ]

    decisions = run([*pods, *SPREAD_OUT[2:]], **others)

    assert [name for name in evicted(decisions) if name.startswith("a")] == []


def test_a_pod_that_cannot_be_evicted_keeps_its_node_in_use() -> None:
    assert evicted(run([*SPREAD_OUT, pod("bare", "100m", "a", owners=[])])) == []


def test_a_refusal_of_the_api_in_the_middle_keeps_the_whole_node() -> None:
    """It is known from an earlier round of the run, and no limit tells of it before."""
    decisions = decide(
        load_policy(verified({"objectives": [{"consolidateNodes": {}}], "timeLimit": "60s", "workLimit": 2}), REGISTRY),
        make_snapshot(NODES, SPREAD_OUT),
        now=NOW,
        this_round=Round(answers={"default/a1": EvictionAnswer(429, "no")}),
    )

    assert evicted(decisions) == []


def test_a_node_that_an_earlier_round_has_begun_to_empty_is_emptied() -> None:
    decisions = run(SPREAD_OUT, prior_moves=[Move(SPREAD_OUT[0], "p", "MigrationPlanner", "")])

    assert sorted(evicted(decisions)) == ["a0", "a1"]


def test_a_node_is_left_whose_pods_would_be_scheduled_onto_it_again() -> None:
    """kube-scheduler as it comes prefers the node that the pod has just left."""
    decisions = run(SPREAD_OUT, packs=False)

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence == (
        "3 nodes in use → 3 with 0 evictions (best possible: 2); no better plan was found within the limits;"
        " a scheduler that scores with MostAllocated prefers fuller nodes (schedulerConfigFile)"
    )


def test_goal_promises_no_further_runs_where_a_node_has_more_pods_than_one_run_may_evict() -> None:
    pods = [*(pod(f"a{n}", "1", "a") for n in range(3)), pod("bare", "5", "b", owners=[])]

    goal = goal_of(run(pods, nodes=NODES[:2], policy={"maxNoOfPodsToEvictTotal": 2}))

    assert goal.sentence.startswith(
        "2 nodes in use → 2 with 0 evictions; proven best for maxNoOfPodsToEvictTotal (2);"
        " the rest needs at least 3 more evictions;"
        " node a needs 3 evictions, more than maxNoOfPodsToEvictTotal (2) allows in a run"
    )


def test_goal_says_how_many_runs_the_rest_needs_where_each_node_can_be_emptied_in_one() -> None:
    pods = [*(pod(f"{node}{n}", "1", node) for node in "ab" for n in range(2)), pod("bare", "5", "c", owners=[])]

    goal = goal_of(run(pods, policy={"maxNoOfPodsToEvictTotal": 2}))

    assert goal.sentence == (
        "3 nodes in use → 2 with 2 evictions; proven best for maxNoOfPodsToEvictTotal (2);"
        " the rest needs at least 2 more evictions (1 more run)"
    )


def test_goal_names_budgets_of_which_a_later_run_may_have_more_disruptions() -> None:
    """Without them a and b are emptied, onto c."""
    pods = [pod("a0", "2", "a", labels={"app": "x"}), pod("b0", "2", "b", labels={"app": "x"}), pod("c0", "5", "c")]
    budget = make_budget("guard", {"app": "x"}, disruptions_allowed=1)

    goal = goal_of(run([*pods, pod("bare", "1", "c", owners=[])], budgets=(budget,)))

    assert goal.sentence == (
        "3 nodes in use → 2 with 1 eviction; proven best for PodDisruptionBudget default/guard (1 disruption now);"
        " the rest needs at least 1 more eviction"
    )


def test_goal_of_a_plan_without_evictions_names_the_budgets_in_the_way() -> None:
    """No plan asks for these pods, so no refusal tells of their budgets."""
    pods = [pod(f"{node}0", cpu, node, labels={"app": node}) for node, cpu in (("a", "2"), ("b", "3"))]
    budgets = [make_budget(f"keep-{node}", {"app": node}, disruptions_allowed=0) for node in "ab"]

    decisions = run(pods, nodes=NODES[:2], budgets=tuple(budgets))

    assert goal_of(decisions).sentence == (
        "2 nodes in use → 2 with 0 evictions; no plan does better;"
        " node a is not emptied: pod default/a0 cannot be evicted: PodDisruptionBudget default/keep-a allows 0"
        " disruptions (0 healthy, 0 required); node b is not emptied: pod default/b0 cannot be evicted:"
        " PodDisruptionBudget default/keep-b allows 0 disruptions (0 healthy, 0 required)"
    )


def test_no_replacement_is_scheduled_onto_a_node_that_is_not_in_use() -> None:
    """The empty node d attracts replacements under the defaults."""
    nodes = [*NODES[:2], make_node("d", cpu="20")]

    decisions = run([pod("a0", "2", "a"), pod("b0", "6", "b")], nodes=nodes, packs=False)

    assert evicted(decisions) == []
    assert goal_of(decisions).levels == (Level("nodes in use", 2, 2, 1),)


@pytest.mark.long
def test_dear_nodes_are_emptied_first() -> None:
    """Either of a and b can be emptied, and b costs more than it takes evictions."""
    prices: Object = {"label": "type", "prices": {"small": 0.1, "large": 0.4}}
    nodes = [
        make_node(name, cpu="10", labels={"type": kind})
        for name, kind in zip("abc", ("small", "large", "small"), strict=True)
    ]
    pods = [pod("a0", "4", "a"), pod("b0", "2", "b"), pod("b1", "2", "b"), pod("c0", "5", "c")]

    decisions = run(pods, nodes=nodes, args={"nodeCost": prices})

    assert sorted(evicted(decisions)) == ["b0", "b1"]
    assert goal_of(decisions).sentence.startswith("3 nodes in use → 2 (cost 0.6 → 0.2) with 2 evictions")


@pytest.mark.long
def test_cost_of_a_node_is_the_value_of_its_label_where_no_prices_are_given() -> None:
    nodes = [
        make_node(name, cpu="10", labels={"cost": cost}) for name, cost in zip("abc", ("1", "2.5", "x"), strict=True)
    ]
    pods = [pod("a0", "4", "a"), pod("b0", "4", "b"), pod("c0", "5", "c")]

    decisions = run(pods, nodes=nodes, args={"nodeCost": {"label": "cost", "default": 0.5}})

    assert goal_of(decisions).sentence.startswith("3 nodes in use → 2 (cost 4 → 1.5) with 1 eviction")


@pytest.mark.long
@pytest.mark.parametrize(("least", "leave"), [(1.5, ["b0"]), (3, [])])
def test_what_an_eviction_gains_is_what_its_node_costs(least: float, leave: Sequence[str]) -> None:
    nodes = [make_node(name, cpu="10", labels={"cost": cost}) for name, cost in zip("ab", ("1", "2"), strict=True)]
    pods = [pod("a0", "5", "a"), pod("b0", "4", "b")]

    decisions = run(pods, nodes=nodes, args={"nodeCost": {"label": "cost"}}, planner={"minGainPerDisruption": least})

    assert evicted(decisions) == leave


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        pytest.param({}, "1 node in use: at least 2 are required", id="one node"),
        pytest.param({"protectedNodes": {}}, "1 node in use: at least 2 are required", id="all protected"),
    ],
)
def test_goal_says_why_nothing_is_to_be_done(args: Object, sentence: str) -> None:
    assert goal_of(run([pod("a0", "2", "a")], args=args)).sentence == sentence


@pytest.mark.long
def test_equal_input_gives_equal_plans() -> None:
    nodes = [make_node(f"n{number}", cpu="10") for number in range(8)]
    pods = [pod(f"p{number}", f"{100 + 37 * number % 900}m", f"n{number % 8}") for number in range(40)]

    first, second = (run(pods, nodes=nodes, planner={"timeLimit": "60s", "workLimit": 1}) for _ in range(2))

    assert evicted(first) == evicted(second) != []


@pytest.mark.long
def test_a_node_that_attracts_the_replacements_of_another_one_stays_in_use() -> None:
    """Both b and c would fit on a; the scheduler prefers each of them for the other's pods."""
    nodes = [make_node("a", cpu="20"), *NODES[1:]]
    pods = [pod("a0", "8", "a", owners=[]), *(pod(name, "3", name[0]) for name in ("b0", "b1", "c0"))]

    decisions = run(pods, nodes=nodes)

    assert goal_of(decisions).levels == (Level("nodes in use", 3, 2, 1),)


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        pytest.param({"maxMigratingPerNode": 2}, "maxMigratingPerNode (2)", id="of a node"),
        pytest.param({"maxMigratingPerWorkload": None}, "maxMigratingPerWorkload (default)", id="of a workload, unset"),
        pytest.param({"maxMigratingPerWorkload": "50%"}, "maxMigratingPerWorkload (50%)", id="of a workload"),
        pytest.param({"maxMigratingPerNamespace": 3}, "maxMigratingPerNamespace (3)", id="of a namespace"),
        pytest.param(
            {"objectLimiters": {"workload": {"duration": "1h", "burst": 2}}},
            "objectLimiters.workload.burst (2)",
            id="of a workload in each run",
        ),
    ],
)
def test_goal_names_the_limit_of_migration_controller_that_keeps_a_node_in_use(limits: Object, name: str) -> None:
    pods = [
        *(pod(f"p{number}", "1", "a", owners=["ReplicaSet/web"]) for number in range(4)),
        pod("q", "5", "b", owners=[]),
    ]

    decisions = run_choosing("consolidateNodes", NODES, pods, limits=limits)

    change = "2 nodes in use → 2 with 0 evictions"
    assert goal_of(decisions).sentence.startswith(f"{change}; proven best for {name}; the rest needs at least 4 more")


def test_arguments_without_effect_are_said() -> None:
    args = {"maxUtilization": {"example.com/gpu": 90}}

    decisions = run_objective("consolidateNodes", NODES, [pod("p", "1", "a"), pod("q", "1", "b")], args=args)

    assert goal_of(decisions).sentence.endswith(
        "; maxUtilization.example.com/gpu (90) has no effect: no node has example.com/gpu"
    )
