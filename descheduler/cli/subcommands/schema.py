"""`descheduler schema`: the JSON Schema of a document."""

from __future__ import annotations

import click

from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.output import write_text

_DOCUMENTS = ("plan", "outcome", "difference", "answer", "explanation", "simulation", "policy")


@click.command(cls=GoFlagsCommand, short_help="Print the JSON Schema of a document.")
@click.argument("document", type=click.Choice(_DOCUMENTS))
def schema(document: str) -> None:
    """Print the JSON Schema of what is written with -o json, or of a policy.

    With -o json, 'descheduler run' writes a plan in a dry run and an outcome otherwise; 'descheduler explain' writes an
    explanation, 'descheduler simulate' a simulation, 'descheduler diff' a difference. A policy is a DeschedulerPolicy
    or a DeschedulerConfiguration; editors can check it with the schema.
    """
    from descheduler.report.published_schema import published_schema

    write_text([published_schema(document)])
