from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.migration.job.conditions import failed, with_condition
from descheduler.model.koordinator.eviction_annotations import PROVIDER_ANNOTATION
from descheduler.model.koordinator.migration_job import JobConditionType, JobReason, MigrationJob
from descheduler.telemetry.observer import JobStage, JobStages, stage_of
from tests.builders import NOW

NEW = MigrationJob(
    "j",
    "",
    "shop",
    "web-0",
    "old",
    uid="uid",
    annotations={PROVIDER_ANNOTATION: "koordinator"},
    mode="ReservationFirst",
)
RESERVING = replace(NEW, phase="Running")
PLACED = with_condition(RESERVING, JobConditionType.RESERVATION_SCHEDULED, True, NOW)
EVICTING = with_condition(PLACED, JobConditionType.EVICTION, False, NOW, JobReason.EVICTING)
GONE = with_condition(EVICTING, JobConditionType.EVICTION, True, NOW, JobReason.EVICT_COMPLETE)
ENDED = failed(GONE, JobReason.TIMEOUT, "late")


@pytest.mark.parametrize(
    ("job", "stage"),
    [
        (NEW, JobStage.PENDING),
        (RESERVING, JobStage.RESERVING),
        (PLACED, JobStage.WAITING),
        (replace(RESERVING, mode="EvictDirectly"), JobStage.WAITING),
        (EVICTING, JobStage.EVICTING),
        (GONE, JobStage.LANDING),
        (ENDED, JobStage.ENDED),
    ],
)
def test_a_job_is_in_the_stage_of_what_it_waits_for(job: MigrationJob, stage: JobStage) -> None:
    assert stage_of(job) is stage


class Clock:
    """Ten seconds later each time."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 10.0
        return self.seconds


def told(*jobs: MigrationJob, before: MigrationJob | None = None) -> JobStages:
    """The stages of one job that was `before`, and is each of `jobs` in turn, ten seconds apart."""
    stages = JobStages(Clock())
    for old, new in zip((before, *jobs), jobs, strict=False):
        stages.changed(old, new)
    return stages


def test_the_time_in_each_stage_is_counted_once_it_is_over() -> None:
    stages = told(NEW, RESERVING, PLACED, replace(PLACED, message="waits"), EVICTING, GONE, ENDED)
    assert stages.seconds == {
        ("pending", "koordinator"): (10.0,),
        ("reserving", "koordinator"): (10.0,),
        ("waiting", "koordinator"): (20.0,),
        ("evicting", "koordinator"): (10.0,),
        ("landing", "koordinator"): (10.0,),
    }


def test_the_time_of_a_stage_that_began_before_the_run_is_not_known() -> None:
    stages = told(replace(GONE, message="waits"), ENDED, before=GONE)
    assert stages.seconds == {}


def test_a_job_is_counted_once_as_it_is_now() -> None:
    assert told(NEW, RESERVING, PLACED, ENDED).counts == {("Failed", "Timeout", "koordinator"): 1}
