"""The proof that a batch lands in every order: what it says, and what it leaves to a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.koordinator.elastic_quota import QUOTA_DOMAIN
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot, node_object, required_anti_affinity
from tests.placement.clusters import HOSTNAME, ZONE
from tests.placement.plugins.reservation.worlds import koord_pod, prover_of

CLOSED = make_node("closed", cpu="64", unschedulable=True)
MANY = 12
"""Too many for a search."""


def unproven(nodes: Sequence[Node], pods: Sequence[Pod]) -> list[str]:
    """The pods of which it is not proven that they land in every order, once all leave."""
    snapshot = make_snapshot([CLOSED, *nodes], pods)
    return [pod.name for pod in LandingProver(snapshot).unproven(snapshot.pods, snapshot.pods)]


def leaving(number: int, **facts: Any) -> list[Pod]:
    """So many equal pods that leave."""
    return [
        make_pod(f"{facts.get('name', 'pod')}-{index:02}", node="closed", **_facts(facts)) for index in range(number)
    ]


def _facts(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if key != "name"}


def test_equal_pods_fill_the_last_of_the_room() -> None:
    nodes = [make_node(name, cpu="4") for name in ("a", "b", "c")]

    assert unproven(nodes, leaving(MANY, cpu="1")) == []


def test_small_pods_may_leave_no_node_to_a_large_one() -> None:
    nodes = [make_node(f"n{index:02}", cpu="4") for index in range(MANY)]
    small, large = leaving(MANY, cpu="1", name="small"), leaving(1, cpu="4", name="large")

    assert unproven(nodes, [*small, *large]) == ["large-00"]
    assert unproven([*nodes, make_node("x", cpu="4")], [*small, *large]) == []


def test_small_pods_cannot_reach_enough_nodes_at_once() -> None:
    """Each node takes two of them before the large one has no room there."""
    nodes = [make_node(f"n{index}", cpu="5") for index in range(7)]

    assert unproven(nodes, [*leaving(MANY, cpu="1", name="small"), *leaving(1, cpu="4", name="large")]) == []


def test_node_with_room_for_all_that_may_come_to_it_stays_open() -> None:
    """Small pods could fill the nodes of their pool, and none of them can come to the node of the other pool."""
    full = [make_node(f"a{index}", cpu="5", labels={"pool": "a"}) for index in range(3)]
    roomy = make_node("b", cpu="4", labels={"pool": "b"})
    small = leaving(8, cpu="1", name="small", node_selector={"pool": "a"})

    assert unproven([*full, roomy], [*small, *leaving(1, cpu="4", name="large")]) == []


def test_what_others_request_in_all_bounds_how_many_nodes_they_fill() -> None:
    """Two units of a resource close a node to the large one; by their number, the first alone could close each."""
    gpu = "example.com/gpu"
    nodes = [make_node(f"n{index}", allocatable={gpu: "5"}) for index in range(9)]
    small = [*leaving(8, requests={gpu: "1"}, name="small"), *leaving(1, requests={gpu: "3"}, name="medium")]
    large = leaving(1, requests={gpu: "4"}, name="large")

    assert unproven(nodes, [*small, *large]) == []
    assert "large-00" in unproven(nodes[:5], [*small, *large])


def test_nothing_is_proven_while_two_nodes_share_their_host_name() -> None:
    nodes = [make_node(name, cpu="64", labels={HOSTNAME: name[0]}) for name in ("a1", "b1")]
    shared = [*nodes, make_node("a2", cpu="64", labels={HOSTNAME: "a"})]
    pods = leaving(MANY, cpu="1")

    assert unproven(nodes, pods) == []
    assert unproven(shared, pods) == [pod.name for pod in pods]


def test_pods_that_cannot_come_to_a_node_close_none() -> None:
    pools = [make_node(f"{pool}{index:02}", cpu="4", labels={"pool": pool}) for pool in "ab" for index in range(3)]
    small = leaving(MANY, cpu="1", name="small", node_selector={"pool": "a"})

    assert unproven(pools, [*small, *leaving(3, cpu="4", name="large", node_selector={"pool": "b"})]) == []


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"affinity": required_anti_affinity({"app": "x"}), "labels": {"app": "x"}}, id="anti-affinity"),
        pytest.param(
            {"spec": {"containers": [{"name": "c", "ports": [{"containerPort": 1, "hostPort": 1}]}]}}, id="host ports"
        ),
    ],
)
def test_pods_that_exclude_each_other_need_a_node_each(facts: dict[str, Any]) -> None:
    nodes = [make_node(f"n{index:02}", cpu="4") for index in range(MANY)]

    assert unproven(nodes, leaving(MANY, **facts)) == []
    assert len(unproven(nodes, [*leaving(MANY, **facts), *leaving(1, name="more", **facts)])) == MANY + 1


def test_pods_that_keep_away_from_their_own_like_alone_are_in_the_way_of_none() -> None:
    """Each is the only one of its kind."""
    apps = [{"app": f"a{index}"} for index in range(MANY)]
    pods = [make_pod(app["app"], node="closed", labels=app, affinity=required_anti_affinity(app)) for app in apps]

    assert unproven([make_node("a"), make_node("b")], pods) == []


def spread(**facts: Any) -> list[Any]:
    """A constraint that spreads pods of app x over zones."""
    labels = {"matchLabels": {"app": "x"}}
    stated = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": labels}
    return [stated | facts]


def test_spread_pods_have_a_node_in_the_emptiest_zone() -> None:
    pods = leaving(MANY, cpu="1", labels={"app": "x"}, spread=spread())
    zones = [make_node(zone, cpu="12", labels={ZONE: zone}) for zone in ("east", "west")]

    assert unproven(zones, pods) == []
    assert len(unproven([make_node("east", cpu="6", labels={ZONE: "east"}), zones[1]], pods)) == MANY


def test_spread_pods_have_a_node_while_the_zones_are_even_enough() -> None:
    """No node of the third zone takes any of them."""
    zones = [make_node(zone, cpu="12", labels={ZONE: zone}) for zone in ("east", "west")]
    full = make_node("north", cpu="0", labels={ZONE: "north"})
    pods = leaving(MANY, cpu="1", labels={"app": "x"}, spread=spread(maxSkew=6))

    assert unproven([*zones, full], pods) == []
    assert (
        len(
            unproven(
                [*zones, full],
                [*pods, *leaving(1, name="more", cpu="1", labels={"app": "x"}, spread=spread(maxSkew=6))],
            )
        )
        > 0
    )


@pytest.mark.parametrize(
    ("constraints", "num_left"),
    [
        pytest.param(spread(minDomains=2), 0, id="as many domains as it needs"),
        pytest.param(spread(minDomains=3, maxSkew=MANY), MANY, id="too few domains"),
        pytest.param([*spread(), *spread(topologyKey=HOSTNAME)], MANY, id="two constraints"),
    ],
)
def test_proof_of_spread_is_for_one_constraint_with_enough_domains(constraints: list[Any], num_left: int) -> None:
    zones = [make_node(zone, cpu="12", labels={ZONE: zone}) for zone in ("east", "west")]
    pods = leaving(MANY, cpu="1", labels={"app": "x"}, spread=constraints)

    assert len(unproven(zones, pods)) == num_left


@pytest.mark.parametrize(("number", "is_proven"), [(MANY, True), (MANY + 1, False)])
def test_spread_pods_that_all_come_to_two_of_three_zones_close_both_in_the_end(number: int, is_proven: bool) -> None:
    """Each of both takes six pods more than the third zone, which takes none; they have room for more."""
    zones = [make_node(zone, cpu="64", labels={ZONE: zone}) for zone in ("east", "west")]
    full = make_node("north", cpu="0", labels={ZONE: "north"})
    pods = leaving(number, cpu="1", labels={"app": "x"}, spread=spread(maxSkew=6))

    assert (unproven([*zones, full], pods) == []) is is_proven


def test_few_pods_are_looked_at_in_every_order() -> None:
    """By what they request the small one could take the node of the large one, and emptier nodes score better."""
    nodes = [make_node("large", cpu="4"), make_node("small", cpu="2")]

    taken = unproven(nodes, [*leaving(1, cpu="2", name="small"), *leaving(1, cpu="4", name="large")])
    tainted = unproven(
        [make_node("large", cpu="4", taints=["keep=off:PreferNoSchedule"]), nodes[1]],
        [*leaving(1, cpu="2", name="small"), *leaving(1, cpu="4", name="large")],
    )

    assert (taken, tainted) == (["large-00"], [])


def rivals(**facts: Any) -> tuple[list[Node], list[Pod]]:
    """Two pods that leave for three nodes, each of which takes one pod, and a pending one of another scheduler."""
    nodes = [make_node(name, cpu="2", taints=[f"{name}=only:NoSchedule"]) for name in ("a", "b", "c")]
    pods = [
        make_pod(name, node="closed", cpu="2", labels={"app": name}, tolerations=_tolerating(places))
        for name, places in (("first", "ab"), ("second", "bc"))
    ]
    waiting = make_pod(
        "waiting", node="", tolerations=_tolerating("a"), **{"cpu": "2", "scheduler": "volcano", **facts}
    )
    return nodes, [*pods, waiting]


def _tolerating(nodes: str) -> list[Any]:
    return [{"key": node, "operator": "Exists"} for node in nodes]


@pytest.mark.parametrize("may_stay", [False, True])
@pytest.mark.parametrize(
    ("facts", "left"),
    [
        pytest.param({}, ["first"], id="it may be scheduled first"),
        pytest.param({"priority": -1}, [], id="it comes later"),
        pytest.param({"cpu": "3"}, [], id="it fits nowhere"),
    ],
)
def test_pending_pods_in_doubt_may_take_the_last_node(facts: dict[str, Any], left: list[str], may_stay: bool) -> None:
    """It may take the node that is left to the first one once the second one has the other."""
    nodes, (first, second, waiting) = rivals(**facts)
    snapshot = make_snapshot([CLOSED, *nodes], [first, second, waiting])

    found = LandingProver(snapshot).unproven([first, second], [first, second], may_stay=may_stay)

    assert [pod.name for pod in found] == left


@pytest.mark.parametrize(
    ("cpu_of_a", "expected"),
    [
        pytest.param("4", ["web"], id="the one that was booked may have gone to b as well"),
        pytest.param("8", [], id="it prefers a"),
    ],
)
def test_what_was_booked_before_may_have_any_node_of_equal_score(cpu_of_a: str, expected: list[str]) -> None:
    nodes = [make_node("a", cpu=cpu_of_a), make_node("b", cpu="4", labels={"disk": "ssd"})]
    first = make_pod("first", node="closed", cpu="4")
    web = make_pod("web", node="closed", cpu="4", node_selector={"disk": "ssd"})
    prover = LandingProver(make_snapshot([CLOSED, *nodes], [first, web]))
    prover.book(first)

    assert [pod.name for pod in prover.unproven([web], [web])] == expected


@pytest.mark.parametrize(
    ("cpu", "left"),
    [pytest.param("2", ["p"], id="it fits the room that is left"), pytest.param("3", [], id="it fits nowhere")],
)
def test_a_pending_pod_may_take_the_room_that_the_pod_leaves(cpu: str, left: list[str]) -> None:
    leaving_pod, waiting = make_pod("p", node="a", cpu="2"), make_pod("waiting", node="", cpu=cpu)
    snapshot = make_snapshot([make_node("a", cpu="2")], [leaving_pod, waiting])

    found = LandingProver(snapshot).unproven([leaving_pod], [leaving_pod])

    assert [pod.name for pod in found] == left


@pytest.mark.parametrize(
    ("most", "num_left"),
    [pytest.param("13", 0, id="it admits all"), pytest.param("12", MANY, id="it admits all but one")],
)
def test_quota_that_does_not_admit_all_at_once_leaves_any_of_them(most: str, num_left: int) -> None:
    """A pending pod of the same quota may be admitted before them."""
    facts: dict[str, Any] = {"labels": {f"{QUOTA_DOMAIN}/name": "team"}, "requests": {"cpu": "1"}}
    quota = {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": "team", "namespace": "koordinator-system"},
        "spec": {"min": {"cpu": most}, "max": {"cpu": most}},
    }
    nodes = [node_object("old", cpu="64", unschedulable=True), node_object("new", cpu="64")]
    pods = [koord_pod(f"p{index:02}", node="old", owners=["ReplicaSet/p"], **facts) for index in range(MANY)]
    prover = prover_of(*nodes, quota, *pods, koord_pod("waits", owners=["ReplicaSet/waits"], **facts))
    leaving_pods = [pod for pod in prover.cluster.snapshot.pods if pod.node_name]

    assert len(prover.unproven(leaving_pods, leaving_pods)) == num_left
