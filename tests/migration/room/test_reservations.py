"""What a Reservation says of the room of a job, and which pod has taken that room or missed it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.job.seen import ABSENT, Miss, Room, RoomState
from descheduler.migration.room.koordinator.provider import ReservationRooms
from descheduler.model.annotations import RESERVATION_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Pod
from tests.builders import NOW
from tests.migration.room.still import (
    BY_CONTROLLER,
    OF_ONE_POD,
    OLD,
    OWNER,
    SUCCESSORS,
    SURGED,
    UID,
    Object,
    job,
    named,
    pod,
    reservation,
    still,
)

HELD = Room(RoomState.HELD, "n2")
NOT_SCHEDULED = (("Scheduled", "False", "Unschedulable"),)
USED = {RESERVATION_ALLOCATED_ANNOTATION: '{"name": "r", "uid": "uid-r"}'}
USES_ANOTHER = {RESERVATION_ALLOCATED_ANNOTATION: '{"name": "s", "uid": "uid-s"}'}


def look(of: MigrationJob, *objects: Object | None) -> tuple[Room, str]:
    """The room, and the name of the pod that has it or is to have it."""
    room, found = ReservationRooms(ObjectCalls(still(*objects).client()), OWNER).look(of, NOW)
    return room, _name(found)


def _name(found: Pod | None) -> str:
    return "" if found is None else found.name


@pytest.mark.parametrize(
    ("facts", "room"),
    [
        pytest.param({}, HELD, id="it has a node"),
        pytest.param({"conditions": ()}, Room(RoomState.PENDING), id="a node and no word of the scheduler"),
        pytest.param({"node": ""}, Room(RoomState.PENDING), id="the word of the scheduler and no node"),
        pytest.param(
            {"conditions": (("Scheduled", "False", "Other"),)}, Room(RoomState.PENDING), id="the scheduler has failed"
        ),
        pytest.param(
            {"conditions": NOT_SCHEDULED, "node": "", "phase": "Pending"},
            Room(RoomState.UNSCHEDULABLE, message="Unschedulable"),
            id="no node is good enough",
        ),
        pytest.param({"phase": "Succeeded"}, Room(RoomState.TAKEN, "n2"), id="it is used up by nobody knows whom"),
        pytest.param(
            {"used_by": ("web-1",)},
            Room(RoomState.TAKEN, "n2", taken_by=named("web-1")),
            id="a pod that is gone",
        ),
        pytest.param({"phase": "Failed"}, Room(RoomState.LOST, "n2"), id="it has failed"),
        pytest.param(
            {"phase": "Failed", "conditions": (("Ready", "False", "NodeGone"),)},
            Room(RoomState.LOST, "n2", message="NodeGone"),
            id="it has failed and says why",
        ),
        pytest.param(
            {"phase": "Failed", "conditions": (("Ready", "False", "Expired"),)},
            Room(RoomState.EXPIRED, "n2"),
            id="its time is over",
        ),
        pytest.param({"deletionTimestamp": "2026-06-30T11:00:00Z", "finalizers": ["x"]}, ABSENT, id="it is deleted"),
        pytest.param({"owners": (OF_ONE_POD,)}, replace(HELD, is_for_the_pod=True), id="it is for one pod"),
    ],
)
def test_reservation_says_how_far_the_room_is(facts: dict[str, Any], room: Room) -> None:
    assert look(job(), OLD, reservation(**facts)) == (room, "")


def test_room_without_a_reservation_is_absent() -> None:
    assert look(job(), OLD) == (ABSENT, "")
    assert look(job(reservation_name="../../nodes/n1"), OLD) == (ABSENT, "")


def taken(by: str) -> Room:
    return Room(RoomState.TAKEN, "n2", taken_by=named(by))


NEW, WAITING = pod("web-1", "n2"), pod("web-1")
ELSEWHERE, BEFORE = pod("web-1", "n3"), pod("web-1", "n2", age=7200)
STRANGER = pod("api-1", "n2", workload="ReplicaSet/api")
IN_USE = reservation(used_by=("web-1",))


@pytest.mark.parametrize(
    ("found", "new", "room", "who"),
    [
        pytest.param(reservation(), None, HELD, "", id="nobody has come"),
        pytest.param(reservation(), WAITING, HELD, "web-1", id="it has no node yet"),
        pytest.param(reservation(), pod("web-1", "n2", annotations=USED), HELD, "web-1", id="the status follows"),
        pytest.param(reservation(), BEFORE, HELD, "", id="the pod is an older one"),
        pytest.param(reservation(), STRANGER, HELD, "", id="the pod is of another workload"),
        pytest.param(reservation(), pod("web-1", "n2", annotations=USES_ANOTHER), HELD, "", id="it is of another job"),
        pytest.param(IN_USE, NEW, taken("web-1"), "web-1", id="it has taken the room"),
        pytest.param(IN_USE, None, taken("web-1"), "", id="what has taken the room is gone"),
        pytest.param(
            reservation(phase="Failed"), NEW, Room(RoomState.LOST, "n2"), "", id="the room was lost before it came"
        ),
        pytest.param(
            None, pod("web-1", "n2", annotations=USED), taken("web-1"), "web-1", id="the room was used, and is removed"
        ),
        pytest.param(None, WAITING, ABSENT, "web-1", id="the room is removed, and it has no node yet"),
        pytest.param(None, None, ABSENT, "", id="there is neither"),
    ],
)
def test_only_the_replacement_takes_the_room_once_the_pod_was_asked_to_leave(
    found: Object | None, new: Object | None, room: Room, who: str
) -> None:
    assert look(job(is_evicted=True), found, new) == (room, who)


@pytest.mark.parametrize(
    ("found", "new", "miss", "is_left_over", "told"),
    [
        pytest.param(reservation(UID), NEW, Miss.UNUSED, True, "does not use Reservation", id="beside"),
        pytest.param(reservation(UID), ELSEWHERE, Miss.ELSEWHERE, True, "not on n2", id="on another node"),
        pytest.param(None, NEW, Miss.UNUSED, False, "does not use Reservation", id="beside what is removed"),
        pytest.param(None, ELSEWHERE, Miss.ELSEWHERE, False, "not on n2", id="on another node than what is removed"),
        pytest.param(
            reservation(UID, of="another"), NEW, Miss.UNUSED, False, "does not use", id="beside that of others"
        ),
    ],
)
def test_replacement_that_does_not_use_the_room_has_missed_it(
    found: Object | None, new: Object, miss: Miss, told: str, *, is_left_over: bool
) -> None:
    room, who = look(job(is_evicted=True, reservation_name=UID), found, new)

    assert (room.state, room.node, room.miss, room.is_left_over) == (RoomState.MISSED, "n2", miss, is_left_over)
    assert (room.taken_by, who) == (named("web-1"), "web-1")
    assert told in room.message


@pytest.mark.parametrize("user", ["web-8", "api-1"], ids=["an older one", "one of another workload"])
def test_room_that_another_pod_has_taken_is_not_that_of_the_replacement(user: str) -> None:
    used = reservation(used_by=(user,))
    others = [pod("web-8", "n2", age=7200), STRANGER]
    evicted = job(is_evicted=True)

    nobody, _ = look(evicted, used, *others)
    waiting, who_waits = look(evicted, used, *others, WAITING)
    came, who_came = look(evicted, used, *others, ELSEWHERE)

    assert (nobody.state, nobody.taken_by, who_waits) == (RoomState.TAKEN, None, "web-1")
    assert nobody == waiting
    assert f"pod shop/{user}, which is not the replacement" in nobody.message
    assert (came.state, came.miss, came.taken_by, who_came) == (
        RoomState.MISSED,
        Miss.TAKEN,
        named("web-1"),
        "web-1",
    )
    assert not came.is_left_over


def test_room_is_that_of_the_replacement_that_uses_it_whichever_came_first() -> None:
    used = reservation(used_by=("web-2",))
    first, second = pod("web-1", "n2", age=5), pod("web-2", "n2")

    assert look(job(is_evicted=True), used, first, second) == (taken("web-2"), "web-2")


def test_pod_that_only_seems_older_has_taken_the_room_when_no_other_has_come() -> None:
    """Its time is of the server's clock, that of the eviction of this machine's."""
    seems_older = pod("web-1", "n2", age=61)

    late, early = job(is_evicted=True, seconds=60), job(is_evicted=True)
    assert look(late, IN_USE, seems_older) == (taken("web-1"), "web-1")
    assert look(early, IN_USE, seems_older)[0].taken_by is None


def test_replacement_of_a_surge_comes_before_its_pod_is_asked_to_leave() -> None:
    surged = job(annotations=SUCCESSORS | SURGED)

    assert look(surged, OLD, reservation(), BEFORE)[1] == "web-1"
    assert look(job(), OLD, reservation(), BEFORE)[1] == ""


def test_room_for_the_pod_itself_is_never_that_of_a_replacement() -> None:
    assert look(job(is_evicted=True), reservation(owners=(OF_ONE_POD,)), NEW) == (
        replace(HELD, is_for_the_pod=True),
        "",
    )


USERS = job(is_evicted=True, annotations={})
BY_LABEL = {"labelSelector": {"matchLabels": {"app": "web"}}}
ANOTHER_CONTROLLER = {"controller": {**BY_CONTROLLER["controller"], "uid": ""}}


@pytest.mark.parametrize(
    ("owners", "who"),
    [
        pytest.param((BY_CONTROLLER,), "web-1", id="a controller"),
        pytest.param((BY_CONTROLLER, BY_CONTROLLER), "", id="two controllers"),
        pytest.param((BY_CONTROLLER, BY_LABEL), "", id="a controller and labels"),
        pytest.param((ANOTHER_CONTROLLER,), "", id="a controller without a UID"),
        pytest.param((BY_LABEL,), "", id="labels"),
    ],
)
def test_replacement_of_a_users_job_is_of_the_controller_that_its_reservation_is_for(
    owners: tuple[Object, ...], who: str
) -> None:
    assert look(USERS, reservation(owners=owners), NEW)[1] == who


def test_room_of_a_users_reservation_for_anybody_is_taken_by_whoever_uses_it() -> None:
    used = reservation(owners=(BY_LABEL,), used_by=("api-1",))

    assert look(USERS, used, STRANGER) == (taken("api-1"), "api-1")


def test_users_job_whose_reservation_is_gone_knows_its_replacement_by_its_own_word() -> None:
    known = replace(USERS, replacement=named("web-1"))

    assert look(known, NEW)[1] == "web-1"
    assert look(known, pod("web-1", "n2") | {"metadata": {**NEW["metadata"], "uid": "another"}})[1] == ""
    assert look(USERS, NEW) == (ABSENT, "")
