"""What a shell offers for values on the command line."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

__all__ = ["complete_file"]


def complete_file(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leaves it to the shell, which knows the files."""
    return [CompletionItem(incomplete, type="file")]
