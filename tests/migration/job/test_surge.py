"""The way of a surge, step by step: nothing is scaled without room, and nothing leaves before the new pod serves."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from descheduler.migration.job.conditions import with_condition
from descheduler.migration.job.machine import JobTerms, evicting, next_step
from descheduler.migration.job.seen import Room, RoomState, Scale, Seen
from descheduler.migration.job.steps import (
    Evict,
    LowerReplicas,
    PlanSurge,
    RaiseReplicas,
    ReleaseRoom,
    Save,
    Step,
    WaitForChange,
)
from descheduler.migration.job.surge import SCALE_BACK, Surge, surge_of, with_surge
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION, EVICT_POLICY_LABEL
from descheduler.model.koordinator.migration_job import JobConditionType, JobReason, MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference
from descheduler.model.pod import Pod
from tests.builders import NOW, make_pod

TERMS = JobTerms(allowed_policies=("SoftEviction",))
POD = make_pod("web-0", namespace="shop", uid="old", node="n1")
NEW = make_pod("web-1", namespace="shop", uid="new", node="n2", ready=True)
PLANNED = Surge(True, "Deployment", "web", "web-uid")
OURS = {CREATED_BY_ANNOTATION: "descheduler"}
SINGLE = Scale(1)
RAISED = Scale(2, is_raised=True, is_available=True)
HELD = Room(RoomState.HELD, "n2")
TAKEN = Room(RoomState.TAKEN, "n2", taken_by=ObjectReference("shop", "web-1", "new"))


def job(surge: Surge, *conditions: JobConditionType) -> MigrationJob:
    """A job that has its room."""
    made = MigrationJob(
        "j", "Running", "shop", "web-0", "old", created_at=NOW, uid="u", reservation_name="r", node_name="n2"
    )
    made = replace(made, annotations=OURS)
    for each in (JobConditionType.RESERVATION_CREATED, JobConditionType.RESERVATION_SCHEDULED, *conditions):
        made = with_condition(made, each, True, NOW)
    return with_surge(made, surge)


def surged() -> MigrationJob:
    """A job whose workload was scaled up."""
    return job(PLANNED, JobConditionType.SURGED)


def step(
    of: MigrationJob,
    scale: Scale = SINGLE,
    *,
    pod: Pod | None = POD,
    room: Room = HELD,
    new: Pod | None = None,
    after: timedelta = timedelta(0),
) -> Step:
    return next_step(of, Seen(pod, room, new, scale), TERMS, NOW + after)


def failure(taken: Step) -> tuple[str, str]:
    """Reason and message of the job that ends with what it holds given back."""
    assert isinstance(taken, ReleaseRoom)
    assert taken.then.phase == "Failed"
    assert taken.then.found(JobConditionType.EVICTION) is None
    return taken.then.reason, taken.then.message


def test_a_job_without_a_surge_evicts() -> None:
    assert step(replace(surged(), annotations=OURS)) == Evict("Eviction")


def test_what_is_to_be_scaled_is_found_out_once_there_is_room() -> None:
    assert step(job(Surge())) == PlanSurge()
    assert step(job(Surge()), room=Room(RoomState.PENDING)) == WaitForChange("r waits for a node")


def test_a_surge_that_was_declined_leaves_the_pod_to_be_evicted() -> None:
    assert step(job(Surge(declined="why"))) == Evict("Eviction")


def test_a_pod_that_may_not_leave_without_a_surge_stays_when_that_was_declined() -> None:
    reason, message = failure(step(job(Surge(is_required=True, declined="why"))))
    assert (reason, message) == (JobReason.SURGE_FAILED, "the workload cannot be surged: why")


def test_a_pod_that_another_party_is_to_delete_is_not_surged() -> None:
    pod = make_pod("web-0", namespace="shop", uid="old", node="n1", labels={EVICT_POLICY_LABEL: "SoftEviction"})
    taken = step(job(Surge()), pod=pod)
    assert isinstance(taken, Save)
    declined = surge_of(taken.job)
    assert declined is not None
    assert declined.declined == "evictionPolicy is SoftEviction"


def test_the_workload_is_scaled_up_while_the_room_is_held() -> None:
    assert step(job(PLANNED)) == RaiseReplicas()
    assert failure(step(job(PLANNED), room=Room(RoomState.YIELDED, "n2")))[0] == JobReason.MISSING_RESERVATION


def test_what_stands_against_it_at_the_last_moment_counts() -> None:
    taken = step(job(PLANNED), Scale(1, obstacle="is paused"))
    assert isinstance(taken, Save)
    assert surge_of(taken.job) == Surge(is_required=True, declined="is paused")


def test_that_it_is_scaled_up_is_noted() -> None:
    taken = step(job(PLANNED), RAISED)
    assert isinstance(taken, Save)
    assert taken.job.has(JobConditionType.SURGED)


def test_the_old_pod_leaves_when_the_new_one_is_available() -> None:
    assert step(surged(), RAISED, room=TAKEN, new=NEW) == Evict(SCALE_BACK)


@pytest.mark.parametrize(
    ("new", "scale"),
    [
        pytest.param(None, RAISED, id="there is no new pod"),
        pytest.param(make_pod("web-1", node="n2", ready=False), RAISED, id="it is not ready"),
        pytest.param(NEW, replace(RAISED, is_available=False), id="not for minReadySeconds"),
        pytest.param(make_pod("web-1", node="n2", ready=True, deleted=1), RAISED, id="it is being deleted"),
    ],
)
def test_the_old_pod_stays_for_a_while_and_is_given_up_then(new: Pod | None, scale: Scale) -> None:
    assert step(surged(), scale, room=TAKEN, new=new) == WaitForChange("the new pod is not available yet")
    late = step(surged(), scale, room=TAKEN, new=new, after=timedelta(minutes=5))
    assert failure(late) == (JobReason.SURGE_FAILED, "the new pod did not become available in time")


def test_a_new_pod_on_the_node_of_the_old_one_is_given_up() -> None:
    back = make_pod("web-1", namespace="shop", uid="new", node="n1", ready=True)
    assert "where the pod runs already" in failure(step(surged(), RAISED, room=TAKEN, new=back))[1]


def test_what_has_held_the_room_of_the_new_pod_is_given_back() -> None:
    taken = step(surged(), RAISED, room=replace(TAKEN, is_left_over=True), new=NEW)
    assert taken == ReleaseRoom(surged())


def test_room_makes_way_for_a_new_pod_that_finds_no_node() -> None:
    waiting = replace(make_pod("web-1", node="", ready=False), created_at=NOW)
    taken = step(surged(), RAISED, new=waiting, after=timedelta(seconds=6))
    assert isinstance(taken, ReleaseRoom)
    assert not taken.then.has_ended


@pytest.mark.parametrize(
    ("room", "seconds", "is_released"),
    [
        pytest.param(HELD, 4, False, id="it may yet find one"),
        pytest.param(HELD, 5, True, id="its time is over"),
        pytest.param(Room(RoomState.YIELDED, "n2"), 6, False, id="nothing is held any more"),
    ],
)
def test_room_makes_way_after_a_while_and_once(room: Room, seconds: float, *, is_released: bool) -> None:
    waiting = replace(make_pod("web-1", node="", ready=False), created_at=NOW)
    taken = step(surged(), RAISED, room=room, new=waiting, after=timedelta(seconds=seconds))
    assert isinstance(taken, ReleaseRoom) is is_released


@pytest.mark.parametrize("pod", [None, make_pod("web-0", uid="old", node="n1", deleted=1)], ids=["gone", "leaving"])
def test_a_workload_that_is_scaled_up_when_its_pod_leaves_is_scaled_back_first(pod: Pod | None) -> None:
    assert step(surged(), RAISED, pod=pod, room=TAKEN, new=NEW) == LowerReplicas()
    assert isinstance(step(surged(), SINGLE, pod=pod, room=TAKEN, new=NEW), Save)


def test_one_of_two_pods_is_awaited_to_leave_once_the_workload_is_scaled_back() -> None:
    asked = evicting(surged(), POD, NOW, asked_at=NOW)
    assert isinstance(step(asked, SINGLE, room=TAKEN, new=NEW), WaitForChange)
    assert failure(step(asked, SINGLE, room=TAKEN, new=None))[0] == JobReason.SURGE_FAILED


@pytest.mark.parametrize("replicas", [0, 2, 3, None])
def test_a_workload_that_others_have_scaled_is_left_to_them(replicas: int | None) -> None:
    assert failure(step(surged(), Scale(replicas), room=TAKEN, new=NEW))[0] == JobReason.SURGE_FAILED


def test_a_surge_is_read_as_it_is_written() -> None:
    assert surge_of(job(PLANNED)) == PLANNED


@pytest.mark.parametrize("text", ["", "no JSON", "[" * 5000, '{"uid": 1}', '{"kind": "Pod"}'])
def test_an_annotation_that_says_nothing_of_the_kind_is_no_surge(text: str) -> None:
    assert surge_of(replace(job(Surge()), annotations=OURS | {"descheduler/surge": text})) is None


def test_what_a_user_writes_into_the_annotation_is_no_surge() -> None:
    text = {"descheduler/surge": PLANNED.encoded()}
    assert surge_of(replace(job(PLANNED), annotations=text)) is None
