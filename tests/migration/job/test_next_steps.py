"""Which step follows from what is seen: of the room, the pod, its replacement, and the time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.job.conditions import may_hold_room, with_condition
from descheduler.migration.job.machine import JobTerms, evicting, next_step, why_no_room
from descheduler.migration.job.seen import Miss, Room, RoomState, Seen
from descheduler.migration.job.steps import Evict, HoldRoom, ReleaseRoom, Save, Step, WaitForChange
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION, EVICT_POLICY_LABEL
from descheduler.model.koordinator.migration_job import JobConditionType, JobReason, MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference
from descheduler.model.pod import Pod
from tests.builders import NOW, make_pod

TERMS = JobTerms(unplaced_patience=timedelta(seconds=30))
OURS = {CREATED_BY_ANNOTATION: "descheduler"}
CREATED, SCHEDULED = JobConditionType.RESERVATION_CREATED, JobConditionType.RESERVATION_SCHEDULED
EVICTION, READY = JobConditionType.EVICTION, JobConditionType.BOUND_POD_READY
NEW = ObjectReference("shop", "web-0", "new")
OTHER = ObjectReference("shop", "web-9", "else")
HELD, PENDING = Room(RoomState.HELD, "n2"), Room(RoomState.PENDING)
UNSCHEDULABLE = Room(RoomState.UNSCHEDULABLE, message="0/3 nodes are available")
TAKEN = Room(RoomState.TAKEN, "n2", taken_by=NEW)


def pod(uid: str = "old", node: str = "n1", **facts: Any) -> Pod:
    return make_pod("web-0", namespace="shop", uid=uid, node=node, **facts)


def job(*conditions: JobConditionType, after: float = 0, **facts: Any) -> MigrationJob:
    """A job that runs and has asked for room `r`; its conditions came true `after` so many seconds."""
    made = MigrationJob("j", "Running", "shop", "web-0", "old", created_at=NOW, uid="u", reservation_name="r")
    for each in conditions:
        made = with_condition(made, each, True, NOW + timedelta(seconds=after))
    return replace(made, **facts)


def told(taken: Step) -> tuple[str, str]:
    """What is done, and why: reason or message of the job that is saved, else the words of a wait."""
    if isinstance(taken, ReleaseRoom):
        return "release", taken.then.reason if taken.then.has_ended else taken.then.condition
    if isinstance(taken, Save):
        return "save", f"{taken.job.phase} {taken.job.reason or taken.job.condition}".strip()
    if isinstance(taken, Evict):
        return "evict", taken.policy
    return type(taken).__name__, taken.why if isinstance(taken, WaitForChange) else ""


def step(
    of: MigrationJob,
    room: Room = HELD,
    *,
    old: Pod | None = None,
    new: Pod | None = None,
    seconds: float = 0,
    terms: JobTerms = TERMS,
) -> tuple[str, str]:
    return told(next_step(of, Seen(old, room, new), terms, NOW + timedelta(seconds=seconds)))


@pytest.mark.parametrize(
    ("mode", "default", "is_held"),
    [
        pytest.param("", "ReservationFirst", True, id="the controller's"),
        pytest.param("", "EvictDirectly", False, id="the controller's other one"),
        pytest.param("ReservationFirst", "EvictDirectly", True, id="the job's"),
        pytest.param("EvictDirectly", "ReservationFirst", False, id="the job's other one"),
    ],
)
def test_mode_of_the_job_comes_before_that_of_the_controller(mode: str, default: str, *, is_held: bool) -> None:
    terms = JobTerms(default_mode=default)
    made = job(mode=mode, reservation_name="")

    assert next_step(made, Seen(pod()), terms, NOW) == (HoldRoom() if is_held else Evict("Eviction"))
    assert may_hold_room(made, default) is is_held
    assert may_hold_room(job(mode=mode), default)  # a room that it names is held, whatever the mode


@pytest.mark.parametrize(
    ("facts", "old", "expected"),
    [
        pytest.param({"pod_namespace": ""}, pod(), "Failed InvalidPodRef", id="no namespace"),
        pytest.param({"pod_name": ""}, pod(), "Failed InvalidPodRef", id="no name"),
        pytest.param({"phase": "Pending"}, pod(), "Running", id="a pod"),
        pytest.param({}, pod("new"), "Failed MissingPod", id="a successor"),
        pytest.param({"pod_uid": ""}, pod("new"), "Running", id="any pod of the name"),
        pytest.param({"pod_uid": ""}, None, "Failed MissingPod", id="no pod"),
    ],
)
def test_job_begins_with_the_pod_that_it_names(facts: dict[str, Any], old: Pod | None, expected: str) -> None:
    assert step(job(**{"phase": "", **facts}), Room(RoomState.ABSENT), old=old) == ("save", expected)


def test_job_whose_pod_is_gone_before_room_was_asked_for_says_which_one_it_was() -> None:
    ended = next_step(job(reservation_name=""), Seen(None), TERMS, NOW)
    unknown = next_step(job(reservation_name="", pod_uid=""), Seen(None), TERMS, NOW)

    assert isinstance(ended, ReleaseRoom)
    assert (ended.then.reason, ended.then.message) == ("MissingPod", "there is no pod shop/web-0 with UID old")
    assert isinstance(unknown, ReleaseRoom)
    assert unknown.then.message == "there is no pod shop/web-0"


WAITS = ("WaitForChange", "r waits for a node")


@pytest.mark.parametrize(
    ("of", "room", "seconds", "expected"),
    [
        pytest.param(job(), PENDING, 0, ("save", "Running ReservationCreated"), id="it was asked for"),
        pytest.param(job(), Room(RoomState.ABSENT), 0, ("release", "MissingReservation"), id="it does not exist"),
        pytest.param(job(CREATED), PENDING, 29.9, WAITS, id="it has no node yet"),
        pytest.param(job(CREATED), PENDING, 30, ("release", "Unschedulable"), id="it has had no node for too long"),
        pytest.param(job(CREATED, after=10), PENDING, 39.9, WAITS, id="it is younger than the job"),
        pytest.param(job(CREATED), UNSCHEDULABLE, 0, ("save", "Running Unschedulable"), id="no node was found"),
        pytest.param(job(CREATED, SCHEDULED), UNSCHEDULABLE, 0, WAITS, id="it has lost its node"),
        pytest.param(job(CREATED), Room(RoomState.HELD), 0, ("release", "Unschedulable"), id="it names no node"),
        pytest.param(job(CREATED), Room(RoomState.LOST, "n2"), 0, ("release", "Unschedulable"), id="it ended"),
        pytest.param(job(CREATED), HELD, 0, ("save", "Running ReservationScheduled"), id="it has a node"),
        pytest.param(job(CREATED, SCHEDULED), HELD, 0, ("evict", "Eviction"), id="its node is known"),
        pytest.param(
            job(CREATED), Room(RoomState.HELD, "n1"), 0, ("release", "ForbiddenMigratePod"), id="its node is the pod's"
        ),
        pytest.param(
            job(CREATED, pod_uid="gone"),
            Room(RoomState.HELD, "n1"),
            0,
            ("save", "Running ReservationScheduled"),
            id="its node is that of a successor",
        ),
        pytest.param(
            job(CREATED),
            Room(RoomState.HELD, "n1", is_for_the_pod=True),
            0,
            ("save", "Running ReservationScheduled"),
            id="it is for the pod itself",
        ),
    ],
)
def test_room_goes_its_way(of: MigrationJob, room: Room, seconds: float, expected: tuple[str, str]) -> None:
    made = replace(of, annotations=OURS)

    assert step(made, room, old=pod(), seconds=seconds) == expected


def test_room_without_a_patience_waits_for_a_node_for_ever() -> None:
    assert step(job(CREATED), PENDING, old=pod(), seconds=1e6, terms=JobTerms()) == WAITS


def test_room_of_which_nobody_knows_since_when_it_is_asked_for_waits() -> None:
    told_by_others = job(CREATED, conditions=(replace(job(CREATED).conditions[0], transitioned_at=None),))

    assert step(told_by_others, PENDING, old=pod(), seconds=1e6) == WAITS


@pytest.mark.parametrize(
    ("room", "message"),
    [
        pytest.param(Room(RoomState.LOST, "n2", "the node was drained"), "the node was drained", id="what is known"),
        pytest.param(Room(RoomState.LOST), "r has no node", id="nothing is known"),
    ],
)
def test_lost_room_says_why(room: Room, message: str) -> None:
    taken = next_step(job(CREATED), Seen(pod(), room), TERMS, NOW)

    assert isinstance(taken, ReleaseRoom)
    assert taken.then.message == message


def no_room(reason: JobReason = JobReason.FAILED_CREATE_RESERVATION) -> MigrationJob:
    """A user's job for which no room could be created."""
    made = job(reservation_name="", ttl=timedelta(minutes=5))
    return with_condition(made, CREATED, False, NOW, reason, "the webhook refuses")


