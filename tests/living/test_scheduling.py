"""The schedulers of the living cluster place pods as kube-scheduler and koord-scheduler do."""

from __future__ import annotations

import pytest

from tests.builders import required_anti_affinity
from tests.living.acting.kubelet import STOP_SECONDS
from tests.living.builders import (
    deployment,
    elastic_quota,
    living_cluster,
    node,
    placeholder,
    pod,
    priority_class,
    reservation,
)
from tests.living.cluster import LivingCluster
from tests.living.store import Object

pytestmark = pytest.mark.own_calls

_KOORD = {"scheduler": "koord-scheduler"}


def away_from(*nodes: str) -> Object:
    """An affinity that keeps a pod from nodes by their names."""
    field = {"key": "metadata.name", "operator": "NotIn", "values": list(nodes)}
    terms = [{"matchFields": [field]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def status_of(cluster: LivingCluster, name: str = "room") -> Object:
    """The status of a Reservation."""
    found = cluster.get("reservations.scheduling.koordinator.sh", name)
    assert found is not None
    return dict(found.get("status") or {})


def why_pending(cluster: LivingCluster, app: str) -> str:
    """The message of the condition PodScheduled."""
    (found,) = cluster.pods(app)
    return "".join(c["message"] for c in found["status"].get("conditions", ()) if c["status"] == "False")


class TestFilters:
    def test_pods_go_where_most_is_free_and_then_by_name(self) -> None:
        cluster = living_cluster([node("b"), node("a"), node("c", cpu="8", memory="32Gi")], [deployment("web", 3)])

        assert cluster.nodes_of("web") == ["a", "b", "c"]

    @pytest.mark.parametrize(
        ("other", "facts", "reason"),
        [
            (node("n1", cpu="1"), {"cpu": "2"}, "Insufficient cpu"),
            (node("n1", memory="1Gi"), {"memory": "2Gi"}, "Insufficient memory"),
            (node("n1", pods=0), {}, "Too many pods"),
            (node("n1", nvidia__gpu="1"), {"resources": {"nvidia/gpu": "2"}}, "Insufficient nvidia/gpu"),
            (node("n1", taints=["k=v:NoSchedule"]), {}, "node(s) had untolerated taint {k: v}"),
            (node("n1", unschedulable=True), {}, "node(s) were unschedulable"),
            (node("n1"), {"nodeSelector": {"disk": "ssd"}}, "node(s) didn't match Pod's node affinity/selector"),
            (node("n1"), {"affinity": away_from("n1")}, "node(s) didn't match Pod's node affinity/selector"),
        ],
    )
    def test_a_pod_that_fits_nowhere_says_why(self, other: Object, facts: Object, reason: str) -> None:
        cluster = living_cluster([other], [], [pod("a", **facts)])

        assert cluster.nodes_of("a") == [""]
        assert why_pending(cluster, "a") == f"0/1 nodes are available: 1 {reason}."

    def test_a_toleration_lets_a_pod_onto_a_tainted_node(self) -> None:
        tolerations = [{"key": "k", "operator": "Exists"}]
        cluster = living_cluster([node("n1", taints=["k=v:NoSchedule"])], [], [pod("a", tolerations=tolerations)])

        assert cluster.nodes_of("a") == ["n1"]

    def test_pods_that_keep_apart_are_on_nodes_of_their_own(self) -> None:
        cluster = living_cluster(2, [deployment("web", 3, affinity=required_anti_affinity({"app": "web"}))])

        assert cluster.nodes_of("web") == ["", "n1", "n2"]

    def test_a_pod_that_others_keep_away_from_stays_away(self) -> None:
        lonely = pod("lonely", on="n1", affinity=required_anti_affinity({"app": "a"}))

        assert living_cluster(2, [], [lonely, pod("a")]).nodes_of("a") == ["n2"]

    def test_two_pods_of_one_host_port_are_on_two_nodes(self) -> None:
        container = {"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}

        assert living_cluster(2, [deployment("web", 3, containers=[container])]).nodes_of("web") == ["", "n1", "n2"]

    def test_a_pod_is_placed_when_room_is_made(self) -> None:
        cluster = living_cluster([node("n1", cpu="1")], [], [pod("old", cpu="1", on="n1"), pod("new", cpu="1")])
        assert cluster.nodes_of("new") == [""]

        cluster.client().send("DELETE", "/api/v1/namespaces/shop/pods/old")
        cluster.clock.sleep(20)

        assert cluster.nodes_of("new") == ["n1"]

    def test_nothing_is_placed_on_a_node_that_has_failed_until_it_is_back(self) -> None:
        cluster = living_cluster(1)
        cluster.set_ready("n1", is_ready=False)
        cluster.add(pod("a"))
        cluster.clock.sleep(30)
        assert cluster.nodes_of("a") == [""]

        cluster.set_ready("n1", is_ready=True)
        cluster.clock.sleep(30)

        assert cluster.nodes_of("a") == ["n1"]

    def test_nothing_is_placed_while_scheduling_is_paused(self) -> None:
        cluster = living_cluster(1)
        cluster.pause_scheduling()
        cluster.add(pod("a"))
        cluster.clock.sleep(30)
        assert cluster.nodes_of("a") == [""]

        cluster.pause_scheduling(is_paused=False)
        cluster.clock.sleep(1)

        assert cluster.nodes_of("a") == ["n1"]

    def test_pods_of_an_unknown_scheduler_wait(self) -> None:
        assert living_cluster(1, [], [pod("a", scheduler="nobody")]).nodes_of("a") == [""]


class TestPreemption:
    def test_a_pod_takes_the_place_of_a_placeholder(self) -> None:
        low = priority_class("low", -10, preempts=False)
        held = placeholder("held", "job-1", cpu="3", on="n1", priorityClassName="low")
        cluster = living_cluster([node("n1")], [], [low, held, pod("new", cpu="2")])

        assert cluster.nodes_of("new") == ["n1"]
        assert cluster.pods("held") == []

    def test_as_few_pods_as_possible_leave_and_the_least_important_ones(self) -> None:
        classes = [priority_class("low", 1), priority_class("middle", 2), priority_class("high", 3)]
        cluster = living_cluster(
            [node("n1")],
            [],
            [
                *classes,
                pod("a", cpu="2", on="n1", priorityClassName="low"),
                pod("b", cpu="2", on="n1", priorityClassName="middle"),
                pod("new", cpu="2", priorityClassName="high"),
            ],
        )

        assert (cluster.nodes_of("new"), cluster.nodes_of("b"), cluster.nodes_of("a")) == (["n1"], ["n1"], [])

    def test_a_pod_that_never_preempts_waits(self) -> None:
        classes = [priority_class("low", 1), priority_class("polite", 3, preempts=False)]
        old = pod("a", cpu="3", on="n1", priorityClassName="low")
        cluster = living_cluster([node("n1")], [], [*classes, old, pod("new", cpu="2", priorityClassName="polite")])

        assert (cluster.nodes_of("new"), cluster.nodes_of("a")) == ([""], ["n1"])

    def test_while_a_victim_ends_its_room_is_promised(self) -> None:
        classes = [priority_class("low", 1), priority_class("middle", 2), priority_class("high", 3)]
        old = pod("a", cpu="3", on="n1", priorityClassName="low", annotations={STOP_SECONDS: "20"})
        cluster = living_cluster(
            [node("n1")], [], [*classes, old, pod("new", cpu="3", priorityClassName="high")], settle_seconds=5
        )
        cluster.add(pod("late", cpu="2", priorityClassName="middle"))

        assert cluster.pods("new")[0]["status"]["nominatedNodeName"] == "n1"
        cluster.clock.sleep(40)

        assert (cluster.nodes_of("new"), cluster.nodes_of("late")) == (["n1"], [""])


class TestReservations:
    def test_a_reservation_is_placed_and_holds_its_room_against_others(self) -> None:
        others = [reservation("room", "web", cpu="3"), pod("rival", cpu="2", **_KOORD)]
        cluster = living_cluster([node("n1")], [], others)

        status = status_of(cluster)
        assert (status["phase"], status["nodeName"]) == ("Available", "n1")
        assert status["allocatable"] == {"cpu": "3", "memory": str(256 * 2**20)}
        assert [(c["type"], c["status"]) for c in status["conditions"]] == [("Scheduled", "True"), ("Ready", "True")]
        assert cluster.nodes_of("rival") == [""]

    def test_its_owner_uses_it_up(self) -> None:
        cluster = living_cluster([node("n1")], [], [reservation("room", "web", cpu="3")])

        cluster.add(pod("web", cpu="3", **_KOORD))
        cluster.clock.sleep(10)

        (owner,) = cluster.pods("web")
        status = status_of(cluster)
        assert (status["phase"], status["allocated"]["cpu"]) == ("Succeeded", "3")
        assert status["currentOwners"] == [{"namespace": "shop", "name": "web", "uid": owner["metadata"]["uid"]}]
        assert "scheduling.koordinator.sh/reservation-allocated" in owner["metadata"]["annotations"]

    def test_as_the_shipped_manifest_is_nothing_uses_it_up(self) -> None:
        cluster = living_cluster([node("n1")], [], [reservation("room", "web", cpu="3")], has_reserve_line=False)

        cluster.add(pod("web", cpu="3", **_KOORD))
        cluster.clock.sleep(10)

        assert cluster.nodes_of("web") == ["n1"]
        assert (status_of(cluster)["phase"], status_of(cluster).get("currentOwners")) == ("Available", None)

    def test_a_pod_of_the_default_scheduler_knows_nothing_of_it(self) -> None:
        cluster = living_cluster([node("n1")], [], [reservation("room", "web", cpu="3")])

        cluster.add(pod("rival", cpu="2"))
        cluster.clock.sleep(10)

        assert cluster.nodes_of("rival") == ["n1"]

    def test_one_that_fits_nowhere_says_so_and_stays(self) -> None:
        cluster = living_cluster(1, [], [reservation("room", "web", cpu="30", ttl="10s")], settle_seconds=120)

        status = status_of(cluster)
        (condition,) = status["conditions"]
        assert (status["phase"], condition["reason"]) == ("Pending", "Unschedulable")
        assert condition["message"] == "0/1 nodes are available: 1 Insufficient cpu."

    def test_one_without_a_scheduler_name_is_nobodys(self) -> None:
        cluster = living_cluster(1, [], [reservation("room", "web", scheduler="")], settle_seconds=60)

        assert status_of(cluster) == {}

    def test_it_expires_when_its_time_is_over(self) -> None:
        cluster = living_cluster(1, [], [reservation("room", "web", ttl="1m")], settle_seconds=55)
        assert status_of(cluster)["phase"] == "Available"

        cluster.clock.sleep(10)

        status = status_of(cluster)
        assert (status["phase"], status["conditions"][-1]["reason"]) == ("Failed", "Expired")

    def test_the_lowest_order_is_used_first(self) -> None:
        order = "scheduling.koordinator.sh/reservation-order"
        rooms = [
            reservation("second", "web", labels={order: "2"}),
            reservation("first", "web", labels={order: "1"}),
            reservation("none", "web"),
        ]
        cluster = living_cluster(3, [], rooms)

        cluster.add(pod("web", **_KOORD))
        cluster.clock.sleep(10)

        phases = {name: status_of(cluster, name)["phase"] for name in ("first", "second", "none")}
        assert phases == {"first": "Succeeded", "second": "Available", "none": "Available"}

    def test_it_is_for_pods_of_one_controller(self) -> None:
        owners = [{"controller": {"kind": "ReplicaSet", "uid": "replicaset-shop-web-5d9c7b", "namespace": "shop"}}]
        cluster = living_cluster(1, [], [reservation("room", "x", owners=owners)])

        cluster.add(pod("other", **_KOORD))
        for item in deployment("web", 1, **_KOORD):
            cluster.add(item)
        cluster.clock.sleep(10)

        (owner,) = status_of(cluster)["currentOwners"]
        assert owner["name"].startswith("web-5d9c7b-")


class TestQuotas:
    def test_a_pod_waits_when_its_quota_is_used_up(self) -> None:
        labels = {"quota.scheduling.koordinator.sh/name": "team"}
        quotas = [elastic_quota("root", cpu="1"), elastic_quota("team", parent="root", cpu="10")]
        cluster = living_cluster(1, [deployment("web", 3, cpu="400m", labels=labels, **_KOORD)], quotas)

        assert cluster.nodes_of("web") == ["", "n1", "n1"]
