"""Flags of the commands that decide or evict: `run`, `plan` and `apply`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

import click

from descheduler.cli.completions import complete_file
from descheduler.cli.ending.exit_code import ExitCode
from descheduler.cli.flag_groups import FlagGroup, flag, with_flags
from descheduler.cli.flags.values import read_duration, read_feature_gates, read_input_name, read_rate
from descheduler.supervision import Watch

_ONCE = "; - is standard input"


def _read_deadline(ctx: click.Context, option: click.Parameter, text: str | None) -> timedelta | None:
    """As `read_duration`; messages repeat the text as it was typed."""
    ctx.ensure_object(Watch).deadline_text = text or ""
    return read_duration(ctx, option, text)


def takes_policy(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the policy, as `policy_file`: an argument, or the value of a flag."""
    return _takes_argument(_takes_flag(command, _ONCE), is_required=True)


def takes_policy_of_runs(command: Callable[..., Any]) -> Callable[..., Any]:
    """As `takes_policy`, for a command that reads it again for each run, which standard input cannot be."""
    return _takes_argument(_takes_flag(command, ""), is_required=True)


def may_take_policy(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the policy, as `policy_file`, which is None where none is given."""
    return _takes_argument(_takes_flag(command, _ONCE), is_required=False)


def _takes_flag(command: Callable[..., Any], standard_input: str) -> Callable[..., Any]:
    """The flag, with what its help says of standard input."""
    return takes_policy_file(
        "Policy to run: a DeschedulerPolicy or a DeschedulerConfiguration, in YAML or JSON, alone or in a "
        f"ConfigMap{standard_input}. The same as the argument POLICY."
    )(command)


def takes_policy_file(help_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the flag of the policy alone, as `policy_file`."""
    return click.option(
        "--policy-config-file",
        "--config",
        "policy_file",
        callback=read_input_name,
        metavar="FILE",
        shell_complete=complete_file,
        help=help_text,
    )


def _takes_argument(command: Callable[..., Any], *, is_required: bool) -> Callable[..., Any]:
    @click.argument(
        "policy", required=False, metavar="[POLICY]", callback=read_input_name, shell_complete=complete_file
    )
    @wraps(command)
    def with_policy(*args: object, policy: str | None, policy_file: str | None, **flags: object) -> object:
        if policy is not None and policy_file is not None:
            raise click.UsageError(f"two policies are named: {policy} and --policy-config-file {policy_file}.")
        named = policy if policy_file is None else policy_file
        if named is None and is_required:
            raise click.UsageError("Missing option '--policy-config-file', or the policy as an argument.")
        return command(*args, policy_file=named, **flags)

    return with_policy


takes_pace = with_flags(
    flag(
        FlagGroup.EVICTIONS,
        "--client-connection-qps",
        type=float,
        callback=read_rate,
        metavar="N",
        help="Evictions per second; by default the policy's value, else 5.",
    ),
    flag(
        FlagGroup.EVICTIONS,
        "--client-connection-burst",
        type=click.IntRange(min=0),
        metavar="N",
        help="Evictions that can start at once; by default the policy's value, else 10.",
    ),
)
"""Adds the pace of evictions."""


takes_observation = flag(
    FlagGroup.EVICTIONS,
    "--observe",
    callback=read_duration,
    metavar="DURATION",
    help="After the evictions, look for this time where replacement pods become ready, for example 2m, to compare "
    "them with the prediction; nothing is changed. Ends earlier when all are ready, and at once on a signal.",
)
"""Adds how long replacements are looked for after the evictions."""


takes_deadline = flag(
    FlagGroup.EVICTIONS,
    "--deadline",
    callback=_read_deadline,
    metavar="DURATION",
    help="Stop starting evictions after this time, for example 5m, counted from the start of the program; it ends "
    "at most 5 s later.",
)
"""Adds the deadline, which the watch names in messages."""


takes_gates = with_flags(
    flag(
        FlagGroup.EVICTIONS,
        "--feature-gates",
        multiple=True,
        callback=read_feature_gates,
        metavar="NAME=BOOL,...",
        help="EvictionsInBackground lets other controllers finish evictions.",
    ),
    flag(
        FlagGroup.OUTPUT,
        "--detailed-exitcode/--no-detailed-exitcode",
        default=False,
        help=f"Exit with {ExitCode.INCOMPLETE} when the run finished with evictions refused, failed or unknown, or "
        f"left out (--allow-partial), and with {ExitCode.PLANNED} when a dry run plans evictions.",
    ),
)
"""Adds feature gates and detailed exit codes."""


takes_assessment = flag(
    FlagGroup.EVICTIONS,
    "--assess-landings",
    type=click.IntRange(min=0),
    metavar="N",
    help="Without PlacementVerification, predict for the first N evictions which node the replacement "
    "pods are scheduled onto; by default 1000 in a dry run, and 0 in a run that evicts.",
)
"""Adds how many landings are predicted for the report alone."""
