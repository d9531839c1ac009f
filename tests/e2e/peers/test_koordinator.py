"""Koordinator's scheduler and descheduler at work."""

from __future__ import annotations

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import deployment, node
from tests.e2e.peers import koordinator


def test_koord_scheduler_binds_its_pods(peer_cluster: Cluster) -> None:
    koordinator.install_koordinator(peer_cluster.plane)
    koordinator.start_scheduler(peer_cluster.plane)
    peer_cluster.add_nodes(node("a"))

    (pod,) = peer_cluster.run(
        deployment("web", peer_cluster.namespace, schedulerName=koordinator.SCHEDULER),
    )

    assert pod["spec"]["nodeName"] == "a"


def test_koord_descheduler_migrates_a_pod_into_its_reservation(peer_cluster: Cluster) -> None:
    koordinator.install_koordinator(peer_cluster.plane)
    koordinator.start_scheduler(peer_cluster.plane)
    koordinator.start_descheduler(peer_cluster.plane)
    peer_cluster.add_nodes(node("a"), node("b"))
    # A workload of one or two replicas would be refused as too small for the default limits.
    pods = peer_cluster.run(
        deployment("web", peer_cluster.namespace, replicas=4, schedulerName=koordinator.SCHEDULER),
    )
    migration = koordinator.migration_job("move", pods[0])

    peer_cluster.create(migration)

    done = wait_until("the migration succeeds", lambda: _succeeded(peer_cluster, migration), 90)
    before = {pod["metadata"]["name"] for pod in pods}
    (moved,) = (pod for pod in peer_cluster.wait_ready("web", 4) if pod["metadata"]["name"] not in before)
    assert moved["spec"]["nodeName"] == done["status"]["nodeName"]


def _succeeded(cluster: Cluster, migration: Object) -> Object | None:
    job = cluster.api.get(migration)
    return job if job.get("status", {}).get("phase") == "Succeeded" else None
