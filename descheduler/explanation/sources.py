"""The cluster that an explanation looks at: a dump or a live one, with everything that decides about landings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.objects import with_assumed
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.options import ConnectionOptions
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.reading import read_cluster
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.plan.run_memory import NO_MEMORY, RunMemory
from descheduler.policy.types import Policy
from descheduler.supervision import Watch

if TYPE_CHECKING:
    from descheduler.cycle.remembering import KeptMemory
    from descheduler.kube.client import KubeClient
    from descheduler.migration.lease_settings import LeaseOptions


class LiveCluster(msgspec.Struct, frozen=True):
    """A cluster, and what earlier runs of the policy have left there for the next one."""

    snapshot: Snapshot
    memory: RunMemory


def read_dumps(
    paths: Sequence[Path | Literal["-"]],
    policy: Policy | None,
    *,
    skip_broken: bool = False,
    assumed: Sequence[Mapping[str, object]] = (),
) -> Snapshot:
    """The snapshot in some files, `-` for standard input, as if objects that are `assumed` were there too.

    Raises DumpError.
    """
    request = snapshot_request(policy, Landings.EXPLAINED, skip_broken=skip_broken)
    return with_assumed(read_dump(paths, request), assumed, request)


def read_live(
    connection: ConnectionOptions,
    policy: Policy | None,
    lease: LeaseOptions,
    *,
    taken_at: datetime,
    skip_broken: bool = False,
    assumed: Sequence[Mapping[str, object]] = (),
) -> LiveCluster:
    """A cluster, which is only read, as if objects that are `assumed` were there too.

    The memory of runs is that beside `lease`, as a dry run reads it.

    Kinds that say where pods land are read as far as they may be. Raises ExchangeError and SnapshotError as a run does.
    """
    from descheduler.kube.discovery import discover

    client = connection.connect(policy)
    request = snapshot_request(policy, Landings.EXPLAINED, skip_broken=skip_broken)
    with closing(client):
        version = discover(client).git_version
        snapshot = read_cluster(client, policy, request, taken_at=taken_at, git_version=version)
        snapshot = with_assumed(snapshot, assumed, request)
        kept = _recall(client, policy, lease)
    return LiveCluster(replace(snapshot, warnings=(*snapshot.warnings, *kept.notes)), kept.memory)


def _recall(client: KubeClient, policy: Policy | None, lease: LeaseOptions) -> KeptMemory:
    from descheduler.cycle.remembering import KeptMemory, recall, remembers
    from descheduler.migration.lease_settings import lease_settings

    if policy is None or not remembers(policy, REGISTRY):
        return KeptMemory(NO_MEMORY)
    return recall(client, lease_settings(policy, lease), Watch())


def context_namespace(connection: ConnectionOptions, policy: Policy | None) -> str:
    """The namespace that kubectl takes where none is named; "" where nothing says which.

    So it is where the cluster cannot be reached as it is configured, which `read_live` tells.
    """
    from descheduler.kube.authentication.configuration import default_namespace
    from descheduler.transport.errors import SettingsError

    try:
        return default_namespace(connection.kubeconfig_with(policy), connection.context)
    except SettingsError:
        return ""


def known_contexts(kubeconfig: str | None) -> list[str]:
    """The contexts of a kubeconfig, by default of kubectl's; none where it cannot be read."""
    from descheduler.kube.authentication.configuration import contexts_of
    from descheduler.transport.errors import SettingsError

    try:
        return contexts_of(kubeconfig)
    except SettingsError:
        return []
