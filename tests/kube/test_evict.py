from __future__ import annotations

from pathlib import Path

import pytest

from descheduler.kube.answers import StatusCause
from descheduler.kube.client import KubeClient, connect
from descheduler.kube.evict import EvictionClient, EvictionResponse, PodState
from tests.integration.fake_api import FakeApi
from tests.integration.faults import (
    Answer,
    Drop,
    EvictThenDrop,
    budget_refusal,
    budget_unobserved,
    failure,
    several_budgets,
)

CART = "/api/v1/namespaces/shop/pods/cart"


def evict(client: KubeClient, *, uid: str = "uid-cart", grace_period_seconds: int | None = None) -> EvictionResponse:
    response = EvictionClient(client).evict(
        "shop",
        "cart",
        uid=uid,
        grace_period_seconds=grace_period_seconds,
        annotations_reason="triggered by p/PodLifeTime: ",
    )
    assert response is not None
    return response


def test_nothing_is_sent_once_the_run_is_over(fake_api: FakeApi, client: KubeClient) -> None:
    response = EvictionClient(client).evict(
        "shop", "cart", uid="uid-cart", grace_period_seconds=None, annotations_reason="", may_send=lambda: False
    )

    assert response is None
    assert fake_api.sent("POST") == []


def test_eviction_is_sent_as_documented_plus_the_uid(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")

    response = evict(client)

    assert response.status_code == 201
    assert fake_api.pods() == []
    assert [(request.path, request.body) for request in fake_api.sent("POST")] == [
        (
            f"{CART}/eviction",
            {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {
                    "name": "cart",
                    "namespace": "shop",
                    "annotations": {
                        "reason": "triggered by p/PodLifeTime: ",
                        "requested-by": "sigs.k8s.io/descheduler",
                    },
                },
                "deleteOptions": {"preconditions": {"uid": "uid-cart"}},
            },
        )
    ]


@pytest.mark.parametrize("seconds", [0, 45])
def test_grace_period_is_sent_when_it_is_set_even_to_zero(fake_api: FakeApi, client: KubeClient, seconds: int) -> None:
    fake_api.add_pod("cart")

    evict(client, grace_period_seconds=seconds)

    assert fake_api.sent("POST")[0].body["deleteOptions"]["gracePeriodSeconds"] == seconds


def test_successor_with_the_same_name_is_never_evicted(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart", uid="uid-successor")

    response = evict(client, uid="uid-cart")

    assert response.status_code == 409
    assert fake_api.pods() == ["cart"]


def test_budget_refusal_carries_its_cause(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", budget_refusal("shop/cart"))

    response = evict(client)

    assert response == EvictionResponse(
        status_code=429,
        reason="TooManyRequests",
        message="Cannot evict pod as it would violate the pod's disruption budget.",
        causes=(
            StatusCause("DisruptionBudget", "The disruption budget shop/cart needs 3 healthy pods and has 3 currently"),
        ),
    )


def test_wait_that_the_server_asks_for_is_told_and_not_taken(
    fake_api: FakeApi, client: KubeClient, naps: list[float]
) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", budget_unobserved("shop/cart", 10))

    response = evict(client)

    assert response.retry_after_seconds == 10.0
    assert naps == []
    assert len(fake_api.sent("POST")) == 1


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(201, b"<html>created</html>"), id="a page of a proxy"),
        pytest.param(Answer(201, {"kind": "Status", "status": "Failure"}), id="a Status that refuses"),
        pytest.param(Answer(200, {}), id="anything"),
    ],
)
def test_success_that_the_api_server_does_not_confirm_is_told_apart(
    fake_api: FakeApi, client: KubeClient, answer: Answer
) -> None:
    fake_api.on_eviction("cart", answer)

    assert not evict(client).is_told


@pytest.mark.parametrize("status_code", [403, 404, 409, 429, 500, 503])
def test_answer_is_told_as_it_came_and_nobody_looks(fake_api: FakeApi, client: KubeClient, status_code: int) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", failure(status_code, "Reason", "text"))

    response = evict(client)

    assert response == EvictionResponse(status_code, "Reason", "text")
    assert fake_api.sent("GET") == []


