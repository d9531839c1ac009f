"""Kinds that a cluster may lack: missing, then there, then gone again."""

from __future__ import annotations

from contextlib import suppress

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import ApiError, Object, wait_until
from tests.e2e.objects import deployment, node
from tests.e2e.program import Program, Report, koordinator_policy

GROUP = "scheduling.koordinator.sh"
JOBS = f"/apis/{GROUP}/v1alpha1/podmigrationjobs"
LIMITS = {"defaultJobMode": "EvictDirectly", "maxMigratingPerWorkload": 2, "maxUnavailablePerWorkload": 2}
POLICY = koordinator_policy("RemovePodsViolatingNodeTaints", LIMITS)
ABSENT = f"PodMigrationJob ({GROUP})"
DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"podmigrationjobs.{GROUP}"},
    "spec": {
        "group": GROUP,
        "names": {"kind": "PodMigrationJob", "plural": "podmigrationjobs", "singular": "podmigrationjob"},
        "scope": "Cluster",
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


def test_migration_jobs_count_from_the_moment_that_their_kind_is_there(cluster: Cluster, program: Program) -> None:
    pods = run_on_tainted_node(cluster)

    missing = program.run(POLICY, "--dry-run")
    add_definition(cluster)
    (chosen,) = planned(missing)
    cluster.create(migration_job(next(pod for pod in pods if pod["metadata"]["name"] == chosen)))
    present = program.run(POLICY, "--dry-run")
    remove_definition(cluster)
    gone = program.run(POLICY, "--dry-run")

    assert [ABSENT in " ".join(each.document["warnings"]) for each in (missing, present, gone)] == [True, False, True]
    assert present.refusals()[chosen] == "AlreadyMigrating"
    assert chosen not in planned(present)
    assert planned(gone) == {chosen}


def run_on_tainted_node(cluster: Cluster) -> list[Object]:
    """Pods that all run on node a, which no longer wants them; node b is free."""
    cluster.add_nodes(node("a"))
    pods = cluster.run(deployment("web", cluster.namespace, replicas=4))
    cluster.add_nodes(node("b"))
    cluster.api.patch(node("a"), {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}})
    return pods


def add_definition(cluster: Cluster) -> None:
    """Has the API server serve the kind."""
    cluster.create(DEFINITION)
    wait_until("migration jobs are served", lambda: is_served(cluster))


def remove_definition(cluster: Cluster) -> None:
    """Has the API server forget the kind, and all objects of it."""
    cluster.api.delete(DEFINITION)
    wait_until("migration jobs are no longer served", lambda: not is_served(cluster))


def is_served(cluster: Cluster) -> bool:
    """Whether migration jobs can be listed."""
    with suppress(ApiError):
        cluster.api.items(JOBS)
        return True
    return False


def migration_job(pod: Object) -> Object:
    """A job that moves the pod just now, as koord-descheduler writes it."""
    meta = pod["metadata"]
    reference = {"namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"]}
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": {"name": "moving"},
        "spec": {"podRef": reference},
        "status": {"phase": "Running"},
    }


def planned(report: Report) -> set[str]:
    """Names of the pods that would move."""
    return {move["pod"]["name"] for move in report.document["moves"]}
