"""Carries out what was decided: evictions at a pace, Events about them, and another decision after refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.live.jobs import JobPlan
from descheduler.cycle.options import RunResult
from descheduler.eviction.background import Answers
from descheduler.eviction.checks.scope import Scope
from descheduler.kube.events import EventRecorder, EventTotals
from descheduler.kube.evict import EvictionClient
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.announcing import EvictionAnnouncer, JobAnnouncer
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.listeners import EveryListener, EverySink
from descheduler.migration.ports import OutcomeSink
from descheduler.migration.roads.users_jobs import UsersJobs
from descheduler.migration.rounds import Decide
from descheduler.migration.rounds import carry_out as carry_out_rounds
from descheduler.migration.settings import DispatchSettings
from descheduler.model.node import CORDON_ANNOTATION
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.plan.outcome import Outcome
from descheduler.supervision import Watch
from descheduler.telemetry.observer import RunObserver

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient
    from descheduler.migration.cordons import Cordons
    from descheduler.migration.guards import Watchman
    from descheduler.migration.roads.adoption import Adopted
    from descheduler.migration.roads.care import Care
    from descheduler.migration.roads.execution import JobExecution

_EVENT_FLUSH_SECONDS = 10.0


class Carrier(msgspec.Struct, frozen=True):
    """Evicts through `client`, and tells the cluster and the observer of it.

    All that it does goes by what is `around` it; `events` is flushed once the plan is carried out. `policy_version` is
    that of the eviction API. With `announces_failures` refused evictions get an Event too. One that
    `is_careful` evicts by waves, and only pods whose moves still hold then. Where there is a `watchman`,
    its guards are told of the calls.
    """

    client: KubeClient
    observer: RunObserver
    watch: Watch
    policy_version: str
    announces_failures: bool
    jobs: JobPlan
    events: EventRecorder
    around: Surroundings
    is_careful: bool
    watchman: Watchman | None = None

    def take_up(self, settings: DispatchSettings) -> Adopted | None:
        """Finishes or undoes what earlier runs left; None where no profile uses jobs. Raises ExchangeError."""
        execution = self._execution(settings, self._heard_by())
        return None if execution is None else execution.take_up()

    def carry_out_users(self, snapshot: Snapshot, scope: Scope, settings: DispatchSettings) -> UsersJobs:
        """Carries out PodMigrationJobs that users have created for pods in `scope`. Raises ExchangeError."""
        execution = self._execution(settings, self._heard_by(self._announcer()))
        users = UsersJobs() if execution is None else execution.carry_out_users(snapshot, scope)
        for outcome in users.outcomes:
            self.observer.record_for_user(outcome)
        return users

    def carry_out(
        self, decide_with: Decide, snapshot: Snapshot, settings: DispatchSettings, cordons: Cordons | None = None
    ) -> RunResult:
        """Decides over `snapshot` and evicts until a round brings no refusal; see `migration.rounds`.

        `cordons` are made before the first eviction, and end with the last one.
        """
        around = self._heard_by(EverySink(self._announcer(), self.observer))
        jobs = self._execution(settings, around, snapshot)
        care = cache(partial(self._care, snapshot, settings, around)) if self.is_careful else None
        decide = decide_with if cordons is None else partial(_decide_and_cordon, decide_with, cordons, settings)
        outcomes, notes = tuple[Outcome, ...](), list[str]()
        try:
            decisions, outcomes = carry_out_rounds(decide, self._evictions(), settings, around, jobs, care)
        finally:
            notes += cordons.end(outcomes) if cordons is not None else ()
            notes += self._flush()
        return RunResult(replace(decisions, notes=(*decisions.notes, *notes)), outcomes)

    def cordons(self, owner: str, wanted: frozenset[str], snapshot: Snapshot) -> Cordons | None:
        """The nodes that a run cordons, or that an earlier one has cordoned; None where there are none of either."""
        if not wanted and not any(CORDON_ANNOTATION in node.annotations for node in snapshot.nodes):
            return None
        # Runs that cordon nothing go without.
        from descheduler.migration.cordons import Cordons

        return Cordons(ObjectCalls(self._watched()), owner, wanted, snapshot, self.around)

    def _care(self, snapshot: Snapshot, settings: DispatchSettings, around: Surroundings) -> Care:
        """The care with which plain evictions are made."""
        # Fifty modules, which runs that evict nothing go without.
        from descheduler.migration.roads.care import plain_care

        return plain_care(ObjectCalls(self._watched()), snapshot, settings, around)

    def _execution(
        self, settings: DispatchSettings, around: Surroundings, snapshot: Snapshot | None = None
    ) -> JobExecution | None:
        return self.jobs.execution(self._watched(), self._evictions(), settings, around, snapshot)

    def _heard_by(self, sink: OutcomeSink | None = None) -> Surroundings:
        """The surroundings of evictions of which `sink` hears."""
        listener = EveryListener(self.observer.jobs, *self._job_announcers())
        return replace(self.around, sink=sink, listener=listener)

    def _announcer(self) -> EvictionAnnouncer:
        return EvictionAnnouncer(self.events, failures=self.announces_failures)

    def _job_announcers(self) -> tuple[JobAnnouncer, ...]:
        """Jobs in ConfigMaps have no Events."""
        return (JobAnnouncer(self.events),) if self.jobs.storage.in_objects else ()

    def _evictions(self) -> EvictionClient:
        return EvictionClient(
            self._watched(self._note_effect),
            policy_version=self.policy_version,
            timeout_seconds=self.client.request_timeout_seconds,
        )

    def _watched(self, before_send: Callable[[str], None] = lambda path: None) -> KubeClient:
        """The client, whose calls are known to the guards."""
        if self.watchman is None:
            return self.client.watched(before_send)
        return self.client.watched(before_send, self.watchman.errors.note)

    def _flush(self) -> tuple[str, ...]:
        """Waits until the Events are written, and says what is missing."""
        self.watch.wait_until(self.events.is_idle, _EVENT_FLUSH_SECONDS)
        notes = _event_notes(self.events.flush(0.0))
        for note in notes:
            self.observer.events_missed(note)
        return notes

    def _note_effect(self, path: str) -> None:
        """Has the watch know that pods may have been evicted: what makes them leave has a client of its own."""
        self.watch.has_effects = True


def _decide_and_cordon(
    decide_with: Decide, cordons: Cordons, settings: DispatchSettings, answers: Answers, prior_moves: Sequence[Move]
) -> Decisions:
    """What is decided, once the nodes are cordoned that it counts on; not where nothing is to be evicted."""
    decisions = decide_with(answers, prior_moves)
    if any(not settings.terms_of(move.profile).is_dry for move in decisions.leaving):
        cordons.begin()
    return decisions


def _event_notes(totals: EventTotals) -> tuple[str, ...]:
    """A sentence when pods went without the Event that tells their owners why."""
    num_missing = totals.num_failed + totals.num_dropped
    if not num_missing:
        return ()
    why = totals.first_fault or "the API server is too slow"
    return (f"{num_missing} of {num_missing + totals.num_written} events could not be written: {why}",)
