"""`descheduler convert`: configurations of other programs to policies of this one."""

from __future__ import annotations

import click

from descheduler.cli.completions import complete_file
from descheduler.cli.ending.exit_code import ExitCode
from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.flags.values import file_source, read_input_name
from descheduler.cli.output import write_data


@click.command(cls=GoFlagsCommand, short_help="Convert a configuration to a policy of this version.")
@click.argument("file", metavar="FILE", callback=read_input_name, shell_complete=complete_file)
@click.pass_context
def convert(ctx: click.Context, file: str) -> None:
    """Convert a configuration to a policy of this version, which is printed as YAML.

    \b
    FILE                                            becomes
    DeschedulerPolicy of descheduler/v1alpha1       DeschedulerPolicy of descheduler/v1alpha2
    DeschedulerPolicy of descheduler/v1alpha2       DeschedulerConfiguration
    DeschedulerPolicy of volcano-sh/descheduler     DeschedulerConfiguration
    DeschedulerConfiguration of koord-descheduler   itself, which is only checked
    volcano-scheduler.conf with rescheduling        DeschedulerConfiguration

    The configuration can stand in a ConfigMap, in values of the Helm chart, in a HelmRelease or in an Application; - is
    standard input. Whatever is lost or changes is listed on standard error, with its line and column. Comment lines
    stay above the values that they are above of.

    Exits with 2 when the file is not valid.
    """
    from pathlib import Path

    from descheduler.conversion.conversion import with_comments
    from descheduler.conversion.table import convert_file
    from descheduler.documents.problems import PolicyError
    from descheduler.report.formats.yaml_lines import yaml_lines

    source, name = file_source(file)
    try:
        conversion = convert_file(source, name)
    except PolicyError as error:
        for problem in error.problems:
            click.echo(str(problem), err=True)
        ctx.exit(ExitCode.INVALID)
    for note in conversion.notes:
        click.echo(f"note: {note}", err=True)
    original = source.read_text("utf-8") if isinstance(source, Path) else source
    text = "".join(yaml_lines(conversion.document))
    write_data([with_comments(text, original, conversion.root, conversion.origins)])
