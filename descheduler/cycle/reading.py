"""A live cluster to the snapshot that a policy, or an explanation, needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.kube_version import KubeVersion, KubeVersionError
from descheduler.policy.plugin import Registry
from descheduler.policy.types import MetricsProvider, Policy
from descheduler.strategies.low_node_utilization import PROMETHEUS

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient


def read_cluster(
    client: KubeClient,
    policy: Policy | None,
    request: SnapshotRequest,
    *,
    taken_at: datetime,
    git_version: str,
    tell: Callable[[str], None] = lambda doing: None,
    registry: Registry = REGISTRY,
) -> Snapshot:
    """What `request` asks for, with what Prometheus measured for the plugins of `policy`.

    `git_version` is the server's. `tell` is told of what is done, besides what is asked of `client`, and may raise to
    end it. Raises SnapshotError when it cannot be read whole.
    """
    # Dry runs on a dump must not pay for the edge to the API server, which these modules import.
    from descheduler.cluster.begun_lists import begin_lists

    with closing(begin_lists(client, request, git_version, tell)) as begun:
        # What decodes is loaded while the server is at work.
        from descheduler.cluster.live import read_live

        snapshot = read_live(
            client, request, source=client.host, taken_at=taken_at, git_version=git_version, begun=begun
        )
    snapshot = replace(snapshot, kube_version=_version(git_version))
    if policy is None:
        return snapshot
    for provider, queries in _queries(policy, registry).items():
        tell("asking Prometheus for node usage")
        snapshot = _with_samples(snapshot, client, provider, queries)
    return snapshot


def _version(git_version: str) -> KubeVersion | None:
    try:
        return KubeVersion.parse(git_version)
    except KubeVersionError:
        return None


def _with_samples(
    snapshot: Snapshot, client: KubeClient, provider: MetricsProvider, queries: Sequence[str]
) -> Snapshot:
    from descheduler.cluster.live import read_node_samples

    secret = provider.auth_token
    token_secret = None if secret is None else (secret.namespace, secret.name)
    samples = read_node_samples(client, provider.prometheus_url, queries, token_secret=token_secret)
    return replace(
        snapshot,
        node_samples={**snapshot.node_samples, **samples.by_query},
        sample_faults={**snapshot.sample_faults, **samples.faults},
        warnings=(*snapshot.warnings, *samples.warnings),
    )


def _queries(policy: Policy, registry: Registry) -> Mapping[MetricsProvider, Sequence[str]]:
    """The queries for each Prometheus: the one of the policy, and those that plugins name."""
    of_policy = next((p for p in policy.metrics_providers if p.source == PROMETHEUS), None)
    found: dict[MetricsProvider, list[str]] = {}
    for profile in policy.profiles:
        for name in (*profile.deschedule, *profile.balance):
            spec, args = registry[name], profile.args[name]
            address = spec.samples_address(args)
            provider = MetricsProvider(PROMETHEUS, address) if address else of_policy
            queries = list(spec.samples(args)) if provider is not None else []
            if provider is not None and queries:
                found.setdefault(provider, []).extend(queries)
    return found
