from __future__ import annotations

from pathlib import Path

import pytest

from descheduler.kube.client import KubeClient, connect
from descheduler.kube.evict import EvictionClient, EvictionResponse, PodState
from descheduler.kube.status import StatusCause
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Drop, EvictThenDrop, budget_refusal, budget_unobserved, failure, several_budgets

CART = "/api/v1/namespaces/shop/pods/cart"


def evict(
    client: KubeClient, *, uid: str = "uid-cart", grace_period_seconds: int | None = None, dry_run: bool = False
) -> EvictionResponse:
    return EvictionClient(client).evict(
        "shop",
        "cart",
        uid=uid,
        grace_period_seconds=grace_period_seconds,
        annotations_reason="triggered by p/PodLifeTime: ",
        dry_run=dry_run,
    )


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


def test_dry_run_leaves_the_pod(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")

    response = evict(client, dry_run=True)

    assert response.status_code == 201
    assert fake_api.pods() == ["cart"]


def test_successor_with_the_same_name_is_never_evicted(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart", uid="uid-successor")

    response = evict(client, uid="uid-cart")

    assert (response.status_code, response.pod_state) == (409, PodState.REPLACED)
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


@pytest.mark.parametrize("status_code", [403, 404, 429, 500, 503])
def test_clear_answer_needs_no_second_look(fake_api: FakeApi, client: KubeClient, status_code: int) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", failure(status_code, "Reason", "text"))

    response = evict(client)

    assert response == EvictionResponse(status_code, "Reason", "text")
    assert fake_api.sent("GET") == []


def test_several_budgets_are_named_by_the_message(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", several_budgets())

    assert "more than one PodDisruptionBudget" in evict(client).message


def test_lost_answer_of_a_done_eviction_is_found_out(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", EvictThenDrop())

    response = evict(client)

    assert (response.status_code, response.pod_state) == (0, PodState.GONE)
    assert len(fake_api.sent("POST")) == 1


def test_lost_answer_of_a_pod_that_is_terminating_is_found_out(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.terminate_only = True
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", EvictThenDrop())

    assert evict(client).pod_state is PodState.TERMINATING


def test_lost_answer_of_an_eviction_that_was_not_done_is_found_out(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", Drop())

    response = evict(client)

    assert response.pod_state is PodState.PRESENT
    assert "closed before the answer was complete" in response.message


def test_server_timeout_leads_to_a_second_look(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", failure(504, "Timeout", "request did not complete"))

    response = evict(client)

    assert (response.status_code, response.pod_state) == (504, PodState.PRESENT)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Drop(), id="the pod cannot be reached"),
        pytest.param(failure(403, "Forbidden", "no"), id="the pod may not be read"),
    ],
)
def test_second_look_that_fails_leaves_the_outcome_unknown(fake_api: FakeApi, client: KubeClient, fault: Drop) -> None:
    fake_api.add_pod("cart")
    fake_api.on_eviction("cart", Drop())
    fake_api.fail_always("GET", CART, fault)

    assert evict(client).pod_state is PodState.UNKNOWN


def test_eviction_that_was_never_sent_is_told_from_one_without_answer(fake_api: FakeApi, tmp_path: Path) -> None:
    file = fake_api.write_kubeconfig(tmp_path / "config")
    file.write_text(file.read_text().replace(fake_api.url, "http://127.0.0.1:1"))

    response = evict(connect(str(file)))

    assert response.pod_state is PodState.UNTOUCHED
    assert response.message.endswith("no connection (Connection refused)")