def test_answer_that_is_not_of_the_api_server_is_told_apart(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", Answer(404, b"<html>no such page</html>"))

    response = evict(client)

    assert (response.status_code, response.is_told) == (404, False)


def test_call_turned_away_by_priority_and_fairness_is_known_by_its_header(
    fake_api: FakeApi, client: KubeClient
) -> None:
    header = {"Retry-After": "1", "X-Kubernetes-PF-FlowSchema-UID": "a"}
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", Answer(429, b"Too many requests, please try again later.", header))

    response = evict(client)

    assert (response.is_unread, response.is_told, response.retry_after_seconds) == (True, False, 1.0)


def test_server_is_told_how_long_it_may_work_on_a_call(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")

    EvictionClient(client, timeout_seconds=2.5).evict(
        "shop", "cart", uid="uid-cart", grace_period_seconds=None, annotations_reason=""
    )

    assert [request.query for request in fake_api.sent("POST")] == [{"timeout": "2.500s"}]


def test_several_budgets_are_named_by_the_message(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", several_budgets())

    assert "more than one PodDisruptionBudget" in evict(client).message


def test_lost_answer_is_told_with_what_happened_to_it(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", EvictThenDrop())

    response = evict(client)

    assert (response.status_code, response.was_sent) == (0, True)
    assert "closed before the answer was complete" in response.message
    assert len(fake_api.sent("POST")) == 1


def look(client: KubeClient, *, uid: str = "uid-cart") -> PodState:
    return EvictionClient(client).look("shop", "cart", uid=uid)


def test_look_finds_a_pod_that_is_gone(client: KubeClient) -> None:
    assert look(client) is PodState.GONE


def test_look_finds_a_pod_that_stays(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")

    assert look(client) is PodState.PRESENT


def test_look_finds_a_pod_that_is_terminating(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")["metadata"]["deletionTimestamp"] = "2026-01-15T12:00:00Z"

    assert look(client) is PodState.TERMINATING


def test_look_finds_a_successor_of_the_same_name(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart", uid="uid-successor")

    assert look(client) is PodState.REPLACED


OTHER_POD = {"kind": "Pod", "metadata": {"name": "desk", "namespace": "shop", "uid": "uid-desk"}}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Drop(), id="no answer"),
        pytest.param(failure(403, "Forbidden", "no"), id="no right to read pods"),
        pytest.param(failure(503, "ServiceUnavailable", "down"), id="a server that is down"),
        pytest.param(Answer(404, b"<html>no such page</html>"), id="404 of a proxy"),
        pytest.param(Answer(404, {"reason": "NotFound"}), id="404 of a proxy that writes JSON"),
        pytest.param(failure(404, "Other", "no such route"), id="404 for another reason"),
        pytest.param(Answer(200, {"kind": "Status", "metadata": {}, "status": "Failure"}), id="a Status with 200"),
        pytest.param(Answer(200, OTHER_POD), id="another pod"),
        pytest.param(Answer(200, {**OTHER_POD, "kind": "PodMetrics"}), id="another kind"),
        pytest.param(Answer(200, {"kind": "Pod", "metadata": {"name": "cart", "namespace": "shop"}}), id="no uid"),
        pytest.param(Answer(200, b"[" * 100_000), id="nesting without end"),
        pytest.param(Answer(206, {"kind": "Pod", "metadata": {}}), id="part of an answer"),
    ],
)
def test_look_that_is_not_answered_with_the_pod_says_nothing(
    fake_api: FakeApi, client: KubeClient, fault: Drop | Answer
) -> None:
    fake_api.add_pod("cart")
    fake_api.fail_always("GET", CART, fault)

    assert look(client) is PodState.UNKNOWN


def test_eviction_that_was_never_sent_is_told_from_one_without_answer(fake_api: FakeApi, tmp_path: Path) -> None:
    file = fake_api.write_kubeconfig(tmp_path / "config")
    file.write_text(file.read_text().replace(fake_api.url, "http://127.0.0.1:1"))

    response = evict(connect(str(file)))

    assert not response.was_sent
    assert response.message.endswith("no connection (Connection refused)")


@pytest.mark.parametrize("state", list(PodState))
def test_pod_that_is_not_there_or_going_is_leaving(state: PodState) -> None:
    assert state.is_leaving == (state.name in {"TERMINATING", "GONE", "REPLACED"})


POD_AFTER = {"kind": "Pod", "metadata": {"name": "cart", "namespace": "shop", "uid": "uid-cart"}}


@pytest.mark.own_calls
@pytest.mark.parametrize(
    ("answer", "is_told"),
    [
        pytest.param(Answer(200, POD_AFTER), True, id="the pod as it is then"),
        pytest.param(Answer(200, {**POD_AFTER, "kind": "Scale"}), True, id="a scale as it is then"),
        pytest.param(Answer(200, {"kind": "Status", "metadata": {}, "status": "Success"}), True, id="a Status"),
        pytest.param(Answer(200, {**POD_AFTER, "kind": "PodList"}), False, id="another object"),
        pytest.param(Answer(200, b"<html>fine</html>"), False, id="a page for people"),
        pytest.param(failure(422, "Invalid", "no"), True, id="a refusal"),
        pytest.param(Answer(422, b"<html>no</html>"), False, id="a refusal of a proxy"),
    ],
)
def test_change_is_confirmed_by_the_object_as_it_is_then(
    fake_api: FakeApi, client: KubeClient, answer: Answer, is_told: bool
) -> None:
    fake_api.fail_always("PATCH", CART, answer)
    fake_api.fail_always("DELETE", CART, answer)
    calls = EvictionClient(client)

    annotated = calls.annotate("shop", "cart", {"a": "b"}, uid="uid-cart")
    deleted = calls.delete("shop", "cart", uid="uid-cart", grace_period_seconds=None)

    assert annotated is not None
    assert deleted is not None
    assert (annotated.is_told, deleted.is_told) == (is_told, is_told)
    assert (annotated.message == "") == (answer.status_code == 200)


@pytest.mark.own_calls
@pytest.mark.parametrize("manager", ["", "me"])
def test_change_of_annotations_says_who_has_set_them(fake_api: FakeApi, client: KubeClient, manager: str) -> None:
    fake_api.fail_next("PATCH", CART, Answer(200, POD_AFTER))

    EvictionClient(client).annotate("shop", "cart", {"a": "b"}, uid="uid-cart", manager=manager)

    (request,) = fake_api.sent("PATCH", CART)
    assert request.query.get("fieldManager", "") == manager
    assert request.body == {"metadata": {"uid": "uid-cart", "annotations": {"a": "b"}}}
