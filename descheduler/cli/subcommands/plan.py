"""`descheduler plan`: a dry run whose plan can be applied later."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import click

from descheduler.cli.completions import complete_file
from descheduler.cli.ending.leaving import end_search_on_interrupt, stop_on_signals
from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.flags.connection import takes_connection
from descheduler.cli.flags.lazy_options import LazyOptions
from descheduler.cli.flags.lease import takes_lease_name
from descheduler.cli.flags.logging import takes_logging
from descheduler.cli.flags.room import RoomFlags, takes_room
from descheduler.cli.flags.running import may_take_policy, takes_assessment, takes_deadline, takes_gates
from descheduler.cli.flags.scope import takes_scope, takes_shard
from descheduler.cli.flags.values import read_output_name
from descheduler.cli.inputs import takes_snapshot
from descheduler.cli.output import Output, takes_output
from descheduler.cli.running import RunFlags, run_policy
from descheduler.supervision import Watch

if TYPE_CHECKING:
    from descheduler.cycle.options import ConnectionOptions
    from descheduler.migration.lease_settings import LeaseOptions


@click.command(cls=GoFlagsCommand, short_help="Write a plan to a file, for 'descheduler apply'.")
@may_take_policy
@click.option(
    "--out",
    metavar="FILE",
    callback=read_output_name,
    shell_complete=complete_file,
    help="Plan file to write, JSON, for 'descheduler apply FILE'.",
)
@takes_room
@takes_snapshot(
    "Plan for a dump instead of a cluster: a file, a folder or - for standard input, as written by kubectl get -o json "
    "or 'descheduler snapshot'; can be repeated."
)
@takes_output("the plan", has_flat_formats=True, has_pictures=True)
@takes_connection
@takes_scope
@takes_shard
@takes_deadline
@takes_gates
@takes_assessment
@takes_lease_name
@takes_logging
@click.pass_context
def plan(
    ctx: click.Context,
    /,
    connection: Callable[[], ConnectionOptions],
    lease: Callable[[], LeaseOptions],
    out: str | None,
    policy_file: str | None,
    room: RoomFlags | None,
    snapshot: tuple[str, ...],
    now: datetime | None,
    output: Output,
    **flags: object,
) -> None:
    """Decide which pods to evict, show the plan, and write it to a file. Nothing is evicted.

    The file holds the whole plan, and for each move what it was decided on: the pod, its controller, and the nodes that
    it leaves and is expected on. 'descheduler apply' carries it out as long as that has not changed.

    With --for the plan makes room for pods, and is only shown: to carry such a plan out, run a policy with makeRoom.

    Exit codes: as of 'descheduler run --dry-run'.
    """
    from descheduler.cycle.guards import NOTHING_EVICTED
    from descheduler.telemetry.recording import TelemetrySettings

    _check_together(policy_file, out, room)
    options = RunFlags(
        **flags,  # type: ignore[arg-type]  # click has checked every one
        policy_file=policy_file,
        room=room,
        out=out or "",
        snapshot=snapshot,
        now=now,
        output=output,
        dry_run=True,
        client_connection_qps=None,
        client_connection_burst=None,
    )
    lazy = LazyOptions(connection, lease, lambda policy: TelemetrySettings())
    watch = ctx.ensure_object(Watch)
    watch.limit(options.deadline_seconds)
    watch.promise = NOTHING_EVICTED
    with end_search_on_interrupt(watch) if snapshot else stop_on_signals(watch):
        ctx.exit(run_policy(options, lazy, watch))


def _check_together(policy_file: str | None, out: str | None, room: RoomFlags | None) -> None:
    """Raises UsageError where flags are missing, or do not go together."""
    if room is not None and out:
        raise click.UsageError("--out and --for cannot be used together: such a plan is only shown.")
    for option, value in (("--policy-config-file' / '--config", policy_file), ("--out", out)):
        if room is None and not value:
            raise click.UsageError(f"Missing option '{option}'.")
