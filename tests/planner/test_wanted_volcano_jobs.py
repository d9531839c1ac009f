"""Jobs of Volcano that nobody has created yet: their pods, and the PodGroups that its controllers make of them."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cluster.objects import snapshot_from_objects, with_assumed
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.groups.volcano import VolcanoPodGroup
from descheduler.planner.wanted_pods import WantedPodsError, objects_beside, pods_of_manifest
from tests.builders import Object, pod_object
from tests.placement.volcano.worlds import group, node, pods

_REQUEST = SnapshotRequest()


def task(name: str, replicas: int, *, priority: int | None = None, **spec: Any) -> Object:
    """A task whose pods request one core, and are limited to one GPU."""
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "nvidia.com/gpu": "1"}}
    stated = {} if priority is None else {"priority": priority}
    template = {"spec": {"containers": [{"name": "main", "resources": resources}], **stated}}
    return {"name": name, "replicas": replicas, "template": template, **spec}


def job(*tasks: Object, metadata: Object | None = None, **spec: Any) -> Object:
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "ml", **(metadata or {})},
        "spec": {"tasks": list(tasks), **spec},
    }


def group_of(*documents: Object) -> VolcanoPodGroup:
    """The one PodGroup of the documents, as it is read."""
    (found,) = snapshot_from_objects(objects_beside(documents), _REQUEST).other_pod_groups
    assert isinstance(found, VolcanoPodGroup)
    return found


def needed(*documents: Object) -> float:
    """The cores of `minResources`."""
    return (group_of(*documents).min_resources or {}).get("cpu", 0) / 10**9


def test_a_job_has_the_pods_of_all_tasks_in_one_pod_group() -> None:
    made = pods_of_manifest([job(task("ps", 1), task("worker", 2))])

    assert [pod["metadata"]["name"] for pod in made] == [
        "train-ps-wanted-0",
        "train-worker-wanted-0",
        "train-worker-wanted-1",
    ]
    assert {pod["spec"]["schedulerName"] for pod in made} == {"volcano"}
    assert {pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] for pod in made} == {"train-wanted"}
    assert [pod["metadata"]["labels"]["volcano.sh/task-spec"] for pod in made] == ["ps", "worker", "worker"]


def test_what_is_not_stated_is_as_the_webhook_of_volcano_fills_it_in() -> None:
    found = group_of(job({**task("", 2), "name": ""}, task("worker", 3, minAvailable=1)))

    assert (found.min_member, found.queue, found.phase) == (3, "default", "")
    assert found.min_task_member == {"default0": 2, "worker": 1}


def test_a_pod_group_is_as_its_job_says() -> None:
    stated = job(
        task("worker", 2),
        metadata={"annotations": {"volcano.sh/preemptable": "true", "other": "x"}},
        minAvailable=1,
        queue="research",
        priorityClassName="high",
    )

    found = group_of(stated)

    assert (found.min_member, found.queue, found.priority_class_name) == (1, "research", "high")
    assert {pod["metadata"]["annotations"].get("volcano.sh/preemptable") for pod in pods_of_manifest([stated])} == {
        "true"
    }
    assert {pod["metadata"]["annotations"].get("other") for pod in pods_of_manifest([stated])} == {None}


@pytest.mark.parametrize(
    ("tasks", "least", "cores"),
    [
        pytest.param([task("a", 2), task("b", 3)], 5, 5, id="all of them"),
        pytest.param([task("a", 4, minAvailable=1), task("b", 1)], 3, 3, id="more than the tasks need"),
        pytest.param([task("a", 4), task("b", 1)], 2, 2, id="fewer than the tasks need"),
    ],
)
def test_min_resources_are_those_of_as_many_pods_as_the_job_needs(
    tasks: list[Object], least: int, cores: float
) -> None:
    assert needed(job(*tasks, minAvailable=least)) == cores


def test_min_resources_are_of_the_pods_of_the_highest_priority() -> None:
    large = task("large", 2, priority=10)
    large["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "8"

    assert needed(job(task("small", 2), large, minAvailable=2)) == 16
    assert needed(job(task("small", 2, minAvailable=1), {**large, "minAvailable": 0}, minAvailable=2)) == 9


@pytest.mark.parametrize(
    ("least", "cores"),
    [
        pytest.param(1, 8, id="fewer than the tasks need: of the highest priority alone"),
        pytest.param(2, 8 + 1, id="as many as the tasks need: some of each"),
        pytest.param(3, 8 + 1 + 8, id="one more, which is of the highest priority"),
        pytest.param(4, 8 + 1 + 8 + 1, id="all"),
    ],
)
def test_min_resources_are_of_as_many_pods_of_each_task_as_that_needs_before_any_more(least: int, cores: float) -> None:
    large = task("large", 2, priority=10, minAvailable=1)
    large["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "8"

    assert needed(job(task("small", 2, minAvailable=1), large, minAvailable=least)) == cores


def test_a_number_that_is_none_is_not_stated() -> None:
    found = group_of(job(task("a", 2, minAvailable=True), task("b", 1, minAvailable="1"), minAvailable=0))

    assert (found.min_member, found.min_task_member) == (3, {"a": 2, "b": 1})


def test_pods_of_a_job_have_what_volcano_copies_of_it() -> None:
    """An annotation of the Job comes before that of the template."""
    stated = job(
        task("worker", 1),
        metadata={"annotations": {"volcano.sh/jdb-min-available": "1"}, "labels": {"volcano.sh/preemptable": "true"}},
        schedulerName="mine",
    )
    stated["spec"]["tasks"][0]["template"]["metadata"] = {
        "annotations": {"volcano.sh/jdb-min-available": "2", "a": "b"}
    }

    (pod,) = pods_of_manifest([stated])

    assert pod["spec"]["schedulerName"] == "mine"
    assert pod["metadata"]["annotations"].items() >= {"volcano.sh/jdb-min-available": "1", "a": "b"}.items()
    assert pod["metadata"]["labels"]["volcano.sh/preemptable"] == "true"
    assert pod["metadata"]["labels"]["volcano.sh/job-namespace"] == "ml"


def test_a_limit_is_no_request_in_the_template_of_a_task() -> None:
    assert group_of(job(task("worker", 2))).min_resources == {"cpu": 2 * 10**9, "pods": 2 * 10**9}


def test_claims_of_a_job_are_those_of_its_pods() -> None:
    (pod,) = pods_of_manifest([job(task("worker", 1), volumes=[{"mountPath": "/data", "volumeClaimName": "data"}])])

    (read,) = snapshot_from_objects([pod], _REQUEST).pods
    assert read.claim_names == ("data",)


@pytest.mark.parametrize(
    ("stated", "fault"),
    [
        pytest.param(job(), "holds no pod and no workload", id="no tasks"),
        pytest.param(
            job(task("worker", 2), minAvailable=3),
            r"Job train: minAvailable \(3\) is above the replicas of its tasks \(2\)",
            id="more than all tasks have",
        ),
        pytest.param(
            job(task("worker", 2, minAvailable=3)),
            r"Job train: minAvailable \(3\) of task worker is above its replicas \(2\)",
            id="more than a task has",
        ),
    ],
)
def test_a_job_that_volcano_rejects_is_refused(stated: Object, fault: str) -> None:
    with pytest.raises(WantedPodsError, match=fault):
        pods_of_manifest([stated])


def test_pods_of_one_owner_get_a_pod_group_together() -> None:
    container = {"name": "main", "resources": {"limits": {"cpu": "2"}}}
    template = {"spec": {"schedulerName": "volcano", "priorityClassName": "high", "containers": [container]}}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "ml"},
        "spec": {"replicas": 3, "template": template},
    }

    found = group_of(workload)

    assert (found.name, found.min_member, found.priority_class_name) == ("podgroup-wanted-ml-web", 1, "high")
    assert found.min_resources == {"cpu": 2 * 10**9, "pods": 10**9}


def test_a_pod_group_of_the_manifest_is_that_of_its_pods() -> None:
    named = {**group("gang", least=2), "metadata": {"name": "gang"}}
    template = {
        "metadata": {"annotations": {"scheduling.k8s.io/group-name": "gang"}},
        "spec": {"schedulerName": "volcano", "containers": [{"name": "main"}]},
    }
    workload = {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "j"}, "spec": {"template": template}}

    found = group_of(named, workload)

    assert (found.gang_id, found.min_member, found.phase) == ("default/gang", 2, "")


def test_pods_of_other_schedulers_have_no_pod_group() -> None:
    assert objects_beside([pod_object("web")]) == []
    assert objects_beside([{"kind": "List", "items": [pod_object("web")]}]) == []


def test_a_snapshot_has_the_wanted_pod_groups_beside_its_own() -> None:
    before = snapshot_from_objects(
        [node("a"), group("running", phase="Running"), *pods("running", 1, on="a")], _REQUEST
    )
    wanted = [job(task("worker", 2))]

    after = with_assumed(before, [*pods_of_manifest(wanted), *objects_beside(wanted)], _REQUEST)

    assert [each.gang_id for each in after.other_pod_groups] == ["batch/running", "ml/train-wanted"]
    assert [pod.name for pod in after.pods] == ["running-0", "train-worker-wanted-0", "train-worker-wanted-1"]
    assert after.nodes == before.nodes


def test_a_pod_group_that_exists_stays_as_it_is() -> None:
    before = snapshot_from_objects([group("gang", least=2, phase="Inqueue")], _REQUEST)

    after = with_assumed(before, objects_beside([group("gang", least=5)]), _REQUEST)

    (found,) = after.other_pod_groups
    assert isinstance(found, VolcanoPodGroup)
    assert (found.min_member, found.phase) == (2, "Inqueue")


def test_the_pod_group_of_a_pod_is_that_of_what_controls_it_or_of_the_pod_alone() -> None:
    """References that are none, or of another owner, are passed over."""
    pod = pod_object("web", scheduler="volcano")
    for owners, uid in (
        (["x", {"uid": "other"}, {"uid": "u", "controller": True}], "u"),
        ([{"uid": "other", "controller": False}], "wanted-default-web"),
        ("x", "wanted-default-web"),
    ):
        pod["metadata"]["ownerReferences"] = owners

        (found,) = objects_beside([pod])

        assert found["metadata"]["name"] == f"podgroup-{uid}"
