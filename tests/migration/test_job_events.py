"""What `kubectl describe podmigrationjob` shows of a job, as koord-descheduler words it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.kube.events import PodEvent
from descheduler.migration.announcing import JobAnnouncer, JobEvent, events_of
from descheduler.migration.job.conditions import aborted, failed, succeeded, with_condition
from descheduler.model.koordinator.migration_job import JobConditionType, JobReason, MigrationJob
from descheduler.model.koordinator.reservation import ObjectReference
from tests.builders import NOW
from tests.migration.test_announcing import Written

RUNNING = MigrationJob("j", "Running", "shop", "web-0", "old", uid="job-uid", reservation_name="r")


def conditioned(kind: JobConditionType, is_true: bool, reason: JobReason = JobReason.NONE, text: str = "") -> Any:
    return with_condition(replace(RUNNING, node_name="n2"), kind, is_true, NOW, reason, text)


@pytest.mark.parametrize(
    ("new", "event"),
    [
        pytest.param(
            conditioned(JobConditionType.RESERVATION_SCHEDULED, False, JobReason.UNSCHEDULABLE, "0/3 nodes"),
            JobEvent("Warning", "Unschedulable", "0/3 nodes"),
            id="no node for the Reservation",
        ),
        pytest.param(
            conditioned(JobConditionType.RESERVATION_SCHEDULED, True),
            JobEvent("Normal", "ReservationScheduled", 'Assigned Reservation "r" to node "n2"'),
            id="the Reservation has a node",
        ),
        pytest.param(
            conditioned(JobConditionType.RESERVATION_CREATED, False, JobReason.FAILED_CREATE_RESERVATION, "denied"),
            JobEvent("Warning", "FailedCreateReservation", "denied"),
            id="no Reservation",
        ),
        pytest.param(
            conditioned(JobConditionType.EVICTION, False, JobReason.EVICTING, "text"),
            JobEvent("Normal", "Evicting", 'Try to evict Pod "shop/web-0"'),
            id="the pod is to leave",
        ),
        pytest.param(
            conditioned(JobConditionType.EVICTION, True, JobReason.EVICT_COMPLETE, "text"),
            JobEvent("Normal", "EvictComplete", 'Pod "shop/web-0" is gone'),
            id="the pod has left, and was not asked to",
        ),
        pytest.param(
            failed(RUNNING, JobReason.TIMEOUT, "too late"), JobEvent("Warning", "Timeout", "too late"), id="failed"
        ),
        pytest.param(
            succeeded(replace(RUNNING, replacement=ObjectReference("shop", "web-1", "new"))),
            JobEvent("Normal", "Complete", 'Bind Pod "shop/web-1" in Reservation "r"'),
            id="succeeded",
        ),
        pytest.param(
            succeeded(RUNNING, "ran beside it"), JobEvent("Normal", "Complete", "ran beside it"), id="missed its room"
        ),
        pytest.param(aborted(RUNNING, "stopped"), JobEvent("Normal", "Aborted", "stopped"), id="undone"),
    ],
)
def test_each_step_of_a_job_has_its_event(new: MigrationJob, event: JobEvent) -> None:
    assert list(events_of(replace(RUNNING, node_name=new.node_name), new)) == [event]


def test_a_reservation_is_announced_when_the_job_names_it() -> None:
    created = JobEvent("Normal", "ReservationCreated", 'Successfully create Reservation "r"')
    assert list(events_of(replace(RUNNING, reservation_name=""), RUNNING)) == [created]
    told = with_condition(RUNNING, JobConditionType.RESERVATION_CREATED, True, NOW)
    assert list(events_of(RUNNING, told)) == []


def test_a_job_that_only_waits_has_no_event() -> None:
    waiting = with_condition(RUNNING, JobConditionType.POD_BOUND_RESERVATION, False, NOW, JobReason.WAIT_FOR_BINDING)
    assert list(events_of(RUNNING, waiting)) == []


def test_events_regard_the_job_which_has_no_namespace() -> None:
    written = Written()
    JobAnnouncer(written).changed(RUNNING, failed(RUNNING, JobReason.TIMEOUT, "too late"))
    assert written == [
        PodEvent(
            "",
            "j",
            "job-uid",
            "Warning",
            "Timeout",
            "Migrating",
            "too late",
            "PodMigrationJob",
            "scheduling.koordinator.sh/v1alpha1",
        )
    ]


def test_a_refusal_that_repeats_itself_is_told_once() -> None:
    written = Written()
    announcer = JobAnnouncer(written)
    for why in ("budget", "budget", "no right"):
        announcer.refused(RUNNING, why)
    assert [(event.reason, event.note) for event in written] == [
        ("FailedEvict", 'Failed evict Pod "shop/web-0" caused by budget'),
        ("FailedEvict", 'Failed evict Pod "shop/web-0" caused by no right'),
    ]


def test_a_pod_that_was_asked_to_leave_has_been_evicted() -> None:
    asked = conditioned(JobConditionType.EVICTION, False, JobReason.EVICTING, "text")
    gone = with_condition(asked, JobConditionType.EVICTION, True, NOW, JobReason.EVICT_COMPLETE, "text")

    assert list(events_of(asked, gone)) == [JobEvent("Normal", "EvictComplete", 'Pod "shop/web-0" has been evicted')]


@pytest.mark.parametrize(
    ("is_true", "reason", "text", "is_told"),
    [
        pytest.param(False, JobReason.UNSCHEDULABLE, "0/3 nodes", False, id="nothing"),
        pytest.param(False, JobReason.UNSCHEDULABLE, "0/4 nodes", True, id="the message"),
        pytest.param(False, JobReason.FORBIDDEN, "0/3 nodes", True, id="the reason"),
        pytest.param(True, JobReason.UNSCHEDULABLE, "0/3 nodes", True, id="whether it is true"),
    ],
)
def test_condition_is_told_where_something_of_it_has_changed(
    reason: JobReason, text: str, *, is_true: bool, is_told: bool
) -> None:
    before = conditioned(JobConditionType.RESERVATION_SCHEDULED, False, JobReason.UNSCHEDULABLE, "0/3 nodes")
    after = with_condition(before, JobConditionType.RESERVATION_SCHEDULED, is_true, NOW, reason, text)

    assert bool(list(events_of(before, after))) is is_told


def test_new_job_has_no_event() -> None:
    written = Written()
    JobAnnouncer(written).changed(None, RUNNING)
    assert written == []


def test_refusals_of_two_jobs_are_told_for_each() -> None:
    written = Written()
    announcer = JobAnnouncer(written)
    for uid in ("one", "two", "one"):
        announcer.refused(replace(RUNNING, uid=uid), "budget")
    assert [event.uid for event in written] == ["one", "two"]


def test_job_that_has_ended_without_a_replacement_says_that_its_pod_was_evicted() -> None:
    ended = succeeded(RUNNING)

    assert list(events_of(RUNNING, ended)) == [JobEvent("Normal", "Complete", 'Pod "shop/web-0" has been evicted')]
    assert list(events_of(ended, ended)) == []
