"""Flags of kubernetes-sigs/descheduler 0.36 that a batch job has no use for: taken, and named in a warning."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from descheduler.telemetry.logging import fields

_logger = logging.getLogger(__name__)
_META = "descheduler.idle_flags"
Command = TypeVar("Command", bound=Callable[..., Any])

_ONCE = "a run is a single cycle; use a CronJob or 'descheduler loop' to repeat it"
_LEASE_PACE = "the Lease is renewed at a third of its duration and lost after two thirds; see --lease-duration"
_LEASE_KIND = "the lock is always a Lease"
_NO_SERVER = "no HTTP endpoint is served; use --metrics-textfile or --metrics-push-url, or 'descheduler loop'"
_NO_FAULT = "a collector error never fails a run"
_LOGS = "logs are written immediately, to standard error"
_NO_CHANCE = "no random choices are made: the same input gives the same plan"


class IdleFlag(msgspec.Struct, frozen=True):
    """A flag without effect. `natural` are the values that ask for what is done anyway, and deserve no warning."""

    name: str
    why: str
    is_boolean: bool = False
    natural: tuple[str, ...] = ()


IDLE_FLAGS = (
    IdleFlag("descheduling-interval", _ONCE, natural=("0", "0s", "0m", "0h")),
    IdleFlag("leader-elect-renew-deadline", _LEASE_PACE),
    IdleFlag("leader-elect-retry-period", _LEASE_PACE),
    IdleFlag("leader-elect-resource-lock", _LEASE_KIND, natural=("leases",)),
    IdleFlag("bind-address", _NO_SERVER),
    IdleFlag("secure-port", _NO_SERVER, natural=("0",)),
    IdleFlag("cert-dir", _NO_SERVER),
    IdleFlag("tls-cert-file", _NO_SERVER),
    IdleFlag("tls-private-key-file", _NO_SERVER),
    IdleFlag("tls-sni-cert-key", _NO_SERVER),
    IdleFlag("tls-cipher-suites", _NO_SERVER),
    IdleFlag("tls-curve-preferences", _NO_SERVER),
    IdleFlag("tls-min-version", _NO_SERVER),
    IdleFlag("enable-http2", _NO_SERVER, is_boolean=True),
    IdleFlag("disable-http2-serving", _NO_SERVER, is_boolean=True),
    IdleFlag("http2-max-streams-per-connection", _NO_SERVER),
    IdleFlag("permit-address-sharing", _NO_SERVER, is_boolean=True),
    IdleFlag("permit-port-sharing", _NO_SERVER, is_boolean=True),
    IdleFlag("disable-metrics", _NO_SERVER, is_boolean=True),
    IdleFlag("otel-fallback-no-op-on-error", _NO_FAULT, is_boolean=True),
    IdleFlag("vmodule", "the log level applies to the whole program"),
    IdleFlag("log-flush-frequency", _LOGS),
    IdleFlag("log-text-split-stream", _LOGS, is_boolean=True),
    IdleFlag("log-json-split-stream", _LOGS, is_boolean=True),
    IdleFlag("log-text-info-buffer-size", _LOGS),
    IdleFlag("log-json-info-buffer-size", _LOGS),
    IdleFlag("seed", _NO_CHANCE),
)


def takes_idle_flags(command: Command) -> Command:
    """Adds the flags to a command, out of sight of its help."""
    for flag in IDLE_FLAGS:
        command = _option(flag)(command)
    return command


def warn_of_idle_flags(ctx: click.Context) -> None:
    """One warning for each flag that was given and has no effect; the log must be set up."""
    for flag in ctx.meta.get(_META, ()):
        _logger.warning("Flag has no effect", extra=fields(flag=f"--{flag.name}", reason=flag.why))


def _option(flag: IdleFlag) -> Callable[[Command], Command]:
    def note(ctx: click.Context, _option: click.Parameter, given: str | bool | None) -> None:
        if given and given not in flag.natural:
            ctx.meta.setdefault(_META, []).append(flag)

    if flag.is_boolean:
        return click.option(f"--{flag.name}", is_flag=True, hidden=True, expose_value=False, callback=note)
    return click.option(f"--{flag.name}", type=str, hidden=True, expose_value=False, callback=note)
