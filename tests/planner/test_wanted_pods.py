"""Pods that nobody has created yet, from manifests and requests."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.planner.wanted_pods import WantedPodsError, pod_of_requests, pods_of_manifest
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
