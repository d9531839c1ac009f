"""What blocks draining a node: by the rules of kubectl drain and the budgets, or by the switches of a policy."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.explanation.subjects.node.drain import drain_blockers
from descheduler.explanation.subjects.node.table import node_table
from descheduler.report.tables.table_style import TableStyle
from tests.builders import Object, node_object, pod_object
from tests.explanation.questions import cluster_of, node_explanation, policy_of
from tests.report.decided_cycles import pod_life_time_policy


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
