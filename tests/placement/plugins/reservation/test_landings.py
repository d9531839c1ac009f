"""Landings in clusters with Reservations: what is used, what waits, and what the departure of an owner changes."""

from __future__ import annotations

from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import Object
from tests.placement.plugins.reservation.worlds import koord_pod, nodes, prover_of, reservation_object
from tests.placement.workloads import workload_object

_LANDS = (LandingVerdict.LANDS, "b")


def web(*pods: Object) -> list[Object]:
    """Pods of ReplicaSet web, and the ReplicaSet."""
    return [workload_object("ReplicaSet/web", replicas=len(pods), template=pods[0]), *pods]


def landing_of(prover: LandingProver, name: str) -> Landing:
    """Where the replacement of a pod lands."""
    return prover.consider(next(pod for pod in prover.cluster.snapshot.pods if pod.name == name))


def verdict(landing: Landing) -> tuple[LandingVerdict, str | None]:
    """The verdict and the node."""
    return landing.verdict, landing.node


def test_replacement_names_the_reservation_that_it_uses() -> None:
    prover = prover_of(
        *nodes(a="4", b="4"), *web(koord_pod("p", node="a", cpu="3")), reservation_object("r", node="b", cpu="3")
    )

    landing = landing_of(prover, "p")

    assert verdict(landing) == _LANDS
    assert [(each.plugin, each.kind, each.name) for each in landing.allocations] == [
        ("Reservation", "reservation", "r")
    ]


def test_replacement_finds_no_room_that_is_reserved_for_others() -> None:
    victim = koord_pod("p", app="other", node="a", cpu="3", owners=["ReplicaSet/web"])
    blocker = koord_pod("blocker", app="x", node="a", cpu="2", owners=[])
    objects = [*nodes(a="4", b="4"), *web(victim), blocker, reservation_object("r", node="b", cpu="3")]
    objects[0]["spec"]["unschedulable"] = True

    landing = landing_of(prover_of(*objects), "p")

    assert landing.verdict is LandingVerdict.NO


def test_second_replacement_lands_where_the_first_has_used_up_the_reservation() -> None:
    """What a Reservation for one pod holds beyond that pod is free for others once it is used."""
    pods = web(koord_pod("p", node="a", cpu="1"))
    other = koord_pod("q", app="other", node="a", cpu="3", owners=["ReplicaSet/db"])
    db = workload_object("ReplicaSet/db", template=other)
    objects = [*nodes(a="4", b="4"), *pods, db, other, reservation_object("r", node="b", cpu="4")]
    objects[0]["spec"]["unschedulable"] = True
    prover = prover_of(*objects)
    victims = {pod.name: pod for pod in prover.cluster.snapshot.pods}

    alone = prover.consider(victims["q"]).verdict
    together = prover.prove([victims["q"], victims["p"]]).verdict
    prover.book(victims["p"])
    after = prover.consider(victims["q"]).verdict

    assert (alone, together, after) == (LandingVerdict.NO, LandingVerdict.LANDS, LandingVerdict.LANDS)


def test_booking_that_is_taken_back_leaves_the_reservation_unused() -> None:
    objects = [
        *nodes(a="4", b="4"),
        *web(koord_pod("p", node="a", cpu="3")),
        reservation_object("r", node="b", cpu="3"),
    ]
    prover = prover_of(*objects)
    landing_of(prover, "p")
    before = prover.cluster.digest()

    prover.book(next(pod for pod in prover.cluster.snapshot.pods if pod.name == "p"))
    booked = prover.cluster.digest()
    prover.take_back()

    assert booked != before
    assert prover.cluster.digest() == before


def test_reservation_that_waits_goes_before_replacements() -> None:
    objects = [*nodes(a="4", b="4"), *web(koord_pod("p", node="a", cpu="3")), reservation_object("r", cpu="3", app="x")]
    objects[0]["spec"]["unschedulable"] = True

    landing = landing_of(prover_of(*objects), "p")

    assert landing.verdict is LandingVerdict.NO
    assert landing.message.endswith("; pending Reservation r has a higher priority and is scheduled onto b first")


def test_reservation_that_waits_holds_room_for_its_owner_once_it_is_bound() -> None:
    objects = [*nodes(a="4", b="4"), *web(koord_pod("p", node="a", cpu="3")), reservation_object("r", cpu="3")]
    objects[0]["spec"]["unschedulable"] = True

    landing = landing_of(prover_of(*objects), "p")

    assert verdict(landing) == _LANDS
    assert [each.name for each in landing.allocations] == ["r"]


def test_reservations_of_another_policy_keep_one_that_waits_off_their_node() -> None:
    """Measured: policy Default stands beside no other."""
    held = reservation_object("r", node="b", cpu="1", allocatePolicy="Restricted", app="x")
    waiting = reservation_object("s", cpu="3", app="x")
    objects = [*nodes(a="4", b="4"), *web(koord_pod("p", node="a", cpu="3")), held, waiting]
    objects[0]["spec"]["unschedulable"] = True

    assert verdict(landing_of(prover_of(*objects), "p")) == _LANDS


def test_reservation_without_scheduler_name_is_never_scheduled() -> None:
    """§3.4: its pod is that of default-scheduler, which knows no Reservations."""
    waiting = reservation_object("r", cpu="3", app="x", template={"spec": {"schedulerName": None}})
    objects = [*nodes(a="4", b="4"), *web(koord_pod("p", node="a", cpu="3")), waiting]
    objects[0]["spec"]["unschedulable"] = True

    assert verdict(landing_of(prover_of(*objects), "p")) == _LANDS


def test_victim_that_used_a_reservation_up_leaves_no_room_reserved() -> None:
    """§3.2: Succeeded is for good, so the replacement has no Reservation, and finds the room free."""
    spent = reservation_object("r", node="a", cpu="3", phase="Succeeded")
    victim = koord_pod("p", node="a", cpu="3", uses="r")

    landing = landing_of(prover_of(*nodes(a="4"), *web(victim), spent), "p")

    assert verdict(landing) == (LandingVerdict.LANDS, "a")
    assert landing.allocations == ()


def test_replacement_of_an_owner_may_use_the_same_reservation_again() -> None:
    held = reservation_object("r", node="a", cpu="3", allocateOnce=False)
    victim = koord_pod("p", node="a", cpu="3", uses="r")

    landing = landing_of(prover_of(*nodes(a="3"), *web(victim), held), "p")

    assert verdict(landing) == (LandingVerdict.LANDS, "a")
    assert [each.name for each in landing.allocations] == ["r"]


def test_template_of_a_stateful_set_meets_a_reservation_that_names_its_pod() -> None:
    """The pod that comes back has the same name, and another uid."""
    victim = koord_pod("db-0", node="a", cpu="3", owners=["StatefulSet/db"])
    owners = [{"object": {"name": "db-0", "namespace": "default"}}]
    objects = [*nodes(a="4", b="4"), workload_object("StatefulSet/db", template=victim), victim]
    objects[0]["spec"]["unschedulable"] = True

    landing = landing_of(prover_of(*objects, reservation_object("r", node="b", cpu="4", owners=owners)), "db-0")

    assert [each.name for each in landing.allocations] == ["r"]
