from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterator, Mapping
from typing import Any, cast

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.errors import KindAbsent, KindForbidden, ListExpired
from descheduler.kube.lists.body import ListPage
from descheduler.kube.lists.listing import doing_of, list_pages
from descheduler.transport.errors import AnswerTooLarge
from tests.integration.fake_api import FakeApi, Request
from tests.integration.faults import Answer, Truncate, failure

PODS = "/api/v1/pods"


def names(pages: Iterator[ListPage]) -> list[str]:
    return [item["metadata"]["name"] for page in pages for item in json.loads(page.body)["items"]]


def add_pods(fake_api: FakeApi, *pod_names: str) -> None:
    for name in pod_names:
        fake_api.add_pod(name)


def test_all_pages_arrive_in_order_at_one_resource_version(fake_api: FakeApi, client: KubeClient) -> None:
    add_pods(fake_api, "a", "b", "c", "d", "e")

    pages = list(client.list_pages(PODS, limit=2))

    assert names(iter(pages)) == ["a", "b", "c", "d", "e"]
    assert {page.resource_version for page in pages} == {"1000"}
    assert [bool(page.continue_token) for page in pages] == [True, True, False]


def test_empty_list_is_one_page(client: KubeClient) -> None:
    pages = list(client.list_pages(PODS))

    assert len(pages) == 1
    assert names(iter(pages)) == []


def test_pod_created_between_pages_is_not_seen(fake_api: FakeApi, client: KubeClient) -> None:
    add_pods(fake_api, "a", "b", "c")
    pages = client.list_pages(PODS, limit=2)
    first = next(pages)
    add_pods(fake_api, "d")
    fake_api.resource_version += 1

    rest = list(pages)

    assert names(iter([first, *rest])) == ["a", "b", "c"]


def test_selector_goes_into_the_query_of_every_page(fake_api: FakeApi, client: KubeClient) -> None:
    add_pods(fake_api, "a", "b")

    list(client.list_pages(PODS, limit=1, label_selector="app=cart"))

    first, second = (request.query for request in fake_api.sent("GET", PODS))
    assert first == {"limit": "1", "labelSelector": "app=cart"}
    assert second.keys() == {"limit", "continue", "labelSelector"}


def test_next_page_and_no_more_is_fetched_while_the_caller_works(
    fake_api: FakeApi, client: KubeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_pods(fake_api, "a", "b", "c", "d")
    second_asked = threading.Event()
    respond = fake_api.respond

    def respond_and_tell(request: Request) -> object:
        if "continue" in request.query:
            second_asked.set()
        return respond(request)

    monkeypatch.setattr(fake_api, "respond", respond_and_tell)

    pages = client.list_pages(PODS, limit=1)
    assert isinstance(pages, Generator)
    next(pages)
    was_fetched_ahead = second_asked.wait(timeout=10)
    num_requests = len(fake_api.requests)
    pages.close()

    assert was_fetched_ahead
    assert num_requests <= 2


def test_page_cut_short_is_fetched_again_and_nothing_is_lost(fake_api: FakeApi, client: KubeClient) -> None:
    add_pods(fake_api, "a", "b", "c")
    fake_api.fail_next("GET", PODS, Truncate(), Truncate(60))

    found = names(client.list_pages(PODS, limit=2))

    assert found == ["a", "b", "c"]


def test_half_a_document_with_a_matching_length_counts_as_cut_short(fake_api: FakeApi, client: KubeClient) -> None:
    """A proxy that buffers a broken answer sends it with a length of its own."""
    add_pods(fake_api, "a")
    fake_api.fail_next("GET", PODS, Answer(200, b'{"metadata":{"resourceVersion":"1"},"items":[{"metadata'))

    found = names(client.list_pages(PODS))

    assert found == ["a"]


def test_expired_continue_token_ends_the_list(fake_api: FakeApi, client: KubeClient) -> None:
    add_pods(fake_api, "a", "b")
    fake_api.expired_continues = 1

    with pytest.raises(ListExpired, match="list of pods: resource version expired"):
        list(client.list_pages(PODS, limit=1))


def test_list_that_changes_its_version_on_the_way_is_not_trusted(fake_api: FakeApi, client: KubeClient) -> None:
    add_pods(fake_api, "a", "b")
    pages = client.list_pages(PODS, limit=1)
    stated = {"kind": "PodList", "apiVersion": "v1", "items": []}
    other = stated | {"metadata": {"resourceVersion": "2000"}}
    first_page = stated | {"metadata": {"resourceVersion": "1000", "continue": "x"}}
    fake_api.fail_next("GET", PODS, Answer(200, first_page), Answer(200, other))

    with pytest.raises(ListExpired, match="changed between pages"):
        list(pages)


def test_kind_that_is_not_served_is_absent(client: KubeClient) -> None:
    with pytest.raises(KindAbsent, match=r"does not serve reservations\.scheduling\.koordinator\.sh"):
        list(client.list_pages("/apis/scheduling.koordinator.sh/v1alpha1/reservations"))


def test_forbidden_kind_names_user_verb_and_way_out(fake_api: FakeApi, client: KubeClient) -> None:
    text = 'pods is forbidden: User "system:serviceaccount:ops:d" cannot list resource "pods" in API group ""'
    fake_api.fail_next("GET", PODS, failure(403, "Forbidden", text))

    with pytest.raises(KindForbidden) as caught:
        list(client.list_pages(PODS))

    assert str(caught.value) == (
        "user 'system:serviceaccount:ops:d' is not allowed to list pods (RBAC); "
        "grant the verb list on it in a ClusterRole"
    )


def test_forbidden_kind_without_a_named_user_is_still_named(fake_api: FakeApi, client: KubeClient) -> None:
    path = "/apis/policy/v1/poddisruptionbudgets"
    fake_api.fail_next("GET", path, failure(403, "Forbidden", "no"))

    with pytest.raises(KindForbidden, match=r"this user is not allowed to list poddisruptionbudgets\.policy"):
        list(client.list_pages(path))


@pytest.mark.parametrize(
    ("path", "doing"),
    [
        ("/version", "asking the API server for its version and groups"),
        ("/api/v1", "asking the API server for its version and groups"),
        ("/api/v1/pods", "reading pods"),
        ("/apis/apps/v1/replicasets", "reading replicasets.apps"),
        ("/api/v1/namespaces", "reading namespaces"),
        ("/api/v1/namespaces/shop/pods/web", "reading pods"),
        ("/apis/coordination.k8s.io/v1/namespaces/shop/leases/descheduler", "reading leases"),
    ],
)
def test_request_is_told_by_what_it_reads(path: str, doing: str) -> None:
    assert doing_of(path) == doing


class AlwaysTooLarge:
    """A server whose pages are too large whatever is asked for."""

    def __init__(self) -> None:
        self.limits: list[str] = []

    def fetch(self, path: str, decode: object, *, query: Mapping[str, str], max_bytes: int, accept: str = "") -> Any:
        self.limits.append(query["limit"])
        raise AnswerTooLarge("too large")


@pytest.mark.parametrize(("limit", "limits"), [(16, ["16", "2", "1"]), (8, ["8", "1"]), (1, ["1"])])
def test_smaller_pages_are_asked_for_until_one_object_is_too_large(limit: int, limits: list[str]) -> None:
    server = AlwaysTooLarge()

    with pytest.raises(AnswerTooLarge):
        list(list_pages(cast(Any, server), PODS, limit=limit, query={}))

    assert server.limits == limits
