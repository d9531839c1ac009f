"""`descheduler snapshot`: a cluster to a dump."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from descheduler.cli.completions import complete_file
from descheduler.cli.ending.exit_code import CommandError, ExitCode
from descheduler.cli.ending.leaving import stop_on_signals
from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.flags.connection import takes_connection
from descheduler.cli.flags.logging import takes_logging
from descheduler.cli.flags.values import read_file_name
from descheduler.supervision import Watch
from descheduler.telemetry.logging import log_event

if TYPE_CHECKING:
    from descheduler.cycle.options import ConnectionOptions

_logger = logging.getLogger(__name__)


@click.command(cls=GoFlagsCommand, short_help="Write a dump of a cluster to a file.")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    shell_complete=complete_file,
    callback=read_file_name,
    help="Dump to write, gzip JSON Lines, for example out.jsonl.gz; - is standard output.",
)
@takes_connection
@takes_logging
@click.pass_context
def snapshot(ctx: click.Context, /, connection: Callable[[], ConnectionOptions], output: str) -> None:
    """Write everything that a run reads of a cluster to a file, for 'descheduler run --snapshot FILE'.

    Only fields that decisions depend on are written: no Secrets, no commands, arguments or environment variables.
    """
    from descheduler.cycle.dumping import dump_cluster

    path, name = (None, "standard output") if output == "-" else (Path(output), output)
    watch = ctx.ensure_object(Watch)
    watch.promise = "no dump was written"
    try:
        with stop_on_signals(watch):
            dump_cluster(connection(), path, watch, taken_at=datetime.now(UTC))
    except OSError as error:
        text = f"{name}: cannot be written: {(error.strerror or str(error)).lower()}"
        raise CommandError(text, ExitCode.FAILED) from error
    log_event(_logger, "Dump written", file=name)
