"""The cluster that an explanation looks at: a dump or a live one, with everything that decides about landings."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Literal

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.options import ConnectionOptions
from descheduler.cycle.reading import read_cluster
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.policy.types import Policy

__all__ = ["context_namespace", "read_dumps", "read_live"]


def read_dumps(paths: Sequence[Path | Literal["-"]], policy: Policy | None, *, skip_broken: bool = False) -> Snapshot:
    """The snapshot in some files, `-` for standard input. Raises DumpError."""
    return read_dump(paths, snapshot_request(policy, Landings.EXPLAINED, skip_broken=skip_broken))


def read_live(
    connection: ConnectionOptions, policy: Policy | None, *, taken_at: datetime, skip_broken: bool = False
) -> Snapshot:
    """The snapshot of a cluster, which is only read.

    Kinds that say where pods land are read as far as they may be. Raises KubeError and SnapshotError as a run does.
    """
    from descheduler.kube.client import connect
    from descheduler.kube.discovery import discover

    client = connect(
        _kubeconfig(connection, policy), connection.context, connection.as_user, connection.request_timeout_seconds
    )
    with closing(client):
        return read_cluster(
            client,
            policy,
            snapshot_request(policy, Landings.EXPLAINED, skip_broken=skip_broken),
            taken_at=taken_at,
            git_version=discover(client).git_version,
        )


def context_namespace(connection: ConnectionOptions, policy: Policy | None) -> str:
    """The namespace that kubectl takes where none is named; "" where nothing says which.

    So it is where the cluster cannot be reached as it is configured, which `read_live` tells.
    """
    from descheduler.kube.authentication.configuration import default_namespace
    from descheduler.kube.errors import KubeConfigError

    try:
        return default_namespace(_kubeconfig(connection, policy), connection.context)
    except KubeConfigError:
        return ""


def _kubeconfig(connection: ConnectionOptions, policy: Policy | None) -> str | None:
    return connection.kubeconfig or (policy.kubeconfig if policy is not None else "") or None
