"""The groups in which the help of a command lists its flags, and flags as Go programs take them.

So the arguments of upstream's manifests work unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

import click

from descheduler.cli.examples import EXAMPLES

_Command = TypeVar("_Command", bound=Callable[..., Any])
_OWN = "Options"
"""What a command has of its own."""


class FlagGroup(Enum):
    """The groups in the order of the help, by title. They come after what a command has of its own."""

    DUMP = "Dump"
    CLUSTER = "Cluster"
    PODS = "Pods"
    SHARDS = "Shards"
    EVICTIONS = "Evictions"
    LEASE = "Lease"
    OUTPUT = "Output and log"
    NOTIFICATIONS = "Notifications"
    METRICS = "Metrics and traces"


class _Flag(click.Option):
    """A flag of a group."""

    def __init__(self, names: Sequence[str], *, group: FlagGroup, **attributes: Any) -> None:
        super().__init__(names, **attributes)
        self.group = group


def flag(group: FlagGroup, *names: str, **attributes: Any) -> Callable[[_Command], _Command]:
    """Adds a flag of `group` to a command; otherwise as `click.option`."""
    return click.option(*names, cls=_Flag, group=group, **attributes)


def with_flags(*added: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[[_Command], Callable[..., Any]]:
    """Adds several flags, each from `flag` or `click.option`, in this order of the help."""

    def add(command: _Command) -> Callable[..., Any]:
        decorated: Callable[..., Any] = command
        for each in reversed(added):
            decorated = each(decorated)
        return decorated

    return add


def grouped(parameters: Sequence[click.Parameter]) -> Mapping[str, Sequence[click.Parameter]]:
    """The parameters by title, in the order of the help; each in one group, and no group is empty."""
    found: dict[str, list[click.Parameter]] = {title: [] for title in (_OWN, *(group.value for group in FlagGroup))}
    for parameter in parameters:
        found[parameter.group.value if isinstance(parameter, _Flag) else _OWN].append(parameter)
    return {title: members for title, members in found.items() if members}


_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


class GoFlagsCommand(click.Command):
    """A command that takes `--dry_run`, `--dry-run=true` and `-v=4` as well (github.com/spf13/pflag does)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments after putting them in the spelling that click knows."""
        return super().parse_args(ctx, list(self._spelled_out(ctx, args)))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The flags in groups, those of the command itself first."""
        flags = [each for each in self.get_params(ctx) if isinstance(each, click.Option) and not each.hidden]
        for title, parameters in grouped(flags).items():
            with formatter.section(title):
                formatter.write_dl([record for each in parameters if (record := each.get_help_record(ctx)) is not None])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples of the command."""
        with formatter.section("Examples"):
            formatter.write("".join(f"  {line}\n" for line in EXAMPLES.get(self.name or "", ())))

    def _spelled_out(self, ctx: click.Context, args: Sequence[str]) -> Iterator[str]:
        booleans = {
            name: option
            for option in self.get_params(ctx)
            if isinstance(option, click.Option) and option.is_flag
            for name in option.opts
        }
        for position, arg in enumerate(args):
            if arg == "--":
                yield from args[position:]
                return
            name, equals, text = arg.partition("=")
            if name.startswith("--"):
                name = name.replace("_", "-")
                if equals and name in booleans:
                    yield from _boolean(name, text, booleans[name], ctx)
                else:
                    yield f"{name}{equals}{text}"
            elif equals and len(name) == 2 and name.startswith("-"):
                yield from (name, text)
            else:
                yield arg


def _boolean(name: str, text: str, option: click.Option, ctx: click.Context) -> Iterator[str]:
    if text not in _BOOLEANS:
        raise click.BadParameter(f"{text!r} is neither true nor false.", ctx=ctx, param=option)
    if _BOOLEANS[text]:
        yield name
    else:
        yield from option.secondary_opts[:1]
