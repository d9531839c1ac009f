"""A live run whose limit stops a plugin evicts first, then looks at what else matches, and loses nothing by that."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from descheduler.cycle.options import RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.run import run_with
from descheduler.kube.client import KubeClient
from descheduler.plan.outcome import OutcomeCode
from descheduler.plan.staying import staying_pods
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import Registry
from descheduler.supervision import Watch
from tests.builders import NOW
from tests.integration.fake_api import FakeApi, Request
from tests.integration.faults import budget_refusal
from tests.integration.live_runs import FAST, codes, crowded_cluster, eviction_requests, run, serve, taint_policy
from tests.migration.stand_ins import Clock

ONE = "maxNoOfPodsToEvictTotal: 1"


def blocks(result: RunResult) -> dict[str, str]:
    return {each.pod.name: each.first.verdict.code for each in staying_pods(result.decisions)}


def run_noticing(client: KubeClient, notice: Callable[[], None]) -> RunResult:
    """One run that calls `notice` whenever its plugin is made, once for each time it decides."""
    name = "RemovePodsViolatingNodeTaints"
    make = REGISTRY[name].factory

    def noticed(args: Any, handle: Any) -> object:
        notice()
        return make(args, handle)

    noticed.__module__ = make.__module__  # as a plugin of this program, whose faults are not contained
    registry: Registry = {**REGISTRY, name: replace(REGISTRY[name], factory=noticed)}
    clock = Clock()
    watch = Watch(clock=clock.now, sleep=clock.sleep)
    return run_with(client, load_policy(taint_policy(ONE), REGISTRY), FAST, watch, now=NOW, registry=registry)


def test_pods_above_the_limit_are_told_with_it(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))

    result = run(client, taint_policy(ONE))

    assert codes(result) == {"p1": OutcomeCode.DONE}
    assert blocks(result) == {"p2": "LimitReached", "p3": "LimitReached"}


def test_what_a_round_has_learnt_holds_beyond_the_limit_as_well(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))
    fake_api.on_eviction("p1", budget_refusal("b"), namespace="default")

    result = run(client, taint_policy(ONE))

    assert codes(result) == {"p1": OutcomeCode.BUDGET, "p2": OutcomeCode.DONE}
    assert blocks(result) == {"p1": "APIRefused", "p3": "LimitReached"}


def test_evictions_do_not_wait_for_it(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))
    num_evictions: list[int] = []

    run_noticing(client, lambda: num_evictions.append(len(eviction_requests(fake_api))))

    assert num_evictions == [0, 1]


def test_a_run_told_to_stop_has_all_it_did_and_says_that_more_may_match(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))
    stop = threading.Event()

    def stop_at_first_eviction(request: Request) -> None:
        if request.path.endswith("/eviction"):
            stop.set()

    fake_api.on_request = stop_at_first_eviction

    result = run(client, taint_policy(ONE), stop=stop)

    assert codes(result) == {"p1": OutcomeCode.DONE}
    assert blocks(result) == {"p2": "LimitReached"}
    assert not result.decisions.beyond.is_whole


def test_a_fault_in_it_leaves_the_outcome_whole(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))

    def fail_after_evictions() -> None:
        if eviction_requests(fake_api):
            raise ZeroDivisionError

    result = run_noticing(client, fail_after_evictions)

    assert codes(result) == {"p1": OutcomeCode.DONE}
    assert not result.decisions.beyond.is_whole
    assert result.decisions.notes == ("could not plan beyond the limits: internal error (ZeroDivisionError)",)
