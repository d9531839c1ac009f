"""A live run that is told to stop, or out of time, ends in order and says what it left undone."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace

from descheduler.kube.client import KubeClient
from descheduler.plan.outcome import OutcomeCode
from descheduler.supervision import RunStopped
from tests.integration.fake_api import FakeApi, Request
from tests.integration.faults import Drop, budget_refusal, failure
from tests.integration.live_runs import FAST, codes, crowded_cluster, eviction_requests, run, serve, taint_policy
from tests.migration.stand_ins import Clock

ONE_BY_ONE = replace(FAST, qps=1.0, burst=1)


def test_no_eviction_starts_after_the_run_is_told_to_stop(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))
    stop = threading.Event()

    def stop_at_first_eviction(request: Request) -> None:
        if request.path.endswith("/eviction"):
            stop.set()

    fake_api.on_request = stop_at_first_eviction

    result = run(client, taint_policy(), options=ONE_BY_ONE, stop=stop)

    assert codes(result) == {"p1": OutcomeCode.DONE, "p2": OutcomeCode.STOPPED, "p3": OutcomeCode.STOPPED}
    assert len(eviction_requests(fake_api)) == 1
    assert len(fake_api.objects["/apis/events.k8s.io/v1/events"]) == 2


def test_run_told_to_stop_while_it_reads_evicts_nothing(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))
    stop = threading.Event()
    fake_api.on_request = lambda request: stop.set() if request.path == "/api/v1/pods" else None

    with pytest.raises(RunStopped, match=r"^stopped by request while reading pods; nothing was evicted$"):
        run(client, taint_policy(), stop=stop)

    assert eviction_requests(fake_api) == []


def test_run_told_to_stop_looks_for_no_other_pod(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))
    stop = threading.Event()
    fake_api.on_eviction("p1", budget_refusal("b"), namespace="default")
    fake_api.on_request = lambda request: stop.set() if request.method == "POST" else None

    result = run(client, taint_policy("maxNoOfPodsToEvictTotal: 1"), stop=stop)

    assert codes(result) == {"p1": OutcomeCode.BUDGET}


def test_pod_that_waits_to_be_asked_again_keeps_its_answer_when_the_run_stops(
    fake_api: FakeApi, client: KubeClient
) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    stop = threading.Event()
    busy = failure(429, "TooManyRequests", "too many requests", retry_after_seconds=30)
    fake_api.on_eviction("p1", busy, busy, namespace="default")
    fake_api.on_request = lambda request: stop.set() if request.method == "POST" else None

    result = run(client, taint_policy(), stop=stop)

    assert codes(result) == {"p1": OutcomeCode.THROTTLED}
    assert len(eviction_requests(fake_api)) == 1


def test_no_eviction_starts_after_the_deadline(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3", "p4"))
    clock = Clock()

    result = run(client, taint_policy(), options=ONE_BY_ONE, clock=clock, deadline_seconds=1.5)

    assert codes(result) == {
        "p1": OutcomeCode.DONE,
        "p2": OutcomeCode.DONE,
        "p3": OutcomeCode.DEADLINE,
        "p4": OutcomeCode.DEADLINE,
    }
    assert len(eviction_requests(fake_api)) == 2


def test_no_other_pod_is_looked_for_after_the_deadline(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3", "p4"))
    fake_api.on_eviction("p1", budget_refusal("b"), namespace="default")

    result = run(client, taint_policy("maxNoOfPodsToEvictTotal: 2"), options=ONE_BY_ONE, deadline_seconds=0.5)

    assert codes(result) == {"p1": OutcomeCode.BUDGET, "p2": OutcomeCode.DEADLINE}
    booked = [booked.pod.name for booked in result.decisions.moves]
    assert booked == ["p1", "p2"]


def test_api_server_that_goes_away_in_mid_run_leaves_a_report(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))
    pod = "/api/v1/namespaces/default/pods/p2"
    for method, path in (
        ("POST", f"{pod}/eviction"),
        ("GET", pod),
        ("POST", "/apis/events.k8s.io/v1/namespaces/default/events"),
    ):
        fake_api.fail_always(method, path, Drop())

    result = run(client, taint_policy())

    assert codes(result) == {"p1": OutcomeCode.DONE, "p2": OutcomeCode.OUTCOME_UNKNOWN}
    (note,) = result.decisions.notes
    assert note.startswith("2 of 2 events could not be written: ")
