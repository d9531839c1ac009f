"""Options of the commands that run against a cluster: how it is reached, its Lease, and what is told of the run."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from descheduler.cli.flags.lease import takes_lease
from descheduler.cli.flags.telemetry import takes_telemetry

if TYPE_CHECKING:
    from descheduler.cycle.options import ConnectionOptions
    from descheduler.migration.lease_settings import LeaseOptions
    from descheduler.policy.types import Policy
    from descheduler.telemetry.recording import TelemetrySettings


class LazyOptions(NamedTuple):
    """Options that are made when they are needed. `telemetry` is asked with None for a policy that is invalid."""

    connection: Callable[[], ConnectionOptions]
    lease: Callable[[], LeaseOptions]
    telemetry: Callable[[Policy | None], TelemetrySettings]


def takes_lazy_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags of the Lease and of telemetry; the command gets them as `lazy`, with those of `takes_connection`,
    which stands above."""

    @takes_lease
    @takes_telemetry
    @wraps(command)
    def with_options(*args: object, connection: Any, lease: Any, telemetry: Any, **flags: object) -> object:
        return command(*args, lazy=LazyOptions(connection, lease, telemetry), **flags)

    return with_options
