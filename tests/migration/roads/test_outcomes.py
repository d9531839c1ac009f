"""What is told of a pod when its job has ended, is gone, or is left to the next run."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.dispatch.judgement import POD_GONE
from descheduler.migration.job.conditions import with_condition
from descheduler.migration.job.seen import Miss
from descheduler.migration.roads.job_task import JobTask
from descheduler.migration.roads.outcomes import deleted, ended, strange, unfinished, why_left
from descheduler.model.koordinator.migration_job import JobConditionType, JobReason
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.builders import NOW, make_pod
from tests.migration.roads.tasks import BUDGET, DONE, LOST, asked, gone, job, task

EVICTED, REFUSED = OutcomeKind.EVICTED, OutcomeKind.REFUSED
IS_GONE = (OutcomeKind.GONE, OutcomeCode.POD_GONE, POD_GONE)
HAS_LEFT = (EVICTED, OutcomeCode.DONE, "")
NOT_BEGUN = "the eviction of its pod has not begun"
UNKNOWN = OutcomeCode.OUTCOME_UNKNOWN
Told = tuple[OutcomeKind, OutcomeCode, str]
SUCCEEDED: dict[str, Any] = {"phase": "Succeeded"}
FAILED: dict[str, Any] = {"phase": "Failed", "message": "why"}
MISSING: dict[str, Any] = {**FAILED, "reason": JobReason.MISSING_POD.value}
SURGE: dict[str, Any] = {**FAILED, "reason": JobReason.SURGE_FAILED.value}
TIMEOUT: dict[str, Any] = {**FAILED, "reason": JobReason.TIMEOUT.value}
NOT_CONFIRMED = (EVICTED, UNKNOWN, "not confirmed: why")
NOT_REPLACED = (EVICTED, OutcomeCode.NOT_REPLACED, "why")
NO_ROOM = (REFUSED, OutcomeCode.NO_ROOM, "why")
HAD_BUDGET = (REFUSED, OutcomeCode.BUDGET, "a budget")


def landed(on: str, **facts: Any) -> JobTask:
    """A pod of n1 that was evicted, with its replacement on this node."""
    made = task(gone(**SUCCEEDED, message="missed"), DONE, **facts)
    made.landed_on = on
    return made


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        pytest.param(task(gone(**SUCCEEDED), DONE), (EVICTED, OutcomeCode.DONE, ""), id="evicted"),
        pytest.param(task(gone(**SUCCEEDED), LOST), (EVICTED, OutcomeCode.DONE, ""), id="evicted by a lost call"),
        pytest.param(task(gone(**SUCCEEDED)), IS_GONE, id="gone by itself"),
        pytest.param(task(gone(**SUCCEEDED), BUDGET), IS_GONE, id="gone after a refusal"),
        pytest.param(task(gone(**SUCCEEDED), finishes_only=True), HAS_LEFT, id="by an earlier run"),
        pytest.param(task(job(**MISSING)), IS_GONE, id="gone before anything was done"),
        pytest.param(
            task(job(**MISSING), is_adopted=True), (OutcomeKind.GONE, OutcomeCode.POD_GONE, "why"), id="of a user's job"
        ),
        pytest.param(
            task(job(**{**MISSING, "reason": "InvalidPodRef"}), is_adopted=True),
            (OutcomeKind.GONE, OutcomeCode.POD_GONE, "why"),
            id="of a job that names no pod",
        ),
        pytest.param(task(job(**MISSING), LOST), NOT_CONFIRMED, id="gone after a lost call"),
        pytest.param(task(job(**{**MISSING, "phase": "Aborted"})), NO_ROOM, id="a job that was not failed for that"),
        pytest.param(landed("n2", miss=Miss.ELSEWHERE), (EVICTED, OutcomeCode.MISSED_ROOM, "missed"), id="elsewhere"),
        pytest.param(landed("n2", miss=Miss.TAKEN), (EVICTED, OutcomeCode.ROOM_TAKEN, "missed"), id="room taken"),
        pytest.param(
            landed("n2", miss=Miss.UNUSED), (EVICTED, OutcomeCode.RESERVATION_UNUSED, "missed"), id="room unused"
        ),
        pytest.param(
            landed("n1", miss=Miss.ELSEWHERE),
            (EVICTED, OutcomeCode.MISSED_ROOM, "missed; the pod was evicted from that node"),
            id="back where it was",
        ),
        pytest.param(
            landed("", miss=Miss.ELSEWHERE, node=""),
            (EVICTED, OutcomeCode.MISSED_ROOM, "missed"),
            id="nobody knows from where to where",
        ),
        pytest.param(task(job(**SURGE)), (REFUSED, OutcomeCode.NOT_SURGED, "why"), id="not surged"),
        pytest.param(task(job(**SURGE), LOST), NOT_CONFIRMED, id="not surged, after a lost call"),
        pytest.param(task(gone(**FAILED), DONE), NOT_REPLACED, id="without a replacement"),
        pytest.param(task(gone(**TIMEOUT), DONE), NOT_REPLACED, id="without a replacement in time"),
        pytest.param(
            task(asked(**FAILED), DONE, asks_others=True),
            (OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER, "another program is to evict the pod; why"),
            id="handed over",
        ),
        pytest.param(task(gone(**FAILED), DONE, asks_others=True), NOT_REPLACED, id="evicted by another program"),
        pytest.param(
            task(job(**TIMEOUT, reservation_name="")),
            (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.TIMED_OUT, "why"),
            id="no turn in time",
        ),
        pytest.param(task(job(**TIMEOUT)), NO_ROOM, id="no node for the room in time"),
        pytest.param(task(job(**TIMEOUT, reservation_name=""), BUDGET), HAD_BUDGET, id="refused for all its time"),
        pytest.param(task(job(**FAILED)), NO_ROOM, id="no room"),
        pytest.param(task(job(**FAILED), BUDGET), HAD_BUDGET, id="refused"),
        pytest.param(task(job(**FAILED), LOST), NOT_CONFIRMED, id="a lost call"),
    ],
)
def test_job_that_has_ended_says_what_became_of_its_pod(ending: JobTask, told: Told) -> None:
    judgement = ended(ending)

    assert (judgement.kind, judgement.code, judgement.message) == told


def test_task_without_a_job_has_no_ending() -> None:
    with pytest.raises(ValueError, match="pod web never had a job"):
        ended(task(None))


DELETED = "another client deleted the PodMigrationJob"


@pytest.mark.parametrize(
    ("left", "told"),
    [
        pytest.param(task(gone()), IS_GONE, id="gone by itself"),
        pytest.param(task(gone(), DONE), (EVICTED, OutcomeCode.NOT_REPLACED, DELETED), id="evicted"),
        pytest.param(task(gone(), LOST), (EVICTED, OutcomeCode.NOT_REPLACED, DELETED), id="evicted by a lost call"),
        pytest.param(task(job(), DONE), (EVICTED, OutcomeCode.NOT_REPLACED, DELETED), id="granted, and not noted"),
        pytest.param(task(job(), LOST), (EVICTED, UNKNOWN, f"not confirmed: {DELETED}"), id="in doubt"),
        pytest.param(task(job(), BUDGET), (REFUSED, OutcomeCode.JOB_DELETED, DELETED), id="refused"),
        pytest.param(task(job()), (REFUSED, OutcomeCode.JOB_DELETED, DELETED), id="not asked for"),
    ],
)
def test_deleted_job_says_what_became_of_its_pod(left: JobTask, told: Told) -> None:
    judgement = deleted(left, "PodMigrationJob")

    assert (judgement.kind, judgement.code, judgement.message) == told


AWAITS = "late; the next run awaits the replacement"


@pytest.mark.parametrize(
    ("left", "told"),
    [
        pytest.param(task(gone()), IS_GONE, id="gone by itself"),
        pytest.param(task(gone(), DONE), (EVICTED, OutcomeCode.NOT_REPLACED, AWAITS), id="evicted"),
        pytest.param(task(job(), DONE), (EVICTED, OutcomeCode.NOT_REPLACED, AWAITS), id="granted, and not noted"),
        pytest.param(task(job(), LOST), (EVICTED, UNKNOWN, "not confirmed: late"), id="in doubt"),
        pytest.param(task(job(), BUDGET), HAD_BUDGET, id="refused"),
        pytest.param(task(job()), (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.DEADLINE, "late"), id="not asked for"),
    ],
)
def test_job_that_the_run_leaves_says_what_became_of_its_pod(left: JobTask, told: Told) -> None:
    judgement = unfinished(left, OutcomeCode.DEADLINE, "late")

    assert (judgement.kind, judgement.code, judgement.message) == told


CANNOT = with_condition(
    job(reservation_name="", ttl=timedelta(minutes=5)),
    JobConditionType.RESERVATION_CREATED,
    False,
    NOW,
    JobReason.FAILED_CREATE_RESERVATION,
    "no quota",
)


@pytest.mark.parametrize(
    ("left", "now", "why"),
    [
        pytest.param(task(None), 1e6, "", id="it has no job"),
        pytest.param(task(job(is_paused=True)), 0.0, "its job is paused", id="paused"),
        pytest.param(task(job(is_paused=True), LOST), 0.0, "", id="paused, and its pod may have left"),
        pytest.param(task(CANNOT), 0.0, "no quota", id="no room can be created"),
        pytest.param(task(job(), is_adopted=True, unchanged_since=10.0), 129.9, "", id="it may yet change"),
        pytest.param(
            task(job(), is_adopted=True, unchanged_since=10.0), 130.0, "its job has not changed for 120 s", id="late"
        ),
        pytest.param(task(job(), unchanged_since=10.0), 1e6, "", id="of this run"),
    ],
)
def test_run_does_not_wait_for_people(left: JobTask, now: float, why: str) -> None:
    assert why_left(left, 120.0, now) == why


@pytest.mark.parametrize(
    ("of", "uid", "why"),
    [
        pytest.param(task(job()), "uid-web", "", id="the pod of the plan"),
        pytest.param(task(job()), "new", "its podRef was changed during the run", id="another pod"),
        pytest.param(task(job(), finishes_only=True), "uid-web", NOT_BEGUN, id="not judged"),
        pytest.param(task(None), "", "its podRef was changed during the run", id="no job"),
    ],
)
def test_only_the_pod_that_was_judged_is_evicted(of: JobTask, uid: str, why: str) -> None:
    assert strange(of, make_pod("web", uid=uid)) == why


def test_job_that_names_no_uid_is_for_whatever_pod_has_the_name() -> None:
    of = task(job())
    of.eviction = replace(of.eviction, uid="u")

    assert strange(of, make_pod("web", uid="any")) == ""
