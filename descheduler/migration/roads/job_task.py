"""One job on its way through a run: what it is for, when it is looked at, its turn, and how its eviction went."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from descheduler.migration.dispatch.task import DispatchTask
from descheduler.migration.job.seen import Miss
from descheduler.migration.job.steps import Evict
from descheduler.migration.job.surge import SCALE_BACK
from descheduler.migration.roads.keeper import Progress
from descheduler.migration.settings import JobSettings
from descheduler.model.koordinator.migration_job import JobConditionType, MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.outcome import OutcomeCode
from descheduler.plan.planned import DueMove, PlannedEviction

_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 3.0
"""As often as koord-descheduler looks at a job that waits."""
_BACKOFF_SECONDS = 4.0
"""kube-scheduler tries a new pod at once, again after 1 s, and then after 2 s more (`podInitialBackoffSeconds`). Pods
that have waited for longer are tried in between, whatever their priority."""


@dataclass(eq=False, slots=True)
class JobTask(DispatchTask):
    """A job, and the eviction that it is for.

    `job` is None until it is created; it was looked at last at `looked_at`. The first call that may have evicted `pod`
    was made at `asked_at`. Where the replacement did not use the room, `miss` says why. A job that held no room has
    ended when its pod is gone: until `ends_at` its replacement is looked for. One that an earlier run or a user has
    begun `is_adopted`. It has not changed since `unchanged_since`. With `waves_ahead` it begins so many waves before
    its own, and only holds room until that comes. Its room was asked for by `room_asked_at`.
    One that `finishes_only` evicts nothing: an earlier run has, or its pod was not judged.
    Its job is created as `job_name`; until `creation_settles_at` a creation without a clear answer may take effect.
    Once there is an `end` the job is to be undone, and ends so. One that somebody else has deleted `is_deleted`.
    Its pod is not evicted before `asks_at`. One that `asks_others` has another program evict it.
    """

    job: MigrationJob | None = None
    is_adopted: bool = False
    num_waits: int = 0
    unchanged_since: float = 0.0
    num_errors: int = 0
    refused_since: float | None = None
    pod: Pod | None = None
    looked_at: float = 0.0
    asked_at: datetime | None = None
    miss: Miss | None = None
    ends_at: float | None = None
    waves_ahead: int = 0
    room_asked_at: float | None = None
    finishes_only: bool = False
    job_name: str = ""
    creation_settles_at: float = 0.0
    end: Callable[[MigrationJob], MigrationJob] | None = None
    is_deleted: bool = False
    asks_at: float = 0.0
    asks_others: bool = False

    def is_next_for_room(self, now: float) -> bool:
        """Whether the scheduler tries its Reservations, for which there is no room yet, as soon as there is some."""
        return self.room_asked_at is not None and now - self.room_asked_at >= _BACKOFF_SECONDS

    def note_room(self, now: float) -> None:
        """Takes note of when its room was asked for."""
        if self.room_asked_at is None and self.job is not None and self.job.reservation_name:
            self.room_asked_at = now

    @property
    def takes_turns(self) -> bool:
        """Whether it waits for room that other jobs of the run use up.

        A bundle does not: it holds all its room before its first pod leaves, and two of them would wait for each other.
        """
        return not self.eviction.bundle

    @property
    def was_evicted(self) -> bool:
        """Whether the pod was asked to leave, or is gone: nothing can be undone then."""
        return self.job is not None and self.job.found(JobConditionType.EVICTION) is not None

    @property
    def is_handed_over(self) -> bool:
        """Whether another program was asked to evict the pod, and has not done so."""
        return self.asks_others and self.job is not None and not self.job.has(JobConditionType.EVICTION)

    @property
    def is_granted(self) -> bool:
        """Whether the API server has accepted the eviction."""
        return self.judgement is not None and self.judgement.kind.uses_limits

    @property
    def may_create(self) -> bool:
        """Whether a call for it that is under way may be to create its job or its room."""
        is_before_room = self.job is None or not (self.job.reservation_name or self.was_evicted)
        return is_before_room and not (self.is_called or self.is_granted or self.is_adopted)

    @property
    def is_in_doubt(self) -> bool:
        """Whether a call for its eviction may have taken effect, or may yet."""
        return self.is_called or self.is_unsettled

    @property
    def may_have_left(self) -> bool:
        """Whether its room may be needed: the pod was asked to leave, or may have been, whatever the job says yet."""
        return self.was_evicted or self.is_granted or self.is_in_doubt

    @property
    def has_left_unasked(self) -> bool:
        """Whether the pod is gone or about to go, and no call of this run or an earlier one can have caused that: all
        were refused for certain.
        """
        return self.was_evicted and not (self.finishes_only or self.may_have_acted)

    @property
    def may_have_acted(self) -> bool:
        """Whether a call of this run has evicted the pod, or may have."""
        return self.is_granted or self.is_called or self.is_open

    def is_refused_for_good(self, most_faults: int) -> bool:
        """Whether a pod that is still there after the last answer is not asked for again."""
        judgement = self.judgement
        return judgement is not None and (judgement.code is OutcomeCode.CONFLICT or self.num_faults > most_faults)

    def is_asked_again(self, now: float, settings: JobSettings) -> bool:
        """Whether a refused eviction is asked for again: a budget may have room once other pods are ready."""
        if self.judgement is None:
            return False
        if self.judgement.code is OutcomeCode.BUDGET:
            return self.refused_since is not None and now - self.refused_since < settings.budget_seconds
        wait_seconds = self.judgement.retry_after_seconds
        return wait_seconds is not None and wait_seconds <= settings.eviction.longest_wait_seconds

    def wait_for_turn(self, now: float, *, asks_at: float | None = None) -> None:
        """Has the job looked at while its pod waits to be evicted, which may take long, and when that may begin."""
        self.asks_at = self.asks_at if asks_at is None else asks_at
        longest = now + _LONGEST_WAIT_SECONDS
        self.due = min(self.asks_at, longest) if now < self.asks_at else longest

    def wait(self, now: float) -> None:
        """Has the next look come later each time that nothing had changed."""
        if not self.num_waits:
            self.unchanged_since = now
        self.num_waits += 1
        self.due = now + min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2.0 ** min(self.num_waits - 1, 8))

    def see(self, pod: Pod | None) -> None:
        """The last look at its job has found `pod`, which may be the one that is to leave."""
        if pod is not None and self.pod is not None and pod.uid == self.pod.uid and pod.deleted_at is None:
            self.see_alive(self.looked_at)

    def take(self, job: MigrationJob) -> None:
        """Goes on with `job` as it is kept now."""
        if self.job is None or job.resource_version != self.job.resource_version:
            self.num_waits = 0
        self.job = job


@dataclass(slots=True, eq=False)
class Turn:
    """One pod as it was just read, to leave in the way `policy` names."""

    task: JobTask
    pod: Pod
    policy: str

    @property
    def eviction(self) -> PlannedEviction:
        """What it is for."""
        return self.task.eviction

    def asked(self) -> DueMove:
        """What is rechecked."""
        job = self.task.job
        if job is None or not job.reservation_name:
            return DueMove(self.eviction, self.pod)
        return DueMove(self.eviction, self.pod, job.node_name, job.uid, has_landed=self.policy == SCALE_BACK)


class Turns:
    """The turns of one run, the first to come first."""

    def __init__(self) -> None:
        self._of: dict[JobTask, Turn] = {}

    def __bool__(self) -> bool:
        return bool(self._of)

    def __iter__(self) -> Iterator[Turn]:
        return iter(list(self._of.values()))

    def __contains__(self, turn: Turn) -> bool:
        return self._of.get(turn.task) is turn

    @property
    def tasks(self) -> Collection[JobTask]:
        """Whose turn it is."""
        return self._of.keys()

    def take(self, task: JobTask, pod: Pod, policy: str) -> None:
        """It is the turn of `task`, or still is."""
        if task not in self._of:
            self._of[task] = Turn(task, pod, policy)

    def drop(self, task: JobTask) -> bool:
        """It is not its turn any more; whether it was."""
        return self._of.pop(task, None) is not None

    def clear(self) -> None:
        """It is no turn of any."""
        self._of.clear()

    def late(self, now: float, busy: Collection[JobTask]) -> list[tuple[JobTask, MigrationJob, Progress]]:
        """Those that have waited for long but for `busy` ones, with their jobs and what is known of them."""
        due = [turn for turn in self if turn.task.due <= now and turn.task not in busy]
        return [(t.task, job, Progress(job, Evict(t.policy), t.pod)) for t in due if (job := t.task.job) is not None]
