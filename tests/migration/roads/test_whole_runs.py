"""What a whole run says of itself is what it did."""

from __future__ import annotations

from typing import Any

from descheduler.report.outcome.status_document import StatusDocument
from descheduler.report.tables.status_table import status_table
from descheduler.report.tables.table_style import TableStyle
from descheduler.telemetry.observer import RunObserver
from tests.living.builders import budget, deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.migration.roads.whole_runs import SURGES, WAYS, live_run, policy_of, watch_of, world


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
    assert "started 1 PodMigrationJob of users; 1 succeeded" in result.decisions.notes


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


def events_on(cluster: LivingCluster, kind: str) -> list[tuple[str, str, str]]:
    """Type, reason and note of the Events about objects of this kind, as they came."""
    written = [call.request.document() for call in cluster.api.sent("POST", "/events")]
    return [
        (event["type"], event["reason"], event["note"])
        for event in written
        if event["regarding"]["kind"] == kind and event["metadata"]["namespace"]
    ]


def test_jobs_of_a_run_have_the_events_that_koord_descheduler_writes() -> None:
    way = WAYS["reservations"]
    cluster = living_cluster(
        [node("n1", taints=["gone=soon:NoSchedule"]), node("n2")],
        [deployment("web", 1, on=["n1"], scheduler=way.scheduler)],
    )
    live_run(cluster, policy_of(way))
    (job,) = cluster.all("podmigrationjobs.scheduling.koordinator.sh")
    reservation, pod = job["metadata"]["uid"], job["spec"]["podRef"]["name"]
    assert [reason for _, reason, _ in events_on(cluster, "PodMigrationJob")] == [
        "ReservationCreated",
        "ReservationScheduled",
        "Evicting",
        "EvictComplete",
        "Complete",
    ]
    notes = [note for _, _, note in events_on(cluster, "PodMigrationJob")]
    assert notes[1:3] == [f'Assigned Reservation "{reservation}" to node "n2"', f'Try to evict Pod "shop/{pod}"']


def test_evictions_of_users_jobs_have_events_on_the_pod_and_its_owner() -> None:
    cluster = world_with_job()
    (victim, _) = cluster.pods("web")
    live_run(cluster, policy_of(WAYS["directly"]))
    note = f"pod eviction from {victim['spec']['nodeName']} node by sigs.k8s.io/descheduler"
    assert events_on(cluster, "Pod") == [("Normal", "NotSet", note)]
    assert [note for _, _, note in events_on(cluster, "ReplicaSet")] == [f"pod {victim['metadata']['name']}: {note}"]


def test_jobs_in_config_maps_have_no_events() -> None:
    cluster = world(WAYS["placeholders"])
    live_run(cluster, policy_of(WAYS["placeholders"]))
    assert events_on(cluster, "PodMigrationJob") == []
    assert len(events_on(cluster, "Pod")) == 2


def test_stages_of_jobs_are_measured() -> None:
    cluster = world(WAYS["reservations"])
    observer = RunObserver(clock=cluster.clock.monotonic)
    live_run(cluster, policy_of(WAYS["reservations"]), observer=observer)
    assert observer.jobs.counts == {("Succeeded", "", "koordinator"): 2}
    assert {stage: len(seconds) for (stage, _), seconds in observer.jobs.seconds.items()} == {
        "pending": 2,
        "reserving": 2,
        "waiting": 2,
        "evicting": 2,
        "landing": 2,
    }


def test_reservations_that_the_scheduler_does_not_note_are_told_once_and_kept_in_the_status() -> None:
    way = WAYS["reservations"]
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    workloads = [deployment(name, 1, on=["n1"], scheduler=way.scheduler) for name in ("web", "api")]
    cluster = living_cluster(nodes, workloads, has_reserve_line=False)
    result = live_run(cluster, policy_of(way))
    (note,) = [note for note in result.decisions.notes if "did not use" in note]
    assert note.startswith("Replacement pods did not use 2 Reservations on their nodes: ")
    (status,) = [found for found in cluster.all("configmaps") if found["metadata"]["name"].endswith("-status")]
    kept = StatusDocument.decoded(status["data"]["status.json"])
    assert [run.reservations_unused for run in kept.runs] == [2]
    assert any("2 not used" in line for line in status_table(kept, TableStyle()))


def test_jobs_of_users_that_do_not_succeed_are_told_with_their_pod() -> None:
    cluster = world_with_job()
    cluster.add(budget("web", minAvailable=2))
    cluster.clock.sleep(1)
    victim = cluster.pods("web")[0]["metadata"]["name"]
    result = live_run(cluster, policy_of(WAYS["directly"]))
    (note,) = [note for note in result.decisions.notes if victim in note]
    assert note.startswith(f"PodMigrationJob of a user: pod shop/{victim} not evicted: ")
    refusals = [event for event in events_on(cluster, "PodMigrationJob") if event[1] == "FailedEvict"]
    assert [kind for kind, _, _ in refusals] == ["Warning"]
