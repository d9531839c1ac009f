"""Which nodes are open to pods before moves are chosen, and what is told of a cluster in amounts."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.framework.scheduling_plugin import Compares
from descheduler.placement.landings.openings import Openings, OpenNodes
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot, pod_object
from tests.placement.clusters import HOSTNAME, ZONE
from tests.placement.workloads import cluster_of, pod_named, workload_object

NODES = [
    make_node("full", cpu="2"),
    make_node("small", cpu="1"),
    make_node("tainted", cpu="4", taints=["a=b:NoSchedule"]),
]
WAITING = make_pod("waiting", cpu="2", node="", phase="Pending")


def openings() -> Openings:
    return LandingProver(make_snapshot(NODES, [make_pod("there", cpu="2", node="full"), WAITING])).openings()


def test_nodes_are_open_to_a_pending_pod_that_room_can_be_made_on() -> None:
    """Whether a node is large enough is said by its capacity."""
    found = openings().open_to_pending(WAITING)

    assert found is not None
    assert found.now.tolist() == [True, True, False]


def test_no_node_is_open_to_a_pod_whose_scheduler_is_not_known() -> None:
    other = make_pod("other", cpu="1", node="", phase="Pending", scheduler="of-others")

    assert openings().open_to_pending(other) is None


def test_pending_pod_of_which_no_node_is_looked_at_is_told_with_the_reason() -> None:
    gated = make_pod("gated", cpu="1", node="", phase="Pending", spec={"schedulingGates": [{"name": "wait"}]})

    assert openings().refusal_of_pending(gated) == "waiting for scheduling gates: [wait]"
    assert openings().refusal_of_pending(WAITING) == ""
    assert openings().refusal_of_pending(make_pod("other", node="", phase="Pending", scheduler="of-others")) == ""


def test_pod_that_is_gated_finds_no_node_whatever_others_do() -> None:
    gated = make_pod("gated", cpu="1", node="", phase="Pending", spec={"schedulingGates": [{"name": "wait"}]})

    assert openings().open_to_pending(gated) is None


def masks(found: OpenNodes | None) -> tuple[list[bool], list[bool]] | None:
    """The nodes that are open now, and those that may ever be."""
    return None if found is None else (found.now.tolist(), found.ever.tolist())


def opened(victim: Pod, *others: Pod, nodes: Any = None, **facts: Any) -> tuple[list[bool], list[bool]] | None:
    """Those for the replacement of `victim`."""
    made = nodes or [make_node("a"), make_node("b", cpu="1"), make_node("c", unschedulable=True)]
    return masks(LandingProver(make_snapshot(made, [victim, *others])).openings().open_to(victim, **facts))


def test_node_is_open_whatever_room_it_has() -> None:
    """Whether there is enough is said by the amounts."""
    assert opened(make_pod("victim", node="a", cpu="4")) == ([True, True, False], [True, True, False])


PORT = {"containers": [{"name": "main", "ports": [{"hostPort": 80, "containerPort": 80}]}]}


def test_node_whose_host_port_is_taken_is_open_once_that_pod_leaves() -> None:
    victim, other = make_pod("victim", node="a", spec=PORT), make_pod("other", node="b", spec=PORT)

    assert opened(victim, other) == ([False, False, False], [True, True, False])
    assert opened(victim, other, without=(victim,)) == ([True, False, False], [True, True, False])
    assert opened(victim, other, without=(victim, other)) == ([True, True, False], [True, True, False])


def test_domain_with_too_many_pods_is_open_where_the_spread_is_counted_by_others() -> None:
    spread = constraint(HOSTNAME)
    pods = [make_pod(f"p{n}", node="a", labels={"app": "a"}, spread=[spread]) for n in range(2)]
    nodes = [make_node("a"), make_node("b")]

    alone = opened(pods[0], pods[1], nodes=nodes)
    counted = opened(pods[0], pods[1], nodes=nodes, counted=frozenset({Compares.SPREAD}))

    assert alone == ([False, True], [True, True])
    assert counted == ([True, True], [True, True])


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"owners": []}, id="nothing is created for a bare pod"),
        pytest.param({"owners": ["Node/a"]}, id="a static pod does not move"),
        pytest.param({"scheduler": "of-others"}, id="its scheduler is not modelled"),
    ],
)
def test_no_node_is_told_where_no_scheduler_is_known_to_choose(facts: Any) -> None:
    assert opened(make_pod("victim", node="a", **facts)) is None


def test_pod_of_a_daemon_set_comes_back_to_its_node() -> None:
    snapshot = cluster_of(pod_object("agent", node="a", owners=["DaemonSet/agent"]), workload_object("DaemonSet/agent"))
    found = LandingProver(snapshot).openings()

    assert masks(found.open_to(pod_named(snapshot, "agent"))) is None
    assert found.holding(pod_named(snapshot, "agent")) == ((), None)


def test_nodes_with_room_beside_the_victim_are_told_with_what_the_others_lack() -> None:
    victim = make_pod("victim", node="a", cpu="2")
    nodes = [make_node("a", cpu="3"), make_node("b", cpu="2"), make_node("c", cpu="1")]

    found, obstacles = LandingProver(make_snapshot(nodes, [victim])).openings().holding(victim)

    assert found == ["b"]
    assert obstacles is not None
    assert obstacles.reasons == "2 insufficient cpu"
    assert obstacles.sentence() == "1/3 nodes are available for the replacement pod: 2 insufficient cpu"


def test_amounts_are_those_of_the_node_table() -> None:
    pod = make_pod("pod", node="a", cpu="1500m", memory="1Ki")
    found = LandingProver(make_snapshot([make_node("a"), make_node("b")], [pod])).openings()
    cpu, memory, pods = (found.resources.index(name) for name in ("cpu", "memory", "pods"))

    assert (found.nodes, found.place_of("b")) == (("a", "b"), 1)
    assert found.capacity[cpu].tolist() == [4000, 4000]
    assert found.taken[[cpu, memory, pods], 0].tolist() == [1500, 1024, 1]
    assert found.need(pod.spec)[[cpu, memory, pods]].tolist() == [1500, 1024, 1]


@pytest.mark.parametrize(
    ("replicas", "needs_none"), [pytest.param(0, True, id="no replicas"), pytest.param(1, False, id="one replica")]
)
def test_pod_of_a_replica_set_with_no_replicas_needs_no_node(replicas: int, needs_none: bool) -> None:
    snapshot = cluster_of(pod_object("web", node="a"), workload_object("ReplicaSet/web", replicas=replicas))

    assert LandingProver(snapshot).openings().needs_no_node(pod_named(snapshot, "web")) is needs_none


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"owners": ["Node/a"]}, id="a static pod stays"),
        pytest.param({"owners": ["ReplicaSet/web"], "phase": "Succeeded"}, id="a pod that has ended"),
    ],
)
def test_pod_that_is_not_moved_is_no_pod_without_need(facts: Any) -> None:
    snapshot = cluster_of(pod_object("web", node="a", **facts), workload_object("ReplicaSet/web", replicas=0))

    assert not LandingProver(snapshot).openings().needs_no_node(pod_named(snapshot, "web"))


def constraint(key: str = ZONE, when: str = "DoNotSchedule", **labels: str) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": labels or {"app": "a"}},
    }


def test_spread_constraints_are_those_that_count_the_pod_and_refuse_nodes() -> None:
    nodes = [make_node(n, labels={ZONE: zone}) for n, zone in (("a", "east"), ("b", "west"), ("c", "west"))]
    stated = [constraint(), constraint(when="ScheduleAnyway"), constraint(app="b")]
    pod = make_pod("pod", node="a", labels={"app": "a"}, spread=stated)
    others = [make_pod(f"o{n}", node=n, labels={"app": "a"}) for n in "bc"]
    found = LandingProver(make_snapshot(nodes, [pod, *others])).openings()

    (only,) = found.spread(pod)

    assert found.spread_over(only).tolist() == [1, 2, 0]
    assert found.spread(others[0]) == []


def test_spread_constraint_that_cannot_be_read_is_none() -> None:
    unread = constraint()
    unread["labelSelector"] = {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["a"]}]}
    pod = make_pod("pod", node="a", labels={"app": "a"}, spread=[unread])

    assert list(LandingProver(make_snapshot([make_node("a")], [pod])).openings().spread(pod)) == []
