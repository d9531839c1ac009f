from __future__ import annotations

from typing import Any

import pytest

from descheduler.explanation.subjects.node.document import (
    ExpectedArrival,
    NodeFacts,
    NodeLanding,
    NodeResource,
    StayCount,
)
from descheduler.explanation.subjects.node.table import node_table
from descheduler.report.document import PodReference
from descheduler.report.tables.table_style import TableStyle
from tests.builders import node_object, pod_object
from tests.explanation.questions import node_explanation, pending_pod, policy_of
from tests.planner.runs import verified
from tests.report.decided_cycles import pod_life_time_policy
from tests.worlds.node_metrics import node_metric_object

NODES = [node_object("a", cpu="2", memory=None, taints=["x=y:PreferNoSchedule"]), node_object("b", cpu="2")]


def reference(name: str) -> PodReference:
    return PodReference(namespace="default", name=name, uid=f"default-{name}")


def test_without_a_policy_each_pod_says_where_it_would_go_alone() -> None:
    pods = [pod_object("bare", owners=()), pod_object("web", cpu="500m"), pod_object("done", phase="Succeeded")]

    explanation = node_explanation("a", [*NODES, *pods])

    assert explanation.role == "without policy"
    assert explanation.landings == (
        NodeLanding(
            pod=reference("bare"),
            landing=None,
            to_node=None,
            message="no replacement pod is created: no controller recreates the pod",
        ),
        NodeLanding(pod=reference("web"), landing="lands", to_node="b", message=""),
    )


def test_target_of_a_pod_that_is_not_created_again_says_so() -> None:
    explanation = node_explanation("a", [*NODES, pod_object("bare", owners=())])

    row = next(line.split() for line in node_table(explanation, TableStyle()) if " bare " in line)

    assert row[2:5] == ["no", "new", "pod"]


def test_facts_show_what_is_requested_now_and_after_the_run() -> None:
    explanation = node_explanation("a", [*NODES, pod_object("web", cpu="500m")], policy_of())

    assert explanation.facts == NodeFacts(
        name="a",
        is_ready=True,
        is_cordoned=False,
        taints=("x=y:PreferNoSchedule",),
        num_pods=1,
        resources=(
            NodeResource(resource="cpu", allocatable=2000, requested=500, planned=0),
            NodeResource(resource="pods", allocatable=110, requested=1, planned=0),
        ),
        batch=(),
        devices=(),
    )


def test_what_is_left_for_batch_pods_is_told_where_koordinator_measures() -> None:
    metric = node_metric_object("a", {"default/web": {"cpu": "400m"}}, system={"cpu": "100m"})

    explanation = node_explanation("a", [*NODES, pod_object("web", cpu="500m"), metric])

    cpu = explanation.facts.batch[0]
    assert (cpu.resource, cpu.system_used, cpu.pods_used, cpu.pods_requested) == ("cpu", 100, 400, 500)


def test_pods_that_stay_are_counted_by_the_first_rule_that_keeps_them() -> None:
    pods = [
        pod_object("bare", owners=()),
        pod_object("old"),
        pod_object("young-1", age=1, started=1),
        pod_object("young-2", age=1, started=1),
    ]

    explanation = node_explanation("a", [*NODES, *pods], policy_of())

    assert [(d.pod.name, d.plugin, d.to_node) for d in explanation.departures] == [("old", "PodLifeTime", "b")]
    assert [(s.pod.name, s.code) for s in explanation.stays] == [("bare", "BarePod")]
    assert explanation.stay_counts == (
        StayCount(code="BarePod", summary="the pod has no owner that recreates it", num_pods=1),
        StayCount(code="", summary="no plugin selects the pod", num_pods=2),
    )


def test_plugins_say_why_they_select_none_of_the_pods() -> None:
    """Equal sentences are said once, with how many pods they are about."""
    pods = [pod_object(f"young-{number}", age=1, started=1) for number in range(2)]

    explanation = node_explanation("a", [*NODES, *pods], policy_of())

    (said,) = explanation.not_selected
    assert (said.plugin, said.num_pods, said.pod) == ("PodLifeTime", 2, reference("young-0"))
    assert said.message == "1 s old (maxPodLifeTimeSeconds: 60)"
    assert any(said.message in line for line in node_table(explanation, TableStyle()))


def test_planner_says_that_spread_keeps_a_node_in_use() -> None:
    """The only pod of node c would come there again: without it the node counts 0 pods, and the others 1."""
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "dns"}},
    }
    pods = [pod_object(f"dns-{n}", node=n, cpu="100m", labels={"app": "dns"}, spread=[spread]) for n in "abc"]
    pods += [pod_object(f"big-{n}", node=n, cpu="2", owners=["ReplicaSet/big"]) for n in "ab"]
    planner = {"objectives": [{"consolidateNodes": {}}], "timeLimit": "60s", "workLimit": 2}

    explanation = node_explanation("c", [*map(node_object, "abc"), *pods], policy_of(verified(planner)))

    (said,) = explanation.not_selected
    assert said.message == (
        "node c is not emptied: pod default/dns-c cannot be evicted: the replacement pod would be scheduled onto c"
        " again (onReturnToSource: refuseBalance); 1/3 nodes are available for the replacement pod: 2 didn't match pod"
        " topology spread constraints"
    )


