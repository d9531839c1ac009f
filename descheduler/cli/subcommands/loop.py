"""`descheduler loop`: the same run again and again in one process."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.flags.connection import takes_connection
from descheduler.cli.flags.lazy_options import LazyOptions, takes_lazy_options
from descheduler.cli.flags.logging import takes_logging
from descheduler.cli.flags.running import (
    takes_assessment,
    takes_deadline,
    takes_gates,
    takes_observation,
    takes_pace,
    takes_policy_of_runs,
)
from descheduler.cli.flags.scope import takes_scope, takes_shard
from descheduler.cli.flags.values import read_duration
from descheduler.cli.inputs import skips_broken_objects
from descheduler.cli.output import takes_output
from descheduler.cli.running import RunFlags
from descheduler.supervision import Watch

if TYPE_CHECKING:
    from descheduler.telemetry.metrics.serving import ListenAddress


def _read_address(_ctx: click.Context, _option: click.Parameter, text: str) -> ListenAddress | None:
    """`:port`, `host:port` or `[address]:port`; None for an empty text."""
    from descheduler.telemetry.metrics.serving import ListenAddress

    if not text:
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise click.BadParameter(f"{text!r} is not an address such as :8080 or 127.0.0.1:8080.")
    return ListenAddress(host.removeprefix("[").removesuffix("]"), int(port))


@click.command(cls=GoFlagsCommand, short_help="Run again and again in one process.")
@takes_policy_of_runs
@click.option(
    "--interval",
    "--descheduling-interval",
    "interval",
    metavar="DURATION",
    default="5m",
    show_default=True,
    callback=read_duration,
    help="Time from the start of one run to the start of the next; a run that takes longer is followed at once.",
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default=":8080",
    show_default=True,
    callback=_read_address,
    help="Address at which /metrics and /healthz are served over HTTP; '' for none.",
)
@click.option("--dry-run/--no-dry-run", default=False, help="Show what would be evicted; evict nothing.")
@skips_broken_objects
@takes_output("the plan, or of the outcome,", has_flat_formats=True)
@takes_connection
@takes_scope
@takes_shard
@takes_pace
@takes_observation
@takes_deadline
@takes_gates
@takes_assessment
@takes_lazy_options
@takes_logging
@click.pass_context
def loop(
    ctx: click.Context,
    /,
    interval: timedelta,
    listen: ListenAddress | None,
    lazy: LazyOptions,
    **flags: object,
) -> None:
    """Do what 'descheduler run' does, again and again, until a signal ends the process.

    For clusters that run a Deployment instead of a CronJob. The policy is read again for each run. A run that fails is
    told in the log and in the metrics, and the next one begins at its time. Of several processes with one policy one
    runs, as the holder of a Lease, and the others wait. --deadline counts for each run.

    Exit codes: 0 ended by a signal between two runs, 1 failed at the start, 2 wrong usage or a policy that is invalid
    at the start, 4 no longer the holder of the Lease, or work that hangs was given up, 130 and 143 a run was stopped by
    SIGINT (Ctrl-C) or SIGTERM.
    """
    from descheduler.cli.looping import LoopFlags, run_loop

    if flags["policy_file"] == "-":
        raise click.UsageError("the policy is read again for each run, and standard input only once; name a file.", ctx)
    options = RunFlags(snapshot=(), now=None, **flags)  # type: ignore[arg-type]  # click has checked every one
    watch = ctx.ensure_object(Watch)
    ctx.exit(run_loop(LoopFlags(interval, listen), options, lazy, watch))
