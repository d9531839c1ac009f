"""What a run does to the cluster. Runs that evict import it when they come to that: dry ones must not pay for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.guards import guard_open_calls
from descheduler.cycle.live.carrying_out import Carrier
from descheduler.cycle.live.jobs import (
    left_notes,
    num_unused,
    plan_jobs,
    take_up_notes,
    taken_up,
    unused_notes,
    users_notes,
)
from descheduler.cycle.live.reached_goals import Measure, announce_goals, reached_goals
from descheduler.cycle.options import EVICTIONS_IN_BACKGROUND, RunOptions, RunResult
from descheduler.eviction.checks.limits import limits_of
from descheduler.eviction.cordons import cordoned_by, with_cordons
from descheduler.kube.background import BackgroundCalls
from descheduler.kube.client import KubeClient
from descheduler.kube.discovery import ServerFacts
from descheduler.kube.events import EventRecorder
from descheduler.kube.leases.held_lease import HeldLease
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.dispatch.pace import Paces
from descheduler.migration.dispatch.surroundings import Halting, OpenCalls, Surroundings
from descheduler.migration.guards import make_watchman
from descheduler.migration.lease_settings import lease_settings
from descheduler.migration.policy_settings import PaceFlags, RunStart, dispatch_settings
from descheduler.migration.rounds import Decide
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.plan.outcome import Outcome
from descheduler.policy.plugin import Registry
from descheduler.policy.types import Policy
from descheduler.report.outcome.status_document import NOTHING_TAKEN_UP
from descheduler.supervision import Watch
from descheduler.telemetry.observer import RunObserver
from descheduler.transport.errors import ExchangeError

_MOST_JOB_THREADS = 16
_ETCD_ALLOWANCE_SECONDS = 10.0
"""What a server that has given a call up may still do: a write that waits in etcd, whose own limit is 7 s."""


class LiveRun:
    """Finishes what earlier runs left, carries out users' jobs, evicts. To be closed. Methods raise ExchangeError."""

    def __init__(
        self,
        client: KubeClient,
        policy: Policy,
        options: RunOptions,
        watch: Watch,
        observer: RunObserver,
        lease: HeldLease | None,
        server: ServerFacts,
        start: RunStart,
    ) -> None:
        self._policy, self._scope, self._watch = policy, options.scope, watch
        self._client, self._lease, self._observe_seconds = client, lease, options.observe_seconds
        self._shard = options.shard
        self.taken_up = NOTHING_TAKEN_UP
        self.evicted_for_users: tuple[Move, ...] = ()
        self._users_outcomes: tuple[Outcome, ...] = ()
        self.notes: tuple[str, ...] = ()
        """How room is held, and what became of jobs of earlier runs and of users; a sentence each."""
        self._told: list[str] = []
        """What may be left in the cluster; a sentence each."""
        self.num_unused = 0
        """Reservations beside which replacements came to run."""
        self._settings = dispatch_settings(
            policy,
            PaceFlags(options.qps, options.burst),
            evictions_in_background=bool(options.feature_gates.get(EVICTIONS_IN_BACKGROUND)),
            effect_seconds=client.request_timeout_seconds + _ETCD_ALLOWANCE_SECONDS,
            deadline=watch.deadline,
            start=start,
        )
        self._open_calls = OpenCalls(self._settings.effect_seconds, now=watch.clock)
        self._why_not_call = (lambda: "") if lease is None else lease.why_not_current
        guard_open_calls(self._open_calls, lease, watch)
        settings = None if options.lease is None else lease_settings(policy, options.lease)
        find_jobs = partial(plan_jobs, policy, client, server, settings, options.shard)
        self._jobs = watch.call("looking for what holds room", find_jobs)
        self._job_calls: BackgroundCalls[Any] = BackgroundCalls(_MOST_JOB_THREADS, name="job")
        self._guard_calls: BackgroundCalls[Any] = BackgroundCalls(1, name="guards")
        self._watchman = make_watchman(policy, client, self._guard_calls.submit, watch.clock)
        self._events = EventRecorder(client, shard=options.shard)
        announces_failures = policy.eviction_failure_event_notification
        self._carrier = Carrier(
            client,
            observer,
            watch,
            server.policy_version,
            announces_failures,
            self._jobs,
            self._events,
            self._around(),
            policy.evicts_in_waves,
            self._watchman,
        )

    def _around(self) -> Surroundings:
        """What all evictions of the run go by."""
        watch, why_not_call = self._watch, self._why_not_call
        return Surroundings(
            calls=self._job_calls,
            paces=Paces(self._settings, now=watch.clock),
            open_calls=self._open_calls,
            halted=Halting(watch.stop, watch.deadline, why_not_call, watch.clock, self._look_for_trouble),
            why_not_call=why_not_call,
            clock=watch.clock,
            now=watch.now,
            sleep=watch.sleep,
            tell=self._told.append,
        )

    def _look_for_trouble(self) -> str:
        """What a guard finds, "" where none does."""
        return "" if self._watchman is None else self._watchman.look()

    def close(self) -> None:
        """Lets the threads end; does not wait for calls that get no answer."""
        self._job_calls.close()
        self._guard_calls.close()
        self._events.flush(0.0)

    @property
    def tripped(self) -> str:
        """What a guard has found, "" where none has."""
        return "" if self._watchman is None else self._watchman.tripped

    def take_up(self) -> None:
        """Finishes or undoes what earlier runs left."""
        with self._in_time("taking up jobs of earlier runs"):
            adopted = self._carrier.take_up(self._settings)
        self.taken_up = taken_up(adopted)
        self.notes = self._jobs.notes
        if adopted is not None:
            self.notes = (*self.notes, *take_up_notes(adopted))
            self.num_unused += num_unused(adopted.outcomes)

    def carry_out_users(self, snapshot: Snapshot) -> bool:
        """Carries out what users have asked for; whether the cluster may have changed by that."""
        settings = self._settings_over(snapshot)
        with self._in_time("carrying out PodMigrationJobs of users"):
            users = self._carrier.carry_out_users(snapshot, self._scope, settings)
        self.evicted_for_users, self._users_outcomes = users.evicted, users.outcomes
        self.taken_up = replace(self.taken_up, of_users=users.num_succeeded)
        self.notes = (*self.notes, *users_notes(users))
        self.num_unused += num_unused(users.outcomes)
        return users.num_started > 0

    @contextmanager
    def _in_time(self, doing: str) -> Iterator[None]:
        """Has an error that comes when the time is over already told as that. Raises RunStopped."""
        self._watch.tell(doing)
        try:
            yield
        except ExchangeError:
            self._watch.check()
            raise

    def carry_out(self, decide_with: Decide, snapshot: Snapshot, registry: Registry) -> RunResult:
        """Decides over `snapshot` and evicts, in rounds; the result has what was done for users, too."""
        settings, wanted = self._settings_over(snapshot), cordoned_by(self._policy, snapshot, registry)
        cordons = self._carrier.cordons(self._jobs.storage.owner, wanted, snapshot)
        around_evictions = with_cordons(self._policy, snapshot, registry)
        result = self._carrier.carry_out(decide_with, around_evictions, settings, cordons)
        self.num_unused += num_unused(result.outcomes)
        self.notes = (*self.notes, *unused_notes(self.num_unused), *left_notes(self._told))
        return replace(result, for_users=self._users_outcomes, evicted_for_users=self.evicted_for_users)

    def concluded(self, result: RunResult, decided: Sequence[Decisions], measure: Measure) -> RunResult:
        """`result` with what planners have come to, which an Event on the Lease says too, and where replacements are.

        `decided` are the decisions of all rounds, and `measure` decides once more.
        """
        result = replace(result, goals=reached_goals(decided, result, measure, self._watch))
        if self._lease is not None and result.goals and result.outcomes:
            told = announce_goals(result.goals, self._client, self._lease, self._watch, self._shard)
            self.notes = (*self.notes, *told)
        return self._observed(result) if self._observe_seconds and result.outcomes else result

    def _observed(self, result: RunResult) -> RunResult:
        """`result` with the nodes on which replacements are seen ready in time."""
        # Runs in jobs go without it.
        from descheduler.migration.observing import Observer

        known = frozenset(pod.uid for pod in result.decisions.snapshot.pods)
        observer = Observer(result.outcomes, known, ObjectCalls(self._client.watched(lambda path: None)))
        if fault := observer.watch(self._observe_seconds, self._watch):
            self.notes = (*self.notes, fault)
        return replace(result, outcomes=observer.outcomes)

    def without_plan(self, decisions: Decisions) -> RunResult:
        """What was done for users alone."""
        return RunResult(decisions, for_users=self._users_outcomes, evicted_for_users=self.evicted_for_users)

    def _settings_over(self, snapshot: Snapshot) -> DispatchSettings:
        """With the limits, of which some may be percentages of what is in the cluster."""
        return replace(self._settings, limits=limits_of(self._policy, snapshot))
