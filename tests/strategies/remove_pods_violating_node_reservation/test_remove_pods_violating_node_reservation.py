"""RemovePodsViolatingNodeReservation: pods that occupy what their node reserves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from descheduler import evaluate
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.facts import PluginFacts
from tests.builders import NOW, Object, make_budget, make_node, make_pod, node_object, pod_object
from tests.policy.builders import messages, with_args
from tests.strategies.runs import evicted, refused, run_plugin
from tests.worlds.node_topologies import make_topology, topologies_by_node

PLUGIN = "RemovePodsViolatingNodeReservation"
AT_ONCE = {"consecutiveObservations": 1}


def annotation(*, cpus: str = "", policy: str = "", **amounts: str) -> dict[str, str]:
    stated = {"resources": amounts, "reservedCPUs": cpus, "applyPolicy": policy}
    return {"node.koordinator.sh/reservation": json.dumps(stated)}


def pinned(name: str, cpus: str, **facts: Any) -> Pod:
    """A pod whose CPUs koord-scheduler has chosen."""
    return make_pod(
        name, annotations={"scheduling.koordinator.sh/resource-status": json.dumps({"cpuset": cpus})}, **facts
    )


def run_at_once(nodes: Sequence[Node], pods: Sequence[Pod], **others: Any) -> Decisions:
    """What the plugin decides in the first run already."""
    args = {**AT_ONCE, **others.pop("args", {})}
    return run_plugin(PLUGIN, nodes, pods, args=args, **others)


def gone(nodes: Sequence[Node], pods: Sequence[Pod], **args: Any) -> list[str]:
    return evicted(run_at_once(nodes, pods, args=args))


def test_requests_that_exceed_allocatable_minus_reserved_are_relieved() -> None:
    decisions = run_at_once([make_node("a", annotations=annotation(cpu="1"))], [make_pod("p", cpu="4")])

    assert evicted(decisions) == ["p"]
    assert [move.reason for move in decisions.moves] == [
        "requests on node a exceed allocatable minus reserved by cpu 1 (annotation node.koordinator.sh/reservation)"
    ]


def test_requests_that_fit_beside_the_reservation_stay() -> None:
    assert gone([make_node("a", annotations=annotation(cpu="1"))], [make_pod("p", cpu="3")]) == []


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        pytest.param(make_node("a", annotations=annotation(cpu="2")), ["p"], id="the default policy"),
        pytest.param(make_node("a", annotations=annotation(cpu="2", policy="Default")), ["p"], id="by its name"),
        pytest.param(make_node("a", annotations=annotation(cpu="2", policy="ReservedCPUsOnly")), [], id="CPUs only"),
        pytest.param(make_node("a", annotations=annotation(cpus="0-1")), ["p"], id="as many as CPUs are named"),
        pytest.param(make_node("a", annotations=annotation(cpu="3", cpus="0")), [], id="fewer CPUs than the amount"),
        pytest.param(make_node("a", annotations=annotation(cpus="0-")), [], id="an annotation that is invalid"),
        pytest.param(make_node("a", annotations=annotation(memory="1Gi")), [], id="another resource"),
    ],
)
def test_amount_that_is_reserved(node: Node, expected: list[str]) -> None:
    assert gone([node], [make_pod("p", cpu="3")]) == expected


def test_number_of_pods_may_be_reserved_too() -> None:
    node = make_node("a", pods="2", annotations=annotation(pods="1"))

    assert gone([node], [make_pod("older", age=9000), make_pod("newer", age=60)]) == ["newer"]


def test_batch_resources_are_not_reserved_twice() -> None:
    key = "kubernetes.io/batch-cpu"
    node = make_node("a", allocatable={key: "1000"}, annotations=annotation(**{key: "500"}))

    assert gone([node], [make_pod("p", requests={key: "900"})]) == []


@pytest.mark.parametrize("facts", [{"deleted": 5}, {"phase": "Succeeded"}], ids=["terminating", "finished"])
def test_pods_that_are_as_good_as_gone_occupy_nothing(facts: Object) -> None:
    pods = [make_pod("leaving", cpu="2", **facts), make_pod("p", cpu="3")]

    assert gone([make_node("a", annotations=annotation(cpu="1"))], pods) == []


@pytest.mark.parametrize("policy", ["Default", "ReservedCPUsOnly"])
def test_pod_that_is_pinned_to_reserved_cpus_leaves(policy: str) -> None:
    node = make_node("a", cpu="8", annotations=annotation(cpus="0-1", policy=policy))
    pods = [pinned("on", "1-2", cpu="1"), pinned("beside", "3-4", cpu="1"), make_pod("shared", cpu="1")]

    decisions = run_at_once([node], pods)

    assert evicted(decisions) == ["on"]
    assert [move.reason for move in decisions.moves] == ["pinned to CPU 1 of node a (reservedCPUs: 0-1)"]


@pytest.mark.parametrize("text", ["", "null", "{", '{"cpuset": "x"}', '{"cpuset": null}', '{"numaNodeResources": []}'])
def test_resource_status_without_a_valid_cpuset_pins_to_nothing(text: str) -> None:
    pod = make_pod("p", annotations={"scheduling.koordinator.sh/resource-status": text})

    assert gone([make_node("a", annotations=annotation(cpus="0-1"))], [pod]) == []


def test_cpus_that_koordlet_chose_for_a_reserved_amount_are_reserved() -> None:
    """Koordinator's reference, §4.6: violation B falls back to NodeResourceTopology in the quantity-only case."""
    node = make_node("a", cpu="8", annotations=annotation(cpu="2"))
    chosen = topologies_by_node(make_topology("a", reserved="0-1"))

    decisions = run_at_once([node], [pinned("on", "1-2"), pinned("beside", "3-4")], node_topologies=chosen)

    assert [move.reason for move in decisions.moves] == [
        "pinned to CPU 1 of node a (reservedCPUs of NodeResourceTopology: 0-1)"
    ]


