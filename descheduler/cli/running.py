"""Runs a policy as the flags of `run`, `plan` or `apply` say, and shows what came of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from descheduler.cli.ending.exit_code import (
    CommandError,
    ExitCode,
    outcome_exit_code,
    plan_exit_code,
    stopped_exit_code,
)
from descheduler.cli.ending.explaining import run_exit_code
from descheduler.cli.flags.lazy_options import LazyOptions
from descheduler.cli.flags.room import RoomFlags
from descheduler.cli.inputs import dump_paths, load_policy_file, log_policy, log_snapshot
from descheduler.cli.output import Output, write_document
from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.model.text.printable import printable
from descheduler.plan.search_watch import SearchState, SearchWatch
from descheduler.supervision import RunStopped, Watch
from descheduler.telemetry.console import find_console
from descheduler.telemetry.live_lines import log_cluster
from descheduler.telemetry.logging import fields, log_event
from descheduler.telemetry.observer import RunObserver
from descheduler.telemetry.progress import EvictionProgress, SearchProgressLine

if TYPE_CHECKING:
    from descheduler.cycle.options import ConnectionOptions, PlanToApply, RunOptions, RunResult
    from descheduler.eviction.checks.scope import Scope
    from descheduler.migration.lease_settings import LeaseOptions
    from descheduler.plan.decisions import Decisions
    from descheduler.policy.types import Policy
    from descheduler.telemetry.run_record import RunRecord

_SHARE_FOR_SEARCH = 0.6
"""Of the time that is left before the deadline; the rest is for trying the plan out and for the report."""
_logger = logging.getLogger(__name__)
_NEAR = timedelta(minutes=1)
"""Times that differ by no more are one; the flag was given before the program was started."""
_OWNER_ALONE = 0o600


class RunFlags(msgspec.Struct, frozen=True, kw_only=True):
    """What the flags say. `out` is the plan file that a dry run writes, "" for none; `apply` the plan to carry out.

    With `room` the policy, a built-in one for None, makes room for these pods and does nothing else. `assumed` are
    objects that a dry run takes to have been created.
    """

    policy_file: str | None
    snapshot: tuple[str, ...]
    dry_run: bool
    now: datetime | None
    output: Output
    client_connection_qps: float | None
    client_connection_burst: int | None
    deadline: timedelta | None
    feature_gates: Mapping[str, bool]
    skip_broken_objects: bool
    detailed_exitcode: bool
    scope: Scope
    shard: Shard = WHOLE_CLUSTER
    assess_landings: int | None
    observe: timedelta | None = None
    out: str = ""
    apply: PlanToApply | None = None
    room: RoomFlags | None = None
    assumed: Sequence[Mapping[str, object]] = ()

    @property
    def deadline_seconds(self) -> float | None:
        """The time of the run, None where it is not limited."""
        return None if self.deadline is None else self.deadline.total_seconds()


def run_policy(flags: RunFlags, lazy: LazyOptions, watch: Watch) -> int:
    """Runs as the flags say, and returns the exit code."""
    from descheduler.telemetry.recording import recorded

    exit_code_of = partial(run_exit_code, watch=watch)
    try:
        policy = watch.call("reading the policy", partial(_policy_of, flags))
    except Exception:
        with recorded(lazy.telemetry(None), exit_code_of, watch) as record:
            record.is_dry, record.shard = flags.dry_run or bool(flags.snapshot), flags.shard
            raise
    _check_output(policy, flags)
    with recorded(lazy.telemetry(policy), exit_code_of, watch) as record:
        record.shard = flags.shard
        if flags.snapshot:
            record.exit_code = watch.exit_code = _run_on_dump(policy, flags, record, watch)
        else:
            code = _run_on_cluster(policy, flags, lazy.connection(), lazy.lease(), record, watch)
            record.exit_code = watch.exit_code = code
    return record.exit_code


def _check_output(policy: Policy, flags: RunFlags) -> None:
    """Raises CommandError before the cluster is read for a plan file that cannot be written, and for an output that
    only plans have."""
    if flags.out:
        _check_plan_file(flags.out)
    if not flags.output.is_picture or flags.snapshot or flags.dry_run:
        return
    from descheduler.eviction.migration_controller.profiles import is_dry

    if not is_dry(policy):
        text = f"-o {flags.output.format} shows plans, and this run would evict pods; add --dry-run"
        raise CommandError(text, ExitCode.INVALID)


def _run_on_dump(policy: Policy, flags: RunFlags, record: RunRecord, watch: Watch) -> ExitCode:
    from descheduler.cluster.dumps.read import read_dump
    from descheduler.cluster.objects import with_assumed
    from descheduler.cycle.deciding.beyond_limits import with_beyond_in_time
    from descheduler.cycle.deciding.decide import decide, decide_again
    from descheduler.cycle.deciding.round import Round, RunSetting
    from descheduler.cycle.request import Landings, snapshot_request
    from descheduler.eviction.migration_controller.profiles import OF_DRY_RUN, jobs_left_out

    record.is_dry = True
    observer = record.observer
    log_policy(policy)
    landings = Landings.ASSESSED if _most_assessed(flags) > 0 else Landings.UNSEEN
    request = snapshot_request(policy, landings, skip_broken=flags.skip_broken_objects)
    with observer.cycle():
        with observer.snapshot():
            snapshot = watch.call("reading the dump", partial(read_dump, dump_paths(flags.snapshot), request))
            snapshot = replace(with_assumed(snapshot, _assumed(flags, policy), request), shard=flags.shard)
        observer.snapshot_read(snapshot)
        log_snapshot(snapshot)
        now = flags.now or snapshot.taken_at or datetime.now(UTC)
        search = watched_search(watch, is_dry=True, is_quiet=flags.output.is_quiet)
        setting = RunSetting(flags.feature_gates, scope=flags.scope, search=search)
        this_round = Round(observer=observer, most_assessed=_most_assessed(flags))
        decide_now = partial(decide, policy, snapshot, now=now, setting=setting, this_round=this_round)
        decisions = watch.call("deciding", decide_now)
    notes = (*decisions.notes, *jobs_left_out(policy, snapshot, OF_DRY_RUN))
    decisions = msgspec.structs.replace(decisions, notes=notes)
    whole = with_beyond_in_time(decisions, decide_again(snapshot, now=now, setting=setting), watch)
    return _show_plan(whole, flags, record, watch, ("", ""))


def _run_on_cluster(
    policy: Policy,
    flags: RunFlags,
    connection: ConnectionOptions,
    lease: LeaseOptions,
    record: RunRecord,
    watch: Watch,
) -> ExitCode:
    from descheduler.cycle.run import run_on_cluster
    from descheduler.eviction.migration_controller.profiles import is_dry

    record.is_dry = flags.dry_run or is_dry(policy)
    search = watched_search(watch, is_dry=record.is_dry, is_quiet=flags.output.is_quiet)
    options = msgspec.structs.replace(_run_options(flags, policy, lease), search=search)
    now = _present(flags, is_dry=record.is_dry)
    show_progress(record.observer, is_quiet=flags.output.is_quiet)

    servers = [""]

    def found_cluster(context: str, server: str) -> None:
        servers.append(server)
        name_cluster(context, server, is_quiet=flags.output.is_quiet)
        log_policy(policy)

    result = run_on_cluster(
        policy, connection, options, watch, now=now, observer=record.observer, found_cluster=found_cluster
    )
    if record.is_dry:
        return _show_plan(result.decisions, flags, record, watch, (servers[-1], result.cluster_uid))
    return _show_outcome(result, flags, record, watch)


def _present(flags: RunFlags, *, is_dry: bool) -> datetime:
    """The time that ages are computed at. Warns of one that is not that of the clock, where pods are evicted by it."""
    clock = datetime.now(UTC)
    if flags.now is None:
        return clock
    if not is_dry and abs(flags.now - clock) > _NEAR:
        _logger.warning(
            "Ages of pods are not those of now; pods can be evicted that the policy does not select yet",
            extra=fields(now=f"{flags.now:%Y-%m-%dT%H:%M:%SZ}", clock=f"{clock:%Y-%m-%dT%H:%M:%SZ}"),
        )
    return flags.now


def _run_options(flags: RunFlags, policy: Policy, lease: LeaseOptions) -> RunOptions:
    from descheduler.cycle.options import RunOptions

    return RunOptions(
        dry_run=flags.dry_run,
        feature_gates=flags.feature_gates,
        qps=flags.client_connection_qps,
        burst=flags.client_connection_burst,
        skip_broken=flags.skip_broken_objects,
        lease=msgspec.structs.replace(lease, shard=flags.shard),
        scope=flags.scope,
        shard=flags.shard,
        most_assessed=flags.assess_landings,
        apply=flags.apply,
        identifies_cluster=bool(flags.out),
        assumed=_assumed(flags, policy),
        observe_seconds=0.0 if flags.observe is None else flags.observe.total_seconds(),
    )


def _policy_of(flags: RunFlags) -> Policy:
    """Raises PolicyError."""
    if flags.room is None:
        assert flags.policy_file is not None  # noqa: S101 - it is required then
        return load_policy_file(flags.policy_file)
    from descheduler.cycle.plugins import REGISTRY
    from descheduler.planner.room_policy import BUILT_IN, room_policy
    from descheduler.policy.load import load_policy

    file = flags.policy_file
    policy = load_policy_file(file) if file else load_policy(BUILT_IN, REGISTRY, name="built-in policy")
    return room_policy(policy, flags.room.names)


def _assumed(flags: RunFlags, policy: Policy) -> Sequence[Mapping[str, object]]:
    """Raises PolicyError."""
    room = flags.room
    if room is None or not room.is_of_requests:
        return flags.assumed if room is None else (*room.pods, *room.beside)
    from descheduler.planner.room_policy import scheduler_of
    from descheduler.planner.wanted_pods import resources_of

    name = scheduler_of(policy, [resource for pod in room.pods for resource in resources_of(pod["spec"])])
    pods = ({**pod, "spec": {**pod["spec"], "schedulerName": name}} for pod in room.pods)
    return [*pods, *room.beside]


def _most_assessed(flags: RunFlags) -> int:
    from descheduler.cycle.options import MOST_ASSESSED

    return MOST_ASSESSED if flags.assess_landings is None else flags.assess_landings


def _show_plan(
    decisions: Decisions, flags: RunFlags, record: RunRecord, watch: Watch, cluster: tuple[str, str]
) -> ExitCode:
    """Shows the plan for the cluster of this server and UID, and leaves it in a file where that was asked for."""
    from descheduler.report.plan.making import make_plan
    from descheduler.telemetry.log_lines import log_plan

    plan = record.plan = make_plan(decisions)
    log_plan(plan)
    if flags.out:
        watch.finish("writing the plan file", partial(_write_plan_file, decisions, flags.out, cluster))
    watch.finish("writing the plan", partial(write_document, plan, flags.output))
    return plan_exit_code(plan, is_detailed=flags.detailed_exitcode)


def _check_plan_file(name: str) -> None:
    """Raises CommandError where it cannot be written: a plan may take minutes, and would be lost."""
    from descheduler.output_file import check_writable

    try:
        check_writable(Path(name))
    except OSError as error:
        raise _not_written(name, error) from error


def _not_written(name: str, error: OSError) -> CommandError:
    return CommandError(f"{name}: cannot be written: {(error.strerror or str(error)).lower()}", ExitCode.FAILED)


def _write_plan_file(decisions: Decisions, name: str, cluster: tuple[str, str]) -> None:
    """Raises CommandError when it cannot be written."""
    from descheduler.output_file import written_file
    from descheduler.report.formats.json_text import json_text
    from descheduler.report.plan.file import ClusterIdentity, make_plan_file

    server, uid = cluster
    file = make_plan_file(decisions, ClusterIdentity(server=server, uid=uid))
    try:
        with written_file(Path(name), mode=_OWNER_ALONE) as out:
            out.write(json_text(file).encode())
    except OSError as error:
        raise _not_written(name, error) from error
    log_event(_logger, "Plan file written", file=name, moves=len(file.bases))


def _show_outcome(result: RunResult, flags: RunFlags, record: RunRecord, watch: Watch) -> ExitCode:
    from descheduler.report.outcome.making import make_outcome
    from descheduler.report.plan.making import make_plan
    from descheduler.telemetry.log_lines import log_outcome

    plan = record.plan = make_plan(result.decisions)
    outcome = record.outcome = make_outcome(
        plan, result.decisions, result.all_outcomes, stopped_by=result.guard, goals=result.goals
    )
    log_outcome(outcome)
    if result.guard:
        code = stopped_exit_code(result.signal_number)
        counts = {"evicted": outcome.counts["evicted"], "notAttempted": outcome.counts["not-attempted"]}
        _logger.warning("Run stopped", extra=fields(cause=result.guard, exitCode=int(code), **counts))
    try:
        is_written = watch.finish("writing the outcome", partial(write_document, outcome, flags.output))
    except RunStopped:
        # What is done is done: the exit code tells of the evictions.
        _logger.error("Outcome not written", extra=fields(err="the reader of standard output does not read"))
    except CommandError as error:
        # Exit code 1 would have a Job evict once more, and hide what stopped the run.
        if not (outcome.may_have_evicted or result.guard):
            raise
        _logger.error("Outcome not written", extra=fields(err=str(error)))
    else:
        if not is_written:
            _logger.error("Outcome not written", extra=fields(err="standard output was closed by its reader"))
    if result.guard:
        return stopped_exit_code(result.signal_number)
    return outcome_exit_code(outcome, is_detailed=flags.detailed_exitcode, is_partial=result.is_partial)


def name_cluster(context: str, server: str, *, is_quiet: bool = False) -> None:
    """Says which cluster the run is about: in the log or, on a terminal that does not show it, in a line of its own."""
    log_cluster(context, server)
    console = find_console()
    if console is not None and not is_quiet and not logging.getLogger("descheduler").isEnabledFor(logging.INFO):
        where = f'context "{context}"' if context else "in-cluster"
        console.say(printable(f"Cluster: {where} at {server}"))


def show_progress(observer: RunObserver, *, is_quiet: bool = False) -> None:
    """Has the evictions that `observer` sees shown in a line of the terminal, if the log goes to one."""
    console = find_console()
    if console is not None and not is_quiet:
        observer.progress = EvictionProgress(console.show)


def watched_search(watch: Watch, *, is_dry: bool, is_quiet: bool = False) -> SearchWatch:
    """Shows how far a planner is in a line of the terminal, and has it end in time.

    In a dry run the first Ctrl-C or SIGTERM ends the search alone: its best plan is shown. Other work is stopped.
    """
    console = None if is_quiet else find_console()

    def hint(has_plan: bool) -> str:
        if not watch.may_end_search:
            return ""
        return "Ctrl-C: use this plan" if has_plan else "Ctrl-C: stop"

    def show(text: str) -> None:
        if console is not None:
            console.show(printable(text))

    line = SearchProgressLine(show, hint)

    def note(state: SearchState | None) -> None:
        watch.may_end_search = is_dry and state is not None
        line.note(state)
        if state is None and watch.is_search_over and console is not None and line.state is not None:
            console.say(printable(f"Search ended by {watch.search_ended_by}. {line.state.text}"))

    def most_seconds() -> float | None:
        return None if watch.deadline is None else max(0.0, watch.deadline - watch.clock()) * _SHARE_FOR_SEARCH

    return SearchWatch(note, lambda: watch.is_search_over or watch.is_over, most_seconds)
