"""`descheduler completion`: the script by which a shell completes commands."""

from __future__ import annotations

import click

from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.output import write_text

_VARIABLE = "_DESCHEDULER_COMPLETE"
"""Variable of the environment by which a shell asks click for completions."""


@click.command(cls=GoFlagsCommand, short_help="Print the script by which a shell completes commands.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script by which a shell completes commands, flags, contexts, and names in a dump.

    Evaluate it in the start file of the shell, for example ~/.bashrc.
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None  # noqa: S101 - click has all three
    write_text([f"{made(ctx.find_root().command, {}, 'descheduler', _VARIABLE).source()}\n"])