@pytest.mark.parametrize(
    ("of", "why"),
    [
        pytest.param(no_room(), "the webhook refuses", id="it goes on"),
        pytest.param(replace(no_room(), annotations=OURS), "", id="it is ours"),
        pytest.param(replace(no_room(), ttl=None), "", id="it has no time limit"),
        pytest.param(replace(no_room(), ttl=timedelta(0)), "", id="its time limit is none"),
        pytest.param(replace(no_room(), reservation_name="r"), "", id="it has room by now"),
        pytest.param(replace(no_room(), phase="Failed"), "", id="it has ended"),
        pytest.param(replace(no_room(), conditions=()), "", id="it says nothing"),
        pytest.param(no_room(JobReason.UNSCHEDULABLE), "", id="it says something else"),
    ],
)
def test_later_runs_try_again_to_create_room_for_a_users_job(of: MigrationJob, why: str) -> None:
    assert why_no_room(of) == why


FOR_THE_POD = Room(RoomState.HELD, "n2", is_for_the_pod=True)
POD_WAITS = ("save", "Running Unschedulable")


@pytest.mark.parametrize(
    ("old", "room", "expected"),
    [
        pytest.param(pod(node=""), FOR_THE_POD, POD_WAITS, id="it waits"),
        pytest.param(None, FOR_THE_POD, ("release", "MissingPod"), id="it is gone"),
        pytest.param(pod("new", node=""), FOR_THE_POD, ("release", "MissingPod"), id="it has a successor"),
        pytest.param(pod(node="n2"), FOR_THE_POD, ("save", "Succeeded Complete"), id="it has its node"),
        pytest.param(
            pod(node=""),
            replace(FOR_THE_POD, state=RoomState.TAKEN, taken_by=OTHER),
            ("release", "ForbiddenMigratePod"),
            id="another pod has taken the room",
        ),
        pytest.param(
            pod(node=""),
            replace(FOR_THE_POD, state=RoomState.TAKEN, taken_by=ObjectReference("shop", "web-0", "old")),
            POD_WAITS,
            id="it has taken the room",
        ),
        pytest.param(
            pod(node=""), replace(FOR_THE_POD, state=RoomState.TAKEN), POD_WAITS, id="nobody knows who has taken it"
        ),
        pytest.param(pod(node=""), replace(FOR_THE_POD, taken_by=OTHER), POD_WAITS, id="the room is not taken"),
    ],
)
def test_pod_that_waits_for_a_node_is_not_evicted(old: Pod | None, room: Room, expected: tuple[str, str]) -> None:
    assert step(job(CREATED, SCHEDULED), room, old=old) == expected


