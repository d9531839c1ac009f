"""Pods of the live koord-scheduler move by PodMigrationJobs of the program, each into the Reservation made for it."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import deployment, node
from tests.e2e.peers.koordinator import SCHEDULER, install_koordinator, start_scheduler
from tests.e2e.program import Program, koordinator_policy

GROUP = "/apis/scheduling.koordinator.sh/v1alpha1"
GPU_MODEL = {"node.koordinator.sh/gpu-model": "A100"}
GPU = {"koordinator.sh/gpu-core": "100", "koordinator.sh/gpu-memory-ratio": "100"}
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
    cluster_of(peer_cluster, "web", replicas=2)

    evict_all(peer_cluster, tmp_path)

    assert_moved(peer_cluster, "web", 2)


def test_members_of_a_gang_move_into_their_reservations(peer_cluster: Cluster, tmp_path: Path) -> None:
    start(peer_cluster)
    peer_cluster.create(
        {
            "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
            "kind": "PodGroup",
            "metadata": {"name": "gang", "namespace": peer_cluster.namespace},
            "spec": {"minMember": 2, "scheduleTimeoutSeconds": 30},
        }
    )
    cluster_of(peer_cluster, "worker", replicas=3, labels={"pod-group.scheduling.sigs.k8s.io": "gang"})

    evict_all(peer_cluster, tmp_path)

    assert_moved(peer_cluster, "worker", 3)


def start(cluster: Cluster) -> None:
    """Koordinator's kinds and scheduler, and a node."""
    install_koordinator(cluster.plane)
    start_scheduler(cluster.plane)
    cluster.add_nodes(node("a"))


def cluster_of(cluster: Cluster, app: str, *, replicas: int, **facts: object) -> None:
    """Pods on node a, which from then on they do not tolerate; node b is free."""
    cluster.run(deployment(app, cluster.namespace, replicas=replicas, schedulerName=SCHEDULER, **facts))
    cluster.add_nodes(node("b"))
    cluster.api.patch(node("a"), {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}})


def evict_all(cluster: Cluster, folder: Path) -> None:
    """A run that evicts what it can, and reports nothing but evictions."""
    report = Program(cluster.kubeconfig, folder).run(MOVING)
    assert report.exit_code == 0, report.log
    assert set(report.codes().values()) == {"done"}, report.document["results"]


def assert_moved(cluster: Cluster, app: str, count: int) -> None:
    """All pods are on node b, each in the Reservation of a job that has succeeded."""
    pods = cluster.wait_ready(app, count)
    assert {pod["spec"]["nodeName"] for pod in pods} == {"b"}
    jobs = cluster.api.items(f"{GROUP}/podmigrationjobs")
    assert [(job["status"]["phase"], job["status"]["status"]) for job in jobs] == [("Succeeded", "Complete")] * count
    users = wait_until("each Reservation has its user", lambda: users_of(cluster, count))
    assert users == {pod["metadata"]["uid"] for pod in pods}
    assert users == {job["status"]["podRef"]["uid"] for job in jobs}


def users_of(cluster: Cluster, count: int) -> set[str] | None:
    """The UIDs of the pods that use Reservations, once they are as many."""
    found: list[Object] = cluster.api.items(f"{GROUP}/reservations")
    users = {user["uid"] for each in found for user in each.get("status", {}).get("currentOwners", [])}
    return users if len(users) == count else None