def test_replacements_that_land_here_are_named() -> None:
    explanation = node_explanation("b", [*NODES, pod_object("old")], policy_of())

    assert explanation.arrivals == (
        ExpectedArrival(pod=reference("old"), from_node="a", plugin="PodLifeTime", landing="lands", nodes=("b",)),
    )


def test_a_node_that_the_run_leaves_out_says_so() -> None:
    nodes = [*NODES, node_object("c", ready=False)]

    explanation = node_explanation("c", nodes, policy_of())

    assert explanation.role == "left out"


def test_a_run_that_judges_nothing_says_why() -> None:
    explanation = node_explanation("a", NODES[:1], policy_of())

    assert explanation.unjudged == "only 1 ready node matches the policy; at least 2 are required"


@pytest.mark.parametrize(
    "priority", [pytest.param(0, id="of equal priority"), pytest.param(-1, id="of lower priority")]
)
def test_pending_pods_that_get_the_room_of_others_are_named_and_counted(priority: int) -> None:
    waiting = pending_pod("waiting", cpu="1", node_selector={"name": "b"}, priority=priority)
    pods = [pod_object("web", node="b", cpu="1500m", priority=0), waiting]
    nodes = [node_object("a", cpu="2", labels={"name": "a"}), node_object("b", cpu="2", labels={"name": "b"})]

    explanation = node_explanation("b", [*nodes, *pods], policy_of())

    assert explanation.pending_pods == (reference("waiting"),)
    assert explanation.facts.resources[0].planned == 1000
    summary = list(node_table(explanation, TableStyle(width=200)))[-2]
    assert summary.endswith("0 replacement pods and 1 pending pod would be scheduled onto the node")


def test_pods_that_come_and_go_are_told_of_their_own_node_alone() -> None:
    """Both pods of a leave, and their replacements go to b."""
    pods = [pod_object("one", cpu="500m"), pod_object("two", cpu="500m"), pod_object("young", node="b", age=1)]
    nodes = [node_object("a", taints=["x=y:NoSchedule"]), node_object("b")]

    a, b = (node_explanation(name, [*nodes, *pods], policy_of()) for name in "ab")

    assert [each.pod.name for each in a.departures] == ["one", "two"]
    assert (a.arrivals, a.stays, a.stay_counts) == ((), (), ())
    assert (b.departures, [each.pod.name for each in b.arrivals]) == ((), ["one", "two"])
    assert [(each.code, each.num_pods) for each in b.stay_counts] == [("", 1)]
    assert [(each.verdict, each.num_pods) for each in a.landing_counts] == [("lands", 2)]
    assert b.landing_counts == ()


def test_pods_that_stay_are_counted_by_code_and_those_that_nobody_selects_last() -> None:
    pods = [
        pod_object("bare", owners=()),
        *(pod_object(f"set-{number}", owners=["DaemonSet/x"]) for number in range(2)),
        *(pod_object(f"young-{number}", age=1) for number in range(3)),
        pod_object("done", phase="Succeeded"),
    ]

    found = node_explanation("a", [*NODES, *pods], policy_of())

    assert [(each.code, each.num_pods) for each in found.stay_counts] == [("DaemonSet", 2), ("BarePod", 1), ("", 3)]
    assert found.facts.num_pods == 6
    assert [(each.plugin, each.num_pods, each.pod.name) for each in found.not_selected] == [
        ("PodLifeTime", 3, "young-0")
    ]


def test_resources_are_those_that_the_node_offers_or_its_pods_request() -> None:
    gpu = pod_object("gpu", requests={"example.com/gpu": "1"})

    found = node_explanation("a", [node_object("a"), node_object("b", allocatable={"example.com/net": "1"}), gpu])

    resources = {each.resource: (each.allocatable, each.requested, each.planned) for each in found.facts.resources}
    assert resources["example.com/gpu"] == (0, 1, 1)
    assert "example.com/net" not in resources


@pytest.mark.parametrize(
    ("node", "role"),
    [({}, "judged"), ({"ready": False}, "left out"), ({"labels": {"pool": "other"}}, "left out")],
    ids=["ready", "not ready", "not selected"],
)
def test_node_is_processed_that_is_ready_and_that_the_policy_selects(node: dict[str, Any], role: str) -> None:
    nodes = [node_object("a", **{"labels": {"pool": "web"}, **node})]
    nodes += [node_object(name, labels={"pool": "web"}) for name in ("b", "c")]

    assert node_explanation("a", nodes, policy_of(pod_life_time_policy(nodeSelector="pool=web"))).role == role