def asked() -> MigrationJob:
    return evicting(job(CREATED, SCHEDULED), pod(), NOW, asked_at=NOW)


@pytest.mark.parametrize(
    ("of", "old", "expected"),
    [
        pytest.param(asked(), pod(), ("WaitForChange", "pod shop/web-0 is to leave node n1"), id="it was asked"),
        pytest.param(asked(), pod(deleted=1), ("WaitForChange", "pod shop/web-0 is to leave node n1"), id="it leaves"),
        pytest.param(asked(), None, ("save", "Running EvictComplete"), id="it is gone"),
        pytest.param(asked(), pod("new"), ("save", "Running EvictComplete"), id="it has a successor"),
        pytest.param(job(CREATED, SCHEDULED), pod(deleted=1), ("save", "Running Evicting"), id="somebody deletes it"),
        pytest.param(job(CREATED, SCHEDULED), None, ("save", "Running EvictComplete"), id="gone by itself"),
        pytest.param(job(mode="EvictDirectly", reservation_name=""), None, ("save", "Failed MissingPod"), id="no room"),
    ],
)
def test_pod_leaves_once(of: MigrationJob, old: Pod | None, expected: tuple[str, str]) -> None:
    assert step(of, old=old) == expected


@pytest.mark.parametrize(
    ("of", "message", "probed_at"),
    [
        pytest.param(asked(), "pod shop/web-0 is gone", NOW, id="asked to leave"),
        pytest.param(
            job(CREATED, SCHEDULED, created_at=NOW - timedelta(hours=1)),
            "pod shop/web-0 is gone without an eviction of this job",
            NOW - timedelta(hours=1),
            id="not asked",
        ),
    ],
)
def test_job_says_how_its_pod_has_gone_and_since_when_that_was_wanted(
    of: MigrationJob, message: str, probed_at: object
) -> None:
    taken = next_step(of, Seen(None, HELD), TERMS, NOW + timedelta(minutes=1))

    assert isinstance(taken, Save)
    gone = taken.job.found(EVICTION)
    assert gone is not None
    assert (gone.message, gone.probed_at) == (message, probed_at)


