"""What MigrationPlanner says of pods that its plan leaves where they are, objective by objective."""

from __future__ import annotations

from typing import Any

from descheduler.model.pod import Pod
from tests.builders import Object, make_budget, make_node, make_pod
from tests.planner.runs import asked_after
from tests.strategies.runs import evicted

NODES = [make_node(name, cpu="10", labels={"name": name}) for name in "abc"]
OTHER = make_node("other", cpu="10")
"""A node that the policy does not select."""


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


def reasons(objective: Object, pods: list[Pod], **others: Any) -> dict[str, str]:
    """What is said of each pod that stays."""
    decisions, planner = asked_after(objective, nodes=[*NODES, OTHER], pods=pods, processed=NODES, **others)
    return {each.name: planner.why_not(each) for each in pods if each.name not in evicted(decisions)}


BALANCE: Object = {"balanceUtilization": {"targetThresholds": {"cpu": 70}}}


def test_balancing_says_what_became_of_the_node() -> None:
    pods = [pod("leaves", "3"), pod("stays", "6"), pod("cold", "1", "b"), pod("far", "9", "other")]

    assert reasons(BALANCE, pods, packs=False) == {
        "stays": "other pods of node a bring it under its target",
        "cold": "node b is not over its target (cpu 70%)",
        "far": "node other is not one of the nodes that the policy selects",
    }


def test_balancing_says_that_a_node_stays_over_its_target() -> None:
    """Pod a fits under no other target."""
    pods = [
        pod("a", "8"),
        pod("bare", "1", owners=[]),
        pod("b", "6", "b"),
        pod("c", "6", "c"),
        pod("far", "9", "other"),
    ]

    found = reasons(BALANCE, pods, packs=False)

    assert found["bare"] == (
        "node a stays over its target (cpu 70%): no plan found within the limits moves enough of its pods"
    )


def test_balancing_of_measured_usage_says_what_was_not_measured() -> None:
    measured: Object = {
        "balanceUtilization": {
            "targetThresholds": {"cpu": 70},
            "metricsUtilization": {"source": "KubernetesMetrics"},
        }
    }

    assert reasons(measured, [pod("p", "1")])["p"] == "the usage of node a was not measured"


def test_consolidation_says_what_keeps_a_node_in_use() -> None:
    """Pods of node a have room on node b, where a bare pod is, which keeps that in use."""
    pods = [
        pod("leaves", "2"),
        pod("agent", "1", "b", owners=["DaemonSet/agent"]),
        pod("bare", "3", "b", owners=[]),
        pod("beside", "1", "b"),
        pod("safe", "1", "c"),
        pod("far", "1", "other"),
    ]
    args: Object = {"consolidateNodes": {"protectedNodes": {"matchLabels": {"name": "c"}}}}

    assert reasons(args, pods) == {
        "agent": "the pod does not keep node b in use: it belongs to a DaemonSet",
        "bare": "node b is not emptied: pod default/bare cannot be evicted: the pod has no owner that recreates it",
        "beside": "node b is not emptied: pod default/bare cannot be evicted: the pod has no owner that recreates it",
        "safe": "node c is protected (protectedNodes)",
        "far": "node other is not one of the nodes that the policy selects",
    }


def test_consolidation_says_that_a_node_receives_pods_of_others() -> None:
    pods = [pod("leaves", "2"), pod("there", "6", "b"), pod("full", "10", "c")]

    found = reasons({"consolidateNodes": {}}, pods)

    assert found == {
        "there": "node b is not emptied: the plan has pods of other nodes scheduled onto it",
        "full": "node c is not emptied in any plan that was found",
    }


