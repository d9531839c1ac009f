"""Runs within the process against a living cluster, on its clock: pods have to leave one node for two others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from descheduler.cycle.options import RunOptions, RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.run import run_with
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.policy.load import load_policy
from descheduler.supervision import Watch
from tests.living.builders import deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.living.store import Object
from tests.living.transport import Passage
from tests.migration.roads.whole_runs import one_after_the_other, watch_of
from tests.policy.builders import upstream

FAST = RunOptions(qps=10_000, burst=10_000)
WITH_LEASE = replace(FAST, lease=LeaseOptions(name="d", namespace="kube-system", duration_seconds=900))
JOBS = "podmigrationjobs.scheduling.koordinator.sh"
TAINTED = node("n1", taints=["gone=soon:NoSchedule"])


def taint_policy(**top: object) -> str:
    """A DeschedulerPolicy that runs RemovePodsViolatingNodeTaints."""
    return upstream(
        "profiles:\n"
        "- name: p\n"
        "  pluginConfig: [{name: RemovePodsViolatingNodeTaints}]\n"
        "  plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}\n"
    ) + "".join(f"{key}: {value}\n" for key, value in top.items())


def crowded(*apps: str, others: Sequence[Object] = (), **options: Any) -> LivingCluster:
    """A cluster in which each of `apps` has one pod, on the tainted node."""
    workloads = [deployment(app, on=["n1"], grace_seconds=1) for app in apps]
    return living_cluster([TAINTED, node("n2"), node("n3")], workloads, others, **options)


def run(
    cluster: LivingCluster,
    policy: str | None = None,
    options: RunOptions = FAST,
    *,
    watch: Watch | None = None,
    passage: Passage | None = None,
) -> RunResult:
    """One run, whose calls are made one after the other."""
    with one_after_the_other():
        client = cluster.client(passage=passage)
        loaded = load_policy(policy or taint_policy(), REGISTRY)
        return run_with(client, loaded, options, watch or watch_of(cluster, 600.0), now=cluster.clock.now())


def evicted(cluster: LivingCluster) -> list[str]:
    """The apps of the pods whose eviction was asked for, in order."""
    return [call.request.path.split("/")[-2].partition("-")[0] for call in cluster.api.sent("POST", "/eviction")]


def writes(cluster: LivingCluster) -> set[str]:
    """The kinds of what the run has written: the last plural in the path."""
    calls = [call for verb in ("POST", "PUT", "PATCH", "DELETE") for call in cluster.api.sent(verb)]
    kinds = ("eviction", "leases", "configmaps", "events", "podmigrationjobs", "reservations", "nodes")
    return {next(kind for kind in kinds if kind in call.request.path) for call in calls}
