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
    peer_cluster.add_nodes(node("a"))
    web = deployment("web", peer_cluster.namespace, schedulerName=koordinator.SCHEDULER)
    (victim,) = peer_cluster.run(web)
    peer_cluster.add_nodes(node("b"))
    migration = koordinator.migration_job("move", victim)

    peer_cluster.create(migration)

    done = wait_until("the migration succeeds", lambda: _succeeded(peer_cluster, migration), 90)
    (pod,) = peer_cluster.wait_ready("web", 1)
    assert pod["metadata"]["name"] != victim["metadata"]["name"]
    assert pod["spec"]["nodeName"] == done["status"]["nodeName"]


def _succeeded(cluster: Cluster, migration: Object) -> Object | None:
    job = cluster.api.get(migration)
    return job if job.get("status", {}).get("phase") == "Succeeded" else None
