"""Flags that say how much is logged and how, the same for every command that logs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from descheduler.cli.flag_groups import FlagGroup, flag
from descheduler.telemetry.logging import LogFormat, configure_logging


def takes_logging(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags and sets the log up before the command starts."""

    @flag(
        FlagGroup.OUTPUT,
        "-v",
        "--v",
        "verbosity",
        type=click.IntRange(min=0),
        metavar="N",
        help="Log level: 0 shows every eviction, 1 adds evictions that are only planned and sums by plugin, 6 adds "
        "tracebacks. By default 0; on a terminal only warnings and errors.",
    )
    @flag(
        FlagGroup.OUTPUT,
        "--log-format",
        "--logging-format",
        "log_format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="Format of the log on standard error.",
    )
    @wraps(command)
    def with_logging(*args: object, verbosity: int | None, log_format: LogFormat, **flags: object) -> object:
        configure_logging(sys.stderr, verbosity=verbosity, log_format=log_format)
        return command(*args, **flags)

    return with_logging
