"""`descheduler diff`: how two plans differ."""

from __future__ import annotations

from functools import partial

import click

from descheduler.cli.completions import complete_file
from descheduler.cli.ending.exit_code import ExitCode
from descheduler.cli.flag_groups import FlagGroup, GoFlagsCommand, flag
from descheduler.cli.flags.values import input_path, read_input_name
from descheduler.cli.output import Output, takes_output, write_document
from descheduler.supervision import Watch


@click.command(cls=GoFlagsCommand, short_help="Compare two plans.")
@click.argument("old", callback=read_input_name, shell_complete=complete_file)
@click.argument("new", callback=read_input_name, shell_complete=complete_file)
@flag(FlagGroup.OUTPUT, "--detailed-exitcode", is_flag=True, help="Exit with 5 when the plans differ.")
@takes_output("the differences")
@click.pass_context
def diff(ctx: click.Context, /, old: str, new: str, detailed_exitcode: bool, output: Output) -> None:
    """Show how the plan in NEW differs from the plan in OLD: pods that only one of them evicts, and pods that
    get another node or wave. One of them can be - for standard input.

    Exit codes: 0 compared, 2 wrong usage, or a file that is not a plan; with --detailed-exitcode 5 when they differ.
    """
    from descheduler.report.plan.reading import read_plan
    from descheduler.report.plan_difference import difference_of

    watch = ctx.ensure_object(Watch)
    plans = [watch.call("reading the plan", partial(read_plan, input_path(file))) for file in (old, new)]
    found = difference_of(*plans)
    write_document(found, output)
    ctx.exit(ExitCode.PLANNED if detailed_exitcode and not found.is_empty else ExitCode.DONE)
