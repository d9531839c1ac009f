"""Promises about everything that a run changes besides pods that it evicts, and about what it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.faults.bounds import was_too_late_for_lease
from tests.faults.history import History, LeftOver, Request, Run
from tests.faults.reports import report_of

_EXPLAINS_FAILURE = (
    "list", "discovery", "lease", "secret", "prometheus", "job", "room", "config map", "pod", "eviction",
)  # fmt: skip
"""Kinds of calls without which a run may not be able to do anything; other kinds begin with one of these."""

_FULL = "cannot write to standard output"
_STOPPED = 4
_CHANGING, _ENOUGH_WRITES = ("PATCH", "DELETE"), 3


def nothing_foreign(history: History) -> Iterator[str]:
    """Nothing is changed or deleted that the program did not create, but for users' jobs that it carries out."""
    for write in history.writes:
        is_users_job = write.whose == "open" and write.verb == "patch"
        if write.whose != "ours" and not is_users_job:
            yield f"run {write.run}: {write.verb} of {write.path}, which is not ours"


def jobs_are_judged(history: History) -> Iterator[str]:
    """No pod leaves for a job that may not go on, and none that is protected, whoever asks for it."""
    for effect in history.effects:
        if effect.uid in history.terms.unasked:
            yield f"run {effect.run}: {effect.uid} was evicted, and no job asks for it that may go on"
        if effect.uid in history.terms.protected:
            yield f"run {effect.run}: {effect.uid} was evicted, which is protected"


def evictions_are_counted(history: History) -> Iterator[str]:
    """As many pods are reported as evicted as have left, those of users' jobs and of earlier runs included."""
    for run in history.runs:
        report = report_of(run)
        left = sum(effect.run == run.index for effect in history.effects)
        if report is not None and report.counts.get("evicted", 0) < left:
            yield f"run {run.index}: {left} pods left, counts.evicted is {report.counts.get('evicted', 0)}"


def no_object_ends_a_run(history: History) -> Iterator[str]:
    """A run that fails has met a fault, a signal, a rival or a full disk: what stands in some object is no reason."""
    for run in history.runs:
        if (
            run.exit_code != 1
            or run.signals
            or _FULL in run.stderr
            or any(tenure.is_seized for tenure in history.tenures)
        ):
            continue
        asked = [r for r in history.requests if r.run == run.index]
        faulty = [r for r in asked if r.fault]
        reads_secret = any(request.kind == "secret" for request in asked)  # it may hold what no header can
        if asked and not reads_secret and not any(r.kind.startswith(_EXPLAINS_FAILURE) for r in faulty):
            yield f"run {run.index} failed and no call of it had: {run.stderr.strip().splitlines()[-1:]}"


def nothing_is_left(history: History) -> Iterator[str]:
    """What a run has created is gone when it ends by itself, unless a job that is not over needs it.

    Of what an earlier run has created as much is promised by one that ends well. A last call for the object that met a
    fault excuses its being there, as does a Lease in other hands, or one that may have run out because the machine
    stalled, and a creation that took effect late. A job also stays for its room, where the last call for that met a
    fault, and where the last three writes of it have met one. Room stays whose job somebody deleted after the run had
    looked for it the last time.
    """
    for run in history.runs:
        if run.was_ended or any(tenure.is_seized for tenure in history.tenures):
            continue
        if run.exit_code == _STOPPED and was_too_late_for_lease(history.terms, run):
            continue
        for found in history.left.get(run.index, ()):
            if _is_needed(history, run, found) or _is_excused(history, run, found):
                continue
            yield f"run {run.index} ended with {run.exit_code} and left the {found.kind} {found.path}"


def _is_needed(history: History, run: Run, found: LeftOver) -> bool:
    """Whether it may be there: a job that is over or still needed, the room of such a job, and room that was used."""
    if found.is_over:
        return True
    if found.kind == "job":
        return _may_be_open(history, run, found)
    jobs = {each.job_uid: each for each in history.left[run.index] if each.kind == "job"}
    job = jobs.get(found.job_uid)
    if job is None:  # that of a user, if of anybody
        return found.job_uid in history.open_jobs.get(run.index, set())
    return not job.is_over and _may_be_open(history, run, job)


def _may_be_open(history: History, run: Run, job: LeftOver) -> bool:
    """Whether the pod of the job has left, or may have: its replacement is awaited then."""
    away = history.departed | {effect.uid for effect in history.effects}
    return job.pod_uid in away or any(
        request.kind == "eviction" and request.uid == job.pod_uid and request.fault for request in history.requests
    )


def _is_excused(history: History, run: Run, found: LeftOver) -> bool:
    if found.is_late:
        return True
    if found.made_by != run.index and not _ended_well(run):
        return True
    if found.kind == "job" and _had_fault(_last_call(history, run, lambda about: about.endswith(found.job_uid))):
        return True
    if found.kind == "job" and _was_tried(history, run, found):
        return True
    if found.kind == "room" and (deletion := history.deletions.get(found.job_uid)):
        last = _last_call(history, run, lambda about: about == deletion.path)
        if last is not None and last.at < deletion.at:
            return True
    return _had_fault(_last_call(history, run, lambda about: about == found.path))


def _had_fault(last: Request | None) -> bool:
    return last is not None and bool(last.fault) and last.method != "POST"


def _was_tried(history: History, run: Run, job: LeftOver) -> bool:
    """Whether the last writes of the job, several of them, have met faults: each is followed by a look at it."""
    writes = [r for r in history.requests if r.run == run.index and r.about == job.path and r.method in _CHANGING]
    last = sorted(writes, key=lambda request: request.number)[-_ENOUGH_WRITES:]
    return len(last) == _ENOUGH_WRITES and all(request.fault for request in last)


def _ended_well(run: Run) -> bool:
    return run.exit_code in (0, 3) and report_of(run) is not None


def _last_call(history: History, run: Run, is_it: Callable[[str], bool]) -> Request | None:
    calls = (request for request in history.requests if request.run == run.index and is_it(request.about))
    return max(calls, key=lambda request: request.number, default=None)
