"""`descheduler run`: one run against a cluster or, dry, against a dump."""

from __future__ import annotations

import click

from descheduler.cli.ending.leaving import end_search_on_interrupt, stop_on_signals
from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.flags.assumed import takes_assumed
from descheduler.cli.flags.connection import takes_connection
from descheduler.cli.flags.lazy_options import LazyOptions, takes_lazy_options
from descheduler.cli.flags.logging import takes_logging
from descheduler.cli.flags.running import (
    takes_assessment,
    takes_deadline,
    takes_gates,
    takes_observation,
    takes_pace,
    takes_policy,
)
from descheduler.cli.flags.scope import takes_scope, takes_shard
from descheduler.cli.flags.upstream import takes_idle_flags, warn_of_idle_flags
from descheduler.cli.inputs import takes_snapshot
from descheduler.cli.output import takes_output
from descheduler.cli.running import RunFlags, run_policy
from descheduler.supervision import Watch


@click.command(cls=GoFlagsCommand, short_help="Decide which pods to evict, and evict them.")
@takes_policy
@click.option("--dry-run/--no-dry-run", default=False, help="Show what would be evicted; evict nothing.")
@takes_snapshot(
    "Read a dump instead of a cluster: a file, a folder or - for standard input, as written by kubectl get -o json or "
    "'descheduler snapshot'; can be repeated. Implies --dry-run.",
    can_evict=True,
)
@takes_assumed
@takes_output("the plan, or of the outcome,", has_flat_formats=True, has_pictures=True)
@takes_connection
@takes_scope
@takes_shard
@takes_pace
@takes_deadline
@takes_observation
@takes_gates
@takes_assessment
@takes_lazy_options
@takes_logging
@takes_idle_flags
@click.pass_context
def run(
    ctx: click.Context,
    /,
    lazy: LazyOptions,
    **flags: object,
) -> None:
    """Read the cluster once, decide which pods to evict, and evict them.

    With --dry-run or --snapshot, show the plan and evict nothing. The plan or the outcome goes to standard output,
    logs to standard error. On a terminal only warnings and errors are logged, unless -v is given.

    Exit codes: 0 finished, nothing to do or another run is active (single evictions can have failed, see
    --detailed-exitcode), 1 failed and certainly nothing was evicted, 2 wrong usage or an invalid policy, 3 finished,
    with evictions refused, failed or unknown (only with --detailed-exitcode), 4 stopped by the deadline, the loss of
    the Lease, a guard or an overloaded API server, 5 a dry run that plans evictions (only with --detailed-exitcode),
    130 and 143 stopped by SIGINT (Ctrl-C) or SIGTERM. With 4, 130 and 143 pods can have been evicted, and the outcome
    says which were and which were not attempted: a Job must not repeat such a run. While a dry run searches for a plan,
    the first of these signals ends the search alone: the best plan so far is shown, with 0.
    """
    from descheduler.cycle.guards import NOTHING_EVICTED

    warn_of_idle_flags(ctx)
    options = RunFlags(**flags)  # type: ignore[arg-type]  # click has checked every one
    if options.assumed and not (options.dry_run or options.snapshot):
        raise click.UsageError("--with needs --dry-run or --snapshot: its objects are not in the cluster.")
    watch = ctx.ensure_object(Watch)
    watch.limit(options.deadline_seconds)
    watch.promise = NOTHING_EVICTED
    # A dump needs no end in order: signals end such a run at once, but for a search, whose best plan is shown.
    with end_search_on_interrupt(watch) if options.snapshot else stop_on_signals(watch):
        ctx.exit(run_policy(options, lazy, watch))
