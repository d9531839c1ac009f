from __future__ import annotations

import click
import pytest

from descheduler.cli.commands import COMMANDS, commands
from descheduler.cli.flags.groups import GROUPS


def parameters_of(name: str) -> tuple[click.Context, list[click.Option]]:
    # Click keeps the help option that the first context asks for, so it must be the one that the program has.
    names = commands.context_settings["help_option_names"]
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    ctx = click.Context(command, info_name=name, terminal_width=100, help_option_names=names)
    return ctx, [each for each in command.get_params(ctx) if isinstance(each, click.Option) and not each.hidden]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_each_flag_once_in_its_group(name: str) -> None:
    ctx, flags = parameters_of(name)

    group, listed = "", dict[str, str]()
    for line in ctx.get_help().splitlines():
        if line.endswith(":") and not line.startswith(" "):
            group = line.removesuffix(":")
        elif group and line.startswith("  -"):
            listed[line.split()[0].rstrip(",")] = group

    title_of = {member: title for title, members in GROUPS.items() for member in members}
    assert listed == {flag.opts[0]: title_of.get(flag.name or "", "Options") for flag in flags}


def test_groups_name_flags_that_there_are() -> None:
    known = {flag.name for name in COMMANDS for flag in parameters_of(name)[1]}

    assert {name for names in GROUPS.values() for name in names} - known == set()