def test_consolidation_says_that_a_budget_lets_some_pods_of_a_node_leave_and_not_all() -> None:
    """Each of them could be evicted alone, with room on node b, which the bare pod keeps in use."""
    web: Object = {"labels": {"app": "web"}, "owners": ["ReplicaSet/web"]}
    pods = [pod("p", "1", **web), pod("q", "1", **web), pod("bare", "1", "b", owners=[])]
    budget = make_budget("web", {"app": "web"}, disruptions_allowed=1)

    _, planner = asked_after({"consolidateNodes": {}}, nodes=NODES, pods=pods, budgets=(budget,))

    assert planner.why_not(pods[0]).startswith(
        "node a is not emptied: pod default/q cannot be evicted together with the other pods of the node:"
        " PodDisruptionBudget default/web allows 1 disruption"
    )


def test_draining_says_which_nodes_are_to_be_drained_and_what_keeps_one() -> None:
    """Nothing is said of pods that do not keep the node in use but that."""
    nodes = {"drainNodes": {"nodes": ["a"]}}
    pods = [
        pod("bare", "1", owners=[]),
        pod("beside", "1"),
        pod("agent", "1", owners=["DaemonSet/d"]),
        pod("b", "1", "b"),
    ]

    found = reasons(nodes, pods, packs=False)

    assert found["b"] == "node b is not to be drained"
    assert found["bare"] == found["beside"]
    assert found["bare"] == (
        "node a is not drained: pod default/bare cannot be evicted: the pod has no owner that recreates it"
    )
    assert found["agent"] == "the pod does not keep node a in use: it belongs to a DaemonSet"


def test_reducing_cost_says_that_no_node_is_cheaper() -> None:
    cost: Object = {"reduceCost": {"nodeCost": {"label": "name", "prices": {"a": 1, "b": 2, "c": 3}}}}
    pods = [pod("cheap", "2"), pod("large", "9", "b"), pod("far", "1", "other")]

    assert reasons(cost, pods, packs=False) == {
        "cheap": "no node is cheaper than node a (nodeCost)",
        "large": "no plan found within the limits has cheaper room for it",
        "far": "node other is not one of the nodes that the policy selects",
    }


def test_repairing_says_whether_a_pod_is_selected_and_what_became_of_that() -> None:
    tainted = [make_node("a", cpu="10", taints=["x:NoSchedule"]), *NODES[1:]]
    repair: Object = {"repairViolations": {"strategies": ["RemovePodsViolatingNodeTaints"]}}
    pods = [pod("stuck", "2", node_selector={"name": "a"}), pod("fine", "1", "b"), pod("far", "1", "other")]
    policy = {
        "profiles": [
            {
                "name": "p",
                "pluginConfig": [
                    {"name": "DefaultEvictor", "args": {}},
                    {"name": "RemovePodsViolatingNodeTaints", "args": {}},
                    {"name": "MigrationPlanner", "args": {"objectives": [repair], "timeLimit": "60s", "workLimit": 1}},
                    {"name": "PlacementVerification", "args": {}},
                ],
                "plugins": {
                    "balance": {"enabled": ["MigrationPlanner"]},
                    "preevictionfilter": {"enabled": ["PlacementVerification"]},
                },
            }
        ]
    }

    decisions, planner = asked_after(repair, nodes=[*tainted, OTHER], pods=pods, processed=tainted, policy=policy)

    assert evicted(decisions) == []
    found = [planner.why_not(each) for each in pods]
    assert "but cannot be evicted: 0/4 nodes" in found[0]
    assert found[1:] == [
        "not selected by RemovePodsViolatingNodeTaints",
        "node other is not one of the nodes that the policy selects",
    ]


GPU = "nvidia.com/gpu"


def gpu_pod(name: str, number: int, node: str, **facts: Any) -> Pod:
    return pod(name, "1", node, requests={GPU: str(number)}, limits={GPU: str(number)}, **facts)


def test_defragmenting_says_that_an_eviction_gains_nothing() -> None:
    nodes = [make_node(name, cpu="64", allocatable={GPU: "8"}) for name in "ab"]
    pods = [gpu_pod("eight", 8, "a"), gpu_pod("four", 4, "b", owners=[])]
    objective: Object = {"reduceFragmentation": {"resource": GPU}}

    _, planner = asked_after(objective, nodes=nodes, pods=pods)
    _, elsewhere = asked_after(objective, nodes=nodes, pods=pods, processed=nodes[:1])

    assert planner.why_not(pods[0]) == (
        "no plan found within the limits gets larger slots of nvidia.com/gpu by its eviction"
    )
    assert elsewhere.why_not(pods[1]) == "node b is not one of the nodes that the policy selects"


