"""The API of the living cluster answers as an API server does."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.discovery import discover
from descheduler.kube.evict import EvictionClient, EvictionResponse, PodState
from descheduler.kube.http.transport import StreamedResponse
from descheduler.kube.leases.store import LeaseSpec, LeaseStore
from descheduler.kube.lists.streamed import list_messages
from tests.builders import node_object
from tests.living.cluster import LivingCluster
from tests.living.store import Object

_PODS = "/api/v1/namespaces/default/pods"
_JOBS = "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs"
_RESERVATIONS = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
_MAPS = "/api/v1/namespaces/default/configmaps"


def still_cluster(objects: Iterable[Object] = (), **options: Any) -> LivingCluster:
    """A cluster in which nothing happens by itself."""
    return LivingCluster(objects, acts=False, **options)


def bound_pod(name: str, *, node: str = "n1", **labels: str) -> Object:
    """A pod that runs on a node."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {"nodeName": node, "containers": [{"name": "main"}], "terminationGracePeriodSeconds": 30},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def config_map(name: str, **data: str) -> Object:
    """A ConfigMap as a client creates it."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def job(name: str) -> Object:
    """A PodMigrationJob as a client creates it."""
    head = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "PodMigrationJob"}
    return {**head, "metadata": {"name": name}, "spec": {"podRef": {"namespace": "default", "name": "a"}}}


def asked(
    cluster: LivingCluster, method: str, path: str, body: Any = None, /, content_type: str = "", **query: str
) -> tuple[int, Any]:
    """Status and document of the answer to one request."""
    given = None if body is None else json.dumps(body).encode()
    kind = content_type or ("application/merge-patch+json" if method == "PATCH" else "application/json")
    answer = cluster.transport().send(method, path, query=query, body=given, content_type=kind, max_bytes=1 << 22)
    return answer.status_code, json.loads(answer.body)


def names(answer: tuple[int, Any]) -> list[str]:
    """The names in a list."""
    return [item["metadata"]["name"] for item in answer[1]["items"]]


class TestObjects:
    def test_a_created_object_gets_uid_time_and_version(self) -> None:
        code, made = asked(still_cluster(), "POST", _MAPS, config_map("a", key="text"))

        assert code == 201
        assert set(made["metadata"]) == {"name", "namespace", "uid", "creationTimestamp", "resourceVersion"}

    def test_a_name_is_generated_from_its_beginning(self) -> None:
        body = {"metadata": {"generateName": "a-"}, "data": {}}

        _, made = asked(still_cluster(), "POST", _MAPS, body)

        assert len(made["metadata"]["name"]) == len("a-") + 5

    def test_a_second_object_of_a_name_is_refused(self) -> None:
        cluster = still_cluster()
        asked(cluster, "POST", _MAPS, config_map("a"))

        code, status = asked(cluster, "POST", _MAPS, config_map("a"))

        assert (code, status["reason"]) == (409, "AlreadyExists")

    def test_who_has_not_seen_the_newest_version_replaces_nothing(self) -> None:
        cluster = still_cluster()
        _, old = asked(cluster, "POST", _MAPS, config_map("a", n="1"))
        asked(cluster, "PUT", f"{_MAPS}/a", {**old, "data": {"n": "2"}})

        code, status = asked(cluster, "PUT", f"{_MAPS}/a", {**old, "data": {"n": "3"}})

        assert (code, status["reason"]) == (409, "Conflict")
        assert asked(cluster, "GET", f"{_MAPS}/a")[1]["data"] == {"n": "2"}

    def test_a_merge_patch_sets_and_removes_members(self) -> None:
        cluster = still_cluster()
        asked(cluster, "POST", _MAPS, config_map("a", old="1", kept="1"))

        _, made = asked(cluster, "PATCH", f"{_MAPS}/a", {"data": {"old": None, "new": "2"}})

        assert made["data"] == {"kept": "1", "new": "2"}

    def test_a_patch_that_does_not_say_what_it_is_is_refused(self) -> None:
        cluster = still_cluster()
        asked(cluster, "POST", _MAPS, config_map("a"))

        code, _ = asked(cluster, "PATCH", f"{_MAPS}/a", {}, content_type="application/json")

        assert code == 415

    @pytest.mark.parametrize(
        ("method", "path", "code"),
        [
            ("GET", f"{_MAPS}/none", 404),
            ("PUT", f"{_MAPS}/none", 404),
            ("DELETE", f"{_MAPS}/none", 404),
            ("GET", "/apis/nobody.io/v1/things", 404),
            ("POST", "/api/v1/namespaces/none/configmaps", 404),
            ("POST", f"{_MAPS}/none", 405),
            ("DELETE", _MAPS, 405),
        ],
    )
    def test_what_is_not_there_is_refused_with_a_status(self, method: str, path: str, code: int) -> None:
        found, status = asked(still_cluster(), method, path, config_map("none"))

        assert (found, status["kind"]) == (code, "Status")


class TestStatus:
    def test_a_create_drops_the_status(self) -> None:
        _, made = asked(still_cluster(), "POST", _JOBS, {**job("j"), "status": {"phase": "Running"}})

        assert "status" not in made

    def test_the_status_changes_through_its_subresource_alone(self) -> None:
        cluster = still_cluster()
        _, made = asked(cluster, "POST", _JOBS, job("j"))

        _, main = asked(cluster, "PUT", f"{_JOBS}/j", {**made, "status": {"phase": "Running"}})
        _, after = asked(cluster, "PUT", f"{_JOBS}/j/status", {**main, "spec": {}, "status": {"phase": "Running"}})

        assert "status" not in main
        assert (after["spec"], after["status"]) == (made["spec"], {"phase": "Running"})

    def test_a_merge_patch_of_the_status_keeps_the_rest(self) -> None:
        cluster = still_cluster()
        asked(cluster, "POST", _JOBS, job("j"))
        asked(cluster, "PATCH", f"{_JOBS}/j/status", {"status": {"phase": "Running", "nodeName": "n1"}})

        _, made = asked(cluster, "PATCH", f"{_JOBS}/j/status", {"spec": None, "status": {"phase": "Succeeded"}})

        assert made["status"] == {"phase": "Succeeded", "nodeName": "n1"}
        assert made["spec"] == job("j")["spec"]

    def test_a_reservation_has_a_template_owners_and_the_defaults_of_its_definition(self) -> None:
        cluster = still_cluster()
        head = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Reservation", "metadata": {"name": "r"}}
        owners = [{"labelSelector": {"matchLabels": {"app": "a"}}}]

        without, _ = asked(cluster, "POST", _RESERVATIONS, {**head, "spec": {"owners": owners}})
        _, made = asked(cluster, "POST", _RESERVATIONS, {**head, "spec": {"owners": owners, "template": {"spec": {}}}})

        assert without == 422
        assert (made["spec"]["ttl"], made["spec"]["allocateOnce"]) == ("24h", True)

    def test_a_cluster_without_koordinator_serves_none_of_its_kinds(self) -> None:
        cluster = still_cluster(has_koordinator=False)

        assert asked(cluster, "GET", _JOBS)[0] == 404
        assert "scheduling.koordinator.sh" not in discover(cluster.client()).groups


class TestLists:
    def test_selectors_choose_by_labels_and_fields(self) -> None:
        cluster = still_cluster([bound_pod("a", app="x"), bound_pod("b", app="y"), bound_pod("c", node="n2", app="x")])

        assert names(asked(cluster, "GET", "/api/v1/pods", labelSelector="app=x")) == ["a", "c"]
        assert names(asked(cluster, "GET", "/api/v1/pods", labelSelector="app in (y, z)")) == ["b"]
        assert names(asked(cluster, "GET", "/api/v1/pods", labelSelector="!app")) == []
        assert names(asked(cluster, "GET", _PODS, fieldSelector="spec.nodeName=n1")) == ["a", "b"]
        assert names(asked(cluster, "GET", _PODS, fieldSelector="metadata.name!=a,spec.nodeName=n1")) == ["b"]

    def test_pages_are_of_one_version(self) -> None:
        cluster = still_cluster([bound_pod(name) for name in "abcd"])
        _, first = asked(cluster, "GET", _PODS, limit="2")
        cluster.store.remove(*_stored(cluster, "c"))

        _, rest = asked(cluster, "GET", _PODS, limit="2", **{"continue": first["metadata"]["continue"]})

        assert names((200, rest)) == ["c", "d"]
        assert rest["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}

    def test_a_page_of_a_forgotten_version_has_expired(self) -> None:
        cluster = still_cluster([bound_pod(name) for name in "abcd"])
        _, first = asked(cluster, "GET", _PODS, limit="2")
        cluster.add(bound_pod("e"))
        cluster.store.compact()

        assert asked(cluster, "GET", _PODS, **{"continue": first["metadata"]["continue"]})[0] == 410

    def test_a_list_is_as_it_was_at_an_exact_version(self) -> None:
        cluster = still_cluster([bound_pod("a")])
        version = str(cluster.store.version)
        cluster.add(bound_pod("b"))

        exact = asked(cluster, "GET", _PODS, resourceVersion=version, resourceVersionMatch="Exact")

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


class TestEvictions:
    def test_an_evicted_pod_terminates_within_its_grace_period(self) -> None:
        cluster = still_cluster([node_object("n1"), bound_pod("a")])
        uid = _uid(cluster, "a")

        answer = evict(cluster, "a", uid=uid)

        assert (answer.status_code, answer.is_told) == (201, True)
        assert EvictionClient(cluster.client(), "policy/v1").look("default", "a", uid=uid) is PodState.TERMINATING

    def test_another_pod_of_the_name_is_not_evicted(self) -> None:
        cluster = still_cluster([bound_pod("a")])

        assert evict(cluster, "a", uid="other").status_code == 409

    def test_a_budget_without_disruptions_refuses(self) -> None:
        cluster = still_cluster([bound_pod("a", app="x"), budget("x", allowed=0)])

        answer = evict(cluster, "a", uid=_uid(cluster, "a"))

        assert (answer.status_code, answer.causes[0].reason) == (429, "DisruptionBudget")
        assert answer.message == "Cannot evict pod as it would violate the pod's disruption budget."
        assert answer.is_told

    def test_an_eviction_takes_from_the_budget_at_once(self) -> None:
        cluster = still_cluster([bound_pod("a", app="x"), bound_pod("b", app="x"), budget("x", allowed=1)])

        codes = [evict(cluster, name, uid=_uid(cluster, name)).status_code for name in "ab"]

        assert codes == [201, 429]

    def test_a_budget_that_its_controller_has_not_seen_asks_to_wait(self) -> None:
        cluster = still_cluster([bound_pod("a", app="x"), budget("x", allowed=1, observed=0)])

        answer = evict(cluster, "a", uid=_uid(cluster, "a"))

        assert (answer.status_code, answer.retry_after_seconds) == (429, 10)

    def test_two_budgets_are_too_many(self) -> None:
        cluster = still_cluster([bound_pod("a", app="x"), budget("x", allowed=1), budget("x", allowed=1, name="y")])

        answer = evict(cluster, "a", uid=_uid(cluster, "a"))

        assert answer.status_code == 500


class TestPods:
    def test_a_pod_gets_the_priority_of_its_class(self) -> None:
        low = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}}
        cluster = still_cluster([{**low, "value": -10, "preemptionPolicy": "Never"}])
        spec = {"containers": [{"name": "c"}], "priorityClassName": "low"}

        _, made = asked(cluster, "POST", _PODS, {"metadata": {"name": "a"}, "spec": spec})
        code, _ = asked(cluster, "POST", _PODS, {"metadata": {"name": "b"}, "spec": {**spec, "priorityClassName": "x"}})

        assert (made["spec"]["priority"], made["spec"]["preemptionPolicy"]) == (-10, "Never")
        assert (made["status"], code) == ({"phase": "Pending"}, 403)

    def test_a_pod_is_bound_once(self) -> None:
        cluster = still_cluster([node_object("n1")])
        asked(cluster, "POST", _PODS, {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}]}})
        binding = {"target": {"kind": "Node", "name": "n1"}}

        codes = [asked(cluster, "POST", f"{_PODS}/a/binding", binding)[0] for _ in range(2)]

        assert codes == [201, 409]

    def test_a_pod_without_a_node_is_deleted_at_once_and_a_bound_one_later(self) -> None:
        cluster = still_cluster([bound_pod("bound")])
        asked(cluster, "POST", _PODS, {"metadata": {"name": "new"}, "spec": {"containers": [{"name": "c"}]}})

        _, bound = asked(cluster, "DELETE", f"{_PODS}/bound")
        asked(cluster, "DELETE", f"{_PODS}/new", {"preconditions": {"uid": _uid(cluster, "new")}})

        assert bound["metadata"]["deletionGracePeriodSeconds"] == 30
        assert names(asked(cluster, "GET", _PODS)) == ["bound"]

    def test_a_deletion_of_another_uid_is_refused(self) -> None:
        cluster = still_cluster([bound_pod("a")])

        assert asked(cluster, "DELETE", f"{_PODS}/a", {"preconditions": {"uid": "other"}})[0] == 409


class TestTheProgramsOwnClients:
    def test_a_lease_is_created_and_replaced(self) -> None:
        store = LeaseStore(still_cluster().client(), "default", "descheduler")

        lease = store.create(LeaseSpec(holder_identity="me", lease_duration_seconds=15))

        assert lease is not None
        assert store.replace(lease, LeaseSpec(holder_identity="you", lease_duration_seconds=15)) is not None
        assert store.replace(lease, LeaseSpec(holder_identity="him", lease_duration_seconds=15)) is None

    def test_every_call_takes_time_and_is_numbered(self) -> None:
        cluster = still_cluster(latency_seconds=0.5)
        client: KubeClient = cluster.client()

        client.send("GET", "/version")
        client.send("GET", f"{_PODS}/none")

        assert [(call.number, call.at, call.code) for call in cluster.api.calls] == [(1, 0.25, 200), (2, 0.75, 404)]


def budget(app: str, *, allowed: int, observed: int = 1, name: str = "") -> Object:
    """A budget of the pods with a label `app`."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name or app, "namespace": "default", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": app}}, "maxUnavailable": 1},
        "status": {"observedGeneration": observed, "disruptionsAllowed": allowed},
    }


def evict(cluster: LivingCluster, name: str, *, uid: str) -> EvictionResponse:
    """The answer to an eviction of the pod with this uid."""
    client = EvictionClient(cluster.client(), "policy/v1")
    answer = client.evict("default", name, uid=uid, grace_period_seconds=None, annotations_reason="test")
    assert answer is not None
    return answer


def watched(cluster: LivingCluster, **query: str) -> list[str]:
    """Type and name of each event of ten seconds of a watch of pods."""
    asked_for = {"watch": "1", "timeoutSeconds": "10", **query}
    stream = cluster.client().open_stream(_PODS, query=asked_for, accept="application/json")
    assert isinstance(stream, StreamedResponse)
    events = [json.loads(line) for line in b"".join(stream.parts()).splitlines()]
    return [f"{event['type']} {event['object']['metadata'].get('name', '')}" for event in events]


def _stored(cluster: LivingCluster, name: str) -> tuple[Any, Any]:
    change = next(change for change in cluster.store.log if change.key == ("default", name))
    return change.resource, change.key


def _uid(cluster: LivingCluster, name: str) -> str:
    pod = cluster.get("pods", name, "default")
    assert pod is not None
    return str(pod["metadata"]["uid"])
