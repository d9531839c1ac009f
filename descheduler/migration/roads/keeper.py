"""One job against the cluster: looks at it, and does what its next steps ask for until it has to wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from descheduler.kube.errors import KindForbidden, may_have_acted
from descheduler.kube.evict import EvictionClient, EvictionResponse
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.job.conditions import failed, may_hold_room, with_condition
from descheduler.migration.job.machine import JobTerms, next_step, why_no_room
from descheduler.migration.job.seen import ABSENT, Miss, Seen
from descheduler.migration.job.steps import (
    End,
    Evict,
    HoldRoom,
    LowerReplicas,
    PlanSurge,
    RaiseReplicas,
    ReleaseRoom,
    Save,
    WaitForChange,
)
from descheduler.migration.job.surge import surge_of, with_surge
from descheduler.migration.job.surges import Surges
from descheduler.migration.listeners import EveryListener, JobListener
from descheduler.migration.pods import read_pod
from descheduler.migration.replacements import Replacements, successors_of
from descheduler.migration.room.provider import CannotHold, CannotHoldNow, CannotHoldYet, ReservationProvider
from descheduler.migration.store.journal import Journal
from descheduler.model.koordinator.eviction_annotations import PROVIDER_ANNOTATION
from descheduler.model.koordinator.migration_job import JobConditionType, JobReason, MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.planned import PlannedEviction
from descheduler.transport.errors import ExchangeError

_Doable = Save | HoldRoom | PlanSurge | RaiseReplicas | LowerReplicas | ReleaseRoom

_MOST_STEPS = 12
"""More than a job has from its beginning to its end: whoever needs more goes round in circles."""
_MOST_CONFLICTS = 5
"""So often an end is written in vain because somebody else has just changed the job."""


class RoomUnclear(ExchangeError):  # noqa: N818 - a state callers act on, named after what it says
    """Room was asked for without a clear answer: it may be held, or may come to be."""


class _Changed(Exception):  # noqa: N818 - a state callers act on, named after what it says
    """Somebody else has changed a job, and it is now this one."""

    def __init__(self, now: MigrationJob) -> None:
        super().__init__(now.name)
        self.now = now


class Progress(msgspec.Struct, frozen=True):
    """How far a job has come: `pod` is the one that has its name now (not looked for once it is known to be gone), and
    `step` what it waits for.

    `job` is as it is kept; None when somebody has deleted it. `miss` is why the replacement did not use its room.
    """

    job: MigrationJob | None
    step: Evict | WaitForChange | End
    pod: Pod | None = None
    replacement: Pod | None = None
    miss: Miss | None = None


class JobKeeper:
    """Looks and writes. Safe to use from several threads, each with another job. `now` is aware UTC.
    `listener` hears of every job that is kept. Once `is_halted` nothing is begun that would have to be taken back.

    `providers` are by name; a job that names none of them has its room held by the first.
    """

    def __init__(
        self,
        objects: ObjectCalls,
        journal: Journal,
        providers: Mapping[str, ReservationProvider],
        terms: JobTerms,
        *,
        now: Callable[[], datetime],
        listener: JobListener | None = None,
        is_halted: Callable[[], bool] = lambda: False,
    ) -> None:
        self._is_halted = is_halted
        self._objects = objects
        self._journal = journal
        self._providers = providers
        self._terms = terms
        self._now = now
        self._listener = listener or EveryListener()
        self._replacements = Replacements(objects)
        self._surges = Surges(objects)
        self._waits_for: dict[str, str] = {}
        """Why there is no room yet, by UID of a job whose turn has not come."""

    def advance(self, job: MigrationJob, *, holds_only: bool = False, takes_turns: bool = True) -> Progress:
        """Takes `job` as far as it comes without an eviction or a wait.

        Raises ExchangeError; what was done by then stays.
        With `holds_only` it goes no further than to ask for room, and so the patience for that does not begin. Where it
        `takes_turns`, it waits for room that other jobs of the run use up.

        It may be called again after any error, with the job as it was. What was seen is good until something is done
        about it: a status that was written changes nothing in the cluster.
        """
        progress = self._advance(job, holds_only=holds_only, takes_turns=takes_turns)
        return self.read_again(job, progress) if progress.job is job else progress

    def read_again(self, job: MigrationJob, progress: Progress) -> Progress:
        """`progress` of `job`, which nothing was written of, unless another client has changed, ended or deleted it."""
        kept = self._journal.read(job)
        if kept is None or kept.has_ended:
            self.release(job)
            return Progress(kept, End(), progress.pod)
        if kept.resource_version != job.resource_version:
            return Progress(kept, WaitForChange("another client has changed it"), progress.pod, progress.replacement)
        return progress

    def _advance(self, job: MigrationJob, *, holds_only: bool, takes_turns: bool) -> Progress:
        """As `advance`, by what is known of the job."""
        known: Seen | None = None
        for _ in range(_MOST_STEPS):
            if holds_only and job.reservation_name:
                return Progress(job, WaitForChange("others have to leave before"))
            seen = known or self._look(job)
            step = next_step(job, seen, self._terms, self._now())
            if isinstance(step, Evict | WaitForChange | End):
                return Progress(job, step, seen.pod, seen.replacement)
            if isinstance(step, HoldRoom | RaiseReplicas) and self._is_halted():
                return Progress(job, WaitForChange("the run ends"), seen.pod, seen.replacement)
            try:
                kept = self._do(job, step, seen.pod)
            except CannotHoldYet as error:
                if takes_turns:
                    self._waits_for[job.uid] = str(error)
                    return Progress(job, WaitForChange(str(error)), seen.pod)
                kept = self.save(job, self._roomless(job, error))
            if kept is None or (kept.has_ended and not _ends(step)):
                self.release(job)
                return Progress(kept, End(), seen.pod)
            known = seen if isinstance(step, Save) and _looked_at(kept) == _looked_at(job) else None
            job = kept
            if isinstance(step, HoldRoom) and (why := why_no_room(job)):
                return Progress(job, WaitForChange(why), seen.pod)
            if job.has_ended:  # what was seen right before may not be there any more
                return Progress(job, End(), seen.pod, seen.replacement, seen.room.miss)
        return Progress(job, WaitForChange("its status keeps changing"))

    def find_replacement(self, job: MigrationJob, eviction: PlannedEviction) -> Pod | None:
        """The pod that came for the one that was evicted, None as long as there is none."""
        successors = successors_of(eviction)
        if successors is None:
            return None
        return self._replacements.find(successors, job, self._now())

    def save(self, old: MigrationJob, new: MigrationJob) -> MigrationJob | None:
        """`new`, kept; what somebody else has made of the job where that came first; None when it was deleted."""
        return self._save(old, new) or self._journal.read(old)

    def _save(self, old: MigrationJob, new: MigrationJob) -> MigrationJob | None:
        kept = self._journal.save(old, new)
        if kept is not None:
            self._listener.changed(old, kept)
        return kept

    def undo(self, job: MigrationJob, end: Callable[[MigrationJob], MigrationJob]) -> MigrationJob | None:
        """Gives back what is held for `job`, and ends it as `end` says; the job as it is kept, None when it is deleted.

        A job that somebody else has changed meanwhile is read and ended again, unless its pod has left by then. One
        that keeps changing is kept as it is, without an end.
        """
        for _ in range(_MOST_CONFLICTS - 1):
            try:
                return self._try_undo(job, end)
            except _Changed as changed:
                if changed.now.has_ended or changed.now.found(JobConditionType.EVICTION) is not None:
                    return changed.now
                job = changed.now
            except ExchangeError as error:
                if not may_have_acted(error):
                    raise
        try:
            return self._try_undo(job, end)
        except _Changed as changed:
            return changed.now

    def _try_undo(self, job: MigrationJob, end: Callable[[MigrationJob], MigrationJob]) -> MigrationJob | None:
        """As `undo`. Raises _Changed where somebody else has changed the job."""
        self.release(job)
        if (kept := self._save(job, end(job))) is not None:
            return kept
        if (found := self._journal.read(job)) is None:
            return None
        raise _Changed(found)

    def scale_back(
        self, job: MigrationJob, port: EvictionClient, eviction: PlannedEviction, may_send: Callable[[], bool]
    ) -> EvictionResponse | None:
        """The response to what has the pod leave whose workload was surged; None where it was withheld."""
        return self._surges.scale_back(job, port, eviction, may_send)

    def take_back_surge(self, job: MigrationJob) -> None:
        """Takes back what is left of the surge of `job`, which has ended."""
        self._surges.take_back(job)

    def release(self, job: MigrationJob) -> None:
        """Gives back all that was done for `job`, known to it or not: the surge first, whose new pod needs the room."""
        self._surges.take_back(job)
        self.release_room(job)

    def release_room(self, job: MigrationJob) -> None:
        """Gives back the room of `job`, if any can have been asked for. Names follow from its UID."""
        if not may_hold_room(job, self._terms.default_mode):
            return
        try:
            self._provider_of(job).release(job)
        except KindForbidden:
            if job.reservation_name:  # else none was created: a role that may create rooms may read them too
                raise

    def _provider_of(self, job: MigrationJob) -> ReservationProvider:
        first = next(iter(self._providers.values()))
        return self._providers.get(job.annotations.get(PROVIDER_ANNOTATION, ""), first)

    def _look(self, job: MigrationJob) -> Seen:
        has_pod = bool(job.pod_namespace and job.pod_name) and not job.has(JobConditionType.EVICTION)
        pod = read_pod(self._objects, job.pod_namespace, job.pod_name) if has_pod else None
        if not job.reservation_name:
            return Seen(pod, replace(ABSENT, message=self._waits_for.get(job.uid, "")))
        room, replacement = self._provider_of(job).look(job, self._now())
        return Seen(pod, room, replacement, self._surges.look(job, pod))

    def _do(self, job: MigrationJob, step: _Doable, pod: Pod | None) -> MigrationJob | None:
        match step:
            case Save(new):
                return self.save(job, new)
            case ReleaseRoom(then):
                release = self.release if then.has_ended else self.release_room
                release(job)
                return self.save(job, then)
            case HoldRoom():
                return self.save(job, self._hold(job))
            case PlanSurge():
                return self._plan_surge(job, pod)
            case RaiseReplicas():
                self._surges.raise_replicas(job)
            case LowerReplicas():
                self._surges.lower_replicas(job)
        return job

    def _plan_surge(self, job: MigrationJob, pod: Pod | None) -> MigrationJob | None:
        surge = surge_of(job)
        if surge is None or pod is None:
            return job
        return self.save(job, with_surge(job, self._surges.plan(surge, pod)))

    def _hold(self, job: MigrationJob) -> MigrationJob:
        try:
            return replace(job, reservation_name=self._provider_of(job).hold(job, self._now()))
        except CannotHold as error:
            return self._roomless(job, error)
        except ExchangeError as error:
            told = self._not_created(job, str(error))
            if told is not job:
                self.save(job, told)
            if may_have_acted(error):
                raise RoomUnclear(str(error)) from error
            raise

    def _roomless(self, job: MigrationJob, error: Exception) -> MigrationJob:
        """`job`, for which no room can be held; some may be there, of the last call or an earlier one."""
        self.release_room(job)
        told = self._not_created(job, str(error))
        if isinstance(error, CannotHoldNow) and why_no_room(told):
            return told
        return failed(told, JobReason.FAILED_CREATE_RESERVATION, str(error))

    def _not_created(self, job: MigrationJob, why: str) -> MigrationJob:
        return with_condition(
            job,
            JobConditionType.RESERVATION_CREATED,
            False,
            self._now(),
            JobReason.FAILED_CREATE_RESERVATION,
            why,
        )


def _ends(step: _Doable) -> bool:
    """Whether the job is to end by `step`."""
    match step:
        case Save(then) | ReleaseRoom(then):
            return then.has_ended
    return False


def _looked_at(job: MigrationJob) -> tuple[object, ...]:
    """What decides where a look at `job` goes: its pod, its room, and whether a replacement may be there."""
    was_asked = job.found(JobConditionType.EVICTION) is not None
    return job.pod_namespace, job.pod_name, job.reservation_name, job.annotations, was_asked