def waiting(name: str, cpu: str, **facts: Any) -> Pod:
    return pod(name, cpu, "", phase="Pending", **facts)


def test_making_room_says_of_pods_whether_they_help_and_of_pending_ones_where_the_room_is() -> None:
    large = waiting("large", "4")
    pods = [pod("small", "3", "b"), pod("b", "6", "b"), pod("a", "7"), pod("c", "7", "c"), pod("far", "9", "other")]

    decisions, planner = asked_after(
        {"makeRoom": {}}, nodes=[*NODES, OTHER], pods=[*pods, large], processed=NODES, packs=False
    )

    assert evicted(decisions) == ["small"]
    assert {each.name: planner.why_not(each) for each in pods[1:]} == {
        "b": "other pods make room for the pending pods",
        "a": "other pods make room for the pending pods",
        "c": "other pods make room for the pending pods",
        "far": "node other is not one of the nodes that the policy selects",
    }
    assert planner.about_pending(large) == "evictions of other pods make room for the pod on b"
    assert planner.why_not(pods[0]) == ""


def test_making_room_says_of_pending_pods_why_there_is_none() -> None:
    fits, large, huge = (
        waiting("fits", "1"),
        waiting("large", "8"),
        waiting("gated", "1", spec={"schedulingGates": [{"name": "g"}]}),
    )
    pods = [pod("a", "5", owners=[]), pod("b", "5", "b", owners=[]), pod("c", "5", "c", owners=[])]

    _, planner = asked_after({"makeRoom": {}}, nodes=NODES, pods=[*pods, fits, large, huge], packs=False)

    assert planner.about_pending(fits).startswith("can be scheduled without evictions onto ")
    assert planner.about_pending(large).startswith("makes no room for the pod (1 pod pending → 1; 0 of 3 pods can be")
    assert planner.about_pending(huge) == "the pod has scheduling gates"
    assert planner.why_not(pods[0]).startswith("the pod cannot be evicted: ")


def test_each_objective_says_why_it_leaves_a_pod_and_all_of_them_once_what_they_have_in_common() -> None:
    """The plan for the second objective moves nothing."""
    pods = [pod("leaves", "3"), pod("stays", "6"), pod("b", "1", "b")]

    decisions, planner = asked_after(BALANCE, {"makeRoom": {}}, nodes=NODES, pods=pods, packs=False)

    assert evicted(decisions) == ["leaves"]
    assert planner.why_not(pods[0]) == "no pod is pending"
    assert planner.why_not(pods[1]) == (
        "balanceUtilization: other pods of node a bring it under its target; makeRoom: no pod is pending"
    )
    unselected = "node other is not one of the nodes that the policy selects"
    assert planner.why_not(pod("far", "1", "other")) == unselected
    assert planner.selects_again(pods[0], pods[0], None) == ""  # type: ignore[arg-type]


def test_facts_count_what_was_looked_at_and_what_objectives_leave() -> None:
    pods = [pod("leaves", "3"), pod("stays", "6"), pod("b", "1", "b")]

    _, planner = asked_after(BALANCE, nodes=NODES, pods=pods, packs=False)
    _, idle = asked_after(BALANCE, nodes=NODES, pods=pods[1:], packs=False)

    facts = planner.facts()
    assert (facts.pods_examined, facts.pods_selected, dict(facts.left_out)) == (3, 1, {"objectives": 2})
    assert facts.why_nothing == ""
    assert idle.facts().why_nothing == "no node is over its target (cpu 70%)"
    assert idle.why_idle(NODES) == "no node is over its target (cpu 70%)"
    assert list(planner.figures(NODES)) == [0]
