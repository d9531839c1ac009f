"""The Lease that keeps two runs of one policy apart, on the real API server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import deployment, node
from tests.e2e.program import Program, policy

POLICY = policy("RemovePodsViolatingNodeTaints")
LEASE: Object = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "descheduler-e2e", "namespace": "kube-system"},
}
SLOWLY = ("--client-connection-qps=1", "--client-connection-burst=1")
NUM_PODS = 12


def test_second_run_does_nothing_while_the_first_goes_on(cluster: Cluster, program: Program) -> None:
    run_on_tainted_node(cluster)
    first = program.start(POLICY, *SLOWLY)
    wait_until("the first run has the Lease", lambda: holder(cluster))

    others = program.start(POLICY), program.start(POLICY, "--dry-run")
    second, shown = (other.wait() for other in others)

    assert second.exit_code == 0
    assert second.document == {}
    assert "another run is active" in second.log
    assert shown.document["moves"], "a dry run needs no Lease"
    done = first.wait()
    assert done.document["counts"]["evicted"] == NUM_PODS
    assert not holder(cluster), "the Lease is given back"


def test_lease_of_a_dead_run_is_taken_over(cluster: Cluster, program: Program) -> None:
    run_on_tainted_node(cluster)
    hold(cluster, "dead", renewed_at=datetime.now(UTC) - timedelta(minutes=5))

    report = program.run(POLICY)

    assert report.document["counts"]["evicted"] == NUM_PODS
    assert cluster.api.get(LEASE)["spec"]["leaseTransitions"] >= 1


def test_run_that_loses_its_lease_stops(cluster: Cluster, program: Program) -> None:
    run_on_tainted_node(cluster)
    run = program.start(POLICY, *SLOWLY, "--lease-duration=3s")
    wait_until("the run has evicted something", lambda: len(on_node_a(cluster)) < NUM_PODS)

    cluster.api.patch(LEASE, {"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 60}})

    report = run.wait(timeout_seconds=120)
    assert report.exit_code == 4
    assert report.document["counts"]["not-attempted"] > 0
    assert "thief" in report.document["stoppedBy"]
    assert holder(cluster) == "thief"
    cluster.api.delete(LEASE)


def run_on_tainted_node(cluster: Cluster) -> None:
    """Pods that all run on node a, which no longer wants them; node b is free. Nobody has held the Lease."""
    if cluster.api.find(LEASE) is not None:
        cluster.api.delete(LEASE)
    cluster.add_nodes(node("a"))
    cluster.run(deployment("web", cluster.namespace, replicas=NUM_PODS))
    cluster.add_nodes(node("b"))
    cluster.api.patch(node("a"), {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}})


def hold(cluster: Cluster, identity: str, *, renewed_at: datetime) -> None:
    """Has somebody hold the Lease."""
    spec = {
        "holderIdentity": identity,
        "leaseDurationSeconds": 60,
        "renewTime": renewed_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }
    cluster.create({**LEASE, "spec": spec})


def holder(cluster: Cluster) -> str:
    """Who holds the Lease; empty when nobody does."""
    found = cluster.api.find(LEASE)
    return "" if found is None else found["spec"].get("holderIdentity", "")


def on_node_a(cluster: Cluster) -> list[Object]:
    """The pods that are still on node a."""
    return [pod for pod in cluster.pods("web") if pod["spec"].get("nodeName") == "a"]
