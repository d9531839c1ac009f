"""Flags that say which cluster to talk to, the same for every command that does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any

from descheduler.cli.completions import complete_context, complete_file
from descheduler.cli.flag_groups import FlagGroup, flag
from descheduler.cli.flags.values import read_duration

if TYPE_CHECKING:
    from descheduler.cycle.options import ConnectionOptions


def takes_connection(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags and hands them to the command as `connection`, a function that makes ConnectionOptions."""

    @flag(
        FlagGroup.CLUSTER,
        "--kubeconfig",
        "--client-connection-kubeconfig",
        "kubeconfig",
        metavar="FILE",
        shell_complete=complete_file,
        help="Kubeconfig; by default KUBECONFIG, the service account of the pod, or ~/.kube/config.",
    )
    @flag(
        FlagGroup.CLUSTER,
        "--context",
        metavar="NAME",
        shell_complete=complete_context,
        help="Context of the kubeconfig; by default its current one.",
    )
    @flag(FlagGroup.CLUSTER, "--as", "as_user", metavar="USER", help="User to impersonate.")
    @flag(
        FlagGroup.CLUSTER,
        "--request-timeout",
        metavar="DURATION",
        default="30s",
        show_default=True,
        callback=read_duration,
        help="Time limit for one answer of the API server; for a long list, the time without progress. An eviction "
        "without a clear answer is followed for this time plus 10 s.",
    )
    @wraps(command)
    def with_connection(
        *args: object,
        kubeconfig: str | None,
        context: str | None,
        as_user: str | None,
        request_timeout: timedelta,
        **flags: object,
    ) -> object:
        def connection() -> ConnectionOptions:
            from descheduler.cycle.options import ConnectionOptions

            timeout_seconds = request_timeout.total_seconds()
            return ConnectionOptions(kubeconfig or None, context or None, as_user or None, timeout_seconds)

        return command(*args, connection=connection, **flags)

    return with_connection
