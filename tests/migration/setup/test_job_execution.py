"""What a plan says of an eviction is what the job of it knows."""

from __future__ import annotations

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.kube.evict import EvictionClient
from descheduler.migration.setup.choice import choose
from descheduler.migration.setup.job_execution import JobExecution
from descheduler.migration.setup.job_settings import JobProfile, JobStorage
from descheduler.migration.setup.offer import ClusterOffer
from descheduler.plan.planned import PlannedRoom
from tests.living.builders import deployment, living_cluster, node
from tests.migration.controller.playing import Play

OFFER = ClusterOffer(has_jobs=True, has_reservations=True)


def execution(play: Play) -> JobExecution:
    """The jobs of a policy whose only profile is that of `Play.task`."""
    args = MigrationControllerArgs()
    profile = JobProfile(args, choose("p", args, OFFER, ""))
    storage = JobStorage("descheduler-test", "kube-system", in_objects=True)
    port = EvictionClient(play.client)
    return JobExecution(play.objects, {"p": profile}, storage, port, play.settings, play.surroundings())


def test_room_is_held_on_the_node_that_the_plan_chose_for_each_eviction() -> None:
    nodes = [node("n1"), node("n2", cpu="16"), node("n3"), node("n4")]
    workloads = [deployment(app, 1, on=["n1"], scheduler="koord-scheduler") for app in ("a", "b", "c")]
    cluster = living_cluster(nodes, workloads)
    play = Play(cluster)
    chosen = {"a": "n3", "b": "n4", "c": ""}
    evictions = [play.task(*cluster.pods(app), held_on=where).eviction for app, where in chosen.items()]

    execution(play).execute(evictions)

    assert {app: cluster.nodes_of(app) for app in chosen} == {"a": ["n3"], "b": ["n4"], "c": ["n2"]}


def test_room_is_held_for_the_pending_pod_that_the_plan_makes_it_for() -> None:
    leaves = deployment("a", 1, on=["n1"], scheduler="koord-scheduler", cpu="3")
    waits = deployment("waits", 1, scheduler="koord-scheduler", cpu="3", nodeSelector={"kubernetes.io/hostname": "n1"})
    cluster = living_cluster(2, [leaves, waits])
    play = Play(cluster)
    metadata = cluster.pods("waits")[0]["metadata"]
    room = PlannedRoom(metadata["namespace"], metadata["name"], metadata["uid"], "n1")

    execution(play).execute([play.task(*cluster.pods("a"), held_on="n2", rooms=[room]).eviction])
    cluster.clock.sleep(5)

    (job,) = play.jobs()
    assert cluster.get("reservations.scheduling.koordinator.sh", f"{job.uid}-room-0") is not None
    assert (cluster.nodes_of("a"), cluster.nodes_of("waits")) == (["n2"], ["n1"])
