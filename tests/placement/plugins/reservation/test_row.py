"""What is told of Reservations, which pods they tell apart, and which wait in the queue."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import GatheredPods, Meetings
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.plugins.reservation.plugin import ReservationPlugin
from descheduler.placement.plugins.reservation.row import ROW, ReservationArgs
from tests.builders import Object, make_pod, owner
from tests.placement.clusters import make_profile
from tests.placement.configuration.kube_scheduler.builders import args_with, warnings, with_args
from tests.placement.plugins.reservation.worlds import (
    ONE_NODE,
    World,
    koord_pod,
    nodes,
    reservation_object,
    snapshot_of,
)

AFFINITY = {"scheduling.koordinator.sh/reservation-affinity": "{}"}


def told(pod: Object, *objects: Object, short: frozenset[str] = frozenset({"cpu"})) -> list[str]:
    """What Reservations on node a hold, where `pod` finds too little of what is `short`."""
    world = World([*nodes(a="8", b="8"), *objects, pod])
    refused = RefusedNode(world.evaluate(pod["metadata"]["name"]).cycle, world.scheduler, 0)
    assert ROW.explain_shortage is not None
    return list(ROW.explain_shortage(refused, short))


STRANGER = koord_pod("p", app="x", cpu="6")


@pytest.mark.parametrize(
    ("held", "said"),
    [
        pytest.param(reservation_object("r", node="a", cpu="4"), ["cpu 4"], id="on the node"),
        pytest.param(reservation_object("r", node="b", cpu="4"), [], id="on another node"),
        pytest.param(reservation_object("r", cpu="4"), [], id="on no node"),
        pytest.param(reservation_object("r", node="a", reserved={"memory": "1Gi"}), [], id="of another resource"),
        pytest.param(
            reservation_object("r", node="a", cpu="4", memory="1Gi"), ["cpu 4, memory 1Gi"], id="with all it holds"
        ),
    ],
)
def test_reservations_that_others_may_not_use_are_named_with_what_they_hold(held: Object, said: list[str]) -> None:
    found = told(STRANGER, held)

    assert found == [f"Reservation r holds {amounts} for its owners" for amounts in said]


def test_reservation_of_the_pod_is_not_named() -> None:
    assert told(koord_pod("p", cpu="9"), reservation_object("r", node="a", cpu="4")) == []


@pytest.mark.parametrize(("used", "is_named"), [("3", True), ("4", False), ("5", False)])
def test_reservation_is_named_as_long_as_any_of_it_is_left(used: str, is_named: bool) -> None:
    held = reservation_object("r", node="a", cpu="4", allocateOnce=False)

    assert bool(told(STRANGER, held, koord_pod("x", node="a", cpu=used, uses="r"))) is is_named


def test_reservation_that_is_used_up_is_not_named() -> None:
    held = reservation_object("r", node="a", cpu="4")

    assert told(STRANGER, held, koord_pod("x", node="a", cpu="1", uses="r")) == []


def explained(*objects: Object) -> list[str]:
    """What is told of Reservations on node a to the pod `p`, which needs one."""
    world = World([*nodes(a="8", b="8"), *objects, koord_pod("p", cpu="9", annotations=AFFINITY)])
    evaluation = world.evaluate("p")
    assert ROW.explain is not None
    obstacle = evaluation.refusals[0] if evaluation.refusals else evaluation.first_obstacle_on(0)
    return list(ROW.explain(RefusedNode(evaluation.cycle, world.scheduler, 0), obstacle))


def test_each_reservation_of_the_node_is_told_of() -> None:
    assert explained(
        reservation_object("r", node="a", cpu="4"),
        reservation_object("s", node="a", cpu="1", app="x"),
        reservation_object("t", node="b", cpu="1"),
    ) == ["Reservation r matches the pod and has too little left", "Reservation s is for other pods"]


def test_nothing_is_told_where_there_are_no_reservations() -> None:
    assert explained() == []


def mark_of(*objects: Object) -> Any:
    """What tells pods apart for these Reservations; None where nothing does."""
    assert ROW.marks is not None
    return ROW.marks(snapshot_of(*ONE_NODE, *objects))


def naming(**entry: object) -> Object:
    """A Reservation for owners by this entry."""
    return reservation_object("r", node="a", owners=[entry])


WEB = owner("ReplicaSet/web", uid="uid-web")


@pytest.mark.parametrize(
    ("entry", "pod", "is_marked"),
    [
        pytest.param({"object": {"name": "p"}}, make_pod("p"), True, id="its name"),
        pytest.param({"object": {"name": "p"}}, make_pod("q"), False, id="another name"),
        pytest.param({"object": {"uid": "u"}}, make_pod("q", uid="u"), True, id="its uid"),
        pytest.param({"object": {"uid": "u"}}, make_pod("q", uid="v"), False, id="another uid"),
        pytest.param({"controller": {"uid": "uid-web"}}, make_pod("q", owners=[WEB]), True, id="its controller's uid"),
        pytest.param({"controller": {"name": "web"}}, make_pod("q", owners=[WEB]), True, id="its controller's name"),
        pytest.param({"controller": {"name": "db"}}, make_pod("q", owners=[WEB]), False, id="another controller"),
    ],
)
def test_pods_that_a_reservation_names_are_told_from_others(
    entry: dict[str, object], pod: Pod, is_marked: bool
) -> None:
    mark = mark_of(naming(**entry))

    assert (mark(pod) is not None) is is_marked


def test_pods_of_owners_that_are_named_apart_differ() -> None:
    mark = mark_of(naming(object={"name": "p"}), naming(controller={"name": "web"}))

    marks = [mark(make_pod(name, uid=name, owners=owners)) for name in "pq" for owners in ([WEB], [])]

    assert len(set(marks)) == 4
    assert marks[3] is None
    assert mark(make_pod("other", owners=[WEB])) == mark(make_pod("another", owners=[WEB]))


def test_nobody_is_told_apart_where_labels_decide() -> None:
    assert mark_of(reservation_object("r", node="a")) is None
    assert mark_of() is None


@pytest.mark.parametrize(
    ("made", "is_queued"),
    [
        pytest.param(reservation_object("r"), True, id="waiting"),
        pytest.param(reservation_object("r", node="a"), False, id="bound"),
        pytest.param(reservation_object("r", preAllocation=True), False, id="for room that pods still have"),
        pytest.param(reservation_object("r", owners=[]), False, id="without owners"),
        pytest.param(reservation_object("r", phase="Failed"), False, id="failed"),
    ],
)
def test_reserve_pods_that_wait_are_in_the_queue(made: Object, is_queued: bool) -> None:
    assert ROW.queues is not None

    assert len(list(ROW.queues(snapshot_of(*ONE_NODE, made)))) == is_queued


def test_reserve_pod_of_a_reservation_that_is_being_deleted_is_not_in_the_queue() -> None:
    made = reservation_object("r")
    made["metadata"]["deletionTimestamp"] = "2026-06-30T11:00:00Z"
    assert ROW.queues is not None

    assert list(ROW.queues(snapshot_of(*ONE_NODE, made))) == []


@pytest.mark.parametrize("is_enabled", [True, False])
def test_preemption_is_warned_about(is_enabled: bool) -> None:
    args = json.dumps({"enablePreemption": is_enabled})
    assert ROW.doubt is not None

    read = args_with("Reservation", args).of(ReservationArgs)

    assert read.enable_preemption is is_enabled
    said = "preemption by Reservations is not modelled"
    assert any(said in each for each in warnings(with_args("Reservation", args))) is is_enabled
    assert bool(ROW.doubt(make_profile(read))) is is_enabled


def interplay(*objects: Object) -> Any:
    """How pods bear on each other through these Reservations."""
    world = World([*ONE_NODE, *objects])
    return ReservationPlugin(world.cluster, make_profile()).interactions


NEEDS = make_pod("n", labels={"app": "x"}, annotations=AFFINITY)
OWNER, OTHER = make_pod("o", labels={"app": "web"}), make_pod("p", labels={"app": "x"})


@pytest.mark.parametrize(
    ("objects", "helped"),
    [
        pytest.param([], [], id="none"),
        pytest.param([reservation_object("r", node="a")], [NEEDS, OTHER], id="one that a pod uses up"),
        pytest.param([reservation_object("r", node="a", allocateOnce=False)], [], id="one for several pods"),
        pytest.param([reservation_object("r", allocateOnce=False)], [NEEDS], id="one that waits"),
        pytest.param(
            [reservation_object("r", node="a"), koord_pod("x", node="a", uses="r")], [], id="one that is used up"
        ),
    ],
)
def test_pods_are_helped_by_those_that_use_reservations_up_or_bring_one(
    objects: list[Object], helped: list[Pod]
) -> None:
    found = interplay(*objects)

    assert [pod for pod in (NEEDS, OTHER) if found.can_be_helped(pod)] == helped


def test_all_pods_close_nodes_to_those_that_may_use_a_reservation() -> None:
    pods = [NEEDS, OWNER, OTHER]

    meetings = Meetings(3, interplay(reservation_object("r", node="a")).closing(GatheredPods(pods)))

    assert [meetings.on(place).tolist() for place in range(3)] == [[0, 1, 2], [0, 1, 2], []]
