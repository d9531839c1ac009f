"""What a job at its end says of the eviction that it was for."""

from __future__ import annotations

from descheduler.migration.dispatch.judgement import POD_GONE, Judgement
from descheduler.migration.job.machine import why_no_room
from descheduler.migration.job.seen import Miss
from descheduler.migration.roads.job_task import JobTask
from descheduler.model.koordinator.migration_job import JobPhase, JobReason
from descheduler.model.pod import Pod
from descheduler.plan.outcome import OutcomeCode, OutcomeKind

_MISSES = {
    Miss.TAKEN: OutcomeCode.ROOM_TAKEN,
    Miss.UNUSED: OutcomeCode.RESERVATION_UNUSED,
    Miss.ELSEWHERE: OutcomeCode.MISSED_ROOM,
}
_GONE = Judgement(OutcomeKind.GONE, OutcomeCode.POD_GONE, POD_GONE)


def ended(task: JobTask) -> Judgement:
    """The ending of a task whose job has ended."""
    job = task.job
    if job is None:
        raise ValueError(f"pod {task.eviction.name} never had a job")
    is_missing = job.phase == JobPhase.FAILED and job.reason in (JobReason.MISSING_POD, JobReason.INVALID_POD)
    if task.has_left_unasked:
        return _GONE
    if is_missing and not task.may_have_acted:
        return Judgement(OutcomeKind.GONE, OutcomeCode.POD_GONE, job.message if task.is_adopted else POD_GONE)
    if task.miss is not None and task.was_evicted:
        return _missed(task, task.miss, job.message)
    if job.phase == JobPhase.SUCCEEDED:
        return Judgement(OutcomeKind.EVICTED, OutcomeCode.DONE, "")
    if job.reason == JobReason.SURGE_FAILED and not task.is_in_doubt:
        return Judgement(OutcomeKind.REFUSED, OutcomeCode.NOT_SURGED, job.message)
    if task.was_evicted:
        return _not_replaced(task, job.message)
    if job.reason == JobReason.TIMEOUT and not job.reservation_name and not task.num_calls:
        return left_out(OutcomeCode.TIMED_OUT, job.message)
    return _kept(task, OutcomeCode.NO_ROOM, job.message)


def _missed(task: JobTask, miss: Miss, why: str) -> Judgement:
    """The ending of an eviction whose replacement did not use the room that was held for it."""
    if task.landed_on and task.landed_on == task.eviction.node:
        why = f"{why}; the pod was evicted from that node"
    return Judgement(OutcomeKind.EVICTED, _MISSES[miss], why)


def deleted(task: JobTask, kind: str) -> Judgement:
    """The ending of a task whose job another client has deleted, an object of this kind."""
    message = f"another client deleted the {kind}"
    if task.has_left_unasked:
        return _GONE
    if task.was_evicted or task.is_granted:
        return _not_replaced(task, message)
    if task.is_in_doubt:
        return _kept(task, OutcomeCode.JOB_DELETED, message)
    return Judgement(OutcomeKind.REFUSED, OutcomeCode.JOB_DELETED, message)


def unfinished(task: JobTask, halted: OutcomeCode, why: str) -> Judgement:
    """The ending of a task whose job could not go on because the run could not."""
    if task.has_left_unasked:
        return _GONE
    if task.was_evicted or task.is_granted:
        return _not_replaced(task, f"{why}; the next run awaits the replacement")
    if task.num_calls:
        return _kept(task, halted, why)
    return left_out(halted, why)


def why_left(task: JobTask, patience_seconds: float, now: float) -> str:
    """Why a job that waits is left to the next run, "" for one that is waited for: a run does not wait for people."""
    if task.job is None or task.is_in_doubt:
        return ""
    if task.job.is_paused:
        return "its job is paused"
    if why := why_no_room(task.job):
        return why
    is_late = task.is_adopted and now - task.unchanged_since >= patience_seconds
    return f"its job has not changed for {patience_seconds:g} s" if is_late else ""


def strange(task: JobTask, pod: Pod) -> str:
    """Why `pod`, whose turn it is by the job, is not evicted: it is not the one that was judged; "" where it is.

    An eviction that has the UID of the job is of whatever pod has the name.
    """
    if task.finishes_only:
        return "the eviction of its pod has not begun"
    named = (pod.uid, "" if task.job is None else task.job.uid)
    return "" if task.eviction.uid in named else "its podRef was changed during the run"


def not_landed(task: JobTask) -> Judgement:
    """The ending of an eviction without room whose replacement is not ready in time."""
    return Judgement(OutcomeKind.EVICTED, OutcomeCode.NOT_REPLACED, "its replacement is not ready yet")


def _not_replaced(task: JobTask, why: str) -> Judgement:
    """The ending of an eviction whose replacement is not known to be ready, or that another program has yet to make."""
    if task.is_handed_over:
        return Judgement(OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER, f"another program is to evict the pod; {why}")
    return Judgement(OutcomeKind.EVICTED, OutcomeCode.NOT_REPLACED, why)


def left_out(code: OutcomeCode, why: str) -> Judgement:
    """The ending of a planned eviction that was never begun."""
    return Judgement(OutcomeKind.NOT_ATTEMPTED, code, why)


def _kept(task: JobTask, code: OutcomeCode, why: str) -> Judgement:
    """The pod stays, as far as anybody knows: a call that may yet take effect counts as an eviction."""
    if task.is_in_doubt:
        return Judgement(OutcomeKind.EVICTED, OutcomeCode.OUTCOME_UNKNOWN, f"not confirmed: {why}")
    if task.judgement is not None:
        return task.judgement
    return Judgement(OutcomeKind.REFUSED, code, why)
