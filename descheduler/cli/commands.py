"""The command line as a whole: the commands, and `run` as the one that is meant when none is named."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from descheduler.cli.examples import GROUPS
from descheduler.cli.output import output_may_be_kept

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = tuple(command for group in GROUPS.values() for command in group)
"""Each is the function of its name in the module of its name, which is loaded when it is asked for."""

_OWN_FLAGS = ("-h", "--help")
_HELP, _VERSION = "help", "version"
_EPILOG = """
'descheduler help COMMAND' shows the flags of a command and examples. Shell completion: eval "$(descheduler completion
bash)", or zsh, or fish.
"""


class _Commands(click.Group):
    """A group that takes flags without a command for those of `run`, as kubernetes-sigs/descheduler has no commands."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"descheduler.cli.subcommands.{cmd_name}"), cmd_name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands and flags, those of `run` included, which are taken without it."""
        found = super().shell_complete(ctx, incomplete)
        run = self.get_command(ctx, "run")
        if run is None or not incomplete.startswith("-"):
            return found
        own = {item.value for item in found}
        with click.Context(run, parent=ctx, info_name="run") as run_ctx:
            return [*found, *(item for item in run.shell_complete(run_ctx, incomplete) if item.value not in own)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands in groups, each with what it does."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                commands = ((name, self.get_command(ctx, name)) for name in names)
                formatter.write_dl([(name, each.get_short_help_str(80)) for name, each in commands if each is not None])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Arguments without a command are those of `run`; `help` and `--version` are commands."""
        if not args or args == [_HELP]:
            args = ["--help"]
        elif args[0] == _HELP:
            args = [*args[1:], "--help"]
        elif args[0] == "--version":
            args = [_VERSION, *args[1:]]
        elif args[0].startswith("-") and args[0] not in _OWN_FLAGS:
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        with output_may_be_kept():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            from descheduler.documents.problems import did_you_mean, shown

            ctx.fail(f"no such command {shown(args[0])}{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": list(_OWN_FLAGS), "max_content_width": 120},
    epilog=_EPILOG,
)
@click.option("--version", is_flag=True, expose_value=False, help="Print the version.")
def commands() -> None:
    """Plan and evict pods that should run on other nodes, with the policies of kubernetes-sigs/descheduler.

    Flags without a command are those of 'descheduler run'.
    """
