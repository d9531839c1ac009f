"""What blocks draining a node: by the rules of kubectl drain and the budgets, or by the switches of a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.explanation.subjects.node.drain import drain_blockers
from descheduler.explanation.subjects.node.table import node_table
from descheduler.report.tables.table_style import TableStyle
from tests.builders import Object, node_object, pod_object
from tests.explanation.questions import cluster_of, node_explanation, policy_of
from tests.planner.runs import verified as planner_policy
from tests.report.decided_cycles import pod_life_time_policy

DEARER = {"controller.kubernetes.io/pod-deletion-cost": "1"}
"""Of a pod that the plan leaves where another one will do."""


def blockers(*objects: Object) -> list[tuple[str, str]]:
    """(pod, blocker) of a node with these pods."""
    snapshot = cluster_of(node_object("a"), *objects)
    return [(found.pod.name, found.blocker) for found in drain_blockers(snapshot.pods_by_node["a"], snapshot)]


def budget(allowed: int) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {
            "observedGeneration": 1,
            "disruptionsAllowed": allowed,
            "currentHealthy": 2,
            "desiredHealthy": 2 - allowed,
            "expectedPods": 2,
        },
    }


def test_replicated_pods_without_a_budget_block_nothing() -> None:
    assert blockers(pod_object("web")) == []


def test_a_budget_blocks_the_pods_beyond_what_it_allows() -> None:
    pods = [pod_object(name, labels={"app": "web"}) for name in ("one", "two")]

    assert blockers(*pods, budget(1)) == [("two", "PodDisruptionBudget")]


def test_bare_pods_local_storage_and_daemons_need_flags_of_kubectl_drain() -> None:
    cache = {"name": "cache", "emptyDir": {}}

    assert blockers(
        pod_object("agent", owners=["DaemonSet/agent"], volumes=[cache]),
        pod_object("bare", owners=()),
        pod_object("cache", volumes=[cache]),
    ) == [("agent", "DaemonSet"), ("bare", "BarePod"), ("cache", "LocalStorage")]


def test_mirror_pods_stay_on_a_drained_node_and_block_nothing() -> None:
    assert blockers(pod_object("proxy", owners=(), annotations={"kubernetes.io/config.mirror": "x"})) == []


def verified(**evictor: object) -> Object:
    """A policy that selects no pod here, and verifies where replacements are scheduled."""
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "p",
                "pluginConfig": [
                    {"name": "DefaultEvictor", "args": evictor},
                    {"name": "RemovePodsViolatingNodeTaints", "args": {}},
                    {"name": "PlacementVerification", "args": {}},
                ],
                "plugins": {
                    "deschedule": {"enabled": ["RemovePodsViolatingNodeTaints"]},
                    "preevictionfilter": {"enabled": ["PlacementVerification"]},
                },
            }
        ],
    }


def by_policy(policy: Mapping[str, object], *objects: Object) -> tuple[list[tuple[str, str]], str]:
    """(pod, blocker) of node a by a policy, and the sentence of the table."""
    found = node_explanation("a", [node_object("a", cpu="10"), node_object("b", cpu="4"), *objects], policy_of(policy))
    text = "\n".join(node_table(found, TableStyle()))
    return [(each.pod.name, each.blocker) for each in found.drain_blockers], text


def test_the_switches_of_the_policy_decide_and_not_those_of_kubectl_drain() -> None:
    """Local storage and DaemonSets need flags of kubectl drain; this policy evicts the one and leaves the other."""
    cache = {"name": "cache", "emptyDir": {}}
    pods = [pod_object("cache", node="a", volumes=[cache]), pod_object("agent", node="a", owners=["DaemonSet/agent"])]

    found, text = by_policy(verified(podProtections={"defaultDisabled": ["PodsWithLocalStorage"]}), *pods)

    assert found == []
    assert "Can be drained:   yes" in text


def test_a_pod_that_the_filters_of_the_policy_protect_blocks_the_drain() -> None:
    cache = {"name": "cache", "emptyDir": {}}

    found, text = by_policy(verified(), pod_object("cache", node="a", volumes=[cache]))

    assert found == [("cache", "LocalStorage")]
    assert "Can be drained:   no, because of pod default/cache: " in text


def test_budgets_count_for_all_pods_of_the_node() -> None:
    pods = [pod_object(name, node="a", labels={"app": "web"}) for name in ("one", "two")]

    found, _ = by_policy(verified(), *pods, budget(1))

    assert found == [("two", "DisruptionBudget")]


def test_room_counts_for_all_pods_of_the_node_and_none_returns_to_it() -> None:
    """Node b has room for one of them."""
    pods = [pod_object(name, node="a", cpu="3") for name in ("one", "two")]

    found, text = by_policy(verified(), *pods)

    assert found == [("two", "NoLanding")]
    assert "no, because of pod default/two: " in text


def test_room_is_named_where_the_policy_does_not_verify_it() -> None:
    found, _ = by_policy(pod_life_time_policy(), *[pod_object(name, node="a", cpu="3") for name in ("one", "two")])

    assert found == [("two", "NoLanding")]


def planned(
    *nodes: Object, pods: list[Object], planner: Object | None = None, verification: Object | None = None
) -> str:
    """What the table says of node a, which the policy is to drain, beside b of 4 CPU and others."""
    arguments: Object = {
        "objectives": [{"drainNodes": {"nodeSelector": {"matchLabels": {"pool": "old"}}}}],
        "workLimit": 1,
    }
    policy = planner_policy({**arguments, **(planner or {})}, packs=False)
    policy["profiles"][0]["pluginConfig"][2]["args"] = verification or {}
    return drain_answer([*nodes, *pods], policy)


def drain_answer(objects: list[Object], policy: Mapping[str, object]) -> str:
    """The line of the table about draining node a."""
    table = node_table(node_explanation("a", objects, policy_of(policy)), TableStyle())
    (line,) = (line for line in table if line.startswith("Can be drained:"))
    return line.removeprefix("Can be drained:").strip()


OLD = {"pool": "old"}
A, B = node_object("a", cpu="10", labels=OLD, unschedulable=True), node_object("b", cpu="4")


def own(name: str, cpu: str, **facts: Any) -> Object:
    """A pod on node a of a ReplicaSet of its own."""
    return pod_object(name, node="a", cpu=cpu, owners=[f"ReplicaSet/{name}"], **facts)


def test_a_disposable_pod_without_room_blocks_no_plan() -> None:
    pods = [own("batch", "8", labels={"tier": "batch"}), own("web", "1")]

    assert planned(A, B, pods=pods, verification={"disposablePods": {"matchLabels": {"tier": "batch"}}}) == "yes"


def test_a_pod_that_would_be_scheduled_onto_a_node_before_its_maintenance_blocks_a_plan() -> None:
    leaving = node_object("leaving", cpu="20", conditions=["MaintenancePlanned"])

    assert planned(A, leaving, pods=[own("web", "1")]) == (
        "no, because of pod default/web: all other nodes that its replacement pod can be scheduled onto receive no"
        " replacement pods (leaving has the condition MaintenancePlanned)"
    )


def test_the_limit_of_the_planner_blocks_a_plan() -> None:
    pods = [own("one", "1"), own("two", "1")]

    assert planned(A, B, pods=pods, planner={"maxEvictions": 1}) == (
        "no, because of pod default/two: maxEvictions (1) reached"
    )


def test_what_blocks_a_plan_is_named_by_its_reason() -> None:
    policy = planner_policy({"objectives": [{"drainNodes": {"nodes": ["a"]}}], "workLimit": 1}, packs=False)
    pods = [own("web", "1", labels={"app": "web"}), own("cache", "1", volumes=[{"name": "cache", "emptyDir": {}}])]

    found, _ = by_policy(policy, *pods)

    assert found == [("cache", "LocalStorage")]


def test_a_pod_of_which_the_landing_is_unknown_blocks_a_plan_even_where_others_may_evict_it() -> None:
    found = planned(A, B, pods=[own("web", "1", scheduler="other")], verification={"onUnknown": "allow"})

    assert found.startswith("no, because of pod default/web: ")


@pytest.mark.parametrize("is_named", [True, False], ids=["by name", "by label"])
def test_a_node_that_is_not_ready_is_not_drained(is_named: bool) -> None:
    nodes = [node_object("a", labels=OLD, ready=False), B, node_object("c")]
    planner: Object = {"objectives": [{"drainNodes": {"nodes": ["a"]}}]} if is_named else {}

    assert planned(*nodes, pods=[own("web", "1")], planner=planner) == (
        "no, because of pod default/web: node a is not Ready, and policies process Ready nodes only"
    )


def test_a_node_that_a_run_leaves_for_want_of_disruptions_can_be_drained_in_a_later_one() -> None:
    """The pod of the other node uses the one disruption that the budget allows."""
    other = node_object("0", cpu="10", labels=OLD, unschedulable=True)
    names = {"one": ("0", {}), "two": ("a", DEARER)}
    pods = [
        pod_object(name, node=node, labels={"app": "web"}, annotations=cost) for name, (node, cost) in names.items()
    ]

    assert planned(A, B, other, pods=[*pods, budget(1)]) == (
        "in a later run; not in this one: pod default/two cannot be evicted: PodDisruptionBudget default/web allows"
        " 1 disruption, used by other pods of this run (2 healthy, 1 required)"
    )


def test_a_node_whose_pods_have_room_in_some_orders_alone_is_not_said_to_lack_room() -> None:
    policy = verified(nodeFit=False)
    policy["profiles"][0]["pluginConfig"][2]["args"] = {"onConditional": "allow"}
    pods = [own("a", "1"), own("b", "2"), own("c", "4")]

    assert drain_answer([A, B, node_object("d", cpu="3"), *pods], policy).startswith(
        "no, because of pod default/c: the replacement pods of default/b, default/a can take the last node"
    )


def test_a_node_that_a_run_leaves_is_said_to_be_left_where_the_goal_names_the_causes_of_others_alone() -> None:
    """There is room for the pod of one node, and ten of the others are named."""
    others = [node_object(f"0-{number:02}", cpu="10", labels=OLD, unschedulable=True) for number in range(11)]
    pods = [pod_object(f"p-{node['metadata']['name']}", node=node["metadata"]["name"], cpu="3") for node in others]

    last = pod_object("last", node="a", cpu="3", annotations=DEARER)

    assert planned(A, B, *others, pods=[*pods, last]) == (
        "in a later run; not in this one: the plan leaves the node with pods, and its goal names the causes of other"
        " nodes only"
    )


def test_a_node_that_the_policy_does_not_drain_is_not_said_to_be_left() -> None:
    """Its pod stays, and the goal names the causes of ten of the other nodes only."""
    others = [node_object(f"0-{number:02}", cpu="10", labels=OLD, unschedulable=True) for number in range(13)]
    pods = [pod_object(f"p-{node['metadata']['name']}", node=node["metadata"]["name"], cpu="3") for node in others]
    kept = node_object("a", cpu="10")

    assert planned(kept, B, *others, pods=[*pods, pod_object("last", node="a", cpu="3")]) == "yes"


def test_a_node_that_the_run_drains_is_not_said_to_be_left() -> None:
    assert planned(A, B, pods=[own("web", "1")]) == "yes"


def test_blockers_of_kubectl_are_told_one_by_one() -> None:
    """A bare pod with local storage that a budget keeps has three of them."""
    cache = {"name": "cache", "emptyDir": {}}
    pod = pod_object("p", owners=(), volumes=[cache], labels={"app": "web"})

    assert blockers(pod, budget(0)) == [("p", "BarePod"), ("p", "LocalStorage"), ("p", "PodDisruptionBudget")]


def test_pod_of_a_daemon_set_blocks_whatever_else_it_has() -> None:
    cache = {"name": "cache", "emptyDir": {}}
    agent = pod_object("agent", owners=["DaemonSet/agent"], volumes=[cache], labels={"app": "web"})

    assert blockers(agent, budget(0)) == [("agent", "DaemonSet")]


def test_static_pods_block_nothing() -> None:
    assert blockers(pod_object("proxy", owners=(), annotations={"kubernetes.io/config.source": "file"})) == []


def test_finished_pods_and_those_of_other_nodes_do_not_block_a_drain_by_a_policy() -> None:
    pods = [
        pod_object("done", node="a", owners=(), phase="Succeeded"),
        pod_object("other", node="b", owners=()),
        pod_object("web", node="a"),
    ]

    assert by_policy(verified(), *pods)[0] == []


def test_largest_pods_are_asked_for_first_where_others_would_take_their_room() -> None:
    """Node b has room for the large pod, unless the small one takes it; that one has another node to go to."""
    pods = [pod_object("a-small", node="a", cpu="2"), pod_object("b-large", node="a", cpu="4")]
    rest = node_object("c", cpu="2")

    found = node_explanation("a", [node_object("a", cpu="10"), B, rest, *pods], policy_of(pod_life_time_policy()))

    assert found.drain_blockers == ()


def test_policy_without_plugins_leaves_the_rules_to_kubectl() -> None:
    policy = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [{"name": "p"}]}
    cache = {"name": "cache", "emptyDir": {}}

    assert by_policy(policy, pod_object("web", node="a", volumes=[cache]))[0] == [("web", "LocalStorage")]


def test_policy_that_a_run_would_skip_leaves_the_rules_to_kubectl() -> None:
    cache = {"name": "cache", "emptyDir": {}}
    policy = {**verified(), "nodeSelector": "pool=none"}

    assert by_policy(policy, pod_object("web", node="a", volumes=[cache]))[0] == [("web", "LocalStorage")]
