"""A run stops by itself when the cluster gets worse or the API server fails, gives back what it holds, and says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from descheduler.cycle.options import RunResult
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.faults.faults import Act, Fault
from tests.living.api.server import Call
from tests.living.builders import deployment, living_cluster, node, pod, priority_class
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay
from tests.living.observing.observer import Observer
from tests.migration.roads.whole_runs import WAYS, Way, live_run, policy_of, watch_of

NO_JOBS = Way("none", has_koordinator=False)
"""Evictions are carried out without jobs."""
ALL_WAYS = {**WAYS, "without jobs": NO_JOBS}


def moving(way: Way) -> LivingCluster:
    """Five pods of as many workloads have to leave a node."""
    apps = [deployment(f"app{n}", 1, on=["n1"], scheduler=way.scheduler, grace_seconds=1) for n in range(5)]
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    others = [priority_class("descheduler-placeholder", -1_000_000_000)]
    return living_cluster(nodes, apps, others, has_koordinator=way.has_koordinator, ready_seconds=5.0)


def guarded(way: Way, guards: str) -> str:
    return policy_of(way, guards=guards, evictQPS="0.5", evictBurst="1")


def disturbed(cluster: LivingCluster, policy: str, deed: Callable[[], Any], *, after_seconds: float) -> RunResult:
    """A run during which something happens."""
    cluster.clock.after(after_seconds, deed)
    return live_run(cluster, policy)


def test_nothing_trips_where_all_is_well() -> None:
    cluster = moving(WAYS["directly"])
    result = live_run(cluster, guarded(WAYS["directly"], "{interval: 1s}"))
    assert result.guard == ""
    assert {outcome.code for outcome in result.outcomes} == {OutcomeCode.DONE}


@pytest.mark.parametrize("name", ALL_WAYS)
def test_pods_that_find_no_node_stop_the_run(name: str) -> None:
    way = ALL_WAYS[name]
    cluster = moving(way)
    observer = Observer(cluster)

    def crowd() -> None:
        for number in range(5):
            cluster.add(pod(f"stuck-{number}", cpu="64"))

    policy = guarded(way, "{interval: 1s, maxPendingPodsIncrease: 3}")
    result = disturbed(cluster, policy, crowd, after_seconds=4)
    text = "5 unschedulable pods, 0 before the first eviction (guards.maxPendingPodsIncrease: 3)"
    assert_stopped(result, observer, text)


@pytest.mark.parametrize(("most", "is_stopped"), [("60%", True), ("61%", False)])
def test_pods_that_find_no_node_can_be_a_share_of_the_pods(most: str, is_stopped: bool) -> None:
    """Of the five pods at the start 60% are three, and of ten 61% are six."""
    way = WAYS["directly"]
    cluster = moving(way)
    for number in range(0 if is_stopped else 5):
        cluster.add(pod(f"calm-{number}", cpu="1m", on="n3"))

    def crowd() -> None:
        for number in range(5):
            cluster.add(pod(f"stuck-{number}", cpu="64"))

    policy = guarded(way, f"{{interval: 1s, maxPendingPodsIncrease: {most}}}")
    result = disturbed(cluster, policy, crowd, after_seconds=4)

    said = f"5 unschedulable pods, 0 before the first eviction (guards.maxPendingPodsIncrease: {most})"
    assert result.guard == (said if is_stopped else "")


@pytest.mark.parametrize("name", ALL_WAYS)
def test_nodes_that_fail_stop_the_run(name: str) -> None:
    way = ALL_WAYS[name]
    cluster = moving(way)
    observer = Observer(cluster)

    def fail() -> None:
        cluster.set_ready("n3", is_ready=False)

    result = disturbed(cluster, guarded(way, "{interval: 1s}"), fail, after_seconds=4)
    assert_stopped(result, observer, "1 of 3 nodes NotReady (guards.maxNotReadyNodes: 20%)")


def assert_stopped(result: RunResult, observer: Observer, why: str) -> None:
    """Some pods had left by then, and the others stay."""
    assert result.guard == why
    codes = [outcome.code for outcome in result.outcomes]
    left_out = [outcome for outcome in result.outcomes if outcome.code is OutcomeCode.GUARD]
    assert 0 < len(left_out) < len(codes)
    assert {outcome.kind for outcome in left_out} == {OutcomeKind.NOT_ATTEMPTED}
    assert len(observer.departures) == len(codes) - len(left_out)
    assert "the next run" in left_out[0].message


def test_an_api_server_that_fails_stops_the_run() -> None:
    cluster = moving(WAYS["directly"])
    began = cluster.clock.monotonic()

    def failing(call: Call) -> AnyFault | None:
        is_time = cluster.clock.monotonic() > began + 4 and "leases" not in call.request.path
        return Fault(Act.NEVER, code=500) if is_time and call.request.method == "GET" else None

    policy = guarded(WAYS["directly"], "{interval: 1s}")
    result = live_run(cluster, policy, FaultyWay(cluster.api, failing))
    assert "errors in the last" in result.guard
    assert "(guards.maxAPIErrorRate: 50%)" in result.guard


@pytest.mark.parametrize("name", WAYS)
def test_a_run_out_of_time_gives_back_what_it_holds(name: str) -> None:
    cluster = moving(WAYS[name])
    observer = Observer(cluster)
    result = live_run(cluster, guarded(WAYS[name], "{}"), deadline_seconds=5.0)
    assert result.guard == "--deadline 5s"
    assert OutcomeCode.DEADLINE in {outcome.code for outcome in result.outcomes}
    live_run(cluster, guarded(WAYS[name], "{}"))
    observer.assert_kept()


@pytest.mark.parametrize("name", WAYS)
def test_a_run_that_loses_its_lease_evicts_nothing_more(name: str) -> None:
    cluster = moving(WAYS[name])
    observer = Observer(cluster)
    watch = watch_of(cluster)
    watch.sleep = lambda seconds: cluster.clock.sleep(max(seconds, 300.0))  # the run is suspended, as by a laptop's lid
    result = live_run(cluster, guarded(WAYS[name], "{}"), watch=watch)
    assert "the loss of its Lease" in result.guard
    num_evicted = len(observer.departures)
    assert num_evicted < 5
    live_run(cluster, guarded(WAYS[name], "{}"))
    observer.assert_kept()
