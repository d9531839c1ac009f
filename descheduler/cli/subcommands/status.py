"""`descheduler status`: what the last runs of a policy did, as they left it in the cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.flags.connection import takes_connection
from descheduler.cli.flags.lease import takes_lease_name
from descheduler.cli.flags.logging import takes_logging
from descheduler.cli.flags.running import takes_policy_file
from descheduler.cli.inputs import load_policy_file
from descheduler.cli.output import Output, takes_output, write_document
from descheduler.supervision import Watch

if TYPE_CHECKING:
    from descheduler.cycle.options import ConnectionOptions
    from descheduler.migration.lease_settings import LeaseOptions


@click.command(cls=GoFlagsCommand, short_help="Show what the last runs did.")
@takes_policy_file("Policy whose runs are shown, - for standard input; not needed with --lease-name.")
@takes_lease_name
@takes_output("the status")
@takes_connection
@takes_logging
@click.pass_context
def status(
    ctx: click.Context,
    /,
    policy_file: str | None,
    output: Output,
    connection: Callable[[], ConnectionOptions],
    lease: Callable[[], LeaseOptions],
) -> None:
    """Show what the last runs of a policy did: evictions, failures, duration, and where replacement pods came.

    Runs keep it in a ConfigMap beside their Lease, named after it: <lease>-status. Nothing is changed.

    Exit codes: 0 shown, 1 no run has left a status or it cannot be read, 2 wrong usage or an invalid policy.
    """
    from descheduler.cycle.live.status_keeping import find_status

    watch = ctx.ensure_object(Watch)
    options = lease()
    if policy_file is None and options.name is None:
        raise click.UsageError("name a policy with --policy-config-file, or a Lease with --lease-name", ctx)
    policy = None if policy_file is None else load_policy_file(policy_file)
    write_document(watch.call("reading the status", partial(find_status, policy, connection(), options)), output)
