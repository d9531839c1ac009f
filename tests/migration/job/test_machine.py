"""A job goes the way that users of koord-descheduler know, and ends well or gives back what it held."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from descheduler.migration.job.conditions import with_condition
from descheduler.migration.job.machine import JobTerms, evicting, next_step
from descheduler.migration.job.seen import Room, RoomState, Seen
from descheduler.migration.job.steps import End, Evict, HoldRoom, ReleaseRoom, Save, Step, WaitForChange
from descheduler.model.koordinator.eviction_annotations import (
    CREATED_BY_ANNOTATION,
    EVICT_POLICY_LABEL,
    TARGET_NODE_ANNOTATION,
)
from descheduler.model.koordinator.migration_job import JobConditionType, JobPhase, JobReason, MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference
from descheduler.model.pod import Pod
from tests.builders import NOW, make_pod

TERMS = JobTerms(allowed_policies=("Delete", "SoftEviction"))
POD = make_pod("web-0", namespace="shop", uid="old", node="n1")
SUCCESSOR = ObjectReference("shop", "web-0", "new")
HELD = Room(RoomState.HELD, "n2")
PENDING = Room(RoomState.PENDING)


def job(**facts: object) -> MigrationJob:
    fresh = MigrationJob("j", "", "shop", "web-0", "old", created_at=NOW, uid="job-uid", ttl=timedelta(minutes=5))
    return replace(fresh, **facts)


def running(**facts: object) -> MigrationJob:
    return job(phase="Running", **facts)


def holding(**facts: object) -> MigrationJob:
    created = with_condition(running(reservation_name="job-uid"), JobConditionType.RESERVATION_CREATED, True, NOW)
    return replace(created, **facts)


def placed() -> MigrationJob:
    return replace(with_condition(holding(), JobConditionType.RESERVATION_SCHEDULED, True, NOW), node_name="n2")


def evicted() -> MigrationJob:
    return with_condition(placed(), JobConditionType.EVICTION, True, NOW, JobReason.EVICT_COMPLETE)


def step(of: MigrationJob, pod: Pod | None = POD, room: Room = HELD, replacement: Pod | None = None) -> Step:
    return next_step(of, Seen(pod, room, replacement), TERMS, NOW)


def saved(taken: Step) -> MigrationJob:
    assert isinstance(taken, Save)
    return taken.job


def words(of: MigrationJob) -> tuple[str, str, str]:
    return of.phase, of.condition, of.reason


class TestBeginning:
    def test_a_new_job_runs_and_names_the_uid_of_its_pod(self) -> None:
        begun = saved(step(job(pod_uid="")))
        assert (begun.phase, begun.pod_uid) == (JobPhase.RUNNING, "old")

    def test_a_job_that_states_another_uid_than_that_of_the_pod_fails(self) -> None:
        assert words(saved(step(job(pod_uid="other")))) == ("Failed", "", "MissingPod")

    def test_a_job_whose_pod_is_gone_fails(self) -> None:
        assert words(saved(step(job(), pod=None))) == ("Failed", "", "MissingPod")

    def test_a_job_that_names_no_pod_fails(self) -> None:
        assert words(saved(step(job(pod_name="")))) == ("Failed", "", "InvalidPodRef")

    def test_nothing_is_done_about_a_paused_job_even_past_its_time(self) -> None:
        late = NOW + timedelta(hours=1)
        assert isinstance(next_step(job(is_paused=True), Seen(POD), TERMS, late), WaitForChange)

    def test_nothing_is_done_about_a_job_that_has_ended(self) -> None:
        assert step(job(phase="Succeeded")) == End()


class TestRoom:
    def test_room_is_asked_for_first(self) -> None:
        assert step(running(), room=Room(RoomState.ABSENT)) == HoldRoom()

    def test_room_that_was_asked_for_is_told(self) -> None:
        told = saved(step(running(reservation_name="job-uid"), room=PENDING))
        assert words(told) == ("Running", "ReservationCreated", "")

    def test_the_word_of_the_scheduler_is_told_once_and_then_waited_on(self) -> None:
        room = Room(RoomState.UNSCHEDULABLE, message="0/3 nodes are available")
        told = saved(step(holding(), room=room))
        assert (words(told), told.message) == (("Running", "ReservationScheduled", "Unschedulable"), room.message)
        assert isinstance(step(told, room=room), WaitForChange)

    def test_room_that_finds_no_node_within_the_patience_is_given_back(self) -> None:
        terms = JobTerms(unplaced_patience=timedelta(seconds=30))
        given_up = next_step(holding(), Seen(POD, PENDING), terms, NOW + timedelta(seconds=30))
        assert isinstance(given_up, ReleaseRoom)
        assert given_up.then.reason == "Unschedulable"

    def test_the_node_on_which_no_room_could_be_held_is_named_unless_a_user_names_it(self) -> None:
        terms = JobTerms(unplaced_patience=timedelta(0))
        told = []
        for owner in ({CREATED_BY_ANNOTATION: "descheduler"}, {}):
            tied = holding(annotations={TARGET_NODE_ANNOTATION: "n3", **owner})
            given_up = next_step(tied, Seen(POD, PENDING), terms, NOW)
            assert isinstance(given_up, ReleaseRoom)
            told.append(given_up.then.message)
        assert told == ["no room on node n3: no node was found in time", "no node was found in time"]

    def test_the_node_of_the_room_is_told(self) -> None:
        told = saved(step(holding()))
        assert (words(told), told.node_name) == (("Running", "ReservationScheduled", ""), "n2")

    def test_room_on_the_node_of_the_pod_is_given_back(self) -> None:
        given_up = step(holding(), room=Room(RoomState.HELD, "n1"))
        assert isinstance(given_up, ReleaseRoom)
        assert words(given_up.then) == ("Failed", "ReservationCreated", "ForbiddenMigratePod")

    def test_a_job_of_this_program_whose_room_has_vanished_fails(self) -> None:
        own = replace(placed(), annotations={CREATED_BY_ANNOTATION: "descheduler"})
        given_up = step(own, room=Room(RoomState.ABSENT))
        assert isinstance(given_up, ReleaseRoom)
        assert given_up.then.reason == "MissingReservation"

    def test_a_job_of_a_user_waits_for_its_reservation_as_long_as_its_time_allows(self) -> None:
        assert isinstance(step(placed(), room=Room(RoomState.ABSENT)), WaitForChange)
        unlimited = step(replace(placed(), ttl=None), room=Room(RoomState.ABSENT))
        assert isinstance(unlimited, ReleaseRoom)
        assert unlimited.then.reason == "MissingReservation"

    def test_expired_room_fails_the_job(self) -> None:
        given_up = step(holding(), room=Room(RoomState.EXPIRED))
        assert isinstance(given_up, ReleaseRoom)
        assert given_up.then.reason == "ReservationExpired"


class TestEviction:
    def test_the_pod_is_evicted_once_its_room_has_a_node(self) -> None:
        assert step(placed()) == Evict("Eviction")

    def test_the_label_of_the_pod_says_how_it_is_evicted_before_that_of_the_job(self) -> None:
        pod = make_pod("web-0", namespace="shop", uid="old", node="n1", labels={EVICT_POLICY_LABEL: "SoftEviction"})
        assert step(placed(), pod=pod) == Evict("SoftEviction")
        assert step(replace(placed(), labels={EVICT_POLICY_LABEL: "Delete"})) == Evict("Delete")

    def test_a_policy_that_nobody_knows_is_not_followed(self) -> None:
        assert step(replace(placed(), labels={EVICT_POLICY_LABEL: "Magic"})) == Evict("Eviction")

    def test_a_pod_that_was_asked_to_leave_is_waited_for(self) -> None:
        assert isinstance(step(evicting(placed(), POD, NOW, asked_at=NOW)), WaitForChange)

    def test_a_pod_that_terminates_already_is_not_evicted(self) -> None:
        leaving = make_pod("web-0", namespace="shop", uid="old", node="n1", deleted=1)
        assert words(saved(step(placed(), pod=leaving))) == ("Running", "Eviction", "Evicting")

    def test_a_successor_of_the_same_name_says_that_the_pod_is_gone(self) -> None:
        successor = make_pod("web-0", namespace="shop", uid="new")
        done = saved(step(evicting(placed(), POD, NOW, asked_at=NOW), pod=successor))
        assert words(done) == ("Running", "Eviction", "EvictComplete")

    def test_a_pod_that_is_gone_with_its_room_held_has_its_replacement_awaited(self) -> None:
        assert words(saved(step(placed(), pod=None))) == ("Running", "Eviction", "EvictComplete")

    def test_nobody_is_evicted_for_room_that_another_pod_has_taken(self) -> None:
        taken = Room(RoomState.TAKEN, "n2", taken_by=ObjectReference("shop", "web-9", "else"))
        given_up = step(placed(), room=taken)
        assert isinstance(given_up, ReleaseRoom)
        assert (given_up.then.reason, given_up.then.message) == (
            "ForbiddenMigratePod",
            "pod shop/web-9 has taken job-uid",
        )


class TestReplacement:
    def test_a_job_waits_until_somebody_takes_the_room(self) -> None:
        waiting = saved(step(evicted(), pod=None))
        assert words(waiting) == ("Running", "PodBoundReservation", "WaitForPodBindReservation")
        assert isinstance(step(waiting, pod=None), WaitForChange)

    def test_it_succeeds_when_the_replacement_is_ready(self) -> None:
        taken = Room(RoomState.TAKEN, "n2", taken_by=SUCCESSOR)
        unready = make_pod("web-0", namespace="shop", uid="new", node="n2", phase="Pending", ready=False)
        ready = make_pod("web-0", namespace="shop", uid="new", node="n2", ready=True)
        bound = saved(step(evicted(), pod=unready, room=taken, replacement=unready))
        assert bound.replacement == SUCCESSOR
        waiting = saved(step(bound, pod=unready, room=taken, replacement=unready))
        assert words(waiting) == ("Running", "BoundPodReady", "WaitForBoundPodReady")
        told = saved(step(waiting, pod=ready, room=taken, replacement=ready))
        assert words(told) == ("Running", "BoundPodReady", "")
        done = saved(step(told, pod=ready, room=taken, replacement=ready))
        assert words(done) == ("Succeeded", "Complete", "")
        assert all(condition.is_true for condition in done.conditions)


class TestTimeLimit:
    def test_room_is_given_back_when_the_time_is_over(self) -> None:
        late = NOW + timedelta(minutes=5)
        given_up = next_step(placed(), Seen(POD, HELD), TERMS, late)
        assert isinstance(given_up, ReleaseRoom)
        assert words(given_up.then) == ("Failed", "ReservationScheduled", "Timeout")
        assert "was not evicted" in given_up.then.message

    def test_it_is_told_that_the_pod_was_evicted(self) -> None:
        given_up = next_step(evicted(), Seen(None, HELD), TERMS, NOW + timedelta(minutes=5))
        assert isinstance(given_up, ReleaseRoom)
        assert given_up.then.message.endswith("the pod was evicted, its replacement is not ready yet")


class TestEvictDirectly:
    direct = JobTerms(default_mode="EvictDirectly")

    def test_no_room_is_held_and_the_job_is_done_when_the_pod_is_gone(self) -> None:
        assert next_step(running(), Seen(POD), self.direct, NOW) == Evict("Eviction")
        asked = evicting(running(), POD, NOW, asked_at=NOW)
        gone = saved(next_step(asked, Seen(None), self.direct, NOW))
        assert words(gone) == ("Running", "Eviction", "EvictComplete")
        assert words(saved(next_step(gone, Seen(None), self.direct, NOW))) == ("Succeeded", "Complete", "")

    def test_a_pod_that_somebody_else_took_away_is_missing(self) -> None:
        assert words(saved(next_step(running(), Seen(None), self.direct, NOW))) == ("Failed", "", "MissingPod")


class TestPendingPod:
    waiting = make_pod("web-0", namespace="shop", uid="old", node="", phase="Pending")
    room = Room(RoomState.HELD, "n2", is_for_the_pod=True)

    def test_a_pod_without_a_node_is_awaited_and_not_evicted(self) -> None:
        told = saved(step(placed(), pod=self.waiting, room=self.room))
        assert words(told) == ("Running", "PodScheduled", "Unschedulable")
        assert isinstance(step(told, pod=self.waiting, room=self.room), WaitForChange)

    def test_the_job_succeeds_when_the_pod_has_its_node(self) -> None:
        bound = make_pod("web-0", namespace="shop", uid="old", node="n2")
        assert words(saved(step(placed(), pod=bound, room=self.room))) == ("Succeeded", "Complete", "")