def test_cpus_that_the_node_names_come_before_those_of_the_topology() -> None:
    """§4.6: from the Node annotation, else from the NodeResourceTopology annotation, which may be older."""
    node = make_node("a", cpu="8", annotations=annotation(cpus="6-7"))
    chosen = topologies_by_node(make_topology("a", reserved="0-1"))

    assert evicted(run_at_once([node], [pinned("p", "0-1")], node_topologies=chosen)) == []


def test_topology_alone_reserves_nothing() -> None:
    """The reservation of the node is gone, and koordlet has not caught up."""
    chosen = topologies_by_node(make_topology("a", reserved="0-1"))

    assert evicted(run_at_once([make_node("a")], [pinned("p", "0-1")], node_topologies=chosen)) == []


def test_pod_that_the_kubelet_pinned_to_reserved_cpus_leaves() -> None:
    """§4.6: for kubelet-managed Guaranteed pods the CPUs are those of annotation pod-cpu-allocs."""
    node = make_node("a", cpu="8", annotations=annotation(cpus="0-1"))
    pods = [make_pod("on"), make_pod("beside"), make_pod("shared")]
    allocs = {pods[0].uid: "1,5", pods[1].uid: "2"}
    found = topologies_by_node(make_topology("a", kubelet_pods=allocs))

    decisions = run_at_once([node], pods, node_topologies=found)

    assert evicted(decisions) == ["on"]


def test_as_few_as_needed_leave_and_the_least_important_first() -> None:
    node = make_node("a", cpu="8", annotations=annotation(cpu="3"))
    pods = [make_pod(f"p{n}", cpu="2", priority=n) for n in range(4)]

    assert gone([node], pods) == ["p0", "p1"]


def test_pods_that_turn_out_not_to_be_needed_are_spared() -> None:
    """The small pod is less important, and does not matter once the large one leaves."""
    node = make_node("a", cpu="4", annotations=annotation(cpu="2"))
    pods = [make_pod("small", cpu="500m", priority=1), make_pod("large", cpu="3", priority=2)]

    assert gone([node], pods) == ["large"]


def test_pods_without_a_request_of_what_is_short_stay() -> None:
    pods = [make_pod("idle", memory="1Gi", priority=0), make_pod("busy", cpu="4", priority=9)]

    assert gone([make_node("a", annotations=annotation(cpu="1"))], pods) == ["busy"]


def test_among_equally_important_pods_the_one_that_covers_most_leaves() -> None:
    pods = [make_pod("half", cpu="500m"), make_pod("whole", cpu="1"), make_pod("rest", cpu="2500m", priority=9)]

    assert gone([make_node("a", annotations=annotation(cpu="1"))], pods) == ["whole"]


def test_dominant_resource_is_the_one_that_is_short_most() -> None:
    node = make_node("a", annotations=annotation(cpu="2", memory="1Gi"))
    pods = [
        make_pod("processor", cpu="2", memory="1Gi"),
        make_pod("memory", cpu="500m", memory="6Gi"),
        make_pod("other", cpu="1500m", memory="1Gi", priority=9),
    ]

    assert gone([node], pods) == ["processor"]


