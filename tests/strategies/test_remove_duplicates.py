"""RemoveDuplicates: how many pods of one owner a node may hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from tests.builders import make_node, make_pod, required_node_affinity
from tests.strategies.runs import evicted, run_plugin

NODES = [make_node(name) for name in ("n1", "n2", "n3")]
CONTROL_PLANES = [make_node(name, taints=["control-plane:NoSchedule"]) for name in ("c1", "c2", "c3")]


def replicas(owner: str, per_node: Sequence[int], **facts: Any) -> list[Pod]:
    """Pods of ReplicaSet `owner`, so many on n1, n2 and so on."""
    return [
        make_pod(f"{owner}-{node}-{index}", node=f"n{node}", **{"owners": [f"ReplicaSet/{owner}"], **facts})
        for node, count in enumerate(per_node, start=1)
        for index in range(count)
    ]


def per_node(decisions: Decisions) -> Mapping[str, int]:
    return Counter(booked.pod.node_name for booked in decisions.moves)


@pytest.mark.parametrize(
    ("spread", "expected"),
    [
        pytest.param((5, 3, 1), {"n1": 2}, id="the fullest node gives down to the average"),
        pytest.param((2, 0, 0), {"n1": 1}, id="two on one node, others empty"),
        pytest.param((1, 0, 0), {}, id="a single pod has no duplicate"),
        pytest.param((2, 2, 2), {}, id="an even spread stays"),
        pytest.param((4, 4, 1), {"n1": 1, "n2": 1}, id="both full nodes give"),
    ],
)
def test_node_keeps_the_average_number_of_replicas(spread: Sequence[int], expected: Mapping[str, int]) -> None:
    decisions = run_plugin("RemoveDuplicates", NODES, replicas("web", spread))

    assert per_node(decisions) == expected


def test_pods_on_unprocessed_nodes_are_invisible() -> None:
    pods = replicas("web", (5, 3, 1))

    decisions = run_plugin("RemoveDuplicates", NODES, pods, processed=NODES[:2])

    assert per_node(decisions) == {"n1": 1}


def test_owners_are_balanced_on_their_own() -> None:
    pods = replicas("web", (5, 3, 1)) + replicas("api", (1, 3, 5))

    decisions = run_plugin("RemoveDuplicates", NODES, pods)

    assert per_node(decisions) == {"n1": 2, "n3": 2}


def test_pod_with_two_owners_is_asked_for_once_for_each() -> None:
    pods = replicas("web", (5, 3, 1), owners=["ReplicaSet/a", "ReplicaSet/b"])

    decisions = run_plugin("RemoveDuplicates", NODES, pods)

    assert len(evicted(decisions)) == 4
    assert len(set(evicted(decisions))) == 2


def test_pod_with_two_owners_is_asked_for_once_where_defects_are_fixed() -> None:
    pods = replicas("web", (5, 3, 1), owners=["ReplicaSet/a", "ReplicaSet/b"])

    decisions = run_plugin("RemoveDuplicates", NODES, pods, compatibility="fixed")

    assert len(evicted(decisions)) == 2


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({}, 2, id="tainted nodes do not share the load of pods that do not tolerate them"),
        pytest.param({"tolerations": [{"operator": "Exists"}]}, 4, id="they do for pods that tolerate them"),
        pytest.param({"node_selector": {"disk": "ssd"}}, 0, id="no node matches the selector"),
        pytest.param({"affinity": required_node_affinity("kubernetes.io/hostname", "n1")}, 0, id="one node matches"),
        pytest.param(
            {"affinity": required_node_affinity("kubernetes.io/hostname", "n1", "n2")}, 0, id="two nodes match"
        ),
        pytest.param({"affinity": required_node_affinity("disk", "not a value!")}, 2, id="malformed affinity matches"),
    ],
)
def test_average_is_over_the_nodes_that_could_run_the_pods(facts: Mapping[str, Any], expected: int) -> None:
    pods = replicas("web", (5, 3, 1), **facts)

    decisions = run_plugin("RemoveDuplicates", [*NODES, *CONTROL_PLANES], pods)

    assert len(evicted(decisions)) == expected


def test_pods_of_other_images_are_no_duplicates() -> None:
    pods = [make_pod(f"p{i}", node="n1", images=[f"app:{i}", "sidecar:1"]) for i in range(4)]

    decisions = run_plugin("RemoveDuplicates", NODES, pods)

    assert evicted(decisions) == []


def test_order_of_containers_does_not_matter() -> None:
    pods = [make_pod("p1", node="n1", images=["a", "b"]), make_pod("p2", node="n1", images=["b", "a"])]

    decisions = run_plugin("RemoveDuplicates", NODES, pods)

    assert evicted(decisions) == ["p2"]


def test_equal_owners_in_two_namespaces_are_two_owners() -> None:
    pods = [make_pod("p1", node="n1", namespace="dev"), make_pod("p2", node="n1", namespace="prod")]

    decisions = run_plugin("RemoveDuplicates", NODES, pods)

    assert evicted(decisions) == []


def test_protected_pods_do_not_count() -> None:
    protected = replicas("web", (2, 0, 0), priority=2_000_000_000)
    pods = [make_pod("free", node="n1", owners=["ReplicaSet/web"]), *protected]

    decisions = run_plugin("RemoveDuplicates", NODES, pods)

    assert evicted(decisions) == []


def test_excluded_owner_kinds_stay() -> None:
    pods = replicas("web", (5, 0, 0))

    decisions = run_plugin("RemoveDuplicates", NODES, pods, args={"excludeOwnerKinds": ["ReplicaSet"]})

    assert evicted(decisions) == []


def test_node_limit_ends_the_node_and_total_limit_the_plugin() -> None:
    pods = replicas("web", (6, 6, 0))

    by_node = run_plugin("RemoveDuplicates", NODES, pods, policy={"maxNoOfPodsToEvictPerNode": 1})
    in_total = run_plugin("RemoveDuplicates", NODES, pods, policy={"maxNoOfPodsToEvictTotal": 1})

    assert per_node(by_node) == {"n1": 1, "n2": 1}
    assert per_node(in_total) == {"n1": 1}


def test_reason_names_the_owner_the_node_and_the_average() -> None:
    decisions = run_plugin("RemoveDuplicates", NODES, replicas("web", (2, 0, 0)))

    (booked,) = decisions.moves
    assert booked.reason == "2 pods of ReplicaSet web on node n1 (even spread: 1)"


def test_pods_of_an_even_spread_are_counted_beside_those_that_leave() -> None:
    pods = [*replicas("web", (4, 1, 0)), make_pod("bare", node="n1", owners=())]

    facts = run_plugin("RemoveDuplicates", NODES, pods).facts["p", "RemoveDuplicates"]

    assert (facts.pods_examined, facts.pods_selected) == (6, 2)
    assert facts.left_out == {"metadata.ownerReferences": 1, "evenSpread": 3}
    assert [(near.limit, near.value, near.subject) for near in facts.nearest] == [
        (2, 4, "ReplicaSet web in namespace default on node n1")
    ]


@pytest.mark.parametrize("refusing", ["filter", "preevictionfilter"])
def test_pods_that_may_not_go_do_not_count(refusing: str) -> None:
    """Two of three pods of node n1 may go, and fit another node: they are no more than an even spread of both."""
    facts = {"annotations": {"kubernetes.io/config.source": "file"}} if refusing == "filter" else {"cpu": "9"}
    pods = [*replicas("web", (2, 1, 1)), make_pod("x", node="n1", owners=["ReplicaSet/web"], **facts)]

    decisions = run_plugin("RemoveDuplicates", NODES, pods, evictor={"nodeFit": True})

    assert evicted(decisions) == []
