"""`descheduler version`: what is running."""

from __future__ import annotations

import click

from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.output import write_text
from descheduler.version import VERSION


@click.command(cls=GoFlagsCommand, short_help="Print the version.")
def version() -> None:
    """Print the version of this program, of Python and of the platform, on one line."""
    import platform

    system = f"{platform.system().lower()}/{platform.machine()}"
    write_text([f"descheduler {VERSION} (Python {platform.python_version()}, {system})\n"])
