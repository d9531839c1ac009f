"""Whole runs of the program against a living cluster, one call after the other, on the cluster's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from descheduler.cycle.guards import NOTHING_EVICTED
from descheduler.cycle.options import RunOptions, RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.run import run_with
from descheduler.eviction.checks.scope import EVERYWHERE, Scope
from descheduler.kube.background import BackgroundCalls
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.policy.load import load_policy
from descheduler.supervision import Watch
from descheduler.telemetry.observer import RunObserver
from tests.living.builders import budget, deployment, living_cluster, node, priority_class, stateful_set
from tests.living.cluster import LivingCluster
from tests.living.observing.observer import Observer
from tests.living.observing.promises import Limits
from tests.living.transport import Passage
from tests.policy.builders import koordinator

LEASE_SECONDS = 900
"""Renewals follow real time, in which a whole run takes less than a second."""


@dataclass(frozen=True)
class Way:
    """How a run holds room and where it keeps its jobs."""

    provider: str
    scheduler: str = "default-scheduler"
    has_koordinator: bool = True
    surges: bool = False
    """Whether the workloads have one replica each, and are scaled up while their pod moves."""


WAYS = {
    "reservations": Way("koordinator", scheduler="koord-scheduler"),
    "placeholders": Way("placeholder", has_koordinator=False),
    "directly": Way("none"),
}
SURGES = {
    "surges with placeholders": Way("placeholder", has_koordinator=False, surges=True),
    "surges with reservations": Way("koordinator", scheduler="koord-scheduler", surges=True),
}


def world(way: Way, *, seed: int = 0) -> LivingCluster:
    """Two workloads, one of them with a budget, and pods of both on a node that nobody may be on any more."""
    facts: dict[str, Any] = {"scheduler": way.scheduler, "grace_seconds": 1}
    workloads = [deployment("web", 3, on=["n1", "n1", "n2"], **facts), stateful_set("db", 2, on=["n1", "n3"], **facts)]
    allowed = budget("web", maxUnavailable=1)
    if way.surges:
        workloads = [deployment("web", 1, on=["n1"], **facts), deployment("api", 1, on=["n1"], **facts)]
        allowed = budget("web", minAvailable=1)
    others = [priority_class("descheduler-placeholder", -1_000_000_000), allowed]
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    return living_cluster(nodes, workloads, others, seed=seed, has_koordinator=way.has_koordinator)


def observed(cluster: LivingCluster, *agents: str) -> Observer:
    """An observer that allows one pod of a workload at once."""
    return Observer(cluster, Limits(at_once_per_workload=1), agents=agents or ("us",))


def policy_of(way: Way, **more: str) -> str:
    """A policy that moves pods off tainted nodes by jobs; `more` are further args of MigrationController."""
    args = {"reservationProvider": way.provider, "skipCheckExpectedReplicas": "true", "maxMigratingPerNode": "10"}
    args |= {"maxMigratingPerWorkload": "2", "maxUnavailablePerWorkload": "2", "evictQPS": "100", "evictBurst": "100"}
    args |= {"singleReplicas": "Surge", "skipCheckExpectedReplicas": "false"} if way.surges else {}
    text = ", ".join(f"{name}: {value}" for name, value in (args | more).items())
    return koordinator(
        "profiles:\n"
        "- name: p\n"
        "  pluginConfig:\n"
        "  - name: RemovePodsViolatingNodeTaints\n"
        f"  - {{name: MigrationController, args: {{{text}}}}}\n"
        "  plugins: {deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}}\n"
    )


def live_run(
    cluster: LivingCluster,
    policy: str,
    passage: Passage | None = None,
    *,
    agent: str = "us",
    deadline_seconds: float | None = 600.0,
    watch: Watch | None = None,
    observer: RunObserver | None = None,
    scope: Scope = EVERYWHERE,
) -> RunResult:
    """One run with a Lease, whose calls go through `passage`. Raises what the program's own entry does."""
    watch = watch or watch_of(cluster, deadline_seconds)
    options = RunOptions(lease=LeaseOptions(duration_seconds=LEASE_SECONDS), scope=scope)
    with one_after_the_other():
        client = cluster.client(agent=agent, passage=passage)
        loaded, now = load_policy(policy, REGISTRY), cluster.clock.now()
        return run_with(client, loaded, options, watch, now=now, observer=observer)


def watch_of(cluster: LivingCluster, deadline_seconds: float | None = None) -> Watch:
    """The time of a run, as the cluster has it."""
    clock = cluster.clock
    return Watch(
        deadline_seconds=deadline_seconds,
        promise=NOTHING_EVICTED,
        clock=clock.monotonic,
        now=clock.now,
        sleep=clock.sleep,
    )


@contextmanager
def one_after_the_other() -> Iterator[None]:
    """Has every call in the background made at once instead: the same seed, the same run."""
    with mock.patch.object(BackgroundCalls, "submit", _submit_at_once):
        yield


def _submit_at_once(calls: BackgroundCalls[Any], call: Callable[[], Any]) -> Future[Any]:
    del calls
    future: Future[Any] = Future()
    try:
        future.set_result(call())
    except BaseException as error:  # as a thread of the real one hands it over
        future.set_exception(error)
    return future
