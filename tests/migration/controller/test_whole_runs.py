"""What a whole run says of itself is what it did."""

from __future__ import annotations

from typing import Any

from tests.living.builders import deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.migration.controller.whole_runs import SURGES, WAYS, live_run, policy_of, watch_of, world


def test_run_that_deletes_pods_does_not_claim_that_nothing_was_evicted() -> None:
    cluster = world(WAYS["directly"])
    watch = watch_of(cluster)
    live_run(cluster, policy_of(WAYS["directly"], evictionPolicy="Delete"), watch=watch)
    assert cluster.api.sent("POST", "/eviction") == []
    assert any("/pods/" in call.request.path for call in cluster.api.sent("DELETE"))
    assert watch.has_effects


def test_run_that_finds_nothing_to_evict_has_no_effects() -> None:
    cluster = living_cluster([node("n1"), node("n2")], [deployment("web", 1, on=["n1"])])
    watch = watch_of(cluster)
    live_run(cluster, policy_of(WAYS["directly"]), watch=watch)
    assert not watch.has_effects


def user_job(pod: dict[str, Any]) -> dict[str, Any]:
    """A job as a user would create it."""
    reference = {"namespace": pod["metadata"]["namespace"], "name": pod["metadata"]["name"]}
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": {"name": "mine"},
        "spec": {"podRef": reference, "mode": "EvictDirectly", "ttl": "2m"},
    }


def world_with_job(**lease: str) -> LivingCluster:
    """Two pods nobody wants away, and a user's job for one of them."""
    cluster = living_cluster([node("n1"), node("n2")], [deployment("web", 2, on=["n1", "n2"])])
    cluster.add(user_job(cluster.pods("web")[0]))
    if lease:
        metadata = {"name": "koord-descheduler", "namespace": "koordinator-system"}
        cluster.add({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": lease})
    return cluster


def test_run_says_how_many_jobs_of_users_succeeded() -> None:
    cluster = world_with_job()
    result = live_run(cluster, policy_of(WAYS["directly"]))
    assert "let 1 PodMigrationJob of users go; 1 succeeded" in result.decisions.notes


def test_run_says_that_it_leaves_jobs_of_users_to_koord_descheduler() -> None:
    cluster = world_with_job(holderIdentity="koord", renewTime="2999-01-01T00:00:00.000000Z")
    result = live_run(cluster, policy_of(WAYS["directly"]))
    (note,) = [note for note in result.decisions.notes if "of users" in note]
    assert note.startswith("left 1 PodMigrationJob of users to koord-descheduler: it runs")
    assert cluster.api.sent("POST", "/eviction") == []


def test_the_only_replica_is_not_moved_by_a_job_of_a_user_which_surges_nothing() -> None:
    web = deployment("web", 1, on=["n1"], scheduler="koord-scheduler")
    cluster = living_cluster([node("n1"), node("n2")], [web])
    cluster.add(user_job(cluster.pods("web")[0]))

    live_run(cluster, policy_of(SURGES["surges with reservations"]))

    (job,) = cluster.all("podmigrationjobs.scheduling.koordinator.sh")
    assert (job["status"]["phase"], job["status"]["reason"]) == ("Failed", "ForbiddenMigratePod")
    assert cluster.nodes_of("web") == ["n1"]
