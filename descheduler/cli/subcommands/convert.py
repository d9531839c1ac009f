"""`descheduler convert`: configurations of other programs to policies of this one."""

from __future__ import annotations

from pathlib import Path

import click

from descheduler.cli.completions import complete_file
from descheduler.cli.ending.exit_code import ExitCode
from descheduler.cli.flags.go import GoFlagsCommand
from descheduler.cli.output import write_data

__all__ = ["convert"]


@click.command(cls=GoFlagsCommand, short_help="Convert a configuration to a DeschedulerConfiguration.")
@click.argument("file", metavar="FILE", shell_complete=complete_file)
@click.pass_context
def convert(ctx: click.Context, file: str) -> None:
    """Convert a configuration to a DeschedulerConfiguration, which is printed as YAML.

    FILE is a DeschedulerPolicy of kubernetes-sigs/descheduler or volcano-sh/descheduler, or the volcano-scheduler.conf
    of a Volcano that runs the plugin rescheduling. A ConfigMap with one of them is read as well. Whatever is lost or
    changes is listed on standard error, with its line and column.

    Exits with 2 when the file is not valid.
    """
    from descheduler.conversion.table import convert_file
    from descheduler.documents.problems import PolicyError
    from descheduler.report.formats.yaml_lines import yaml_lines

    try:
        conversion = convert_file(Path(file))
    except PolicyError as error:
        for problem in error.problems:
            click.echo(str(problem), err=True)
        ctx.exit(ExitCode.INVALID)
    for note in conversion.notes:
        click.echo(f"note: {note}", err=True)
    write_data(["".join(yaml_lines(conversion.document))])
