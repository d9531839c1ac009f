from __future__ import annotations

import click
import pytest

from descheduler.cli.commands import COMMANDS, commands


def listed(name: str) -> list[tuple[str, str]]:
    """What the help of a command lists below headings, but for the examples, each with its group, in order."""
    group, found = "", list[tuple[str, str]]()
    for line in context_of(name).get_help().splitlines():
        if line.endswith(":") and not line.startswith(" "):
            group = line.removesuffix(":")
        elif group not in ("", "Examples") and line.startswith("  ") and line[2] != " ":
            found.append((line.split()[0].rstrip(","), group))
    return found


def context_of(name: str) -> click.Context:
    # Click keeps the help option that the first context asks for, so it must be the one that the program has.
    names = commands.context_settings["help_option_names"]
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    return click.Context(command, info_name=name, terminal_width=100, help_option_names=names)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_each_flag_once_and_nothing_else(name: str) -> None:
    context = context_of(name)
    flags = [each for each in context.command.get_params(context) if isinstance(each, click.Option) and not each.hidden]

    assert sorted(flag for flag, _ in listed(name)) == sorted(flag.opts[0] for flag in flags)


def test_help_lists_the_flags_of_the_command_first_and_others_by_what_they_are_about() -> None:
    found = listed("run")
    group_of = dict(found)

    assert list(dict.fromkeys(group for _, group in found)) == [
        *("Options", "Dump", "Cluster", "Pods", "Shards", "Evictions"),
        *("Lease", "Output and log", "Notifications", "Metrics and traces"),
    ]
    assert group_of["--dry-run"] == "Options"
    assert group_of["--snapshot"] == "Dump"
    assert group_of["--deadline"] == "Evictions"
    assert group_of["--detailed-exitcode"] == "Output and log"
    assert group_of["--notify-url"] == "Notifications"
    assert group_of["--metrics-push-url"] == "Metrics and traces"
