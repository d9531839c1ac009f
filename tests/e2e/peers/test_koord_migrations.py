"""Pods of the live koord-scheduler move by PodMigrationJobs of the program, each into the Reservation made for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import deployment, node
from tests.e2e.peers.koordinator import SCHEDULER, install_koordinator, start_scheduler
from tests.e2e.program import Program, koordinator_policy

GROUP = "/apis/scheduling.koordinator.sh/v1alpha1"
GPU = "koordinator.sh/gpu"
MOVING = koordinator_policy(
    "RemovePodsViolatingNodeTaints",
    {
        "maxMigratingPerNode": 0,
        "maxMigratingPerWorkload": "100%",
        "maxUnavailablePerWorkload": "100%",
        "skipEvictionGates": ["ExpectedReplicas"],
        "objectLimiters": {"workload": {"duration": "0s"}},
    },
)


def test_plain_pods_move_into_their_reservations(peer_cluster: Cluster, tmp_path: Path) -> None:
    start(peer_cluster)
    pods = run_on_closed_node(peer_cluster, "web", replicas=2)

    evict(peer_cluster, tmp_path, number=2)

    assert_moved(peer_cluster, "web", pods, number=2)
    assert events_on_jobs(peer_cluster) == [
        *["Complete"] * 2,
        *["EvictComplete"] * 2,
        *["Evicting"] * 2,
        *["ReservationCreated"] * 2,
        *["ReservationScheduled"] * 2,
    ]


def test_as_many_members_of_a_gang_move_as_it_can_spare(peer_cluster: Cluster, tmp_path: Path) -> None:
    start(peer_cluster)
    peer_cluster.create(
        {
            "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
            "kind": "PodGroup",
            "metadata": {"name": "gang", "namespace": peer_cluster.namespace},
            "spec": {"minMember": 2, "scheduleTimeoutSeconds": 30},
        }
    )
    labels = {"pod-group.scheduling.sigs.k8s.io": "gang"}
    pods = run_on_closed_node(peer_cluster, "worker", replicas=3, labels=labels)

    evict(peer_cluster, tmp_path, number=1)

    assert_moved(peer_cluster, "worker", pods, number=1)


def test_pods_with_gpus_move_into_reservations_of_devices(peer_cluster: Cluster, tmp_path: Path) -> None:
    start(peer_cluster, with_gpus=True)
    pods = run_on_closed_node(peer_cluster, "train", replicas=2, with_gpus=True)

    evict(peer_cluster, tmp_path, number=2)

    moved = assert_moved(peer_cluster, "train", pods, number=2)
    allocated = [pod["metadata"]["annotations"]["scheduling.koordinator.sh/device-allocated"] for pod in moved]
    assert sorted(json.loads(each)["gpu"][0]["minor"] for each in allocated) == [0, 1]


def test_reservations_that_the_scheduler_does_not_note_are_recognized(peer_cluster: Cluster, tmp_path: Path) -> None:
    start(peer_cluster, as_shipped=True)
    pods = run_on_closed_node(peer_cluster, "web", replicas=1)

    report = Program(peer_cluster.kubeconfig, tmp_path).run(MOVING)

    assert list(report.codes().values()) == ["reservation-unused"], report.document
    (moved,) = peer_cluster.wait_ready("web", 1)
    assert (moved["metadata"]["uid"] in pods, moved["spec"]["nodeName"]) == (False, "b")
    assert "enable the plugin Reservation under plugins.reserve" in report.log
    assert peer_cluster.api.items(f"{GROUP}/reservations") == []
    assert [job["status"]["phase"] for job in peer_cluster.api.items(f"{GROUP}/podmigrationjobs")] == ["Succeeded"]


def start(cluster: Cluster, *, with_gpus: bool = False, as_shipped: bool = False) -> None:
    """Koordinator's kinds and scheduler, and node a."""
    install_koordinator(cluster.plane)
    start_scheduler(cluster.plane, as_shipped=as_shipped)
    add_node(cluster, "a", with_gpus=with_gpus)


def add_node(cluster: Cluster, name: str, *, with_gpus: bool) -> None:
    """A ready node, with two GPUs where wanted."""
    if not with_gpus:
        cluster.add_nodes(node(name))
        return
    capacity = {f"{GPU}-core": "200", f"{GPU}-memory-ratio": "200", f"{GPU}-memory": "160Gi"}
    each = {f"{GPU}-core": "100", f"{GPU}-memory-ratio": "100", f"{GPU}-memory": "80Gi"}
    cards = [
        {"type": "gpu", "id": f"GPU-{name}-{minor}", "minor": minor, "health": True, "resources": each}
        for minor in range(2)
    ]
    cluster.create(
        {
            "apiVersion": "scheduling.koordinator.sh/v1alpha1",
            "kind": "Device",
            "metadata": {"name": name, "labels": {"node.koordinator.sh/gpu-model": "A100"}},
            "spec": {"devices": cards},
        }
    )
    cluster.add_nodes(node(name, resources=capacity, labels={"node.koordinator.sh/gpu-model": "A100"}))


def run_on_closed_node(cluster: Cluster, app: str, *, replicas: int, with_gpus: bool = False, **facts: Any) -> set[str]:
    """The UIDs of pods on node a, which from then on they do not tolerate; node b is free."""
    workload = deployment(app, cluster.namespace, replicas=replicas, schedulerName=SCHEDULER, **facts)
    if with_gpus:
        asked = workload["spec"]["template"]["spec"]["containers"][0]["resources"]
        asked["limits"] = {f"{GPU}-core": "100", f"{GPU}-memory-ratio": "100"}
        asked["requests"] |= asked["limits"]
    pods = cluster.run(workload)
    add_node(cluster, "b", with_gpus=with_gpus)
    cluster.api.patch(node("a"), {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}})
    return {pod["metadata"]["uid"] for pod in pods}


def evict(cluster: Cluster, folder: Path, *, number: int) -> None:
    """A run that evicts so many pods."""
    report = Program(cluster.kubeconfig, folder).run(MOVING)
    assert report.exit_code == 0, report.log
    assert list(report.codes().values()) == ["done"] * number, report.document


def assert_moved(cluster: Cluster, app: str, old: set[str], *, number: int) -> list[Object]:
    """The new pods, all on node b, each in the Reservation of a job that has succeeded."""
    pods = [pod for pod in cluster.wait_ready(app, len(old)) if pod["metadata"]["uid"] not in old]
    assert [pod["spec"]["nodeName"] for pod in pods] == ["b"] * number
    jobs = cluster.api.items(f"{GROUP}/podmigrationjobs")
    assert [(job["status"]["phase"], job["status"]["status"]) for job in jobs] == [("Succeeded", "Complete")] * number
    users = wait_until("each Reservation has its user", lambda: users_of(cluster, number))
    assert users == {pod["metadata"]["uid"] for pod in pods}
    assert users == {job["status"]["podRef"]["uid"] for job in jobs}
    return pods


def events_on_jobs(cluster: Cluster) -> list[str]:
    """The reasons of the Events about PodMigrationJobs, sorted."""
    events = cluster.api.items("/api/v1/namespaces/default/events")
    return sorted(event["reason"] for event in events if event["involvedObject"]["kind"] == "PodMigrationJob")


def users_of(cluster: Cluster, count: int) -> set[str] | None:
    """The UIDs of the pods that use Reservations, once they are as many."""
    found: list[Object] = cluster.api.items(f"{GROUP}/reservations")
    users = {user["uid"] for each in found for user in each.get("status", {}).get("currentOwners", [])}
    return users if len(users) == count else None
