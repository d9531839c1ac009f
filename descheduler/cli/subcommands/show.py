"""`descheduler show`: a plan from a file, in any format."""

from __future__ import annotations

from functools import partial

import click

from descheduler.cli.completions import complete_file
from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.flags.values import input_path, read_input_name
from descheduler.cli.output import Output, takes_output, write_document
from descheduler.supervision import Watch


@click.command(cls=GoFlagsCommand, short_help="Show a plan from a file.")
@click.argument("file", callback=read_input_name, shell_complete=complete_file)
@takes_output("the plan", has_flat_formats=True, has_pictures=True)
@click.pass_context
def show(ctx: click.Context, /, file: str, output: Output) -> None:
    """Show the plan in FILE, - for standard input, which 'descheduler plan --out FILE' or a dry run with -o json has
    written.

    Nothing is read from a cluster. With -o html the plan is a page for a browser, with -o markdown a text for a pull
    request or a change ticket.

    Exit codes: 0 shown, 2 wrong usage, or a file that is not a plan.
    """
    from descheduler.report.plan.reading import read_plan

    watch = ctx.ensure_object(Watch)
    write_document(watch.call("reading the plan", partial(read_plan, input_path(file))), output)
