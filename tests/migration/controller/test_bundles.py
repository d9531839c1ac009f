"""Jobs of a bundle, such as those of a gang, go together: all rooms are held before the first pod leaves."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from descheduler.migration.controller.task import JobTask
from descheduler.plan.outcome import OutcomeCode
from tests.living.builders import deployment, living_cluster, node, priority_class
from tests.living.cluster import LivingCluster
from tests.living.store import Object
from tests.migration.controller.playing import Play
from tests.migration.controller.test_controller import left_over

KOORD = "koord-scheduler"


def gang(cpu: str = "1", scheduler: str = KOORD, *, has_reserve_line: bool = True) -> LivingCluster:
    """Three pods of one workload on a node that they have to leave, and two nodes of 4 CPUs."""
    pods = deployment("gang", 3, on=["n1"] * 3, scheduler=scheduler, cpu=cpu)
    nodes = [node("n1", cpu="16", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    lowest = priority_class("descheduler-placeholder", -1_000_000_000)
    return living_cluster(nodes, [pods], [lowest], has_reserve_line=has_reserve_line)


def bundled(play: Play, *pods: Object) -> list[JobTask]:
    """Tasks of one bundle."""
    tasks = [play.task(pod) for pod in pods]
    for task in tasks:
        task.eviction = replace(task.eviction, bundle=1)
    return tasks


def test_a_bundle_leaves_when_all_its_rooms_are_held() -> None:
    cluster = gang()
    play = Play(cluster)
    outcomes = play.run(bundled(play, *cluster.pods("gang")))
    assert [outcome.code for outcome in outcomes] == [OutcomeCode.DONE] * 3
    first = cluster.api.sent("POST", "/eviction")[0].number
    held = [call.number for call in cluster.api.sent("POST", "/reservations")]
    assert len(held) == 3
    assert max(held) < first


def test_nobody_of_a_bundle_leaves_where_one_finds_no_room() -> None:
    cluster = gang(cpu="3")
    before = [pod["metadata"]["uid"] for pod in cluster.pods("gang")]
    play = Play(cluster, ttl=timedelta(seconds=60))
    outcomes = play.run(bundled(play, *cluster.pods("gang")))
    codes = sorted(outcome.code.value for outcome in outcomes)
    assert codes == ["bundle", "bundle", "no-room"]
    assert [pod["metadata"]["uid"] for pod in cluster.pods("gang")] == before
    reservations = cluster.all("reservations.scheduling.koordinator.sh")
    assert [found for found in reservations if found["status"]["phase"] == "Available"] == []


def test_others_do_not_wait_for_a_bundle() -> None:
    cluster = gang(cpu="3")
    for item in deployment("web", 1, on=["n1"], scheduler=KOORD):
        cluster.add(item)
    play = Play(cluster, ttl=timedelta(seconds=60))
    outcomes = play.run([*bundled(play, *cluster.pods("gang")), play.task(cluster.pods("web")[0])])
    assert outcomes[-1].code is OutcomeCode.DONE


@pytest.mark.parametrize("provider", ["koordinator", "placeholder"])
def test_each_replacement_of_a_bundle_has_come_for_one_job(provider: str) -> None:
    scheduler = KOORD if provider == "koordinator" else "default-scheduler"
    cluster = gang(scheduler=scheduler, has_reserve_line=False)
    play = Play(cluster, provider)

    outcomes = play.run(bundled(play, *cluster.pods("gang")))

    assert sorted(outcome.landed_on for outcome in outcomes) == cluster.nodes_of("gang")
    replaced = {job.replacement.uid for job in play.jobs() if job.replacement is not None}
    assert replaced == {pod["metadata"]["uid"] for pod in cluster.pods("gang")}
    assert left_over(cluster) == []
