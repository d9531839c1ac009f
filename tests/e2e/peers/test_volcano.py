"""Volcano's scheduler and controllers at work."""

from __future__ import annotations

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import node
from tests.e2e.peers import volcano


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


def _group(cluster: Cluster, *phases: str) -> Object | None:
    groups = cluster.api.items(f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{cluster.namespace}/podgroups")
    return next((group for group in groups if group.get("status", {}).get("phase") in phases), None)