def gone(*conditions: JobConditionType, **facts: Any) -> MigrationJob:
    return job(CREATED, SCHEDULED, EVICTION, *conditions, **facts)


def new_pod(*, node: str = "n2", is_ready: bool = True, age: float = 0) -> Pod:
    return replace(pod("new", node=node, ready=is_ready), created_at=NOW - timedelta(seconds=age))


MISSED = replace(TAKEN, state=RoomState.MISSED, miss=Miss.ELSEWHERE, message="it is on n3")
BOUND = gone(replacement=NEW)
NOT_TAKEN = ("save", "Running WaitForPodBindReservation")


@pytest.mark.parametrize(
    ("of", "room", "new", "expected"),
    [
        pytest.param(gone(), HELD, None, NOT_TAKEN, id="nobody has come"),
        pytest.param(gone(), HELD, new_pod(node=""), NOT_TAKEN, id="it has no node yet"),
        pytest.param(gone(), Room(RoomState.YIELDED, "n2"), None, NOT_TAKEN, id="the room has made way"),
        pytest.param(gone(), replace(HELD, taken_by=NEW), None, NOT_TAKEN, id="held for one that is known"),
        pytest.param(gone(), replace(TAKEN, taken_by=None), None, NOT_TAKEN, id="taken by nobody knows whom"),
        pytest.param(gone(), TAKEN, new_pod(), ("save", "Running ReservationBound"), id="it takes the room"),
        pytest.param(gone(replacement=OTHER), TAKEN, new_pod(), ("save", "Running ReservationBound"), id="another one"),
        pytest.param(
            gone(), replace(TAKEN, is_left_over=True), new_pod(), ("release", "ReservationBound"), id="room is left"
        ),
        pytest.param(
            BOUND, replace(TAKEN, is_left_over=True), new_pod(), ("release", "ReservationBound"), id="room is left yet"
        ),
        pytest.param(gone(), MISSED, new_pod(), ("save", "Running WaitForPodBindReservation"), id="it misses the room"),
        pytest.param(
            BOUND, TAKEN, new_pod(is_ready=False), ("save", "Running WaitForBoundPodReady"), id="it is not ready"
        ),
        pytest.param(BOUND, TAKEN, new_pod(), ("save", "Running BoundPodReady"), id="it is ready"),
        pytest.param(BOUND, TAKEN, None, ("save", "Running BoundPodReady"), id="it is gone again"),
        pytest.param(gone(READY, replacement=NEW), TAKEN, new_pod(), ("save", "Succeeded Complete"), id="all is known"),
        pytest.param(
            gone(READY, replacement=NEW), MISSED, new_pod(), ("save", "Succeeded Complete"), id="it is elsewhere"
        ),
        pytest.param(
            gone(READY, replacement=NEW),
            replace(MISSED, miss=Miss.UNUSED),
            new_pod(),
            ("save", "Succeeded Complete"),
            id="it is beside the room",
        ),
        pytest.param(
            gone(READY, replacement=NEW),
            replace(MISSED, miss=Miss.TAKEN),
            new_pod(),
            ("save", "Failed ForbiddenMigratePod"),
            id="another pod was quicker",
        ),
    ],
)
def test_replacement_is_awaited(of: MigrationJob, room: Room, new: Pod | None, expected: tuple[str, str]) -> None:
    assert step(of, room, new=new) == expected


