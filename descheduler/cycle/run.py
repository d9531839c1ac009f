"""One run against a cluster, top to bottom: take the Lease, read the cluster, decide; unless it is dry, carry out."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from descheduler.cluster.objects import with_assumed
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, SnapshotError
from descheduler.cycle.deciding.beyond_limits import with_beyond_in_time
from descheduler.cycle.deciding.round import DecideAgain, Round, RunSetting
from descheduler.cycle.guards import StopCause, decide_in_time, find_guard, take_lease
from descheduler.cycle.options import MOST_ASSESSED, ConnectionOptions, RunOptions, RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.reading import read_cluster
from descheduler.cycle.recent_moves import with_moves
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.documents.problems import PolicyError
from descheduler.eviction.background import Answers
from descheduler.eviction.migration_controller.profiles import OF_APPLY, OF_DRY_RUN, is_dry, jobs_left_out
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move, Refusal
from descheduler.plan.run_memory import NO_MEMORY, RunMemory
from descheduler.policy.plugin import Registry
from descheduler.policy.types import Policy
from descheduler.supervision import RunStopped, Watch
from descheduler.telemetry.observer import RunObserver

if TYPE_CHECKING:
    from descheduler.cycle.live.live_run import LiveRun
    from descheduler.cycle.remembering import KeptMemory
    from descheduler.kube.client import KubeClient
    from descheduler.kube.discovery import ServerFacts
    from descheduler.kube.leases.held_lease import HeldLease


def run_on_cluster(
    policy: Policy,
    connection: ConnectionOptions,
    options: RunOptions,
    watch: Watch,
    *,
    now: datetime,
    registry: Registry = REGISTRY,
    observer: RunObserver | None = None,
    found_cluster: Callable[[str, str], None] = lambda context, server: None,
) -> RunResult:
    """One run against a cluster: read it whole, decide, then evict unless told not to.

    `found_cluster` is told the context of the kubeconfig ("" for the service account of a pod) and the URL of the
    server, which holds no credentials, before anything is sent.
    `watch` is the time that the run has: when it is over the run ends cleanly, calls in flight are awaited, no further
    one starts. Its flag `stop` is set from within when the Lease is lost. Raises RunStopped when it is over before the
    first eviction, LeaseHeld before anything is read when another run is under way, ExchangeError when the cluster
    cannot be reached or offers no evictions, SnapshotError when it cannot be read whole, PolicyError as `decide` does.
    """
    with closing(connection.connect_in_time(policy, watch)) as client:
        found_cluster(client.context, client.host)
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
    """What `run_on_cluster` does, over a client that is there; raises as that."""
    run = _Run(client, policy, options, watch, observer or RunObserver(), now, registry, watch.clock())
    with _lease(run) as lease, ExitStack() as at_end:
        with run.observer.cycle():
            server = _discover(run)
            uid = _identify(run)
            live = None if run.is_dry else at_end.enter_context(closing(_live(run, lease, server)))
            if live is not None:
                live.take_up()
            snapshot = _read(run, server)
            why = _why_no_users_jobs(run)
            skipped = jobs_left_out(run.policy, snapshot, why) if why else ()
            is_changed = live is not None and not why and live.carry_out_users(snapshot)
            try:
                end = _carry_out_plan(run, live, _read(run, server) if is_changed else snapshot)
            except Exception as error:
                if live is None or not live.evicted_for_users:
                    raise
                end = _cut_short(run, live, snapshot, error)
        tripped = "" if live is None else live.tripped
        guard = end.cut_by or find_guard(lease, watch, end.result.all_outcomes, tripped)
        result = replace(end.result, cluster_uid=uid, is_partial=bool(end.left_out))
        if live is not None and end.rounds.decided:
            result = live.concluded(result, end.rounds.decided, end.rounds.measure)
        notes = (*(() if live is None else live.notes), *skipped, *end.left_out, *end.kept.notes)
        notes = notes if lease is None else (*notes, *_keep(run, end.kept, result, lease))
        result = replace(result, decisions=_whole(run, end))
        notes = notes if live is None else (*notes, *_keep_status(run, result, lease, live, guard))
    decisions = replace(result.decisions, notes=(*result.decisions.notes, *notes))
    result = replace(result, decisions=decisions)
    return result if guard is None else replace(result, guard=guard.cause, signal_number=guard.signal_number)


def _whole(run: _Run, end: _End) -> Decisions:
    """The decisions of a run with all pods that are not evicted, as reports and the status count them."""
    is_whole = run.options.apply is None and end.cut_by is None
    decisions = _with_beyond(run, end.result.decisions, end.rounds) if is_whole else end.result.decisions
    return replace(decisions, refusals=(*decisions.refusals, *end.rounds.unselected))


class _End(msgspec.Struct, frozen=True):
    """What a run came to; `left_out` are sentences on moves of a plan that was applied, and `cut_by` ended it."""

    result: RunResult
    rounds: _Rounds
    kept: KeptMemory
    left_out: tuple[str, ...] = ()
    cut_by: StopCause | None = None


def _carry_out_plan(run: _Run, live: LiveRun | None, snapshot: Snapshot) -> _End:
    """Decides over `snapshot`, and evicts where it is no dry run."""
    kept = _recall(run)
    rounds = _Rounds(run, snapshot, kept.memory, () if live is None else live.evicted_for_users)
    left_out = rounds.choose()
    decide_with = decide_in_time(rounds.decide, run.watch)
    result = RunResult(decide_with({}, ())) if live is None else live.carry_out(decide_with, snapshot, run.registry)
    return _End(result, rounds, kept, left_out)


def _why_no_users_jobs(run: _Run) -> str:
    """Why it does nothing for PodMigrationJobs of users; "" where it carries them out."""
    if run.options.apply is not None:
        return OF_APPLY
    return OF_DRY_RUN if run.is_dry else ""


def _cut_short(run: _Run, live: LiveRun, snapshot: Snapshot, error: Exception) -> _End:
    """The end of a run that has evicted for users and then failed or was stopped, which has to be reported."""
    from descheduler.cycle.remembering import KeptMemory
    from descheduler.transport.errors import ExchangeError

    is_known = isinstance(error, RunStopped | ExchangeError | SnapshotError | PolicyError)
    cause = str(error) if is_known else f"an internal error ({type(error).__name__})"
    guard = StopCause(run.watch.cause, run.watch.signal_number) if run.watch.is_over else StopCause(cause)
    rounds = _Rounds(run, snapshot, NO_MEMORY, ())
    return _End(live.without_plan(rounds.decide_nothing()), rounds, KeptMemory(NO_MEMORY), cut_by=guard)


class _Run(msgspec.Struct, frozen=True):
    """What a run goes by."""

    client: KubeClient
    policy: Policy
    options: RunOptions
    watch: Watch
    observer: RunObserver
    now: datetime
    registry: Registry
    began: float
    """When it was `now`, in seconds of the clock of `watch`."""

    @property
    def is_dry(self) -> bool:
        """Whether it ends with the plan."""
        return self.options.dry_run or is_dry(self.policy)

    @property
    def most_assessed(self) -> int:
        """How many landings that no plugin verifies are looked up for the report, or to judge a plan again."""
        if self.options.apply is not None:
            return len(self.options.apply.file.bases)
        if self.options.most_assessed is not None:
            return self.options.most_assessed
        return MOST_ASSESSED if self.is_dry or self.options.observe_seconds else 0


def _lease(run: _Run) -> AbstractContextManager[HeldLease | None]:
    """The Lease of a run that evicts, taken already; an empty context when none is wanted. Raises LeaseHeld."""
    if run.options.lease is None or run.is_dry:
        return nullcontext()
    from descheduler.migration.lease_settings import lease_settings

    settings = lease_settings(run.policy, run.options.lease)
    return nullcontext() if settings is None else take_lease(run.client, settings, run.watch)


def _live(run: _Run, lease: HeldLease | None, server: ServerFacts) -> LiveRun:
    """What the run does to the cluster."""
    # Dry runs must not pay for what evicts.
    from descheduler.cycle.live.live_run import LiveRun
    from descheduler.migration.policy_settings import RunStart

    start = RunStart(run.now, run.began, run.watch.now() - timedelta(seconds=run.watch.clock() - run.began))
    return LiveRun(run.client, run.policy, run.options, run.watch, run.observer, lease, server, start)


def _discover(run: _Run) -> ServerFacts:
    """What the API server says of itself."""
    from descheduler.kube.discovery import discover

    return run.watch.call("reaching the API server", partial(discover, _reader(run)))


def _identify(run: _Run) -> str:
    """The identity of the cluster where somebody wants it. Raises PlanRefusedError for a foreign or old plan."""
    plan = run.options.apply
    if plan is None and not run.options.identifies_cluster:
        return ""
    from descheduler.cycle.applying import check_identity, cluster_uid
    from descheduler.report.plan.file import ClusterIdentity

    uid = run.watch.call("identifying the cluster", partial(cluster_uid, _reader(run)))
    if plan is not None:
        check_identity(plan, run.policy, ClusterIdentity(server=run.client.host, uid=uid), run.now)
    return uid


def _reader(run: _Run) -> KubeClient:
    """The client for work that may be given up, which ends at its next request then."""
    from descheduler.kube.lists.listing import doing_of

    return run.client.watched(lambda path: run.watch.tell(doing_of(path)))


def _read(run: _Run, server: ServerFacts) -> Snapshot:
    """The cluster."""
    watch = run.watch
    with run.observer.snapshot():
        request = _request(run)
        read = partial(
            read_cluster, _reader(run), run.policy, request, taken_at=run.now, git_version=server.git_version
        )
        snapshot = watch.call("reading the cluster", partial(read, tell=watch.tell), meanwhile=_load_deciding)
        assumed = with_assumed(snapshot, run.options.assumed, request)
        snapshot = dataclasses.replace(assumed, shard=run.options.shard)
    run.observer.snapshot_read(snapshot)
    return snapshot


def _load_deciding() -> None:
    """Loads what decides, numpy with it, while the API server is at work."""
    importlib.import_module("descheduler.cycle.deciding.decide")


def _recall(run: _Run) -> KeptMemory:
    """What earlier runs have left for the plugins of this one; nothing is read where none of them remembers."""
    # Dry runs on a dump must not pay for the edge to the API server.
    from descheduler.cycle.remembering import KeptMemory, recall, remembers
    from descheduler.migration.lease_settings import lease_settings

    if not remembers(run.policy, run.registry):
        return KeptMemory(NO_MEMORY)
    lease = None if run.options.lease is None else lease_settings(run.policy, run.options.lease)
    return recall(run.client, lease, run.watch)


def _keep(run: _Run, kept: KeptMemory, result: RunResult, lease: HeldLease) -> tuple[str, ...]:
    """Leaves the memory of a live run for the next, while the Lease is held; what went wrong with that."""
    ended_at = run.now + timedelta(seconds=run.watch.clock() - run.began)
    memory = with_moves(result.decisions.memory, run.policy, result, ended_at)
    return kept.keep(memory, run.watch, why_not=lease.why_not_current)


def _keep_status(
    run: _Run, result: RunResult, lease: HeldLease | None, live: LiveRun, guard: StopCause | None
) -> tuple[str, ...]:
    """Leaves a summary of the run beside its Lease; what went wrong with that."""
    if run.options.lease is None:
        return ()
    # Dry runs on a dump must not pay for the edge to the API server.
    from descheduler.cycle.live.status_keeping import keep_status, status_store
    from descheduler.report.outcome.status_document import make_summary

    make = partial(
        make_summary,
        result.decisions,
        result.all_outcomes,
        goals=result.goals,
        stopped_by="" if guard is None else guard.cause,
        taken_up=live.taken_up,
        num_unused=live.num_unused,
        seconds=run.watch.clock() - run.began,
        num_api_calls=run.client.num_calls,
    )
    store = status_store(run.client, run.policy, run.options.lease)
    return keep_status(store, make, run.watch, why_not=(lambda: "") if lease is None else lease.why_not_current)


def _request(run: _Run) -> SnapshotRequest:
    """What is to be read."""
    landings = Landings.ASSESSED if run.most_assessed > 0 else Landings.UNSEEN
    return snapshot_request(run.policy, landings, registry=run.registry, skip_broken=run.options.skip_broken)


class _Rounds:
    """The decisions of a run's rounds, all over one snapshot. Keeps what the last one went by."""

    def __init__(self, run: _Run, snapshot: Snapshot, memory: RunMemory, evicted_before: Sequence[Move]) -> None:
        # See `_load_deciding`.
        from descheduler.cycle.deciding.decide import decide, decide_again

        self._run = run
        self._snapshot = snapshot
        gates, scope, search = run.options.feature_gates, run.options.scope, run.options.search
        setting = RunSetting(gates, run.registry, scope, memory, evicted_before, search)
        self._decide = partial(decide, run.policy, snapshot, now=run.now, setting=setting)
        self._make_again = partial(decide_again, snapshot, now=run.now, setting=setting)
        self.decide_again: DecideAgain = self._make_again()
        """Decides as the last round did."""
        self._chosen: tuple[Move, ...] | None = None
        self.decided: list[Decisions] = []
        """The decisions of all rounds, without their refusals, which may be as many as there are pods."""
        self.unselected: tuple[Refusal, ...] = ()
        """Of the plan that is applied, the pods that are left out because no plugin selects them any more."""

    def choose(self) -> tuple[str, ...]:
        """Has the rounds ask for the moves of the plan that is applied; a sentence for each that is left out.

        Raises PlanRefusedError, and RunStopped when the time is over first.
        """
        run, plan = self._run, self._run.options.apply
        if plan is None:
            return ()
        from descheduler.cycle.applying import Reselection, still_valid
        from descheduler.eviction.cordons import kept_cordoned_by

        def decide_on(chosen: Sequence[Move]) -> Decisions:
            return self._decide(this_round=Round(chosen=chosen, most_assessed=run.most_assessed))

        selection = Reselection(run.policy, run.registry, self.decide_again) if plan.reselects else None
        kept_cordoned = kept_cordoned_by(run.policy, self._snapshot, run.registry)
        judge = partial(still_valid, plan, self._snapshot, decide_on, selection, kept_cordoned)
        self._chosen, left_out = run.watch.call("judging the plan again", judge)
        self.unselected = () if selection is None else selection.refusals
        return left_out

    def decide_nothing(self) -> Decisions:
        """A plan without any move, for which no plugin was asked."""
        return self._decide(this_round=Round(chosen=(), most_assessed=0))

    def decide(self, answers: Answers, prior_moves: Sequence[Move]) -> Decisions:
        """One round's decisions."""
        run = self._run
        this_round = Round(answers, prior_moves, self._chosen, observer=run.observer, most_assessed=run.most_assessed)
        decisions = self._decide(this_round=this_round)
        self.decide_again = self._make_again(this_round=this_round)
        self.decided.append(replace(decisions, refusals=()))
        return decisions

    def measure(self, this_round: Round) -> Decisions:
        """The decisions of a round that only measures."""
        return self._decide(this_round=this_round)


def _with_beyond(run: _Run, decisions: Decisions, rounds: _Rounds) -> Decisions:
    """`decisions` with what matches beyond the limits; pods may be evicted, which is reported whatever happens here."""
    try:
        return with_beyond_in_time(decisions, rounds.decide_again, run.watch, run.registry)
    except Exception as error:
        note = f"could not plan beyond the limits: internal error ({type(error).__name__})"
        beyond = replace(decisions.beyond, is_whole=False)
        return replace(decisions, beyond=beyond, notes=(*decisions.notes, note))
