"""Lists and watches of the living cluster are as those of an API server."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from descheduler.kube.lists.streamed import list_messages
from descheduler.transport.exchange import StreamedResponse
from tests.living.asking import PODS, asked, bound_pod, names, still_cluster
from tests.living.cluster import LivingCluster


class TestLists:
    def test_selectors_choose_by_labels_and_fields(self) -> None:
        cluster = still_cluster([bound_pod("a", app="x"), bound_pod("b", app="y"), bound_pod("c", node="n2", app="x")])

        assert names(asked(cluster, "GET", "/api/v1/pods", labelSelector="app=x")) == ["a", "c"]
        assert names(asked(cluster, "GET", "/api/v1/pods", labelSelector="app in (y, z)")) == ["b"]
        assert names(asked(cluster, "GET", "/api/v1/pods", labelSelector="!app")) == []
        assert names(asked(cluster, "GET", PODS, fieldSelector="spec.nodeName=n1")) == ["a", "b"]
        assert names(asked(cluster, "GET", PODS, fieldSelector="metadata.name!=a,spec.nodeName=n1")) == ["b"]

    def test_pages_are_of_one_version(self) -> None:
        cluster = still_cluster([bound_pod(name) for name in "abcd"])
        _, first = asked(cluster, "GET", PODS, limit="2")
        cluster.store.remove(*_stored(cluster, "c"))

        _, rest = asked(cluster, "GET", PODS, limit="2", **{"continue": first["metadata"]["continue"]})

        assert names((200, rest)) == ["c", "d"]
        assert rest["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}

    def test_a_page_of_a_forgotten_version_has_expired(self) -> None:
        cluster = still_cluster([bound_pod(name) for name in "abcd"])
        _, first = asked(cluster, "GET", PODS, limit="2")
        cluster.add(bound_pod("e"))
        cluster.store.compact()

        assert asked(cluster, "GET", PODS, **{"continue": first["metadata"]["continue"]})[0] == 410

    def test_a_list_is_as_it_was_at_an_exact_version(self) -> None:
        cluster = still_cluster([bound_pod("a")])
        version = str(cluster.store.version)
        cluster.add(bound_pod("b"))

        exact = asked(cluster, "GET", PODS, resourceVersion=version, resourceVersionMatch="Exact")

        assert names(exact) == ["a"]

    def test_the_client_reads_pods_in_protobuf(self) -> None:
        cluster = still_cluster([bound_pod(name) for name in "abc"])

        batches = list(list_messages(cluster.client(), "/api/v1/pods"))

        assert sum(len(batch.items) for batch in batches) == 3


class TestWatches:
    def test_a_watch_tells_what_has_changed_since_a_version(self) -> None:
        cluster = still_cluster([bound_pod("a")])
        version = str(cluster.store.version)
        cluster.add(bound_pod("b"))
        cluster.store.edit("pods", "a", "default", lambda pod: pod["metadata"].update(labels={"app": "x"}))
        cluster.store.remove(*_stored(cluster, "b"))

        assert watched(cluster, resourceVersion=version) == ["ADDED b", "MODIFIED a", "DELETED b"]

    def test_reading_on_lets_time_pass_until_the_time_of_the_watch_is_over(self) -> None:
        cluster = still_cluster()
        version = str(cluster.store.version)
        cluster.clock.after(5, partial(cluster.add, bound_pod("late")))
        cluster.clock.after(15, partial(cluster.add, bound_pod("later")))

        assert watched(cluster, resourceVersion=version) == ["ADDED late"]
        assert cluster.clock.monotonic() == pytest.approx(10, abs=0.1)

    def test_a_bookmark_ends_a_watch_that_wants_some(self) -> None:
        cluster = still_cluster([bound_pod("a")])
        version = str(cluster.store.version)

        assert watched(cluster, resourceVersion=version, allowWatchBookmarks="true") == ["BOOKMARK "]

    def test_an_object_that_is_selected_no_more_is_deleted_to_the_watch(self) -> None:
        cluster = still_cluster([bound_pod("a", app="x")])
        version = str(cluster.store.version)
        cluster.store.edit("pods", "a", "default", lambda pod: pod["metadata"].update(labels={}))

        assert watched(cluster, resourceVersion=version, labelSelector="app=x") == ["DELETED a"]

    def test_a_version_that_is_forgotten_is_gone(self) -> None:
        cluster = still_cluster([bound_pod("a")])
        version = str(cluster.store.version)
        cluster.add(bound_pod("b"))
        cluster.store.compact()

        assert watched(cluster, resourceVersion=version) == ["ERROR "]


def watched(cluster: LivingCluster, **query: str) -> list[str]:
    """Type and name of each event of ten seconds of a watch of pods."""
    asked_for = {"watch": "1", "timeoutSeconds": "10", **query}
    stream = cluster.client().open_stream(PODS, query=asked_for, accept="application/json")
    assert isinstance(stream, StreamedResponse)
    events = [json.loads(line) for line in b"".join(stream.parts()).splitlines()]
    return [f"{event['type']} {event['object']['metadata'].get('name', '')}" for event in events]


def _stored(cluster: LivingCluster, name: str) -> tuple[Any, Any]:
    change = next(change for change in cluster.store.log if change.key == ("default", name))
    return change.resource, change.key
