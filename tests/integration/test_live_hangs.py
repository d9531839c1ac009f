"""A run ends in time whatever it hangs in, has evicted nothing then, and gives its Lease back."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cycle.deciding import decide as decide_module
from descheduler.cycle.deciding.decide import decide
from descheduler.kube.client import KubeClient
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.plan.decisions import Decisions
from descheduler.plan.outcome import OutcomeCode
from descheduler.supervision import RunStopped
from tests.cluster.messages.writer import proto_object
from tests.integration.credential_plugins import wait_until
from tests.integration.fake_api import FakeApi, Request
from tests.integration.fake_leases import LEASES
from tests.integration.faults import Answer, Drip, Fault, RawAnswer, Silence, budget_refusal
from tests.integration.live_runs import (
    FAST,
    balancing,
    codes,
    crowded_cluster,
    eviction_requests,
    run,
    serve,
    taint_policy,
)
from tests.migration.stand_ins import Clock

LEASE = f"{LEASES}/descheduler-p"
LEASED = replace(FAST, lease=LeaseOptions())
LONG_SECONDS = 20
"""What a run that hangs would take at the very least; no run here may come near."""

RunHurried = Callable[..., str]


class HeldClock(Clock):
    """A clock that stands until `go`: on a busy machine too, a run gets as far as where it is to hang."""

    def __init__(self) -> None:
        super().__init__()
        self._went_at: float | None = None

    def go(self) -> None:
        """Lets time pass from now on."""
        if self._went_at is None:
            self._went_at = time.monotonic()

    def go_at(self, api: FakeApi, method: str, path: str) -> None:
        """Lets time pass from when such a request comes."""
        before = api.on_request

        def note(request: Request) -> None:
            before(request)
            if (request.method, request.path) == (method, path):
                self.go()

        api.on_request = note

    def now(self) -> float:
        """The time in seconds."""
        return 0.0 if self._went_at is None else time.monotonic() - self._went_at

    def sleep(self, seconds: float) -> None:
        """Waits."""
        time.sleep(seconds)


@pytest.fixture
def clock() -> HeldClock:
    """The clock of the run."""
    return HeldClock()


@pytest.fixture
def run_hurried(fake_api: FakeApi, client: KubeClient, clock: HeldClock) -> RunHurried:
    """A run with half a second from a request on, if named: why it was stopped. It evicts nothing."""
    serve(fake_api, *crowded_cluster("p1", "p2"))

    def run_now(method: str = "", path: str = "", policy: str = "") -> str:
        clock.go_at(fake_api, method, path)
        began = time.monotonic()
        with pytest.raises(RunStopped) as raised:
            run(client, policy or taint_policy(), options=LEASED, clock=clock, deadline_seconds=0.5)
        assert time.monotonic() - began < LONG_SECONDS
        assert eviction_requests(fake_api) == []
        return str(raised.value)

    return run_now


def is_free(fake_api: FakeApi) -> bool:
    """Whether the run gives the Lease back in time: on a busy machine it may end before the API server has answered."""
    return wait_until(lambda: "holderIdentity" not in fake_api.leases.spec("descheduler-p"))


@pytest.mark.long
@pytest.mark.parametrize("fault", [Silence(), Drip()], ids=["never answers", "answers a byte at a time"])
@pytest.mark.parametrize(
    ("path", "doing"),
    [
        ("/version", "asking the API server for its version and groups"),
        ("/apis", "asking the API server for its version and groups"),
        ("/api/v1/nodes", "reading nodes"),
        ("/api/v1/pods", "reading pods"),
    ],
)
def test_run_ends_at_its_deadline_while_the_server(
    fake_api: FakeApi, run_hurried: RunHurried, path: str, doing: str, fault: Fault
) -> None:
    fake_api.fail_always("GET", path, fault)

    why = run_hurried("GET", path)

    assert why == f"stopped by --deadline 0.5s while {doing}; nothing was evicted"
    assert is_free(fake_api)


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "path"),
    [
        pytest.param("GET", LEASE, id="is asked for the Lease"),
        pytest.param("POST", LEASES, id="has created the Lease"),
    ],
)
def test_run_ends_at_its_deadline_when_the_server_falls_silent_as_it(
    fake_api: FakeApi, run_hurried: RunHurried, method: str, path: str
) -> None:
    fake_api.fail_next(method, path, Silence())

    why = run_hurried(method, path)

    assert why == "stopped by --deadline 0.5s while taking the Lease; nothing was evicted"
    assert ("kube-system", "descheduler-p") not in fake_api.leases.objects or is_free(fake_api)


def test_run_ends_at_its_deadline_in_a_list_without_an_end(fake_api: FakeApi, run_hurried: RunHurried) -> None:
    """Every page holds another pod, so that nothing but the time tells that there is no end."""

    def add_page(request: Request) -> None:
        name = f"p{len(fake_api.requests)}"
        pod = {"metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}"}, "spec": {}, "status": {}}
        metadata = {"resourceVersion": "1", "continue": name}
        page = {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": [pod]}
        fake_api.fail_always("GET", "/api/v1/pods", Answer(200, page))

    fake_api.on_request = add_page

    assert run_hurried("GET", "/api/v1/pods") == "stopped by --deadline 0.5s while reading pods; nothing was evicted"
    num_asked = len(fake_api.sent("GET", "/api/v1/pods"))
    time.sleep(0.2)
    assert len(fake_api.sent("GET", "/api/v1/pods")) <= num_asked + 2


@pytest.mark.parametrize("form", ["protobuf", "json"])
def test_run_ends_at_its_deadline_in_an_answer_without_an_end(
    fake_api: FakeApi, run_hurried: RunHurried, form: str
) -> None:
    """Every object is another pod, and nothing but the time tells that there is no end."""
    is_over = threading.Event()

    def endless() -> Iterator[bytes]:
        try:
            yield from endless_start(form)
            for number in count():
                yield b"".join(endless_pod(form, f"p{number}-{index}") for index in range(50))
        finally:
            is_over.set()

    fake_api.speaks_protobuf = form == "protobuf"
    fake_api.fail_always("GET", "/api/v1/pods", RawAnswer(endless))

    assert run_hurried("GET", "/api/v1/pods") == "stopped by --deadline 0.5s while reading pods; nothing was evicted"
    assert is_over.wait(LONG_SECONDS)


def endless_start(form: str) -> list[bytes]:
    if form == "json":
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
        return [head, b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[']
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.kubernetes.protobuf\r\n\r\n"
    return [head, b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList\x12\xff\xff\xff\xff\xff\x0f\x0a\x00"]


def endless_pod(form: str, name: str) -> bytes:
    pod = {"metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}"}, "spec": {}, "status": {}}
    if form == "json":
        return json.dumps(pod).encode() + b","
    message = proto_object("Pod", pod)
    return b"\x12" + bytes([len(message)]) + message


def test_run_ends_at_its_deadline_while_prometheus_is_silent(fake_api: FakeApi, run_hurried: RunHurried) -> None:
    args = "{thresholds: {MetricResource: 20}, targetThresholds: {MetricResource: 50}, "
    args += "metricsUtilization: {source: Prometheus, prometheus: {query: load}}}"
    fake_api.fail_always("POST", "/api/v1/query", Silence())

    why = run_hurried(
        "POST",
        "/api/v1/query",
        balancing(args, f"metricsProviders: [{{source: Prometheus, prometheus: {{url: {fake_api.url}}}}}]"),
    )

    assert why == "stopped by --deadline 0.5s while asking Prometheus for node usage; nothing was evicted"
    assert is_free(fake_api)


def test_run_ends_at_its_deadline_in_a_decision_that_takes_too_long(
    fake_api: FakeApi, run_hurried: RunHurried, clock: HeldClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over = threading.Event()

    def decide_slowly(*_arguments: Any, **_options: Any) -> None:
        clock.go()
        compute_until(is_over)

    monkeypatch.setattr(decide_module, "decide", decide_slowly)

    why = run_hurried()
    is_over.set()

    assert why == "stopped by --deadline 0.5s while deciding; nothing was evicted"
    assert is_free(fake_api)


def compute_until(is_over: threading.Event) -> None:
    """Keeps the processor busy without a look at any clock."""
    while not is_over.is_set():
        sum(range(1000))


@pytest.mark.long
def test_second_decision_that_takes_too_long_leaves_the_report_of_the_first(
    fake_api: FakeApi, client: KubeClient, clock: HeldClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))
    fake_api.on_eviction("p1", budget_refusal("b"), namespace="default")
    is_over = threading.Event()
    decided: list[int] = []

    def decide_slowly(*args: Any, **options: Any) -> Decisions:
        if decided:
            clock.go()
            compute_until(is_over)
        decided.append(1)
        return decide(*args, **options)

    monkeypatch.setattr(decide_module, "decide", decide_slowly)
    one_in_total = taint_policy("maxNoOfPodsToEvictTotal: 1")

    result = run(client, one_in_total, options=LEASED, clock=clock, deadline_seconds=1.5)
    is_over.set()

    assert codes(result) == {"p1": OutcomeCode.BUDGET}
    assert result.guard == "--deadline 1.5s"
    assert is_free(fake_api)


@pytest.mark.long
def test_lease_outlasts_an_eviction_that_may_still_take_effect(
    fake_api: FakeApi, client: KubeClient, clock: HeldClock
) -> None:
    serve(fake_api, *crowded_cluster("p1"))
    eviction = "/api/v1/namespaces/default/pods/p1/eviction"
    fake_api.fail_always("POST", eviction, Silence())
    clock.go_at(fake_api, "POST", eviction)
    began = time.monotonic()

    result = run(client, taint_policy(), options=LEASED, clock=clock, deadline_seconds=1.0)

    assert codes(result) == {"p1": OutcomeCode.OUTCOME_UNKNOWN}
    assert result.guard == "--deadline 1s"
    assert time.monotonic() - began < LONG_SECONDS
    effect_seconds = client.request_timeout_seconds + 10
    assert wait_until(lambda: fake_api.leases.spec("descheduler-p")["leaseDurationSeconds"] == effect_seconds)
    assert fake_api.leases.spec("descheduler-p")["holderIdentity"]
