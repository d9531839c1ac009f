"""`--observe`: where replacements of plain evictions are ready after the run, which changes nothing else."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from descheduler.cycle.options import RunResult
from descheduler.kube.client import KubeClient
from descheduler.report.outcome.predictions import make_predictions
from tests.builders import node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.faults import failure
from tests.integration.live_runs import FAST, TAINTED, run, serve, taint_policy
from tests.migration.stand_ins import Clock

OBSERVING = replace(FAST, observe_seconds=120.0)
NAMESPACED = "/api/v1/namespaces/default/pods"
OWNER = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": {"name": "web", "namespace": "default", "uid": "replicaset-web"},
    "spec": {"replicas": 2},
}


@pytest.fixture(autouse=True)
def crowded(fake_api: FakeApi) -> None:
    """Two pods on a tainted node, and one other node with more room than the second."""
    pods = [pod_object(name, node="tainted", cpu="500m") for name in ("one", "two")]
    serve(fake_api, OWNER, TAINTED, node_object("large", cpu="16"), node_object("small", cpu="1"), *pods)
    fake_api.objects[NAMESPACED] = []


class Arrivals:
    """A clock on which replacements come: name of the pod → (seconds, node)."""

    def __init__(self, fake_api: FakeApi, pods: Mapping[str, tuple[float, str]]) -> None:
        self.clock = Clock()
        self.clock.on_sleep = self._arrive
        self._fake_api, self._pods = fake_api, dict(pods)

    def _arrive(self) -> None:
        for name, (seconds, node) in list(self._pods.items()):
            if self.clock.seconds >= seconds:
                del self._pods[name]
                new = pod_object(name, node=node, uid=f"new-{name}", age=-60)
                self._fake_api.add(NAMESPACED, new)


def landed(result: RunResult) -> dict[str, str]:
    return {outcome.eviction.name: outcome.landed_on for outcome in result.outcomes}


def looks(fake_api: FakeApi) -> int:
    return len([request for request in fake_api.sent("GET", "/pods") if request.path == NAMESPACED])


def test_replacements_are_compared_with_the_prediction(fake_api: FakeApi, client: KubeClient) -> None:
    arrivals = Arrivals(fake_api, {"web-1": (8, "large"), "web-2": (40, "small")})

    result = run(client, taint_policy(), options=OBSERVING, clock=arrivals.clock)

    found = make_predictions(result.outcomes)
    assert sorted(landed(result).values()) == ["large", "small"]
    assert (found.as_predicted, found.elsewhere, found.not_seen) == (1, 1, 0)
    assert arrivals.clock.seconds < 120


def test_replacements_that_do_not_come_are_waited_for_no_longer(fake_api: FakeApi, client: KubeClient) -> None:
    arrivals = Arrivals(fake_api, {"web-1": (500, "large")})

    result = run(client, taint_policy(), options=OBSERVING, clock=arrivals.clock)

    assert set(landed(result).values()) == {""}
    assert arrivals.clock.seconds == pytest.approx(120, abs=1)
    assert looks(fake_api) < 10


def test_run_without_the_flag_looks_for_nothing(fake_api: FakeApi, client: KubeClient) -> None:
    arrivals = Arrivals(fake_api, {"web-1": (0, "large")})

    result = run(client, taint_policy(), clock=arrivals.clock)

    assert set(landed(result).values()) == {""}
    assert looks(fake_api) == 0


def test_signal_ends_the_wait_at_once_and_stops_nothing_else(fake_api: FakeApi, client: KubeClient) -> None:
    """All evictions are made, so that the run has ended as it would have without the wait."""
    stop, clock = threading.Event(), Clock()
    clock.on_sleep = lambda: stop.set() if clock.seconds >= 5 else None

    result = run(client, taint_policy(), options=OBSERVING, clock=clock, stop=stop)

    assert (result.guard, result.signal_number) == ("", None)
    assert clock.seconds < 10
    assert {outcome.kind.value for outcome in result.outcomes} == {"evicted"}


def test_signal_during_the_wait_leaves_the_end_of_a_run_with_refusals_alone(
    fake_api: FakeApi, client: KubeClient
) -> None:
    fake_api.on_eviction("one", failure(403, "Forbidden", "no"), namespace="default")
    stop, clock = threading.Event(), Clock()
    clock.on_sleep = lambda: stop.set() if clock.seconds >= 5 else None

    result = run(client, taint_policy(), options=OBSERVING, clock=clock, stop=stop)

    assert (result.guard, result.signal_number) == ("", None)


def test_pods_that_cannot_be_listed_are_said_and_change_no_result(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_always("GET", NAMESPACED, failure(403, "Forbidden", "no"))

    result = run(client, taint_policy(), options=OBSERVING)

    assert {outcome.code.value for outcome in result.outcomes} == {"done"}
    assert any("where replacement pods are ready is not known" in note for note in result.decisions.notes)


def test_nothing_is_written_while_it_looks(fake_api: FakeApi, client: KubeClient) -> None:
    run(client, taint_policy())
    without = len([request for request in fake_api.requests if request.method != "GET"])
    fake_api.requests.clear()
    serve(fake_api, *(pod_object(name, node="tainted", cpu="500m") for name in ("three", "four")))

    run(client, taint_policy(), options=OBSERVING)

    assert len([request for request in fake_api.requests if request.method != "GET"]) == without
