"""`descheduler schema`: the JSON Schema of a document."""

from __future__ import annotations

import click

from descheduler.cli.flags.go import GoFlagsCommand
from descheduler.cli.output import write_text

__all__ = ["schema"]


@click.command(cls=GoFlagsCommand, short_help="Print the JSON Schema of a document.")
@click.argument("document", type=click.Choice(["plan", "outcome", "explanation", "policy"]))
def schema(document: str) -> None:
    """Print the JSON Schema of what is written with -o json, or of a policy.

    With -o json a dry 'descheduler run' writes a plan, one that evicts an outcome, and 'descheduler explain' an
    explanation. A policy is a DeschedulerPolicy or a DeschedulerConfiguration; its schema serves editors.
    """
    from descheduler.report.published_schema import published_schema

    write_text([published_schema(document)])
