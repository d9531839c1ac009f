"""Where a replacement lands for which room is held on a node, while its victim is still there."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from descheduler.model.held_room import HeldRooms
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import Object, make_node, make_pod, make_snapshot, node_object, pod_object, required_anti_affinity
from tests.migration.random_rounds.worlds import make_world, snapshot_of
from tests.placement.clusters import ZONE
from tests.placement.considered import LANDS, LIKELY, NO
from tests.placement.plugins.coscheduling.worlds import CONFIGURATION, group_of, member, nodes_of, prover_of
from tests.placement.plugins.elastic_quota.quotas import make_quota, quota_pod, with_quotas
from tests.placement.workloads import cluster_of, pod_named, workload_object

APP = {"app": "web"}


def held(*objects: Object, on: str, victim: str = "victim") -> Landing:
    """The landing of `victim` in the cluster of `objects`, with room held for its replacement `on` this node."""
    snapshot = cluster_of(*objects)
    return LandingProver(snapshot).consider(pod_named(snapshot, victim), held=HeldRooms(on))


def other(name: str, node: str, **facts: Any) -> Object:
    return pod_object(name, node=node, owners=[f"ReplicaSet/{name}"], **facts)


def test_replacement_lands_on_the_node_that_was_chosen_although_another_scores_higher() -> None:
    snapshot = cluster_of(pod_object("victim", cpu="1"), other("busy", "b", cpu="2"), nodes="abc")
    prover, victim = LandingProver(snapshot), pod_named(snapshot, "victim")

    free, chosen = prover.consider(victim), prover.consider(victim, held=HeldRooms("b"))

    assert "b" not in free.ties
    assert (chosen.verdict, chosen.cold, chosen.node, chosen.ties) == (LANDS, LANDS, "b", ("b",))


@pytest.mark.parametrize(
    ("facts", "obstacle"),
    [
        pytest.param({"cpu": "500m"}, "insufficient cpu", id="that is too small"),
        pytest.param({"taints": ["pool=gpu:NoSchedule"]}, "untolerated taint", id="that is tainted"),
        pytest.param({"unschedulable": True}, "unschedulable", id="that is cordoned"),
    ],
)
def test_no_room_is_held_on_a_node(facts: dict[str, Any], obstacle: str) -> None:
    landing = held(node_object("a"), node_object("b", **facts), node_object("c"), pod_object("victim", cpu="1"), on="b")

    assert (landing.verdict, landing.node) == (NO, None)
    assert landing.message == f"no room can be held for the replacement pod on b: {obstacle}"


def test_no_room_is_held_beside_a_pod_that_the_replacement_keeps_away_from() -> None:
    pods = [pod_object(f"web-{node}", node=node, labels=APP, affinity=required_anti_affinity(APP)) for node in "ab"]

    landings = [held(*pods, *map(node_object, "abc"), on=node, victim="web-a") for node in "bc"]

    assert [landing.verdict for landing in landings] == [NO, LANDS]


def test_room_on_the_node_of_the_victim_is_held_beside_it() -> None:
    """What the victim takes is free only once it is gone, and the Reservation comes before."""
    landings = [held(node_object("a", cpu=cpu), pod_object("victim", cpu="2"), on="a") for cpu in ("3", "4")]

    assert [landing.verdict for landing in landings] == [NO, LANDS]


def test_no_room_is_held_in_the_zone_from_which_the_victim_keeps_its_like() -> None:
    victim = pod_object("victim", labels=APP, affinity=required_anti_affinity(APP, key=ZONE))
    nodes = [node_object(name, labels={ZONE: zone}) for name, zone in (("a", "east"), ("b", "east"), ("c", "west"))]

    landings = [held(*nodes, victim, on=node) for node in "bc"]

    assert [landing.verdict for landing in landings] == [NO, LANDS]


@pytest.mark.parametrize(("most", "verdict"), [("3", NO), ("4", LANDS)])
def test_quota_counts_the_held_room_beside_the_victim(most: str, verdict: LandingVerdict) -> None:
    quotas, victim = [make_quota("team", most={"cpu": most}, least={"cpu": "1"})], quota_pod("victim", "team", cpu="2")
    prover = LandingProver(with_quotas(quotas, map(make_node, "ab"), [victim]), configuration=CONFIGURATION)

    free, chosen = prover.consider(victim), prover.consider(victim, held=HeldRooms("b"))

    assert (free.verdict, chosen.verdict) == (LANDS, verdict)


def test_held_room_is_not_taken_by_a_pending_pod_of_a_higher_priority() -> None:
    """It would take the room that the victim leaves on a: no room is held there, but on b it is."""
    waiting = pod_object("waiting", node="", cpu="3", priority=20, owners=["ReplicaSet/other"])
    objects = [node_object("a"), node_object("b"), pod_object("victim", cpu="2"), other("busy", "b", cpu="2"), waiting]
    snapshot = cluster_of(*objects)
    prover = LandingProver(snapshot)

    landing = prover.book(pod_named(snapshot, "victim"), held=HeldRooms("b"))

    assert (landing.verdict, landing.node, landing.conditions) == (LANDS, "b", ())
    assert [(pod.name, node) for pod, node in prover.pending_nodes()] == [("waiting", "a")]


def test_pending_pod_that_fits_has_its_room_before_any_is_held() -> None:
    waiting = pod_object("waiting", node="", cpu="3", owners=["ReplicaSet/other"])

    landing = held(
        node_object("a", unschedulable=True), node_object("b"), pod_object("victim", cpu="2"), waiting, on="b"
    )

    assert landing.verdict is NO


def test_two_held_rooms_on_one_node_take_no_more_than_it_has() -> None:
    names = ("one", "two", "three")
    snapshot = cluster_of(
        *(other(name, "a", cpu="1500m") for name in names), node_object("a", cpu="8"), node_object("b")
    )
    prover = LandingProver(snapshot)

    landings = [prover.book(pod_named(snapshot, name), held=HeldRooms("b")) for name in names]

    assert [(landing.verdict, landing.node) for landing in landings] == [(LANDS, "b"), (LANDS, "b"), (NO, None)]


def test_victim_for_whose_replacement_no_room_can_be_held_stays() -> None:
    """No other landing counts on what it takes."""
    snapshot = cluster_of(
        node_object("a", cpu="2"), node_object("b", cpu="1"), other("large", "a", cpu="2"), other("small", "b", cpu="1")
    )
    prover = LandingProver(snapshot)

    landings = [
        prover.book(pod_named(snapshot, name), held=HeldRooms(node)) for name, node in (("large", "b"), ("small", "a"))
    ]

    assert [landing.verdict for landing in landings] == [NO, NO]


def test_room_is_held_where_a_booked_victim_has_left() -> None:
    snapshot = cluster_of(*map(_two_cores, "abc"), other("first", "a", cpu="2"), other("next", "c", cpu="2"))
    prover = LandingProver(snapshot)

    landings = [
        prover.book(pod_named(snapshot, name), held=HeldRooms(node)) for name, node in (("first", "b"), ("next", "a"))
    ]

    assert [(landing.verdict, landing.node) for landing in landings] == [(LANDS, "b"), (LANDS, "a")]


def _two_cores(name: str) -> Object:
    return node_object(name, cpu="2")


class TestTakingBack:
    """Held bookings leave nothing behind."""

    @pytest.mark.parametrize("seed", range(20))
    def test_bookings_that_are_taken_back_leave_the_cluster_as_it_was(self, seed: int) -> None:
        random = Random(seed)
        snapshot = snapshot_of(make_world(random))
        names = [node.name for node in snapshot.nodes]
        prover = LandingProver(snapshot)
        for pod in snapshot.pods:
            prover.consider(pod)
        digests, nodes = [prover.cluster.digest()], list(prover.pending_nodes())

        for pod in random.choices(snapshot.pods, k=12):
            prover.book(pod, held=HeldRooms(random.choice(["", *names])))
            digests.append(prover.cluster.digest())
        while len(digests) > 1:
            digests.pop()
            prover.take_back()
            assert prover.cluster.digest() == digests[-1]
        assert list(prover.pending_nodes()) == nodes

    def test_question_leaves_no_trace(self) -> None:
        snapshot = make_snapshot(map(make_node, "ab"), [make_pod("victim", cpu="1")])
        prover = LandingProver(snapshot)
        prover.consider(snapshot.pods[0])
        before = prover.cluster.digest()

        prover.consider(snapshot.pods[0], held=HeldRooms("b"))

        assert prover.cluster.digest() == before

    def test_booking_elsewhere_than_was_asked_for_asks_again(self) -> None:
        snapshot = make_snapshot(map(make_node, "abc"), [make_pod("victim", cpu="1")])
        prover = LandingProver(snapshot)

        prover.consider(snapshot.pods[0], held=HeldRooms("b"))

        assert prover.book(snapshot.pods[0], held=HeldRooms("c")).node == "c"

    def test_proof_of_others_leaves_the_held_bookings_as_they_were(self) -> None:
        snapshot = cluster_of(other("one", "a", cpu="1"), other("two", "a", cpu="1"), other("busy", "b", cpu="2"))
        prover = LandingProver(snapshot)
        prover.book(pod_named(snapshot, "one"), held=HeldRooms("b"))
        before = prover.cluster.digest()

        prover.prove([pod_named(snapshot, "two")])

        assert prover.cluster.digest() == before


class TestSizes:
    """Whichever size admission gives the replacement, the room is held for it."""

    @pytest.mark.parametrize(("live_cpu", "verdict"), [("1", LANDS), ("3", NO)])
    def test_replacement_of_either_size_has_to_fit_the_chosen_node(
        self, live_cpu: str, verdict: LandingVerdict
    ) -> None:
        landing = held(
            node_object("a", cpu="9"),
            node_object("b", cpu="2"),
            pod_object("victim", cpu=live_cpu, annotations={"vpaUpdates": "cpu request"}),
            workload_object("ReplicaSet/web", template=pod_object("t", cpu="1")),
            on="b",
        )

        assert (landing.verdict, landing.node) == (verdict, "b" if verdict is LANDS else None)

    def test_template_decides_and_not_the_running_pod(self) -> None:
        template = workload_object("ReplicaSet/web", template=pod_object("t", cpu="3"))

        assert held(pod_object("victim", cpu="1"), template, other("busy", "b", cpu="2"), on="b").verdict is NO


class TestGangs:
    """Room is held for each pod of a gang by itself."""

    def prover_of(self, pods: Sequence[Pod], policy: str = "") -> LandingProver:
        """A gang that needs all of `pods`, and a node with room for as many more."""
        return prover_of(nodes_of(len(pods)), pods, [group_of("train", len(pods), policy)])

    @pytest.mark.parametrize(("policy", "verdict"), [("once-satisfied", LANDS), ("only-waiting", NO)])
    def test_one_pod_lands_where_its_gang_does_not_hold_it_back(self, policy: str, verdict: LandingVerdict) -> None:
        pods = [member(f"m{number}") for number in range(3)]

        assert self.prover_of(pods, policy).consider(pods[0], held=HeldRooms("n0")).verdict is verdict

    def test_all_pods_of_a_gang_land_one_after_the_other(self) -> None:
        pods = [member(f"m{number}") for number in range(3)]
        prover = self.prover_of(pods)

        landings = [prover.book(pod, mates=pods, held=HeldRooms("n0")) for pod in pods]

        assert [(landing.verdict, landing.node) for landing in landings] == [(LANDS, "n0")] * 3


class TestUnproven:
    """What is not modelled is not proven by a Reservation."""

    def test_pod_of_an_unknown_scheduler_is_likely_on_the_chosen_node(self) -> None:
        landing = held(pod_object("victim", cpu="1", scheduler="volcano"), on="b")

        assert (landing.verdict, landing.node, landing.cause) == (LIKELY, "b", "scheduler volcano is not modelled")

    def test_pod_of_an_unknown_scheduler_stays_in_the_book(self) -> None:
        pods = [other("foreign", "a", cpu="2", scheduler="volcano"), other("next", "c", cpu="3")]
        snapshot = cluster_of(*pods, nodes="abc")
        prover = LandingProver(snapshot)

        prover.book(pod_named(snapshot, "foreign"), held=HeldRooms("b"))

        assert prover.consider(pod_named(snapshot, "next"), held=HeldRooms("a")).verdict is NO

    def test_pod_of_a_daemon_set_goes_nowhere(self) -> None:
        victim = pod_object("victim", owners=["DaemonSet/agent"])

        assert held(victim, on="b").verdict is NO
