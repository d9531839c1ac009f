"""Pods that nobody has created yet, from manifests and requests."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.planner.wanted_pods import (
    WantedPodsError,
    devices_of_class,
    objects_beside,
    pod_of_requests,
    pods_of_manifest,
)
from tests.builders import Object, pod_object

CONTAINER: Object = {"name": "main", "resources": {"requests": {"cpu": "4"}}}


def workload(kind: str, **spec: Any) -> Object:
    template = {"metadata": {"labels": {"app": "train"}}, "spec": {"containers": [CONTAINER]}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"template": template, **spec},
    }


def names(*documents: object) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods_of_manifest(documents)]


@pytest.mark.parametrize(
    ("document", "number"),
    [
        pytest.param(workload("Deployment", replicas=3), 3, id="replicas"),
        pytest.param(workload("StatefulSet"), 1, id="one replica by default"),
        pytest.param(workload("Job", parallelism=2), 2, id="pods of a job that run at once"),
        pytest.param(
            {"kind": "CronJob", "metadata": {"name": "c"}, "spec": {"jobTemplate": {"spec": workload("Job")["spec"]}}},
            1,
            id="job of a cron job",
        ),
    ],
)
def test_a_workload_has_as_many_pods_as_it_runs(document: Object, number: int) -> None:
    assert len(names(document)) == number


def test_pods_of_a_workload_are_as_its_template_says() -> None:
    (pod,) = pods_of_manifest([workload("Deployment")])

    assert pod["metadata"]["namespace"] == "ml"
    assert pod["metadata"]["labels"] == {"app": "train"}
    assert pod["spec"] == {"containers": [CONTAINER]}
    assert pod["status"] == {"phase": "Pending"}


def test_a_pod_that_runs_somewhere_is_taken_as_a_new_one() -> None:
    (pod,) = pods_of_manifest([pod_object("web", node="a")])

    assert (pod["metadata"]["name"], "nodeName" in pod["spec"], pod["status"]) == ("web", False, {"phase": "Pending"})


def test_lists_are_looked_into_and_other_objects_left_out() -> None:
    service = {"kind": "Service", "metadata": {"name": "s"}}

    assert names({"kind": "List", "items": [pod_object("web"), service]}, None) == ["web"]


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        pytest.param({"kind": "Service"}, "holds no pod and no workload", id="no pods"),
        pytest.param(workload("DaemonSet"), "has one pod on each node", id="DaemonSet"),
    ],
)
def test_what_has_no_pods_is_refused(document: Object, fault: str) -> None:
    with pytest.raises(WantedPodsError, match=fault):
        pods_of_manifest([document])


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"containers": [CONTAINER, {"resources": {"requests": {"gpu": "1"}}}]}, id="requests"),
        pytest.param({"containers": [{"resources": {"limits": {"gpu": "1"}}}]}, id="limits, which requests default to"),
        pytest.param({"initContainers": [{"resources": {"requests": {"gpu": "1"}}}]}, id="init container"),
        pytest.param({"resources": {"requests": {"gpu": "1"}}}, id="pod as a whole"),
    ],
)
def test_pods_that_request_what_is_not_a_resource_are_refused(spec: Object) -> None:
    job = workload("Job")
    job["spec"]["template"]["spec"] = spec

    with pytest.raises(WantedPodsError, match="pod ml/train-wanted-0: 'gpu' is not a resource; use "):
        pods_of_manifest([job])


@pytest.mark.parametrize(
    ("resource", "hint"),
    [
        pytest.param(
            "gpu",
            "use cpu, memory, .* or a name with a domain, for example nvidia.com/gpu, or deviceclass/gpu for"
            " devices of a DeviceClass$",
            id="no domain",
        ),
        pytest.param("memroy", r"did you mean 'memory'\?", id="typing error"),
        pytest.param("requests.nvidia.com/gpu", r"did you mean 'nvidia.com/gpu'\?", id="resource of a quota"),
    ],
)
def test_refusal_of_a_resource_says_what_to_write(resource: str, hint: str) -> None:
    with pytest.raises(WantedPodsError, match=f"^'{resource}' is not a resource; {hint}"):
        pod_of_requests({"cpu": "1", resource: "8"})


def test_a_pod_of_requests_tolerates_taints_of_its_extended_resources() -> None:
    spec = pod_of_requests({"nvidia.com/gpu": "8", "cpu": "4"})["spec"]

    assert spec["containers"][0]["resources"] == {"requests": {"nvidia.com/gpu": "8", "cpu": "4"}}
    assert spec["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists"}]


def test_a_pod_of_devices_claims_so_many_of_their_class() -> None:
    pod, template = devices_of_class("gpu.example.com", 2)

    assert (template["kind"], template["metadata"]) == (
        "ResourceClaimTemplate",
        {"name": "wanted", "namespace": "default"},
    )
    assert template["spec"]["spec"]["devices"]["requests"] == [
        {
            "name": "devices",
            "exactly": {"deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 2},
        }
    ]
    assert pod["spec"] == {
        "containers": [{"name": "main"}],
        "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "wanted"}],
    }


@pytest.mark.parametrize(
    ("resources", "requests"),
    [
        pytest.param({"limits": {"cpu": "2", "memory": "1Gi"}}, {"cpu": "2", "memory": "1Gi"}, id="limits alone"),
        pytest.param(
            {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}},
            {"cpu": "1", "memory": "1Gi"},
            id="both",
        ),
        pytest.param({"requests": {"cpu": "1"}}, {"cpu": "1"}, id="requests alone"),
        pytest.param({}, None, id="neither"),
    ],
)
@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_containers_request_what_they_are_limited_to(field: str, resources: Object, requests: Object | None) -> None:
    document = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {field: [{"name": "c", "resources": resources}, "x"]}}

    (pod,) = pods_of_manifest([document])

    assert pod["spec"][field][0]["resources"].get("requests") == requests
    assert pod["spec"][field][1] == "x"


@pytest.mark.parametrize(
    ("metadata", "name", "namespace"),
    [
        ({"name": "p", "namespace": "ml"}, "p", "ml"),
        ({"generateName": "p-", "namespace": ""}, "p-wanted", "default"),
        ({}, "wanted", "default"),
    ],
)
def test_a_pod_without_a_name_or_a_namespace_gets_one(metadata: Object, name: str, namespace: str) -> None:
    (pod,) = pods_of_manifest([{"kind": "Pod", "metadata": metadata, "spec": {}}])

    assert pod["metadata"] == {"name": name, "namespace": namespace, "uid": f"wanted-{namespace}-{name}"}


@pytest.mark.parametrize("replicas", ["3", None])
def test_a_number_of_replicas_that_is_none_stands_for_one(replicas: object) -> None:
    assert names(workload("Deployment", replicas=replicas)) == ["train-wanted-0"]


def test_objects_beside_the_pods_are_taken_once_each() -> None:
    kinds = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "PodGroup", "ConfigMap")
    documents = [{"kind": kind, "metadata": {"name": "x"}} for kind in kinds]

    found = objects_beside([*documents, {"kind": "List", "items": documents}])

    assert [each["kind"] for each in found] == list(kinds[:-1])
    assert {each["metadata"]["namespace"] for each in found} == {"default"}
    assert [each["kind"] for each in found if "status" in each] == ["PodGroup"]
