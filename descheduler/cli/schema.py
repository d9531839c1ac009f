"""`descheduler schema`: the JSON Schema of a document."""

from __future__ import annotations

import click

from descheduler.cli.flags.go import GoFlagsCommand
from descheduler.cli.output import write_text

__all__ = ["schema"]


@click.command(cls=GoFlagsCommand, short_help="Print the JSON Schema of a document.")
@click.argument("document", type=click.Choice(["plan", "outcome", "explanation"]))
def schema(document: str) -> None:
    """Print the JSON Schema of what is written with -o json.

    That is a plan for a dry 'descheduler run', an outcome for one that evicts, and an explanation for 'descheduler
    explain'.
    """
    from descheduler.report.schema import published_schema

    write_text([published_schema(document)])
