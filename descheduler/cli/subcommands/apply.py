"""`descheduler apply`: carries out a plan from a file."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import click

from descheduler.cli.completions import complete_file
from descheduler.cli.ending.leaving import stop_on_signals
from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.flags.connection import takes_connection
from descheduler.cli.flags.lazy_options import LazyOptions, takes_lazy_options
from descheduler.cli.flags.logging import takes_logging
from descheduler.cli.flags.running import takes_deadline, takes_gates, takes_observation, takes_pace, takes_policy
from descheduler.cli.flags.values import input_path, read_duration, read_input_name
from descheduler.cli.output import Output, takes_output
from descheduler.cli.running import RunFlags, run_policy
from descheduler.plan.max_age import MAX_AGE
from descheduler.supervision import Watch


@click.command(cls=GoFlagsCommand, short_help="Carry out a plan from a file.")
@click.argument("file", callback=read_input_name, shell_complete=complete_file)
@takes_policy
@click.option(
    "--max-age",
    metavar="DURATION",
    default=f"{MAX_AGE // timedelta(minutes=1)}m",
    show_default=True,
    callback=read_duration,
    help="Refuse a plan whose snapshot is older.",
)
@click.option(
    "--allow-partial/--no-allow-partial",
    default=False,
    help="Leave out moves that have changed since the plan was made, instead of refusing the plan.",
)
@click.option(
    "--reselect/--no-reselect",
    default=True,
    show_default=True,
    help="Evict only pods with unchanged labels that the plugins of the policy still select.",
)
@click.option(
    "--dry-run/--no-dry-run", default=False, help="Check the plan again and show what is left of it; evict nothing."
)
@takes_output("the outcome, or of the plan with --dry-run,", has_flat_formats=True, has_pictures=True)
@takes_connection
@takes_pace
@takes_deadline
@takes_observation
@takes_gates
@takes_lazy_options
@takes_logging
@click.pass_context
def apply(
    ctx: click.Context,
    /,
    lazy: LazyOptions,
    file: str,
    max_age: timedelta,
    allow_partial: bool,
    reselect: bool,
    dry_run: bool,
    output: Output,
    **flags: object,
) -> None:
    """Carry out the plan in FILE, - for standard input, which 'descheduler plan --out FILE' has written.

    The cluster is read again. The plan is refused, with what has changed, when it is of another cluster or policy, or
    older than --max-age; when a pod is gone, on another node or not selected by its plugin any more, a node was changed
    or cordoned, a pod is not allowed to be evicted any more, or a replacement pod can no longer be scheduled. With
    --allow-partial such moves are left out and the others are carried out. No other pod is evicted, also not for
    PodMigrationJobs of users.

    The plan of a shard (--shards of 'descheduler plan') is carried out as that shard: with its Lease, for its nodes and
    within its share of each limit.

    With --dry-run the same is checked, nothing is written to the cluster, and the plan is shown as it would be carried
    out now.

    Exit codes: as of 'descheduler run'; 1 also for a plan that is refused, and 2 for a file that is not a plan.
    """
    from descheduler.cycle.guards import NOTHING_EVICTED
    from descheduler.cycle.options import PlanToApply
    from descheduler.eviction.checks.scope import EVERYWHERE
    from descheduler.report.identities import shard_of
    from descheduler.report.plan.reading import read_plan_file

    watch = ctx.ensure_object(Watch)
    plan_file = watch.call("reading the plan file", partial(read_plan_file, input_path(file)))
    options = RunFlags(
        **flags,  # type: ignore[arg-type]  # click has checked every one
        apply=PlanToApply(plan_file, max_age, allow_partial, reselect),
        output=output,
        snapshot=(),
        dry_run=dry_run,
        now=None,
        skip_broken_objects=bool(plan_file.plan.snapshot.skipped_objects),
        scope=EVERYWHERE,
        shard=shard_of(plan_file.plan.snapshot.shard),
        assess_landings=None,
    )
    watch.limit(options.deadline_seconds)
    watch.promise = NOTHING_EVICTED
    with stop_on_signals(watch):
        ctx.exit(run_policy(options, lazy, watch))
