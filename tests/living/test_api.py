"""The API of the living cluster answers as an API server does."""

from __future__ import annotations

import json

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.discovery import discover
from descheduler.kube.evict import EvictionClient, EvictionResponse, PodState
from descheduler.kube.leases.store import LeaseSpec, LeaseStore
from tests.builders import node_object
from tests.living.asking import JOBS, MAPS, PODS, asked, bound_pod, names, still_cluster
from tests.living.cluster import LivingCluster
from tests.living.store import Object

pytestmark = pytest.mark.own_calls

_RESERVATIONS = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"


def config_map(name: str, **data: str) -> Object:
    """A ConfigMap as a client creates it."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def job(name: str) -> Object:
    """A PodMigrationJob as a client creates it."""
    head = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "PodMigrationJob"}
    return {**head, "metadata": {"name": name}, "spec": {"podRef": {"namespace": "default", "name": "a"}}}


class TestObjects:
    def test_a_created_object_gets_uid_time_version_and_manager(self) -> None:
        code, made = asked(still_cluster(), "POST", MAPS, config_map("a", key="text"))

        assert code == 201
        set_by_server = {"uid", "creationTimestamp", "resourceVersion", "managedFields"}
        assert set(made["metadata"]) == {"name", "namespace", *set_by_server}

    def test_a_name_is_generated_from_its_beginning(self) -> None:
        body = {"metadata": {"generateName": "a-"}, "data": {}}

        _, made = asked(still_cluster(), "POST", MAPS, body)

        assert len(made["metadata"]["name"]) == len("a-") + 5

    def test_a_second_object_of_a_name_is_refused(self) -> None:
        cluster = still_cluster()
        asked(cluster, "POST", MAPS, config_map("a"))

        code, status = asked(cluster, "POST", MAPS, config_map("a"))

        assert (code, status["reason"]) == (409, "AlreadyExists")

    def test_who_has_not_seen_the_newest_version_replaces_nothing(self) -> None:
        cluster = still_cluster()
        _, old = asked(cluster, "POST", MAPS, config_map("a", n="1"))
        asked(cluster, "PUT", f"{MAPS}/a", {**old, "data": {"n": "2"}})

        code, status = asked(cluster, "PUT", f"{MAPS}/a", {**old, "data": {"n": "3"}})

        assert (code, status["reason"]) == (409, "Conflict")
        assert asked(cluster, "GET", f"{MAPS}/a")[1]["data"] == {"n": "2"}

    def test_a_job_is_replaced_by_those_alone_who_have_seen_a_version(self) -> None:
        cluster = still_cluster()
        asked(cluster, "POST", JOBS, job("j"))

        assert asked(cluster, "PUT", f"{JOBS}/j", job("j"))[0] == 422

    @pytest.mark.parametrize("method", ["PUT", "PATCH"])
    def test_another_object_of_the_name_is_not_changed(self, method: str) -> None:
        cluster = still_cluster()
        asked(cluster, "POST", MAPS, config_map("a"))
        body = {"metadata": {"name": "a", "uid": "of another"}, "data": {"k": "v"}}

        assert asked(cluster, method, f"{MAPS}/a", body)[0] == 409

    def test_a_merge_patch_sets_and_removes_members(self) -> None:
        cluster = still_cluster()
        asked(cluster, "POST", MAPS, config_map("a", old="1", kept="1"))

        _, made = asked(cluster, "PATCH", f"{MAPS}/a", {"data": {"old": None, "new": "2"}})

        assert made["data"] == {"kept": "1", "new": "2"}

    def test_a_patch_that_does_not_say_what_it_is_is_refused(self) -> None:
        cluster = still_cluster()
        asked(cluster, "POST", MAPS, config_map("a"))

        code, _ = asked(cluster, "PATCH", f"{MAPS}/a", {}, content_type="application/json")

        assert code == 415

    @pytest.mark.parametrize(
        "body",
        [
            config_map("Upper"),
            config_map("a", key="x" * (1 << 20)),
            {"metadata": {"name": "a", "labels": {"k": "not a label"}}},
            {"metadata": {"name": "a", "annotations": {"k": "x" * (256 << 10)}}},
        ],
        ids=["name", "size", "label", "annotations"],
    )
    def test_objects_that_are_not_allowed_are_refused(self, body: Object) -> None:
        assert asked(still_cluster(), "POST", MAPS, body)[0] == 422

    def test_the_metadata_of_an_object_can_be_had_alone(self) -> None:
        cluster = still_cluster([bound_pod("a")])
        accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

        found = json.loads(cluster.client().send("GET", f"{PODS}/a", accept=accept).body)

        assert (set(found), found["kind"]) == ({"kind", "apiVersion", "metadata"}, "PartialObjectMetadata")

    def test_events_on_objects_of_the_cluster_are_in_namespace_default(self) -> None:
        cluster = still_cluster()
        needed = ("eventTime", "reportingController", "reportingInstance", "action", "reason", "type")
        event = {"metadata": {"name": "e"}, **dict.fromkeys(needed, "x"), "regarding": {"kind": "PodMigrationJob"}}

        codes = [
            asked(cluster, "POST", f"/apis/events.k8s.io/v1/namespaces/{namespace}/events", event)[0]
            for namespace in ("kube-system", "default")
        ]

        assert codes == [422, 201]

    def test_what_a_user_may_do_is_answered(self) -> None:
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

        code, review = asked(still_cluster(), "POST", path, {"spec": {}})

        assert (code, review["status"]) == (201, {"allowed": True})

    @pytest.mark.parametrize(
        ("method", "path", "code"),
        [
            ("GET", f"{MAPS}/none", 404),
            ("PUT", f"{MAPS}/none", 404),
            ("DELETE", f"{MAPS}/none", 404),
            ("GET", "/apis/nobody.io/v1/things", 404),
            ("POST", "/api/v1/namespaces/none/configmaps", 404),
            ("POST", f"{MAPS}/none", 405),
            ("DELETE", MAPS, 405),
        ],
    )
    def test_what_is_not_there_is_refused_with_a_status(self, method: str, path: str, code: int) -> None:
        found, status = asked(still_cluster(), method, path, config_map("none"))

        assert (found, status["kind"]) == (code, "Status")


class TestStatus:
    def test_a_create_drops_the_status(self) -> None:
        _, made = asked(still_cluster(), "POST", JOBS, {**job("j"), "status": {"phase": "Running"}})

        assert "status" not in made

    def test_the_status_changes_through_its_subresource_alone(self) -> None:
        cluster = still_cluster()
        _, made = asked(cluster, "POST", JOBS, job("j"))

        _, main = asked(cluster, "PUT", f"{JOBS}/j", {**made, "status": {"phase": "Running"}})
        _, after = asked(cluster, "PUT", f"{JOBS}/j/status", {**main, "spec": {}, "status": {"phase": "Running"}})

        assert "status" not in main
        assert (after["spec"], after["status"]) == (made["spec"], {"phase": "Running"})

    def test_a_merge_patch_of_the_status_keeps_the_rest(self) -> None:
        cluster = still_cluster()
        asked(cluster, "POST", JOBS, job("j"))
        asked(cluster, "PATCH", f"{JOBS}/j/status", {"status": {"phase": "Running", "nodeName": "n1"}})

        _, made = asked(cluster, "PATCH", f"{JOBS}/j/status", {"spec": None, "status": {"phase": "Succeeded"}})

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

        assert asked(cluster, "GET", JOBS)[0] == 404
        assert "scheduling.koordinator.sh" not in discover(cluster.client()).groups


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

        _, made = asked(cluster, "POST", PODS, {"metadata": {"name": "a"}, "spec": spec})
        code, _ = asked(cluster, "POST", PODS, {"metadata": {"name": "b"}, "spec": {**spec, "priorityClassName": "x"}})

        assert (made["spec"]["priority"], made["spec"]["preemptionPolicy"]) == (-10, "Never")
        assert (made["status"], code) == ({"phase": "Pending"}, 403)

    def test_a_pod_is_bound_once(self) -> None:
        cluster = still_cluster([node_object("n1")])
        asked(cluster, "POST", PODS, {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}]}})
        binding = {"target": {"kind": "Node", "name": "n1"}}

        codes = [asked(cluster, "POST", f"{PODS}/a/binding", binding)[0] for _ in range(2)]

        assert codes == [201, 409]

    def test_a_pod_without_a_node_is_deleted_at_once_and_a_bound_one_later(self) -> None:
        cluster = still_cluster([bound_pod("bound")])
        asked(cluster, "POST", PODS, {"metadata": {"name": "new"}, "spec": {"containers": [{"name": "c"}]}})

        _, bound = asked(cluster, "DELETE", f"{PODS}/bound")
        asked(cluster, "DELETE", f"{PODS}/new", {"preconditions": {"uid": _uid(cluster, "new")}})

        assert bound["metadata"]["deletionGracePeriodSeconds"] == 30
        assert names(asked(cluster, "GET", PODS)) == ["bound"]

    def test_a_deletion_of_another_uid_is_refused(self) -> None:
        cluster = still_cluster([bound_pod("a")])

        assert asked(cluster, "DELETE", f"{PODS}/a", {"preconditions": {"uid": "other"}})[0] == 409


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
        client.send("GET", f"{PODS}/none")

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


def _uid(cluster: LivingCluster, name: str) -> str:
    pod = cluster.get("pods", name, "default")
    assert pod is not None
    return str(pod["metadata"]["uid"])
