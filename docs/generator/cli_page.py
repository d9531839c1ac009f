"""The page about the command line: every command, argument, flag and exit code."""

from __future__ import annotations

from collections.abc import Iterator

import click

from descheduler.cli.commands import commands
from descheduler.cli.ending.exit_code import ExitCode
from descheduler.cli.examples import EXAMPLES
from descheduler.cli.flags.upstream import IDLE_FLAGS
from descheduler.explanation.docs.source import member_docs, paragraphs
from docs.generator.markdown import page, table, wrapped

_IDLE = """\
`descheduler run` accepts these flags of kubernetes-sigs/descheduler, so that the arguments of its manifests work
unchanged. They have no effect, and a warning in the log says why."""

_KUBECTL = """\
The same program is installed as `kubectl-deschedule`, so that `kubectl deschedule run …` works as well. Where kubectl's
own completion is set up, it completes `kubectl deschedule` too: kubectl finds `kubectl_complete-deschedule` beside the
program."""

_STANDARD_INPUT = """\
Wherever a command reads a file, `-` is standard input. A command can read it once: two of its files cannot both be `-`.
Only `descheduler loop` takes no policy from there: it reads the policy again for each run."""


def make_page() -> str:
    """The whole page."""
    return page("Command line", _lines())


def _lines() -> Iterator[str]:
    for paragraph in (*paragraphs(commands.help), *paragraphs(commands.epilog)):
        yield from wrapped(paragraph)
    yield from wrapped(_STANDARD_INPUT)
    yield from wrapped(_KUBECTL)
    ctx = click.Context(commands)
    for name in commands.list_commands(ctx):
        command = commands.get_command(ctx, name)
        assert command is not None  # noqa: S101 - the group lists it
        yield from _section(command)
    yield "## Exit codes"
    yield ""
    docs = member_docs(ExitCode)
    yield from table(("Code", "Meaning"), [[f"{code:d}", docs[str(code.value)]] for code in ExitCode])
    yield "## Flags without effect"
    yield ""
    yield _IDLE
    yield ""
    yield from table(("Flag", "Why"), [[f"`--{flag.name}`", flag.why] for flag in IDLE_FLAGS])


def _section(command: click.Command) -> Iterator[str]:
    # Click keeps the help option that the first context asks for, so it must be the one that the program has.
    names = commands.context_settings["help_option_names"]
    ctx = click.Context(command, info_name=f"descheduler {command.name}", help_option_names=names)
    yield f"## descheduler {command.name}"
    yield ""
    yield "```text"
    yield command.get_usage(ctx).removeprefix("Usage: ")
    yield "```"
    yield ""
    for paragraph in paragraphs(command.help):
        yield from wrapped(paragraph)
    yield "```sh"
    yield from EXAMPLES[command.name or ""]
    yield "```"
    yield ""
    options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    yield from table(("Flag", "Value", "Default", "Meaning"), [_row(option) for option in options])


def _row(option: click.Option) -> list[str]:
    names = [*option.opts, *option.secondary_opts]
    default = f"`{option.default}`" if option.show_default else ""
    meaning = f"{option.help or ''}{' Required.' if option.required else ''}"
    return [", ".join(f"`{name}`" for name in names), _value(option), default, meaning]


def _value(option: click.Option) -> str:
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return ", ".join(f"`{choice}`" for choice in option.type.choices)
    return f"`{option.metavar or option.type.name.upper()}`"
