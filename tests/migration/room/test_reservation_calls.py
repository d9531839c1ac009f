"""Reservations are created once, told from those of others, and given back when nobody needs them any more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.kube.errors import ApiError
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.job.seen import RoomState
from descheduler.migration.room.koordinator.provider import ReservationRooms
from descheduler.migration.room.labels import labels_of, manager_of
from descheduler.migration.room.provider import CannotHold, CannotHoldNow
from descheduler.migration.room.sweeping import KnownJobs
from descheduler.model.koordinator.eviction_annotations import ROOMS_ANNOTATION
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.transport.errors import TransportError
from tests.builders import NOW, ago
from tests.faults.faults import Act, Delivery, Fault
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay
from tests.migration.room.still import BY_CONTROLLER, OF_ONE_POD, OLD, OWNER, UID, Object, job, pod, reservation, still

RESERVATIONS = "reservations.scheduling.koordinator.sh"
ASKING = job(reservation_name="", mode="ReservationFirst", ttl=timedelta(minutes=5))
RESET = Fault(Act.AT_ONCE, delivery=Delivery.RESET)


def rooms(cluster: LivingCluster, way: FaultyWay | None = None) -> ReservationRooms:
    return ReservationRooms(ObjectCalls(cluster.client(passage=way)), OWNER)


def names(cluster: LivingCluster) -> list[str]:
    return sorted(each["metadata"]["name"] for each in cluster.all(RESERVATIONS))


def on_creation(cluster: LivingCluster, fault: AnyFault) -> FaultyWay:
    """A way on which the creation of a Reservation meets this fault."""
    return FaultyWay(cluster.api, lambda call: fault if call.request.method == "POST" else None)


def test_reservation_is_named_after_the_job_and_created_in_its_name() -> None:
    cluster = still(OLD)

    assert rooms(cluster).hold(ASKING, NOW) == UID
    assert rooms(cluster).hold(ASKING, NOW) == UID  # as after a call whose end is not known
    (found,) = cluster.all(RESERVATIONS)
    assert found["metadata"]["labels"].items() >= labels_of(UID, OWNER).items()
    assert manager_of(UID) in {each["manager"] for each in found["metadata"]["managedFields"]}


@pytest.mark.parametrize("found", [None, pod("web-0") | {"metadata": {**OLD["metadata"], "uid": "new"}}])
def test_no_room_is_held_for_a_pod_that_is_gone(found: Object | None) -> None:
    cluster = still(found)

    with pytest.raises(CannotHold, match="pod shop/web-0 is gone"):
        rooms(cluster).hold(ASKING, NOW)
    assert names(cluster) == []


@pytest.mark.parametrize(
    ("template", "told"),
    [
        pytest.param({"spec": {"template": 5}}, "is not that of a Reservation", id="a number"),
        pytest.param({"spec": {"ttl": "never"}}, "the Reservation is invalid", id="a time that is none"),
        pytest.param({"spec": {"taints": {}}}, "the Reservation is invalid", id="a map in place of a list"),
    ],
)
def test_template_that_is_not_that_of_a_reservation_is_refused_before_anything_is_sent(
    template: Object, told: str
) -> None:
    cluster = still(OLD)

    with pytest.raises(CannotHold, match=told):
        rooms(cluster).hold(replace(ASKING, template=template), NOW)
    assert cluster.api.sent("POST") == []


@pytest.mark.parametrize(
    ("facts", "raised"),
    [
        pytest.param({}, None, id="of this job"),
        pytest.param({"job_uid": "another"}, CannotHold, id="of another job"),
        pytest.param({"of": "another"}, CannotHold, id="of another policy"),
        pytest.param({"spec": {"allocateOnce": False}}, CannotHold, id="for several pods"),
        pytest.param({"ownerReferences": [{"kind": "Shop", "name": "s", "uid": "s"}]}, CannotHold, id="of an owner"),
    ],
)
def test_reservation_that_has_the_name_already_counts_if_it_is_of_the_job(
    facts: dict[str, Any], raised: type[Exception] | None
) -> None:
    cluster = still(OLD, reservation(UID, **facts))

    if raised is None:
        assert rooms(cluster).hold(ASKING, NOW) == UID
    else:
        with pytest.raises(raised, match=f"a Reservation {UID} exists, which is not of this job"):
            rooms(cluster).hold(ASKING, NOW)
    assert names(cluster) == [UID]


@pytest.mark.parametrize(
    ("code", "template", "raised"),
    [
        pytest.param(422, {}, CannotHoldNow, id="invalid by the pod, which may change"),
        pytest.param(400, {}, CannotHoldNow, id="not understood"),
        pytest.param(422, {"metadata": {"name": "mine"}}, CannotHold, id="invalid by the template, which stays"),
        pytest.param(403, {}, ApiError, id="not allowed"),
        pytest.param(503, {}, ApiError, id="not available"),
    ],
)
def test_refused_creation_says_whether_others_can_change_that(code: int, template: Object, raised: type) -> None:
    cluster = still(OLD)
    way = on_creation(cluster, Fault(Act.NEVER, code))

    with pytest.raises(raised) as caught:
        rooms(cluster, way).hold(replace(ASKING, template=template), NOW)
    assert type(caught.value) is raised


@pytest.mark.parametrize("fault", [RESET, Fault(Act.AT_ONCE, 504)], ids=["no answer", "the word of a proxy"])
def test_reservation_that_was_created_without_an_answer_is_found(fault: Fault) -> None:
    cluster = still(OLD)

    assert rooms(cluster, on_creation(cluster, fault)).hold(ASKING, NOW) == UID


def test_reservation_that_was_not_created_and_not_refused_is_an_error() -> None:
    cluster = still(OLD)

    with pytest.raises(TransportError):
        rooms(cluster, on_creation(cluster, Fault(Act.NEVER, delivery=Delivery.RESET))).hold(ASKING, NOW)


def test_reservation_that_admission_has_changed_is_given_back() -> None:
    cluster = still(OLD)
    cluster.api.mutating.append(lambda created: created["spec"].update(allocateOnce=False))

    with pytest.raises(CannotHold, match="was not created as asked for: it is for several pods"):
        rooms(cluster).hold(ASKING, NOW)
    assert names(cluster) == []


TEMPLATED = replace(ASKING, template={"metadata": {"name": "mine"}}, reservation_name="mine")
ROOMS = '[{"namespace": "shop", "name": "p", "uid": "p", "node": "n1"}]'
MAKING_ROOM = job(annotations={ROOMS_ANNOTATION: ROOMS}, reservation_name=UID)
ENDED = {"phase": "Failed"}


@pytest.mark.parametrize(
    ("of", "found", "left"),
    [
        pytest.param(ASKING, [reservation(UID)], [], id="that of the job, which does not know it"),
        pytest.param(TEMPLATED, [reservation("mine")], [], id="that of its template"),
        pytest.param(ASKING, [reservation(UID, job_uid="x")], [UID], id="that of another job"),
        pytest.param(job(), [reservation("r", of="x")], ["r"], id="that of a user"),
        pytest.param(replace(ASKING, **ENDED), [reservation(UID, used_by=("p",))], [UID], id="used, of an ended job"),
        pytest.param(ASKING, [reservation(UID, used_by=("p",))], [], id="used while the job goes on"),
        pytest.param(replace(ASKING, **ENDED), [reservation(UID)], [], id="unused, of an ended job"),
        pytest.param(
            MAKING_ROOM, [reservation(UID), reservation(f"{UID}-room-0", owners=(OF_ONE_POD,))], [], id="with rooms"
        ),
        pytest.param(
            MAKING_ROOM,
            [reservation(f"{UID}-room-0", owners=(OF_ONE_POD,), used_by=("p",))],
            [f"{UID}-room-0"],
            id="a room that its pod has",
        ),
        pytest.param(
            replace(job(is_evicted=True), annotations=MAKING_ROOM.annotations, reservation_name=UID),
            [reservation(UID), reservation(f"{UID}-room-0", owners=(OF_ONE_POD,))],
            [f"{UID}-room-0"],
            id="with rooms for which a pod has left",
        ),
    ],
)
def test_room_is_given_back_and_nothing_that_is_not_of_the_job(
    of: MigrationJob, found: list[Object], left: list[str]
) -> None:
    cluster = still(OLD, *found)

    rooms(cluster).release(of)

    assert names(cluster) == left


@pytest.mark.parametrize(("is_of_job", "left"), [(True, []), (False, [UID])])
def test_room_that_admission_has_changed_is_given_back_where_the_job_has_created_it(
    left: list[str], *, is_of_job: bool
) -> None:
    cluster = still(OLD)
    manager = manager_of(UID if is_of_job else "another")
    changed = reservation(UID, of="changed", managedFields=[{"manager": manager}, {"manager": "koord-scheduler"}])
    cluster.add(changed)

    rooms(cluster).release(ASKING)

    assert names(cluster) == left


GONE, OVER, FOREIGN = "11111111-2222-4333-8444-555555555555", UID, "33333333-2222-4333-8444-555555555555"
SEVERAL: Object = {"allocateOnce": False}
LIVE = "44444444-2222-4333-8444-555555555555"


def known(**facts: Any) -> KnownJobs:
    return KnownJobs(frozenset({LIVE}), {OVER: replace(ASKING, phase="Failed", **facts)}, frozenset({FOREIGN}))


@pytest.mark.parametrize(
    ("found", "removed", "told"),
    [
        pytest.param(reservation(LIVE, job_uid=LIVE), False, "", id="a live job"),
        pytest.param(reservation("another", job_uid=LIVE), False, "", id="a live job, with another name"),
        pytest.param(reservation(OVER, job_uid=OVER), True, "", id="a job that is over"),
        pytest.param(reservation(GONE, job_uid=GONE), True, "", id="a job that is no more"),
        pytest.param(reservation(GONE, job_uid=GONE, used_by=("p",)), False, "", id="one that a pod uses"),
        pytest.param(
            reservation(GONE, job_uid=GONE, deletionTimestamp=ago(1), finalizers=["x"]), False, "", id="being deleted"
        ),
        pytest.param(reservation("another", job_uid=GONE), False, "its name does not follow", id="another name"),
        pytest.param(
            reservation("another", job_uid=OVER), False, "its name does not follow", id="another name, of a known job"
        ),
        pytest.param(
            reservation(FOREIGN, job_uid=FOREIGN), False, "is not of this program", id="a job of another program"
        ),
        pytest.param(reservation(GONE, job_uid=GONE, spec=SEVERAL), False, "for several pods", id="several pods"),
        pytest.param(
            reservation(
                OVER, job_uid=OVER, spec={"allocateOnce": False}, managedFields=[{"manager": manager_of(OVER)}]
            ),
            True,
            "",
            id="one that admission has changed",
        ),
        pytest.param(
            reservation(
                GONE, job_uid=GONE, spec={"allocateOnce": False}, managedFields=[{"manager": manager_of(GONE)}]
            ),
            False,
            "for several pods",
            id="a changed one of a job that nobody knows",
        ),
        pytest.param(
            reservation(f"{GONE}-room-0", job_uid=GONE), False, "it is not for one pod", id="a room for several pods"
        ),
    ],
)
def test_what_earlier_runs_have_left_is_removed_if_it_is_ours(found: Object, told: str, *, removed: bool) -> None:
    cluster = still(found)

    swept = rooms(cluster).sweep(known())

    assert (swept.removed, names(cluster)) == (
        (found["metadata"]["name"],) * removed,
        [found["metadata"]["name"]] * (not removed),
    )
    assert [told in note for note in swept.notes] == [True] * bool(told)


def test_reservation_with_the_name_of_a_template_is_that_of_its_job() -> None:
    cluster = still(reservation("mine", job_uid=OVER))

    assert rooms(cluster).sweep(known(template={"metadata": {"name": "mine"}})).removed == ("mine",)


WAITS = pod("p", phase="Pending")
OF_P: Object = {"object": {"namespace": "shop", "name": "p", "uid": "p"}}
ROOM_NAME = f"{GONE}-room-0"


def room(name: str = ROOM_NAME, **facts: Any) -> Object:
    return reservation(name, **{"job_uid": GONE, "owners": (OF_P,), **facts})


NAMELESS: Object = {"object": {"namespace": "shop", "name": "p"}}


@pytest.mark.parametrize(
    ("found", "waiting", "is_kept"),
    [
        pytest.param(room(), WAITS, True, id="it waits"),
        pytest.param(room(owners=(BY_CONTROLLER, OF_P)), WAITS, True, id="it waits, and a controller may use the room"),
        pytest.param(room(phase="Pending"), WAITS, False, id="the room has no node"),
        pytest.param(room(), None, False, id="it is gone"),
        pytest.param(room(), pod("p", "n3"), False, id="it has a node"),
        pytest.param(room(), WAITS | {"metadata": {**WAITS["metadata"], "uid": "q"}}, False, id="another of the name"),
        pytest.param(room(), pod("p", phase="Pending", deleted=1), False, id="it is being deleted"),
        pytest.param(room(owners=(NAMELESS,)), WAITS, False, id="the room is for whatever has the name"),
        pytest.param(room(GONE), WAITS, False, id="the room is that of a pod that leaves"),
    ],
)
def test_room_of_a_pending_pod_outlasts_its_job_while_the_pod_waits(
    found: Object, waiting: Object | None, *, is_kept: bool
) -> None:
    cluster = still(found, waiting)

    rooms(cluster).sweep(known())

    assert names(cluster) == [found["metadata"]["name"]] * is_kept


@pytest.mark.parametrize("suffix", ["room-0", "room-17", "room-", "room-x", "room-²", "rooms-1", "0"])
def test_room_of_a_pending_pod_is_known_by_its_number(suffix: str) -> None:
    """Another name does not follow from the job, and what has it is left alone."""
    cluster = still(room(f"{GONE}-{suffix}", phase="Pending"))

    assert bool(rooms(cluster).sweep(known()).removed) is (suffix in ("room-0", "room-17"))


BROKEN: Object = {"ttl": "never"}
LEAVING: Object = {"deletionTimestamp": ago(1), "finalizers": ["x"]}


@pytest.mark.parametrize(
    ("found", "is_removed"),
    [
        pytest.param(reservation(GONE, job_uid=GONE, spec=BROKEN), True, id="ours"),
        pytest.param(reservation(GONE, job_uid=GONE, spec=BROKEN, **LEAVING), False, id="being deleted"),
        pytest.param(reservation(LIVE, job_uid=LIVE, spec=BROKEN), False, id="of a live job"),
    ],
)
def test_reservation_that_cannot_be_decoded_is_removed_like_others(found: Object, *, is_removed: bool) -> None:
    cluster = still(found)

    swept = rooms(cluster).sweep(known())

    assert (list(swept.removed), swept.notes) == ([GONE] if is_removed else [], ())


def test_reservation_that_cannot_be_decoded_holds_no_room_and_says_why() -> None:
    room_of_it, _ = rooms(still(OLD, reservation(spec=BROKEN))).look(job(), NOW)
    unlabelled, _ = rooms(still(OLD, reservation(spec=BROKEN, labels=None))).look(job(), NOW)

    assert room_of_it.state is unlabelled.state is RoomState.LOST
    assert "the Reservation is invalid" in room_of_it.message
