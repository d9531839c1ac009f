"""What a shell offers for values on the command line."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

__all__ = ["complete_file", "complete_plugin"]


def complete_file(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leaves it to the shell, which knows the files."""
    return [CompletionItem(incomplete, type="file")]


def complete_plugin(incomplete: str) -> list[CompletionItem]:
    """The names of plugins, of policies and of the scheduler, in any case of letters."""
    from descheduler.cycle.plugins import REGISTRY
    from descheduler.placement.plugins.table import PLUGINS

    names = sorted({*REGISTRY, *PLUGINS})
    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]
