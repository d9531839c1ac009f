"""The calls for single jobs, each of which runs on a thread, and the one that makes a pod leave."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from descheduler.kube.evict import EvictionClient, EvictionResponse
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.job.machine import evicting
from descheduler.migration.job.steps import End, WaitForChange
from descheduler.migration.job.surge import SCALE_BACK
from descheduler.migration.roads.keeper import JobKeeper, Progress
from descheduler.migration.store.journal import Journal, NewJob
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.planned import PlannedEviction

_CLOCKS_APART = timedelta(minutes=1)


class JobCalls:
    """Safe to use from several threads, each with another job. All raise ExchangeError."""

    def __init__(self, journal: Journal, keeper: JobKeeper, port: EvictionClient, around: Surroundings) -> None:
        self._journal = journal
        self._keeper = keeper
        self._port = port
        self._around = around
        self._has_compared = threading.Event()

    def create(self, wanted: NewJob, name: str) -> MigrationJob:
        """A new job. What the API server says of its time tells how far the clocks are apart."""
        asked_at = self._around.now()
        job = self._journal.create(wanted, name)
        if job.created_at is not None and not self._has_compared.is_set():
            self._has_compared.set()
            self._compare(asked_at, job.created_at, self._around.now())
        return job

    def _compare(self, asked_at: datetime, created_at: datetime, answered_at: datetime) -> None:
        """Tells of clocks by which time limits of jobs are too short or too long: they run from `created_at` on."""
        ahead, behind = asked_at - created_at, created_at - answered_at
        if max(ahead, behind) >= _CLOCKS_APART:
            word, by = ("ahead of", ahead) if ahead > behind else ("behind", behind)
            seconds = round(by.total_seconds(), -1)  # the API server tells whole seconds
            self._around.tell(
                f"the clock of this machine is about {seconds:,.0f} s {word} the clock of the API server; "
                "time limits of jobs (ttl) are wrong by as much"
            )

    def evict(
        self, job: MigrationJob | None, eviction: PlannedEviction, policy: str, may_send: Callable[[], bool]
    ) -> EvictionResponse | None:
        """The response to the eviction; None where `may_send` has withheld it."""
        if job is not None and policy == SCALE_BACK:
            return self._keeper.scale_back(job, self._port, eviction, may_send)
        at = self._around.now().isoformat(timespec="seconds").replace("+00:00", "Z")
        return _remove(self._port, policy, eviction, at, may_send)

    def landed(self, job: MigrationJob, eviction: PlannedEviction) -> Progress:
        """Looks for the replacement of a pod for which no room was held."""
        return Progress(job, End(), replacement=self._keeper.find_replacement(job, eviction))

    def note_eviction(self, job: MigrationJob, pod: Pod, asked_at: datetime | None) -> Progress:
        """Has the job know that its pod was asked to leave; what a deleted one holds is given back."""
        kept = self._keeper.save(job, evicting(job, pod, self._around.now(), asked_at=asked_at))
        if kept is None:
            self._keeper.release(job)
        return Progress(kept, WaitForChange("the pod is to leave") if kept is not None else End(), pod)

    def undo(self, job: MigrationJob, end: Callable[[MigrationJob], MigrationJob]) -> Progress:
        """Gives back what is held for the job, which ends as `end` says."""
        kept = self._keeper.undo(job, end)
        return Progress(kept, End() if kept is None or kept.has_ended else WaitForChange("it keeps changing"))


SOFT_EVICTION = "SoftEviction"
"""The policy by which another program evicts the pod, which it is asked to do by an annotation."""
_SOFT_EVICTION_ANNOTATION = "scheduling.koordinator.sh/soft-eviction"
_INITIATOR = "descheduler"


def _remove(
    port: EvictionClient, policy: str, eviction: PlannedEviction, at: str, may_send: Callable[[], bool]
) -> EvictionResponse | None:
    """The response to one call that makes the pod leave as `policy` says, at `at` (RFC 3339); None where withheld.

    With SoftEviction the pod stays until another party that reads the annotation deletes it.
    """
    grace_period_seconds = eviction.grace_period_seconds
    namespace, name, uid = eviction.namespace, eviction.name, eviction.uid
    if policy == "Delete":
        return port.delete(namespace, name, uid=uid, grace_period_seconds=grace_period_seconds, may_send=may_send)
    if policy == SOFT_EVICTION:
        asked = {
            "timestamp": at,
            "deleteOptions": {} if grace_period_seconds is None else {"gracePeriodSeconds": grace_period_seconds},
            "initiator": _INITIATOR,
            "reason": eviction.reason,
        }
        annotations = {_SOFT_EVICTION_ANNOTATION: json.dumps(asked)}
        return port.annotate(namespace, name, annotations, uid=uid, may_send=may_send)
    return port.evict(
        namespace,
        name,
        uid=uid,
        grace_period_seconds=grace_period_seconds,
        annotations_reason=eviction.annotation,
        may_send=may_send,
    )
