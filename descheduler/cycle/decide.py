"""One run, top to bottom: policy and snapshot in, every decision with its reason out.

`decide` is the part without I/O that dry runs, live runs and `evaluate` share.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from descheduler.cluster.snapshot import POD_TEMPLATES, Snapshot
from descheduler.cycle.guards import decide_in_time, find_guard, make_watch, take_lease
from descheduler.cycle.reading import read_cluster
from descheduler.eviction.answers import Answers
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.handle import Handle
from descheduler.eviction.limits import EvictionLimits
from descheduler.eviction.migration_notes import migration_controllers, migration_notes
from descheduler.eviction.placement_verification import PLACEMENT_KINDS
from descheduler.eviction.scope import EVERYWHERE, Scope
from descheduler.model.labels import EVERYTHING
from descheduler.model.node import Node
from descheduler.placement.cluster_view import ClusterView
from descheduler.placement.node_fit import NodeFit
from descheduler.placement.prior_moves import PriorMove
from descheduler.policy.plugin import Registry
from descheduler.policy.priority_thresholds import resolve_priority_thresholds, threshold_of
from descheduler.policy.types import Policy
from descheduler.strategies.decisions import Decisions
from descheduler.strategies.observer import UNOBSERVED, PluginObserver
from descheduler.strategies.profiles import run_profiles
from descheduler.strategies.registry import REGISTRY
from descheduler.supervision import Watch
from descheduler.telemetry.observer import RunObserver

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient
    from descheduler.kube.events import EventTotals
    from descheduler.kube.lease import HeldLease
    from descheduler.migration.lease_settings import LeaseOptions
    from descheduler.migration.outcome import Outcome
    from descheduler.migration.rounds import Decide
    from descheduler.migration.settings import ExecutorSettings

__all__ = [
    "EVICTIONS_IN_BACKGROUND",
    "MOST_ASSESSED",
    "ConnectionOptions",
    "RunOptions",
    "RunResult",
    "decide",
    "is_dry",
    "needed_kinds",
    "run_live",
    "run_with",
]

EVICTIONS_IN_BACKGROUND = "EvictionsInBackground"
"""The feature gate under which another controller may carry an eviction out."""

MOST_ASSESSED = 1000
"""Evictions of a plain upstream policy whose landings are looked up for the report; each takes about a millisecond."""

_MOST_PROVED = 500
"""Evictions that are judged together once more; each is played through several times, at a millisecond each."""

_LEAST_NODES = 2
_ALWAYS_READ = ("Node", "Pod", "PodDisruptionBudget")
_DEFAULT_QPS = 5.0
_DEFAULT_BURST = 10
_EVENT_FLUSH_SECONDS = 10.0

_ETCD_ALLOWANCE_SECONDS = 10.0
"""What a server that has given a call up may still do: a write that waits in etcd, whose own limit is 7 s."""


def decide(
    policy: Policy,
    snapshot: Snapshot,
    *,
    now: datetime,
    answers: Answers | None = None,
    prior_moves: Sequence[PriorMove] = (),
    feature_gates: Mapping[str, bool] | None = None,
    registry: Registry = REGISTRY,
    processed_nodes: Sequence[Node] | None = None,
    observer: PluginObserver = UNOBSERVED,
    scope: Scope = EVERYWHERE,
    most_assessed: int = MOST_ASSESSED,
) -> Decisions:
    """Runs all plugins of `policy` over `snapshot` and books what may go. No I/O; the same input gives the same answer.

    `answers` are refusals of the eviction API that are known already, `prior_moves` the evictions that earlier
    decisions of this run over the same snapshot have led to. `processed_nodes` are handed to the plugins as they are;
    without them it is the ready nodes that the policy selects, of which there must be two. `observer` is told of every
    run of a plugin. Pods out of `scope` stay, and count for the plugins as ever. Where no plugin verifies landings,
    those of the first `most_assessed` evictions are looked up for the report, which changes no decision. Raises
    PolicyError when a PriorityClass that the policy names does not exist.
    """
    priorities = {name: priority.value for name, priority in snapshot.priority_classes.items()}
    policy = resolve_priority_thresholds(policy, priorities)
    view = ClusterView(snapshot, moves_take_effect=policy.kind == "DeschedulerConfiguration", prior_moves=prior_moves)
    evictor = Evictor(
        view,
        _limits(policy),
        answers=answers,
        evictions_in_background=bool(feature_gates and feature_gates.get(EVICTIONS_IN_BACKGROUND)),
    )
    notes = (*migration_notes(policy), *scope.note_on(snapshot))
    if processed_nodes is None:
        processed_nodes = view.ready_nodes(policy.node_selector or EVERYTHING)
        if len(processed_nodes) < _LEAST_NODES:
            skipped = f"{len(processed_nodes)} ready nodes match the policy, at least {_LEAST_NODES} are needed"
            return Decisions(policy, snapshot, evictor, now, skipped=skipped, notes=notes)
    node_fit = NodeFit(view, spares_namesakes=policy.compatibility == "upstream")
    handle = Handle(policy, view, node_fit, now, evictor.landings)
    failures = run_profiles(policy, registry, handle, evictor, processed_nodes, observer=observer, scope=scope)
    evictor.landings.assess(most_assessed)
    evictor.landings.prove(_MOST_PROVED)
    return Decisions(policy, snapshot, evictor, now, failures, notes=notes)


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """How to reach the cluster, as kubectl takes it; `request_timeout_seconds` bounds each whole answer."""

    kubeconfig: str | None = None
    context: str | None = None
    as_user: str | None = None
    request_timeout_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How one live run goes. `qps` and `burst` pace evictions; None leaves the choice to the policy, then 5 and 10.

    `deadline_seconds` bounds the whole run: it ends then, and no eviction starts after it. `lease` None takes no Lease;
    a dry run, which changes nothing, takes none either. `most_assessed` is for dry runs, see `decide`.
    """

    dry_run: bool = False
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    qps: float | None = None
    burst: int | None = None
    deadline_seconds: float | None = None
    skip_broken: bool = False
    lease: LeaseOptions | None = None
    scope: Scope = EVERYWHERE
    most_assessed: int = MOST_ASSESSED


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a live run decided and did; no outcomes in a dry run. `guard` says what stopped it early, else it is "".

    `signal_number` is that of the signal that did, None when it was something else.
    """

    decisions: Decisions
    outcomes: tuple[Outcome, ...] = ()
    guard: str = ""
    signal_number: int | None = None


def run_live(
    policy: Policy,
    connection: ConnectionOptions,
    options: RunOptions,
    stop: threading.Event,
    *,
    now: datetime,
    registry: Registry = REGISTRY,
    observer: RunObserver | None = None,
    watch: Watch | None = None,
) -> RunResult:
    """One run against a cluster: read it whole, decide, then evict unless told not to.

    Setting `stop` ends it cleanly: calls in flight are awaited, no further one starts. It is set from within when the
    Lease is lost. `watch` is the time that the run has; without one it begins now, and ends with `stop` or at the
    deadline of `options`. Raises RunStopped when it is over before the first eviction, LeaseHeld before anything is
    read when another run is under way, KubeError when the cluster cannot be reached or offers no evictions,
    SnapshotError when it cannot be read whole, PolicyError as `decide` does.
    """
    # Dry runs on a dump must not pay for the Kubernetes client, so it is imported by the runs that talk to one.
    from descheduler.kube.client import connect
    from descheduler.kube.retry import RetryPolicy
    from descheduler.migration.executor import sleep_unless

    watch = watch or make_watch(stop, options.deadline_seconds, time.monotonic)
    connect_now = partial(
        connect,
        connection.kubeconfig or policy.kubeconfig or None,
        connection.context,
        connection.as_user,
        connection.request_timeout_seconds,
        retry=RetryPolicy(sleep=sleep_unless(stop)),
    )
    with closing(watch.call("loading the kubeconfig and its credentials", connect_now)) as client:
        return run_with(client, policy, options, stop, now=now, registry=registry, observer=observer, watch=watch)


def run_with(
    client: KubeClient,
    policy: Policy,
    options: RunOptions,
    stop: threading.Event,
    *,
    now: datetime,
    registry: Registry = REGISTRY,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] | None = None,
    observer: RunObserver | None = None,
    watch: Watch | None = None,
) -> RunResult:
    """What `run_live` does, over a client that is there. `clock` and `sleep` (seconds) pace evictions.

    Raises as `run_live`.
    """
    watch = watch or make_watch(stop, options.deadline_seconds, clock)
    carrier = _Carrier(client, clock, sleep, observer or RunObserver(), watch)
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
    from descheduler.kube.listing import doing_of

    watch, observer = carrier.watch, carrier.observer
    # Work that was given up ends at its next request.
    reader = carrier.client.watched(lambda path: watch.tell(doing_of(path)))
    facts = watch.call("reaching the API server", partial(discover, reader))
    with observer.snapshot():
        needed = needed_kinds(policy, registry)
        is_assessed = options.most_assessed > 0 and (options.dry_run or is_dry(policy))
        read_now = partial(
            read_cluster,
            reader,
            policy,
            needed=needed,
            wanted=PLACEMENT_KINDS if is_assessed else frozenset(),
            keep_templates=POD_TEMPLATES in needed,
            skip_broken=options.skip_broken,
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
    return carrier.carry_out(
        decide_in_time(
            lambda answers, prior_moves: decide_now(answers=answers, prior_moves=prior_moves, most_assessed=0), watch
        ),
        _executor_settings(policy, options, watch.deadline, carrier.client.request_timeout_seconds),
        may_call=(lambda: "") if lease is None else lease.why_not_current,
        policy_version=facts.policy_version,
        announces_failures=policy.eviction_failure_event_notification,
    )


@dataclass(frozen=True, slots=True)
class _Carrier:
    """Evicts through `client`, and tells the cluster and the observer of it."""

    client: KubeClient
    clock: Callable[[], float]
    sleep: Callable[[float], None] | None
    observer: RunObserver
    watch: Watch

    def carry_out(
        self,
        decide_with: Decide,
        settings: ExecutorSettings,
        *,
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
                self.client, policy_version=policy_version, timeout_seconds=self.client.request_timeout_seconds
            ),
            settings,
            stop=self.watch.stop,
            may_call=may_call,
            sink=EverySink(EvictionAnnouncer(events, failures=announces_failures), self.observer),
            clock=self.clock,
            sleep=self.sleep,
        )
        self.watch.wait_until(events.is_idle, _EVENT_FLUSH_SECONDS)
        notes = _event_notes(events.flush(0.0))
        return RunResult(replace(decisions, notes=(*decisions.notes, *notes)), outcomes)


def _event_notes(totals: EventTotals) -> tuple[str, ...]:
    """A sentence when pods went without the Event that tells their owners why."""
    num_missing = totals.num_failed + totals.num_dropped
    if not num_missing:
        return ()
    why = totals.first_fault or "the API server takes them too slowly"
    return (f"{num_missing} of {num_missing + totals.num_written} events could not be written: {why}",)


def needed_kinds(policy: Policy, registry: Registry = REGISTRY) -> frozenset[str]:
    """The kinds whose objects the policy's plugins read, with `POD_CONDITIONS` and `POD_TEMPLATES` when those are."""
    kinds = set(_ALWAYS_READ)
    for profile in policy.profiles:
        names = {*profile.deschedule, *profile.balance, *profile.filter, *profile.pre_eviction_filter, *profile.evict}
        for name in names:
            kinds |= registry[name].needs(profile.args[name])
    if any(_names_priority_class(args) for profile in policy.profiles for args in profile.args.values()):
        kinds.add("PriorityClass")
    return frozenset(kinds)


