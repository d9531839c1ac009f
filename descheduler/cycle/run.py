"""One live run, top to bottom: take the Lease, read the cluster, decide, carry out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from descheduler.cycle.decide import EVICTIONS_IN_BACKGROUND, decide
from descheduler.cycle.guards import decide_in_time, find_guard, guard_open_calls, take_lease
from descheduler.cycle.options import ConnectionOptions, RunOptions, RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.reading import read_cluster
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.eviction.checks.limits import limits_of
from descheduler.eviction.migration_controller.profiles import is_dry
from descheduler.policy.plugin import Registry
from descheduler.policy.types import Policy
from descheduler.supervision import Watch
from descheduler.telemetry.observer import RunObserver

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient
    from descheduler.kube.events import EventTotals
    from descheduler.kube.leases.held_lease import HeldLease
    from descheduler.migration.open_calls import OpenCalls
    from descheduler.migration.rounds import Decide
    from descheduler.migration.settings import ExecutorSettings

__all__ = ["run_live", "run_with"]

_EVENT_FLUSH_SECONDS = 10.0

_ETCD_ALLOWANCE_SECONDS = 10.0
"""What a server that has given a call up may still do: a write that waits in etcd, whose own limit is 7 s."""


def run_live(
    policy: Policy,
    connection: ConnectionOptions,
    options: RunOptions,
    watch: Watch,
    *,
    now: datetime,
    registry: Registry = REGISTRY,
    observer: RunObserver | None = None,
) -> RunResult:
    """One run against a cluster: read it whole, decide, then evict unless told not to.

    `watch` is the time that the run has: when it is over the run ends cleanly, calls in flight are awaited, no further
    one starts. Its flag `stop` is set from within when the Lease is lost. Raises RunStopped when it is over before the
    first eviction, LeaseHeld before anything is read when another run is under way, KubeError when the cluster cannot
    be reached or offers no evictions, SnapshotError when it cannot be read whole, PolicyError as `decide` does.
    """
    # Dry runs on a dump must not pay for the Kubernetes client, so it is imported by the runs that talk to one.
    from descheduler.kube.client import connect
    from descheduler.kube.retry import RetryPolicy

    connect_now = partial(
        connect,
        connection.kubeconfig or policy.kubeconfig or None,
        connection.context,
        connection.as_user,
        connection.request_timeout_seconds,
        retry=RetryPolicy(sleep=watch.sleep),
    )
    with closing(watch.call("loading the kubeconfig and its credentials", connect_now)) as client:
        return run_with(client, policy, options, watch, now=now, registry=registry, observer=observer)


def run_with(
    client: KubeClient,
    policy: Policy,
    options: RunOptions,
    watch: Watch,
    *,
    now: datetime,
    registry: Registry = REGISTRY,
    observer: RunObserver | None = None,
) -> RunResult:
    """What `run_live` does, over a client that is there; raises as that."""
    carrier = _Carrier(client, observer or RunObserver(), watch)
    with _lease(client, policy, options, watch) as lease, carrier.observer.cycle():
        result = _read_and_carry_out(carrier, policy, options, lease, now=now, registry=registry)
    guard = find_guard(lease, watch, result.outcomes)
    if guard is None:
        return result
    decisions = replace(result.decisions, notes=(*result.decisions.notes, guard.note))
    return replace(result, decisions=decisions, guard=guard.cause, signal_number=guard.signal_number)


def _lease(
    client: KubeClient, policy: Policy, options: RunOptions, watch: Watch
) -> AbstractContextManager[HeldLease | None]:
    """The Lease of a run that evicts, taken already; an empty context when none is wanted. Raises LeaseHeld."""
    if options.lease is None or options.dry_run or is_dry(policy):
        return nullcontext()
    from descheduler.migration.lease_settings import lease_settings

    settings = lease_settings(policy, options.lease)
    return nullcontext() if settings is None else take_lease(client, settings, watch)


def _read_and_carry_out(
    carrier: _Carrier,
    policy: Policy,
    options: RunOptions,
    lease: HeldLease | None,
    *,
    now: datetime,
    registry: Registry,
) -> RunResult:
    from descheduler.kube.discovery import discover
    from descheduler.kube.lists.listing import doing_of
    from descheduler.migration.open_calls import OpenCalls

    watch, observer = carrier.watch, carrier.observer
    # Work that was given up ends at its next request.
    reader = carrier.client.watched(lambda path: watch.tell(doing_of(path)))
    facts = watch.call("reaching the API server", partial(discover, reader))
    with observer.snapshot():
        is_assessed = options.most_assessed > 0 and (options.dry_run or is_dry(policy))
        landings = Landings.ASSESSED if is_assessed else Landings.UNSEEN
        read_now = partial(
            read_cluster,
            reader,
            policy,
            snapshot_request(policy, landings, registry=registry, skip_broken=options.skip_broken),
            taken_at=now,
            git_version=facts.git_version,
            tell=watch.tell,
        )
        snapshot = watch.call("reading the cluster", read_now)
    observer.snapshot_read(snapshot)
    decide_now = partial(
        decide,
        policy,
        snapshot,
        now=now,
        feature_gates=options.feature_gates,
        registry=registry,
        observer=observer,
        scope=options.scope,
    )
    if options.dry_run or is_dry(policy):
        return RunResult(watch.call("deciding", partial(decide_now, most_assessed=options.most_assessed)))
    settings = _executor_settings(policy, options, watch.deadline, carrier.client.request_timeout_seconds)
    open_calls = OpenCalls(settings.effect_seconds, now=watch.clock)
    guard_open_calls(open_calls, lease, watch)
    return carrier.carry_out(
        decide_in_time(
            lambda answers, prior_moves: decide_now(answers=answers, prior_moves=prior_moves, most_assessed=0), watch
        ),
        settings,
        open_calls=open_calls,
        may_call=(lambda: "") if lease is None else lease.why_not_current,
        policy_version=facts.policy_version,
        announces_failures=policy.eviction_failure_event_notification,
    )


@dataclass(frozen=True, slots=True)
class _Carrier:
    """Evicts through `client`, and tells the cluster and the observer of it."""

    client: KubeClient
    observer: RunObserver
    watch: Watch

    def carry_out(
        self,
        decide_with: Decide,
        settings: ExecutorSettings,
        *,
        open_calls: OpenCalls,
        may_call: Callable[[], str],
        policy_version: str,
        announces_failures: bool,
    ) -> RunResult:
        from descheduler.kube.events import EventRecorder
        from descheduler.kube.evict import EvictionClient
        from descheduler.migration.announce import EvictionAnnouncer
        from descheduler.migration.outcome_sinks import EverySink
        from descheduler.migration.rounds import carry_out

        events = EventRecorder(self.client)
        decisions, outcomes = carry_out(
            decide_with,
            EvictionClient(
                self.client.watched(self._note_effect),
                policy_version=policy_version,
                timeout_seconds=self.client.request_timeout_seconds,
            ),
            settings,
            stop=self.watch.stop,
            open_calls=open_calls,
            may_call=may_call,
            sink=EverySink(EvictionAnnouncer(events, failures=announces_failures), self.observer),
            clock=self.watch.clock,
            sleep=self.watch.sleep,
        )
        self.watch.wait_until(events.is_idle, _EVENT_FLUSH_SECONDS)
        for note in (notes := _event_notes(events.flush(0.0))):
            self.observer.events_missed(note)
        return RunResult(replace(decisions, notes=(*decisions.notes, *notes)), outcomes)

    def _note_effect(self, path: str) -> None:
        """Has the watch know that from now on the run may have had effects."""
        self.watch.has_effects |= path.endswith("/eviction")


def _event_notes(totals: EventTotals) -> tuple[str, ...]:
    """A sentence when pods went without the Event that tells their owners why."""
    num_missing = totals.num_failed + totals.num_dropped
    if not num_missing:
        return ()
    why = totals.first_fault or "the API server takes them too slowly"
    return (f"{num_missing} of {num_missing + totals.num_written} events could not be written: {why}",)


def _executor_settings(
    policy: Policy, options: RunOptions, deadline: float | None, request_timeout_seconds: float
) -> ExecutorSettings:
    """How evictions are paced and bounded. `deadline` is of the run's clock; None when it has none."""
    from descheduler.migration.policy_settings import PaceFlags, executor_settings

    return executor_settings(
        policy,
        PaceFlags(options.qps, options.burst),
        limits=limits_of(policy),
        evictions_in_background=bool(options.feature_gates.get(EVICTIONS_IN_BACKGROUND)),
        effect_seconds=request_timeout_seconds + _ETCD_ALLOWANCE_SECONDS,
        deadline=deadline,
    )