def test_pinned_pods_leave_first_and_lower_the_shortage() -> None:
    node = make_node("a", cpu="4", annotations=annotation(cpus="0-1"))
    pods = [make_pod("shared", cpu="2", priority=0), pinned("on", "0-1", cpu="2", priority=9)]

    assert gone([node], pods) == ["on"]


def test_among_equally_important_pinned_pods_the_one_on_most_reserved_cpus_leaves_first() -> None:
    node = make_node("a", cpu="16", annotations=annotation(cpus="0-3"))
    pods = [pinned("one", "3-6", cpu="4"), pinned("three", "0-2,9", cpu="4")]

    assert gone([node], pods) == ["three", "one"]


def test_another_pod_is_chosen_for_one_that_is_refused() -> None:
    guarded = make_pod("guarded", cpu="1", priority=0, labels={"app": "db"})
    pods = [guarded, make_pod("free", cpu="1", priority=5), make_pod("top", cpu="2", priority=9)]
    budget = make_budget("db", {"app": "db"}, disruptions_allowed=0)

    decisions = run_at_once([make_node("a", annotations=annotation(cpu="1"))], pods, budgets=(budget,))

    assert evicted(decisions) == ["free"]
    assert refused(decisions) == {"guarded": "DisruptionBudget"}


def test_nobody_leaves_in_vain_when_pods_that_stay_alone_exceed_the_limit() -> None:
    pods = [make_pod("daemon", cpu="3", owners=["DaemonSet/ds"]), make_pod("p", cpu="1")]

    decisions = run_at_once([make_node("a", annotations=annotation(cpu="2"))], pods)

    assert evicted(decisions) == []
    assert refused(decisions) == {"daemon": "DaemonSet", "p": "IrreducibleShortage"}


def test_pinned_pods_leave_even_where_the_amount_cannot_be_freed() -> None:
    pods = [make_pod("daemon", cpu="3", owners=["DaemonSet/ds"]), pinned("on", "0", cpu="1")]

    assert gone([make_node("a", annotations=annotation(cpus="0-1"))], pods) == ["on"]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param({"maxNoOfPodsToEvictPerNode": 1}, ["a0", "b0"], id="a node's limit ends the node"),
        pytest.param({"maxNoOfPodsToEvictTotal": 1}, ["a0"], id="the run's limit ends the plugin"),
    ],
)
def test_limits(policy: Object, expected: list[str]) -> None:
    nodes = [make_node(name, cpu="3", annotations=annotation(cpu="2")) for name in "ab"]
    pods = [make_pod(f"{name}{n}", node=name, cpu="1", priority=n) for name in "ab" for n in range(3)]

    assert evicted(run_at_once(nodes, pods, policy=policy)) == expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({}, ["on", "p"], id="both violations, all resources"),
        pytest.param({"violations": ["Amount"]}, ["p"], id="amounts alone"),
        pytest.param({"violations": ["ReservedCPUs"]}, ["on"], id="pinned CPUs alone"),
        pytest.param({"resources": ["memory"]}, ["on"], id="amounts of another resource"),
        pytest.param({"namespaces": {"exclude": ["default"]}}, [], id="another namespace"),
        pytest.param({"labelSelector": {"matchLabels": {"x": "y"}}}, [], id="other labels"),
    ],
)
def test_arguments_narrow_what_is_looked_at(args: Object, expected: list[str]) -> None:
    node = make_node("a", cpu="4", annotations=annotation(cpus="0-1"))
    pods = [pinned("on", "0", cpu="500m", priority=9), make_pod("p", cpu="3")]

    assert gone([node], pods, **args) == expected


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param("{consecutiveObservations: 0}", "0 is below 1", id="no observation at all"),
        pytest.param("{violations: [Usage]}", "'Usage' is not one of Amount, ReservedCPUs", id="an unknown violation"),
        pytest.param(
            "{violations: [ReservedCPUs], resources: [cpu]}",
            "has no effect without Amount in violations",
            id="resources that nothing reads",
        ),
        pytest.param(
            "{namespaces: {include: [a], exclude: [b]}}",
            "include and exclude are both given; keep one of them",
            id="contradictory namespaces",
        ),
    ],
)
def test_arguments_that_are_refused(args: str, message: str) -> None:
    (problem,) = messages(with_args(PLUGIN, args))

    assert problem.endswith(message)