def is_dry(policy: Policy) -> bool:
    """Whether the policy itself asks for a dry run, in its own field or in its evict plugin's."""
    return policy.dry_run or any(controller.dry_run for controller in migration_controllers(policy))


def _names_priority_class(args: msgspec.Struct) -> bool:
    threshold = threshold_of(args)
    return threshold is not None and threshold.value is None


def _executor_settings(
    policy: Policy, options: RunOptions, deadline: float | None, request_timeout_seconds: float
) -> ExecutorSettings:
    from descheduler.migration.settings import ExecutorSettings

    controllers = migration_controllers(policy)
    qps = options.qps or min((float(args.evict_qps or 0) for args in controllers), default=0) or policy.client_qps
    burst = options.burst or min((args.evict_burst or 1 for args in controllers), default=0) or policy.client_burst
    grace = policy.grace_period_seconds
    for args in controllers:
        if grace is None and args.default_delete_options is not None:
            grace = args.default_delete_options.grace_period_seconds
    return ExecutorSettings(
        qps=qps or _DEFAULT_QPS,
        burst=burst or _DEFAULT_BURST,
        grace_period_seconds=grace,
        evictions_in_background=bool(options.feature_gates.get(EVICTIONS_IN_BACKGROUND)),
        limits=_limits(policy),
        effect_seconds=request_timeout_seconds + _ETCD_ALLOWANCE_SECONDS,
        deadline=deadline,
    )


def _limits(policy: Policy) -> EvictionLimits:
    return EvictionLimits(policy.max_evictions_per_node, policy.max_evictions_per_namespace, policy.max_evictions_total)
