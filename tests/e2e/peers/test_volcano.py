"""Volcano's scheduler and controllers at work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.groups.volcano import VolcanoPodGroup
from descheduler.placement.volcano.resources import amounts_of
from descheduler.planner.wanted_pods import objects_beside
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import node, pod
from tests.e2e.peers import volcano

_GPU, _GROUPS = "example.com/gpu", "scheduling.volcano.sh/v1beta1"
_QUEUE_NAME = "scheduling.volcano.sh/queue-name"


def test_volcano_runs_a_job_as_a_gang(peer_cluster: Cluster) -> None:
    volcano.install_volcano(peer_cluster.plane)
    volcano.start_scheduler(peer_cluster.plane)
    volcano.start_controllers(peer_cluster.plane)
    peer_cluster.add_nodes(node("a", cpu="1"))
    gang = volcano.job("gang", peer_cluster.namespace, replicas=2, cpu="800m")

    peer_cluster.create(gang)
    group = wait_until("the pod group waits for room", lambda: _group(peer_cluster, "Inqueue", "Pending"))
    assert group["spec"]["minMember"] == 2
    peer_cluster.add_nodes(node("b", cpu="1"))

    peer_cluster.wait_ready("gang", 2)
    wait_until("the pod group runs", lambda: _group(peer_cluster, "Running"))


def _job(name: str, least: int, *tasks: tuple[str, int, int], **spec: object) -> Object:
    """A job of tasks by name, number of pods and how many of these have to run; a GPU is stated as a limit alone."""
    made = volcano.job(name, "", replicas=1)
    (only,) = made["spec"]["tasks"]
    template = only["template"]
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi", _GPU: "1"}}
    container = {**template["spec"]["containers"][0], "resources": resources}
    template = {**template, "spec": {**template["spec"], "containers": [container]}}
    listed = [
        {"name": task, "replicas": replicas, "minAvailable": own, "template": template} for task, replicas, own in tasks
    ]
    return {**made, "spec": {**made["spec"], "minAvailable": least, "tasks": listed, **spec}}


WANTED = [
    _job("whole", 3, ("ps", 1, 1), ("worker", 2, 2)),
    _job("more-than-its-tasks-need", 4, ("ps", 1, 1), ("worker", 4, 1)),
    _job("fewer-than-its-tasks-need", 2, ("ps", 3, 3), ("worker", 4, 1)),
    _job("stated", 1, ("worker", 2, 1), queue="research", priorityClassName="high"),
    pod("alone", "", cpu="2", schedulerName=volcano.SCHEDULER, annotations={_QUEUE_NAME: "research"}),
]


def test_pod_groups_of_what_is_not_created_yet_are_those_that_volcano_makes(peer_cluster: Cluster) -> None:
    volcano.install_volcano(peer_cluster.plane)
    for name in ("default", "research"):
        peer_cluster.create({"apiVersion": _GROUPS, "kind": "Queue", "metadata": {"name": name}, "spec": {"weight": 1}})
    volcano.start_controllers(peer_cluster.plane)
    namespace = peer_cluster.namespace
    wanted = [{**each, "metadata": {**each["metadata"], "namespace": namespace}} for each in WANTED]

    for each in wanted:
        peer_cluster.create(each)

    made = wait_until("Volcano makes the pod groups", lambda: _if_all(peer_cluster.api.items(_path(namespace))))
    found = {group["metadata"]["ownerReferences"][0]["name"]: _stated(group) for group in made}
    assert found == {each["metadata"]["name"]: _stated(*objects_beside([each])) for each in wanted}


def _if_all(groups: Sequence[Object]) -> Sequence[Object]:
    return groups if len(groups) == len(WANTED) else ()


def _path(namespace: str) -> str:
    return f"/apis/{_GROUPS}/namespaces/{namespace}/podgroups"


def _stated(*groups: Mapping[str, object]) -> object:
    """What decides of a PodGroup when its job runs."""
    (group,) = snapshot_from_objects(groups).other_pod_groups
    assert isinstance(group, VolcanoPodGroup)
    needs = amounts_of(group.min_resources or {})
    return group.min_member, group.min_task_member, group.queue, group.priority_class_name, needs


def _group(cluster: Cluster, *phases: str) -> Object | None:
    groups = cluster.api.items(_path(cluster.namespace))
    return next((group for group in groups if group.get("status", {}).get("phase", "") in phases), None)