@pytest.mark.parametrize(("age", "is_released"), [(4, False), (5, True), (6, True)])
@pytest.mark.parametrize("room", [HELD, Room(RoomState.YIELDED, "n2")], ids=["held", "given up"])
def test_room_makes_way_for_a_replacement_without_a_node(age: float, room: Room, *, is_released: bool) -> None:
    long_gone = gone(after=-60)

    taken = step(long_gone, room, new=new_pod(node="", age=age))

    assert (taken[0] == "release") is (is_released and room is HELD)


@pytest.mark.parametrize(
    ("of", "room", "message"),
    [
        pytest.param(
            job(reservation_name=""),
            Room(RoomState.ABSENT, message="no quota"),
            "the pod was not evicted: no quota",
            id="no room could be created",
        ),
        pytest.param(job(reservation_name=""), Room(RoomState.ABSENT), "the pod was not evicted", id="no room"),
        pytest.param(
            job(CREATED), replace(PENDING, message="0/3"), "the pod was not evicted", id="the room has no node"
        ),
        pytest.param(asked(), HELD, "the pod was asked to leave and is not gone yet", id="it leaves"),
        pytest.param(gone(), HELD, "the pod was evicted, its replacement is not ready yet", id="it is gone"),
    ],
)
def test_job_whose_time_is_over_says_how_far_it_has_come(of: MigrationJob, room: Room, message: str) -> None:
    limited = replace(of, ttl=timedelta(minutes=5))

    taken = next_step(limited, Seen(pod(), room), TERMS, NOW + timedelta(minutes=5))

    assert isinstance(taken, ReleaseRoom)
    assert taken.then.reason == "Timeout"
    assert taken.then.message == f"its time limit (ttl) has passed; {message}"


@pytest.mark.parametrize(
    ("of_pod", "of_job", "policy"),
    [
        pytest.param("", "", "Eviction", id="neither"),
        pytest.param("Delete", "SoftEviction", "Delete", id="both"),
        pytest.param("", "SoftEviction", "SoftEviction", id="the job"),
        pytest.param("Magic", "Delete", "Eviction", id="the pod, which names none that there is"),
    ],
)
def test_label_says_how_the_pod_is_evicted(of_pod: str, of_job: str, policy: str) -> None:
    terms = JobTerms(allowed_policies=("Delete", "SoftEviction"))
    labelled = job(CREATED, SCHEDULED, labels={EVICT_POLICY_LABEL: of_job})

    assert step(labelled, old=pod(labels={EVICT_POLICY_LABEL: of_pod}), terms=terms) == ("evict", policy)
