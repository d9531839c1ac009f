"""What the goal of DrainNodes says of nodes that are not drained: which pod stays, and why."""

from __future__ import annotations

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Level
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, make_budget, make_node, make_snapshot
from tests.planner.choosing import choosing_policy
from tests.planner.nodes_to_drain import CORDONED, FREE, OLD, pod, run
from tests.planner.runs import goal_of, run_objective, verified
from tests.strategies.runs import evicted, run_plugin


def test_a_node_is_drained_whole_or_not_at_all_and_the_budget_in_the_way_is_named() -> None:
    pods = [pod("guarded", "old-1", labels={"app": "db"}), pod("p", "old-1"), pod("q", "old-2")]
    budget = make_budget("db", {"app": "db"}, disruptions_allowed=0)

    decisions = run(pods, budgets=(budget,))

    assert evicted(decisions) == ["q"]
    goal = goal_of(decisions)
    assert (goal.levels, goal.status) == ((Level("nodes to be drained", 2, 1, 1),), "optimal")
    assert "node old-1 cannot be drained: pod default/guarded cannot be evicted: PodDisruptionBudget" in goal.sentence


def tight(on_conditional: str) -> Decisions:
    """Pods of 1, 2 and 4 CPU have to leave, and 4 and 3 CPU are free: all have room if the largest is placed first."""
    policy = choosing_policy({"drainNodes": {"nodes": ["old-1"]}}, chooses=False)
    verification: Object = {"name": "PlacementVerification", "args": {"onConditional": on_conditional}}
    policy["profiles"][0]["pluginConfig"].append(verification)
    sizes = {"a": "1", "b": "2", "c": "4"}
    pods = [pod(name, "old-1", cpu, owners=[f"ReplicaSet/{name}"]) for name, cpu in sizes.items()]
    nodes = [CORDONED[0], make_node("new-1", cpu="4"), make_node("new-2", cpu="3")]
    return decide(load_policy(policy, REGISTRY), make_snapshot(nodes, pods), now=NOW)


def test_the_largest_pods_of_a_node_leave_first_where_the_others_would_take_their_room() -> None:
    assert evicted(tight("allow")) == ["c", "b", "a"]


def test_a_node_whose_pods_have_room_in_some_orders_alone_is_not_said_to_lack_room() -> None:
    assert goal_of(tight("refuse")).sentence.endswith(
        "node old-1 cannot be drained: pod default/a cannot be evicted together with the other pods of the node: in"
        " some orders or tie-breaks of the replacement pods, no node is left for it (onConditional: refuse)"
    )


def test_a_node_whose_pods_find_no_room_is_named() -> None:
    decisions = run([pod("large", "old-1", "9"), pod("x", "new-1"), pod("y", "new-2")])

    assert evicted(decisions) == []
    cause = "0/5 nodes are available for the replacement pod: 3 unschedulable, 2 insufficient cpu"
    assert goal_of(decisions).sentence == (
        "1 node to be drained → 1 with 0 evictions; no plan does better;"
        f" node old-1 cannot be drained: pod default/large cannot be evicted: {cause}"
    )


@pytest.mark.parametrize(
    ("others", "cause"),
    [
        pytest.param(
            {"budgets": [make_budget("db", {"app": "db"}, disruptions_allowed=1, current_healthy=2)]},
            "PodDisruptionBudget default/db allows 1 disruption, used by other pods of this run (2 healthy, 0"
            " required)",
            id="a budget",
        ),
        pytest.param(
            {"policy": {"maxNoOfPodsToEvictPerNode": 1}},
            "maxNoOfPodsToEvictPerNode (1) reached for node old-1",
            id="a limit of the policy",
        ),
        pytest.param({"planner": {"maxEvictions": 1}}, "maxEvictions (1) reached", id="a limit of the planner"),
    ],
)
def test_what_blocks_the_pods_of_a_node_only_together_is_named_with_the_pod(others: Object, cause: str) -> None:
    pods = [pod("p", "old-1", labels={"app": "db"}), pod("q", "old-1", labels={"app": "db"})]

    decisions = run(pods, **others)

    assert goal_of(decisions).sentence.endswith(
        "node old-1 cannot be drained: pod default/q cannot be evicted together with the other pods of the node:"
        f" {cause}"
    )


def test_a_node_whose_pods_have_no_nodes_but_such_as_are_to_be_drained_says_so() -> None:
    nodes = [make_node(name, cpu="10", labels=OLD) for name in ("old-1", "old-2")]

    decisions = run([pod("p", "old-1")], nodes, args={"cordon": False})

    assert goal_of(decisions).sentence.endswith(
        "node old-1 cannot be drained: pod default/p cannot be evicted: all other nodes that its replacement pod can be"
        " scheduled onto receive no replacement pods (old-2 is to be drained)"
    )


