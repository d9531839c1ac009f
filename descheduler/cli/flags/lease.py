"""Flags about the Lease that keeps two runs of one policy apart."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from descheduler.cli.flag_groups import FlagGroup, flag, with_flags
from descheduler.cli.flags.values import read_duration

if TYPE_CHECKING:
    from descheduler.migration.lease_settings import LeaseOptions

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", re.ASCII)


def takes_lease(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags and hands them to the command as `lease`, a function that makes LeaseOptions.

    The longer names are those of kubernetes-sigs/descheduler 0.36.
    """

    @flag(
        FlagGroup.LEASE,
        "--lease/--no-lease",
        "--leader-elect/--no-leader-elect",
        "is_wanted",
        default=None,
        help="Hold a Lease while evicting, so that two runs of the policy never evict at the same time; by default "
        "yes, unless the policy sets leaderElect: false.",
    )
    @_names_lease
    @flag(
        FlagGroup.LEASE,
        "--lease-duration",
        "--leader-elect-lease-duration",
        "lease_duration",
        metavar="DURATION",
        callback=read_duration,
        help="Time after which the Lease of a dead run can be taken over; by default the policy's, else 60s.",
    )
    @wraps(command)
    def with_lease(
        *args: object,
        is_wanted: bool | None,
        lease_name: str | None,
        lease_namespace: str | None,
        lease_duration: timedelta | None,
        **flags: object,
    ) -> object:
        def lease() -> LeaseOptions:
            from descheduler.migration.lease_settings import LeaseOptions

            duration_seconds = None if lease_duration is None else math.ceil(lease_duration.total_seconds())
            return LeaseOptions(lease_name, lease_namespace, duration_seconds, is_wanted)

        return command(*args, lease=lease, **flags)

    return with_lease


def takes_lease_name(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags that say which Lease; the command gets `lease`, a function that makes LeaseOptions."""

    @_names_lease
    @wraps(command)
    def with_lease(*args: object, lease_name: str | None, lease_namespace: str | None, **flags: object) -> object:
        def lease() -> LeaseOptions:
            from descheduler.migration.lease_settings import LeaseOptions

            return LeaseOptions(lease_name, lease_namespace)

        return command(*args, lease=lease, **flags)

    return with_lease


def _read_name(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """None for an empty text, which leaves the choice to the policy."""
    if text and not _NAME.fullmatch(text):
        raise click.BadParameter(
            f"{text!r} is not an object name: only lowercase letters, digits, '-' and '.' are allowed."
        )
    return text or None


_names_lease = with_flags(
    flag(
        FlagGroup.LEASE,
        "--lease-name",
        "--leader-elect-resource-name",
        "lease_name",
        metavar="NAME",
        callback=_read_name,
        help="Name of the Lease; by default the policy's, else descheduler- and the names of its profiles.",
    ),
    flag(
        FlagGroup.LEASE,
        "--lease-namespace",
        "--leader-elect-resource-namespace",
        "lease_namespace",
        metavar="NAME",
        callback=_read_name,
        help="Namespace of the Lease; by default the policy's, else that of the pod this runs in, else kube-system.",
    ),
)
"""Adds the name and the namespace."""
