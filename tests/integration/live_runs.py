"""Live runs against the fake API server: a cluster that serves every kind, policies, and a run without real waits."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from descheduler.cluster.kind import kind_key
from descheduler.cluster.kinds import KINDS
from descheduler.cycle.guards import NOTHING_EVICTED
from descheduler.cycle.options import RunOptions, RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.run import run_with
from descheduler.kube.client import KubeClient
from descheduler.plan.outcome import OutcomeCode
from descheduler.policy.load import load_policy
from descheduler.supervision import Watch
from tests.builders import NOW, Object, node_object, pod_object
from tests.integration.fake_api import FakeApi, Request
from tests.migration.stand_ins import Clock
from tests.policy.builders import upstream

FAST = RunOptions(qps=10_000, burst=10_000)
"""No pace."""

TAINTED = node_object("tainted", taints=["gone=soon:NoSchedule"])


def serve(fake_api: FakeApi, *objects: Object) -> None:
    """Lets the server serve every kind that each cluster has, and `objects` in the lists of their kinds."""
    for kind in KINDS.values():
        if not kind.is_optional:
            fake_api.objects.setdefault(kind.path, [])
    for item in objects:
        fake_api.add(KINDS[kind_key(item["kind"], item["apiVersion"])].path, item)


def crowded_cluster(*names: str, **facts: Any) -> list[Object]:
    """A tainted node with a pod for each name that does not tolerate it, and a free node; `facts` hold for all pods."""
    return [TAINTED, node_object("free"), *(pod_object(name, node="tainted", **facts) for name in names)]


def taint_policy(top: str = "") -> str:
    """A DeschedulerPolicy that runs RemovePodsViolatingNodeTaints; `top` are lines of top-level fields."""
    return upstream(
        "profiles:\n"
        "- name: p\n"
        "  pluginConfig: [{name: RemovePodsViolatingNodeTaints}]\n"
        "  plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}\n"
    ) + (f"{top}\n" if top else "")


def balancing(args: str, top: str = "") -> str:
    """A DeschedulerPolicy that runs LowNodeUtilization with `args` in flow style."""
    return upstream(
        "profiles:\n"
        "- name: p\n"
        f"  pluginConfig: [{{name: LowNodeUtilization, args: {args}}}]\n"
        "  plugins: {balance: {enabled: [LowNodeUtilization]}}\n"
    ) + (f"{top}\n" if top else "")


def budget_object(name: str, labels: Mapping[str, str], *, allowed: int) -> Object:
    """A PodDisruptionBudget in namespace default whose controller has just reported."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default", "generation": 1},
        "spec": {"selector": {"matchLabels": dict(labels)}},
        "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 3, "desiredHealthy": 3},
    }


def run(
    client: KubeClient,
    policy: str,
    *,
    options: RunOptions = FAST,
    stop: threading.Event | None = None,
    clock: Clock | None = None,
    deadline_seconds: float | None = None,
    now: datetime = NOW,
) -> RunResult:
    """One run in which waits pass at once."""
    clock = clock or Clock()
    watch = Watch(stop, deadline_seconds=deadline_seconds, promise=NOTHING_EVICTED, clock=clock.now, sleep=clock.sleep)
    return run_with(client, load_policy(policy, REGISTRY), options, watch, now=now)


def codes(result: RunResult) -> dict[str, OutcomeCode]:
    """Pod name → how its eviction ended."""
    return {o.eviction.name: o.code for o in result.outcomes}


def evicted_names(fake_api: FakeApi, objects: Iterable[Object]) -> set[str]:
    """The pods among `objects` that the server has no more."""
    return {item["metadata"]["name"] for item in objects if item["kind"] == "Pod"} - set(fake_api.pods())


def eviction_requests(fake_api: FakeApi) -> list[Request]:
    """The evictions asked for, in order of arrival."""
    return fake_api.sent("POST", "/eviction")


def asked_for(fake_api: FakeApi) -> list[str]:
    """Sorted names of the pods whose eviction was asked for, repetitions included.

    Calls run side by side, so their order of arrival says nothing.
    """
    return sorted(request.path.split("/")[-2] for request in eviction_requests(fake_api))


_LISTS = {kind.path for kind in KINDS.values()}


def listed_paths(fake_api: FakeApi) -> set[str]:
    """The lists that were read."""
    return {request.path for request in fake_api.requests if request.method == "GET" and request.path in _LISTS}
