"""`descheduler run`: one run against a cluster or, dry, against a dump."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import click
import msgspec

from descheduler.cli.completions import complete_file
from descheduler.cli.ending.errors import CommandError
from descheduler.cli.ending.exit_code import ExitCode, outcome_exit_code, plan_exit_code, stopped_exit_code
from descheduler.cli.ending.known_errors import run_exit_code
from descheduler.cli.ending.stop_signals import stop_on_signals
from descheduler.cli.flags.connection import takes_connection
from descheduler.cli.flags.go import GoFlagsCommand
from descheduler.cli.flags.lease import takes_lease
from descheduler.cli.flags.logging import takes_logging
from descheduler.cli.flags.scope import takes_scope
from descheduler.cli.flags.telemetry import takes_telemetry
from descheduler.cli.flags.upstream import takes_idle_flags, warn_of_idle_flags
from descheduler.cli.flags.values import (
    read_duration,
    read_feature_gates,
    read_file_name,
    read_rate,
)
from descheduler.cli.following import name_cluster, show_progress
from descheduler.cli.inputs import dump_paths, load_policy_file, log_policy, log_snapshot, takes_snapshot
from descheduler.cli.output import Output, takes_output, write_document
from descheduler.supervision import RunStopped, Watch
from descheduler.telemetry.logging import fields

if TYPE_CHECKING:
    from descheduler.cycle.options import ConnectionOptions, RunOptions, RunResult
    from descheduler.eviction.checks.scope import Scope
    from descheduler.migration.lease_settings import LeaseOptions
    from descheduler.plan.decisions import Decisions
    from descheduler.policy.types import Policy
    from descheduler.telemetry.recording import TelemetrySettings
    from descheduler.telemetry.run_record import RunRecord

__all__ = ["run"]

_logger = logging.getLogger(__name__)


class _Flags(msgspec.Struct, frozen=True, kw_only=True):
    policy_file: str
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
    assess_landings: int | None


def _read_deadline(ctx: click.Context, option: click.Parameter, text: str | None) -> timedelta | None:
    """As `read_duration`; messages repeat the text as it was typed."""
    ctx.ensure_object(Watch).deadline_text = text or ""
    return read_duration(ctx, option, text)


@click.command(cls=GoFlagsCommand, short_help="Decide which pods to evict, and evict them.")
@click.option(
    "--policy-config-file",
    "--config",
    "policy_file",
    callback=read_file_name,
    required=True,
    metavar="FILE",
    shell_complete=complete_file,
    help="Policy to run: a DeschedulerPolicy or a DeschedulerConfiguration, in YAML or JSON, alone or in a ConfigMap.",
)
@click.option("--dry-run/--no-dry-run", default=False, help="Show what would be evicted; evict nothing.")
@takes_snapshot(
    "Read a dump instead of a cluster: a file, a folder or - for standard input, as written by kubectl get -o json or "
    "'descheduler snapshot'; can be repeated. Implies --dry-run."
)
@takes_output("the plan, or of the outcome,", has_flat_formats=True)
@takes_connection
@takes_scope
@click.option(
    "--client-connection-qps",
    type=float,
    callback=read_rate,
    metavar="N",
    help="Evictions per second; by default the policy's value, else 5.",
)
@click.option(
    "--client-connection-burst",
    type=click.IntRange(min=0),
    metavar="N",
    help="Evictions that can start at once; by default the policy's value, else 10.",
)
@click.option(
    "--deadline",
    callback=_read_deadline,
    metavar="DURATION",
    help="Stop starting evictions after this time, for example 5m, counted from the start of the program; it ends at "
    "most 5 s later.",
)
@click.option(
    "--feature-gates",
    multiple=True,
    callback=read_feature_gates,
    metavar="NAME=BOOL,...",
    help="EvictionsInBackground lets other controllers finish evictions.",
)
@click.option(
    "--detailed-exitcode/--no-detailed-exitcode",
    default=False,
    help=f"Exit with {ExitCode.INCOMPLETE} when the run finished with evictions refused, failed or unknown, and with "
    f"{ExitCode.PLANNED} when a dry run plans evictions.",
)
@click.option(
    "--assess-landings",
    type=click.IntRange(min=0),
    metavar="N",
    help="Without PlacementVerification, predict for the first N evictions which node the replacement "
    "pods are scheduled onto; by default 1000 in a dry run, and 0 in a run that evicts.",
)
@takes_lease
@takes_telemetry
@takes_logging
@takes_idle_flags
@click.pass_context
def run(
    ctx: click.Context,
    /,
    connection: Callable[[], ConnectionOptions],
    lease: Callable[[], LeaseOptions],
    telemetry: Callable[[Policy], TelemetrySettings],
    **flags: object,
) -> None:
    """Read the cluster once, decide which pods to evict, and evict them.

    With --dry-run or --snapshot, show the plan and evict nothing. The plan or the outcome goes to standard output,
    logs to standard error. On a terminal only warnings and errors are logged, unless -v is given.

    Exit codes: 0 finished, nothing to do or another run is active (single evictions can have failed, see
    --detailed-exitcode), 1 failed and certainly nothing was evicted, 2 wrong usage or an invalid policy, 3 finished,
    with evictions refused, failed or unknown (only with --detailed-exitcode), 4 stopped by the deadline, the loss of
    the Lease or an overloaded API server, 5 a dry run that plans evictions (only with --detailed-exitcode), 130 and 143
    stopped by SIGINT (Ctrl-C) or SIGTERM. With 4, 130 and 143 pods can have been evicted, and the outcome says which
    were and which were not attempted: a Job must not repeat such a run.
    """
    from descheduler.cycle.guards import NOTHING_EVICTED

    warn_of_idle_flags(ctx)
    options = _Flags(**flags)  # type: ignore[arg-type]  # click has checked every one
    watch = ctx.ensure_object(Watch)
    watch.limit(None if options.deadline is None else options.deadline.total_seconds())
    watch.promise = NOTHING_EVICTED
    # A dump needs no end in order: signals end such a run at once.
    with nullcontext() if options.snapshot else stop_on_signals(watch):
        ctx.exit(_run(options, connection, lease, telemetry, watch))


def _run(
    flags: _Flags,
    connection: Callable[[], ConnectionOptions],
    lease: Callable[[], LeaseOptions],
    telemetry: Callable[[Policy], TelemetrySettings],
    watch: Watch,
) -> int:
    from descheduler.telemetry.recording import recorded

    policy = watch.call("reading the policy", partial(load_policy_file, flags.policy_file))
    with recorded(telemetry(policy), lambda error: run_exit_code(error, watch), watch) as record:
        if flags.snapshot:
            record.exit_code = _run_on_dump(policy, flags, record, watch)
        else:
            record.exit_code = _run_on_cluster(policy, flags, connection(), lease(), record, watch)
    return record.exit_code


def _run_on_dump(policy: Policy, flags: _Flags, record: RunRecord, watch: Watch) -> ExitCode:
    from descheduler.cluster.dumps.read import read_dump
    from descheduler.cycle.beyond_limits import with_beyond_in_time
    from descheduler.cycle.decide import decide
    from descheduler.cycle.request import Landings, snapshot_request

    record.is_dry = True
    observer = record.observer
    log_policy(policy)
    landings = Landings.ASSESSED if _most_assessed(flags) > 0 else Landings.UNSEEN
    request = snapshot_request(policy, landings, skip_broken=flags.skip_broken_objects)
    with observer.cycle():
        with observer.snapshot():
            snapshot = watch.call("reading the dump", partial(read_dump, dump_paths(flags.snapshot), request))
        observer.snapshot_read(snapshot)
        log_snapshot(snapshot)
        now = flags.now or snapshot.taken_at or datetime.now(UTC)
        decide_by = partial(decide, snapshot=snapshot, now=now, feature_gates=flags.feature_gates, scope=flags.scope)
        decide_now = partial(decide_by, policy, observer=observer, most_assessed=_most_assessed(flags))
        decisions = watch.call("deciding", decide_now)
    return _show_plan(with_beyond_in_time(decisions, decide_by, watch), flags, record, watch)


def _run_on_cluster(
    policy: Policy,
    flags: _Flags,
    connection: ConnectionOptions,
    lease: LeaseOptions,
    record: RunRecord,
    watch: Watch,
) -> ExitCode:
    from descheduler.cycle.run import run_live
    from descheduler.eviction.migration_controller.profiles import is_dry

    record.is_dry = flags.dry_run or is_dry(policy)
    options = _run_options(flags, lease)
    now = flags.now or datetime.now(UTC)
    show_progress(record.observer, is_quiet=flags.output.is_quiet)

    def found_cluster(context: str, server: str) -> None:
        name_cluster(context, server, is_quiet=flags.output.is_quiet)
        log_policy(policy)

    result = run_live(
        policy, connection, options, watch, now=now, observer=record.observer, found_cluster=found_cluster
    )
    if record.is_dry:
        return _show_plan(result.decisions, flags, record, watch)
    return _show_outcome(result, flags, record, watch)


def _run_options(flags: _Flags, lease: LeaseOptions) -> RunOptions:
    from descheduler.cycle.options import RunOptions

    return RunOptions(
        dry_run=flags.dry_run,
        feature_gates=flags.feature_gates,
        qps=flags.client_connection_qps,
        burst=flags.client_connection_burst or None,
        skip_broken=flags.skip_broken_objects,
        lease=lease,
        scope=flags.scope,
        most_assessed=flags.assess_landings,
    )


def _most_assessed(flags: _Flags) -> int:
    from descheduler.cycle.options import MOST_ASSESSED

    return MOST_ASSESSED if flags.assess_landings is None else flags.assess_landings


def _show_plan(decisions: Decisions, flags: _Flags, record: RunRecord, watch: Watch) -> ExitCode:
    from descheduler.report.plan import make_plan
    from descheduler.telemetry.log_lines import log_plan

    plan = record.plan = make_plan(decisions)
    log_plan(plan)
    watch.finish("writing the plan", partial(write_document, plan, flags.output))
    return plan_exit_code(plan, is_detailed=flags.detailed_exitcode)


def _show_outcome(result: RunResult, flags: _Flags, record: RunRecord, watch: Watch) -> ExitCode:
    from descheduler.report.outcome import make_outcome
    from descheduler.report.plan import make_plan
    from descheduler.telemetry.log_lines import log_outcome

    plan = record.plan = make_plan(result.decisions)
    outcome = record.outcome = make_outcome(plan, result.decisions, result.outcomes, stopped_by=result.guard)
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
    return outcome_exit_code(outcome, is_detailed=flags.detailed_exitcode)
