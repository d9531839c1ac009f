"""The faulty server: what it says and what it does are two things, and it knows both."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.faults.answers import Answers
from tests.faults.faults import Act, Delivery, Fault, Form, Lie, Requests
from tests.faults.history import History, Terms
from tests.faults.leases import RIVAL, Leases
from tests.faults.objects import Object, budget, pod
from tests.faults.rules import FaultPlan, Rule
from tests.faults.schedule import draw_schedule
from tests.faults.server import FaultyServer
from tests.faults.state import ClusterState
from tests.faults.timers import Timers

pytestmark = pytest.mark.own_calls

EVICTION = "/api/v1/namespaces/shop/pods/web-0/eviction"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
Ask = Callable[..., tuple[int, Object]]


@contextmanager
def serving(fault: Fault | None = None, *, allowed: int = 5, num_pods: int = 3) -> Iterator[tuple[Ask, History]]:
    """A server whose evictions, lists and looks meet `fault`; how to ask it, and what it knows."""
    history, timers = History(1, Terms()), Timers()
    pods = [pod(f"web-{n}", namespace="shop", node="n1", owner="StatefulSet/web", app="web") for n in range(num_pods)]
    objects = {
        "/api/v1/pods": pods,
        "/apis/policy/v1/poddisruptionbudgets": [budget("web", namespace="shop", allowed=allowed)],
    }
    state, leases = ClusterState(objects, history, timers, grace_seconds=0.0), Leases(history)
    answers = Answers(state, leases, history, page_size=2, secrets={}, usage={})
    rule = Rule((fault,)) if fault else None
    rules = dict.fromkeys((Requests.EVICTION, Requests.LIST), rule) if rule else {}
    with FaultyServer(answers, leases, FaultPlan(1, rules), history, timers) as server:

        def ask(method: str, path: str, body: object = None, *, patience_seconds: float = 10) -> tuple[int, Object]:
            connection = http.client.HTTPConnection(server.clear_address, timeout=patience_seconds)
            try:
                connection.request(method, path, json.dumps(body) if body else None)
                response = connection.getresponse()
                raw = response.read()
                try:
                    return response.status, json.loads(raw)
                except (ValueError, RecursionError):
                    return response.status, {}
            finally:
                connection.close()

        yield ask, history
        timers.finish()


def evict(uid: str = "shop.web-0.0") -> Object:
    """The body of an eviction."""
    return {"deleteOptions": {"preconditions": {"uid": uid}}}


def test_an_eviction_takes_effect_and_its_owner_creates_the_pod_again() -> None:
    with serving() as (ask, history):
        code, _ = ask("POST", EVICTION, evict())
        _, found = ask("GET", EVICTION.removesuffix("/eviction"))

    assert code == 201
    assert [effect.uid for effect in history.effects] == ["shop.web-0.0"]
    assert found["metadata"]["uid"] == "shop.web-0.1"


def test_a_successor_is_not_hit_by_the_uid_of_its_predecessor() -> None:
    with serving() as (ask, history):
        ask("POST", EVICTION, evict())
        code, _ = ask("POST", EVICTION, evict())

    assert code == 409
    assert len(history.effects) == 1


def test_a_budget_that_is_used_up_refuses_with_its_cause() -> None:
    with serving(allowed=0) as (ask, history):
        code, status = ask("POST", EVICTION, evict())

    assert (code, status["details"]["causes"][0]["reason"]) == (429, "DisruptionBudget")
    assert history.effects == []


@pytest.mark.parametrize(
    ("fault", "num_effects"),
    [
        pytest.param(Fault(Act.NEVER, 500), 0, id="an error before the effect"),
        pytest.param(Fault(Act.AT_ONCE, 500), 1, id="an error after the effect"),
        pytest.param(Fault(Act.AT_ONCE, 503, Form.TEXT_WITH_WAIT), 1, id="a proxy's error after the effect"),
    ],
)
def test_an_error_says_nothing_of_the_effect(fault: Fault, num_effects: int) -> None:
    with serving(fault) as (ask, history):
        code, _ = ask("POST", EVICTION, evict())

    assert code == fault.code
    assert len(history.effects) == num_effects


@pytest.mark.parametrize(
    ("delivery", "error"),
    [
        pytest.param(Delivery.RESET, ConnectionResetError, id="reset"),
        pytest.param(Delivery.SILENT, TimeoutError, id="silence"),
        pytest.param(Delivery.TRUNCATED, http.client.IncompleteRead, id="cut"),
        pytest.param(Delivery.LONG_LENGTH, http.client.IncompleteRead, id="Content-Length too large"),
        pytest.param(Delivery.DRIPPING, TimeoutError, id="one byte at a time"),
    ],
)
def test_a_lost_answer_leaves_the_effect(delivery: Delivery, error: type[Exception]) -> None:
    with serving(Fault(Act.AT_ONCE, delivery=delivery)) as (ask, history), pytest.raises(error):
        ask("POST", EVICTION, evict(), patience_seconds=0.2 if error is TimeoutError else 10)

    assert [effect.uid for effect in history.effects] == ["shop.web-0.0"]


def test_a_late_effect_comes_after_the_answer_and_at_its_own_time() -> None:
    with serving(Fault(Act.LATE, 504, late_seconds=30.0)) as (ask, history):
        code, _ = ask("POST", EVICTION, evict())
        before = list(history.effects)

    assert (code, before) == (504, [])
    assert [effect.is_late for effect in history.effects] == [True]
    assert history.effects[0].at > history.requests[0].at + 29


def test_a_request_is_not_carried_out_after_its_own_timeout() -> None:
    with serving(Fault(Act.LATE, 504, late_seconds=30.0)) as (ask, history):
        ask("POST", f"{EVICTION}?timeout=5s", evict())

    assert history.effects == []


def test_a_list_comes_in_pages_and_its_last_page_is_known() -> None:
    with serving() as (ask, history):
        _, first = ask("GET", "/api/v1/pods?limit=500")
        _, last = ask("GET", f"/api/v1/pods?limit=500&continue={first['metadata']['continue']}")

    assert (len(first["items"]), len(last["items"])) == (2, 1)
    assert [request.page.is_last for request in history.requests if request.page] == [False, True]


@pytest.mark.parametrize("lie", list(Lie))
def test_a_lie_is_not_taken_for_a_whole_list(lie: Lie) -> None:
    with serving(Fault(lie=lie)) as (ask, history):
        code, _ = ask("GET", "/api/v1/pods?limit=500")

    assert code in (200, 206)
    assert not history.requests[0].is_whole


def test_a_list_without_end_goes_on() -> None:
    with serving(Fault(lie=Lie.ENDLESS)) as (ask, _):
        token = ""
        for _ in range(3):
            _, page = ask("GET", f"/api/v1/pods?limit=500&continue={token}" if token else "/api/v1/pods?limit=500")
            token = page["metadata"]["continue"]

    assert token


def test_a_lease_goes_to_whoever_saw_its_newest_version_and_a_rival_may_seize_it() -> None:
    history = History(1, Terms())
    leases = Leases(history)
    spec = {"holderIdentity": "us", "leaseDurationSeconds": 60}
    leases.answer("POST", "kube-system", "", {"metadata": {"name": "l"}, "spec": spec})
    old = {"metadata": {"name": "l", "resourceVersion": "1"}, "spec": spec}

    leases.seize()
    answer = leases.answer("PUT", "kube-system", "l", old)

    assert answer.code == 409
    assert [(t.holder, t.is_seized, t.had_expired) for t in history.tenures] == [
        ("us", False, False),
        (RIVAL, True, False),
    ]


def test_a_seed_gives_the_same_schedule_each_time() -> None:
    assert [draw_schedule(seed) for seed in range(30)] == [draw_schedule(seed) for seed in range(30)]


def test_the_fault_of_a_request_does_not_depend_on_the_order_of_others() -> None:
    rule = Rule(tuple(Fault(Act.NEVER, code) for code in (500, 502, 503)), rate=0.5)
    one, other = (FaultPlan(7, {Requests.EVICTION: rule}) for _ in range(2))
    paths = [f"/pods/p{number}/eviction" for number in range(20)]

    forwards = {path: one.fault_for(Requests.EVICTION, path, 0) for path in paths}
    backwards = {path: other.fault_for(Requests.EVICTION, path, 0) for path in reversed(paths)}

    assert forwards == backwards
