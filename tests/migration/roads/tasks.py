"""Tasks of jobs as they are on the way, for tests of what is made of them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.job.conditions import with_condition
from descheduler.migration.roads.job_task import JobTask
from descheduler.model.koordinator.migration_job import JobConditionType, MigrationJob
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.builders import NOW
from tests.migration.stand_ins import make_eviction

DONE = Judgement(OutcomeKind.EVICTED, OutcomeCode.DONE, "")
HANDED_OVER = Judgement(OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER, "handed over")
BUDGET = Judgement(OutcomeKind.REFUSED, OutcomeCode.BUDGET, "a budget")
CONFLICT = Judgement(OutcomeKind.REFUSED, OutcomeCode.CONFLICT, "a conflict")
THROTTLED = Judgement(OutcomeKind.REFUSED, OutcomeCode.THROTTLED, "busy", 60.0)
LOST = Judgement(OutcomeKind.FAILED, OutcomeCode.NO_ANSWER, "connection lost", 1.0, is_open=True)
EFFECT_SECONDS = 40.0


def job(*conditions: JobConditionType, is_true: bool = True, phase: str = "Running", **facts: Any) -> MigrationJob:
    """A job with room `r` of which these came true, or are about to."""
    made = MigrationJob("j", phase, "shop", "web", "uid-web", uid="u", resource_version="1", reservation_name="r")
    for each in conditions:
        made = with_condition(made, each, is_true, NOW)
    return replace(made, **{"reason": "", "message": "", **facts})


def asked(**facts: Any) -> MigrationJob:
    """A job whose pod was asked to leave."""
    return job(JobConditionType.EVICTION, is_true=False, **facts)


def gone(**facts: Any) -> MigrationJob:
    """A job whose pod has left."""
    return job(JobConditionType.EVICTION, **facts)


def task(of: MigrationJob | None, *answers: Judgement, node: str = "n1", **facts: Any) -> JobTask:
    """The task of a job, whose eviction was answered so, at second 0."""
    made = JobTask(make_eviction("web", node=node), job=of, **facts)
    for each in answers:
        made.num_calls += 1
        made.answer(each, now=0.0, effect_seconds=EFFECT_SECONDS)
    return made
