"""What a plan says of an eviction is what the job of it knows."""

from __future__ import annotations

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.kube.evict import EvictionClient
from descheduler.migration.setup.choice import choose
from descheduler.migration.setup.job_execution import JobExecution
from descheduler.migration.setup.job_settings import JobProfile, JobStorage
from descheduler.migration.setup.offer import ClusterOffer
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