def test_a_node_that_receives_a_replacement_of_an_earlier_strategy_says_so() -> None:
    """The older pod is evicted first, and the scheduler prefers the node that is to be drained."""
    policy = verified(
        {"objectives": [{"drainNodes": {"nodes": ["old"]}}], "timeLimit": "60s", "workLimit": 2}, packs=False
    )
    profile = policy["profiles"][0]
    profile["pluginConfig"].append({"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}})
    profile["plugins"]["deschedule"] = {"enabled": ["PodLifeTime"]}
    nodes = [make_node("old", cpu="10"), make_node("a", cpu="10"), make_node("b", cpu="10")]
    pods = [
        pod("aged", "a", "2"),
        pod("young", "old", "1", started=10, age=10),
        *(pod(f"full-{name}", name, "6", started=10, age=10) for name in "ab"),
    ]

    decisions = run_plugin("MigrationPlanner", nodes, pods, policy=policy)

    assert goal_of(decisions).sentence.endswith(
        "node old cannot be drained: this run evicts pod default/aged, whose replacement pod would be scheduled onto it"
    )


@pytest.mark.parametrize("chooses", [True, False], ids=["the plan chooses", "the scheduler chooses"])
def test_a_node_without_pods_that_a_pending_pod_is_scheduled_onto_says_so(chooses: bool) -> None:
    policy = choosing_policy({"drainNodes": {"nodes": ["old", "other"]}}, chooses=chooses)
    nodes = [make_node("old", cpu="10"), make_node("other", cpu="2"), make_node("full", cpu="2")]
    pods = [
        pod("waiting", "", "4", phase="Pending", ready=False),
        pod("p", "other", "2", owners=["ReplicaSet/p"]),
        pod("q", "full", "2", owners=["ReplicaSet/q"]),
    ]

    decisions = decide(load_policy(policy, REGISTRY), make_snapshot(nodes, pods), now=NOW)

    assert (
        "node old cannot be drained: pending pod default/waiting would be scheduled onto it; cordon the node, or set"
        " cordon: true"
    ) in goal_of(decisions).sentence


def test_a_node_that_a_pending_pod_is_scheduled_onto_although_it_is_cordoned_says_so() -> None:
    tolerant = [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]
    waiting = pod("waiting", "", "4", phase="Pending", ready=False, tolerations=tolerant)

    decisions = run([waiting, pod("p", "new-1", "9"), pod("q", "new-2", "9")], [CORDONED[0], *FREE])

    assert goal_of(decisions).sentence.endswith(
        "node old-1 cannot be drained: pending pod default/waiting would be scheduled onto it"
    )


def test_gain_that_is_too_small_is_said_once() -> None:
    decisions = run([pod("p", "old-1"), pod("q", "old-1")], planner={"minGainPerDisruption": 0.6})

    assert goal_of(decisions).sentence.endswith(
        "pod default/p cannot be evicted: its part of the plan gains 0.49 for each of 2 evictions"
        " (minGainPerDisruption: 0.6)"
    )


def test_selector_that_no_node_matches_is_said() -> None:
    args = {"nodeSelector": {"matchLabels": {"pool": "odl"}}}

    assert goal_of(run_objective("drainNodes", FREE, [pod("p", "new-1")], args=args)).sentence == (
        "no node is to be drained; drainNodes.nodeSelector (pool in (odl)): 0 of 2 nodes match"
    )


def test_names_without_a_node_are_said() -> None:
    decisions = run_objective("drainNodes", FREE, [pod("p", "new-1")], args={"nodes": ["gone"]})

    assert goal_of(decisions).sentence == (
        "no node is to be drained; drainNodes.nodes: gone not found among the nodes of the cluster"
    )


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"nodes": ["a"]}, id="by name"),
        pytest.param({"nodeSelector": {"matchLabels": OLD}}, id="by label"),
    ],
)
def test_a_node_that_is_not_ready_is_said_not_to_be_drained(args: Object) -> None:
    nodes = [make_node("a", labels=OLD, ready=False), *FREE]

    decisions = run_objective("drainNodes", nodes, [pod("p", "a")], args=args, packs=False, processed=FREE)

    assert goal_of(decisions).sentence == "node a cannot be drained: it is not Ready"


def test_a_pod_that_the_filters_reject_is_named_before_one_that_a_budget_keeps() -> None:
    """As `explain` says it of the pods of the node."""
    pods = [pod("alone", "old-1", owners=[]), pod("kept", "old-1", labels={"app": "kept"})]

    decisions = run(pods, budgets=[make_budget("kept", {"app": "kept"}, disruptions_allowed=0)])

    assert "node old-1 cannot be drained: pod default/alone cannot be evicted:" in goal_of(decisions).sentence


def test_a_node_with_nothing_but_a_rejected_pod_names_it() -> None:
    assert "pod default/alone cannot be evicted:" in goal_of(run([pod("alone", "old-1", owners=[])])).sentence