def test_nodes_that_reserve_and_that_are_overcommitted_are_counted() -> None:
    nodes = [
        make_node("a", annotations=annotation(cpu="1")),
        make_node("b", annotations=annotation(memory="1Gi")),
        make_node("c"),
    ]
    pods = [make_pod("p", cpu="4"), make_pod("q", node="b"), make_pod("r", node="c")]

    facts = run_at_once(nodes, pods).facts["p", PLUGIN]

    assert facts == PluginFacts(
        why_nothing="",
        pods_examined=2,
        pods_selected=1,
        left_out={"node.koordinator.sh/reservation": 1},
        counts={"reservingNodes": 2, "overcommittedNodes": 1, "waitingNodes": 0},
    )


@pytest.mark.parametrize("num_runs", [1, 2])
def test_pods_that_need_not_leave_as_well_do_not_count_as_selected(num_runs: int) -> None:
    pods = [make_pod(f"p{n}", cpu="1") for n in range(4)]

    decisions = run_at_once(
        [make_node("a", annotations=annotation(cpu="1"))], pods, args={"consecutiveObservations": num_runs}
    )

    facts = decisions.facts["p", PLUGIN]
    assert (facts.pods_examined, facts.pods_selected) == (4, 1)
    assert facts.left_out == {"node.koordinator.sh/reservation": 3}


@pytest.mark.parametrize("kind", ["DeschedulerPolicy", "DeschedulerConfiguration"])
def test_both_documents_lead_to_the_same_evictions(kind: str) -> None:
    """One of them has the reservation taken off `allocatable` already; it is not taken off twice."""
    pods = [pod_object(f"p{n}", cpu="1", priority=n) for n in range(4)]
    nodes = [node_object("a", annotations=annotation(cpu="1")), node_object("b")]
    profile = {
        "name": "p",
        "pluginConfig": [{"name": "DefaultEvictor", "args": {}}, {"name": PLUGIN, "args": AT_ONCE}],
        "plugins": {"deschedule": {"enabled": [PLUGIN]}},
    }
    if kind == "DeschedulerConfiguration":
        on = {"enabled": [{"name": "DefaultEvictor"}], "disabled": [{"name": "*"}]}
        profile["plugins"] = {"deschedule": {"enabled": [{"name": PLUGIN}]}, "evict": on, "filter": on}
    policy = {"apiVersion": "descheduler/v1alpha2", "kind": kind, "profiles": [profile]}

    result = evaluate(policy, [*nodes, *pods], now=NOW)

    assert [(eviction.name, eviction.plugin) for eviction in result.evictions] == [("p0", PLUGIN)]


def with_reservation(*pods: Object, once: bool = False) -> list[str]:
    """Names of the pods that leave node a, of whose 4 CPUs 1 is reserved for the system, and 2 by Reservation r."""
    reservation: Object = {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Reservation",
        "metadata": {"name": "r", "uid": "uid-r"},
        "spec": {"owners": [{"labelSelector": {}}], "allocateOnce": once, "template": {"spec": {"containers": []}}},
        "status": {"phase": "Available", "nodeName": "a", "allocatable": {"cpu": "2"}},
    }
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "p",
                "pluginConfig": [{"name": PLUGIN, "args": AT_ONCE}, {"name": "DefaultEvictor", "args": {}}],
                "plugins": {"deschedule": {"enabled": [PLUGIN]}},
            }
        ],
    }
    nodes = [node_object("a", annotations=annotation(cpu="1")), node_object("b")]
    result = evaluate(policy, [*nodes, reservation, *pods], now=NOW)
    return [eviction.name for eviction in result.evictions]


def test_what_a_reservation_holds_and_nobody_uses_is_occupied() -> None:
    """Koordinator's reference, §4.6: the unallocated part of active Reservations counts."""
    assert with_reservation(pod_object("p", cpu="1")) == []
    assert with_reservation(pod_object("p", cpu="2")) == ["p"]


def test_pod_that_uses_a_reservation_for_many_stays_since_its_room_stays_reserved() -> None:
    owner = {"scheduling.koordinator.sh/reservation-allocated": '{"name":"r","uid":"uid-r"}'}

    assert with_reservation(pod_object("p", cpu="2"), pod_object("q", cpu="2", annotations=owner)) == ["p"]


def test_reservation_that_one_pod_has_used_up_holds_nothing() -> None:
    owner = {"scheduling.koordinator.sh/reservation-allocated": '{"name":"r","uid":"uid-r"}'}
    pods = [pod_object("p", cpu="2"), pod_object("q", cpu="1", annotations=owner)]

    assert with_reservation(*pods, once=True) == []
