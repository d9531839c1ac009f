"""Jobs of a bundle, such as those of a gang, go together: all rooms are held before the first pod leaves."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.job.machine import JobTerms
from descheduler.migration.roads.job_task import JobTask
from descheduler.plan.outcome import OutcomeCode
from tests.living.acting.kubelet import STOP_SECONDS
from tests.living.builders import deployment, living_cluster, node, priority_class
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay, Killed
from tests.living.observing.observer import Observer
from tests.living.observing.promises import Limits
from tests.living.store import Object
from tests.migration.roads.playing import Play
from tests.migration.roads.test_jobs import left_over
from tests.series import Part, parts

KOORD = "koord-scheduler"
IMPATIENT = JobTerms(unplaced_patience=timedelta(seconds=60))


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


def chain(*others: list[Object], stop_seconds: int = 1) -> LivingCluster:
    """Pod q can leave n2 for n3, and then pod p can leave n1 for n2, which is full until then.

    Pods take `stop_seconds` to stop: if that is long, all that waits is tried at once when the room is there.
    """
    facts: dict[str, Any] = {"scheduler": KOORD, "grace_seconds": stop_seconds}
    facts["annotations"] = {STOP_SECONDS: str(stop_seconds)}
    workloads = [
        deployment("p", 1, on=["n1"], cpu="2", **facts),
        deployment("r", 1, on=["n1"], cpu="2", **facts),
        deployment("q", 1, on=["n2"], cpu="3", **facts),
        deployment("s", 1, on=["n3"], cpu="1", **facts),
    ]
    return living_cluster([node("n1"), node("n2"), node("n3")], [*others, *workloads])


def waiting(**spec: Any) -> list[Object]:
    """A pod that waits for room on n2."""
    selector = {"kubernetes.io/hostname": "n2"}
    return deployment("waits", 1, cpu="3", scheduler=KOORD, nodeSelector=selector, **spec)


def linked(play: Play, *, held_on: tuple[str, str] = ("n3", "n2"), second: int = 2) -> list[JobTask]:
    """q leaves in the first wave and p in the wave `second`, in one bundle; their rooms are held on these nodes."""
    tasks = []
    for app, wave, where in zip("qp", (1, second), held_on, strict=True):
        task = play.task(*play.cluster.pods(app), held_on=where)
        task.eviction = replace(task.eviction, bundle=1, wave=wave)
        tasks.append(task)
    return tasks


def called(cluster: LivingCluster, path: str) -> list[int]:
    """The numbers of the calls that created something at paths that end so."""
    return [call.number for call in cluster.api.sent("POST", path)]


@pytest.mark.parametrize("held_on", [("n3", "n2"), ("", "")], ids=["nodes are chosen", "the scheduler chooses"])
def test_a_bundle_over_two_waves_is_carried_out(held_on: tuple[str, str]) -> None:
    cluster = chain()
    play = Play(cluster, terms=IMPATIENT)

    outcomes = play.run(linked(play, held_on=held_on))

    assert [(each.code, each.landed_on) for each in outcomes] == [(OutcomeCode.DONE, "n3"), (OutcomeCode.DONE, "n2")]
    assert left_over(cluster) == []


def test_rooms_on_chosen_nodes_are_asked_for_in_all_waves_before_the_first_pod_of_a_bundle_leaves() -> None:
    cluster = chain()
    play = Play(cluster)

    play.run(linked(play))

    assert len(called(cluster, "/reservations")) == 2
    assert max(called(cluster, "/reservations")) < min(called(cluster, "/eviction"))
    names = [call.request.path.split("/")[-2][0] for call in cluster.api.sent("POST", "/eviction")]
    assert names == ["q", "p"]


def test_a_pod_that_waits_for_longer_does_not_take_the_room_of_a_chain() -> None:
    cluster = chain(waiting(), stop_seconds=30)
    assert cluster.nodes_of("waits") == [""]
    play = Play(cluster)

    outcomes = play.run(linked(play))

    assert [(each.code, each.landed_on) for each in outcomes] == [(OutcomeCode.DONE, "n3"), (OutcomeCode.DONE, "n2")]


def test_a_pod_of_a_higher_priority_takes_the_room_of_a_chain_and_the_second_pod_stays() -> None:
    cluster = chain([priority_class("high", 2, preempts=False)], waiting(priorityClassName="high"), stop_seconds=30)
    play = Play(cluster, terms=IMPATIENT)

    outcomes = play.run(linked(play))

    assert [each.code for each in outcomes] == [OutcomeCode.DONE, OutcomeCode.NO_ROOM]
    assert (cluster.nodes_of("waits"), cluster.nodes_of("p"), left_over(cluster)) == (["n2"], ["n1"], [])


def test_the_patience_for_room_begins_when_the_pods_before_have_left() -> None:
    cluster = chain(stop_seconds=100)
    play = Play(cluster, terms=IMPATIENT)

    outcomes = play.run(linked(play))

    assert [each.code for each in outcomes] == [OutcomeCode.DONE] * 2


def test_the_rooms_of_later_waves_are_given_back_where_the_first_pod_stays() -> None:
    cluster = chain()
    play = Play(cluster, terms=IMPATIENT)

    outcomes = play.run(linked(play, held_on=("n1", "n2")))

    assert [each.code for each in outcomes] == [OutcomeCode.NO_ROOM, OutcomeCode.BUNDLE]
    assert (called(cluster, "/eviction"), left_over(cluster)) == ([], [])


@pytest.mark.parametrize("most_active", [1, 2])
def test_room_that_is_held_ahead_keeps_no_job_away_that_goes_before(most_active: int) -> None:
    cluster = chain()
    cluster.add(node("n4"))
    play = Play(cluster, terms=IMPATIENT, most_active=most_active)

    outcomes = play.run([*linked(play), play.task(*cluster.pods("s"), held_on="n4")])

    assert [each.code for each in outcomes] == [OutcomeCode.DONE] * 3


def test_chains_that_share_workloads_do_not_wait_for_each_other() -> None:
    """Of each of two workloads, one pod moves before the other chain's and one after."""
    facts: dict[str, Any] = {"scheduler": KOORD, "grace_seconds": 1, "cpu": "1"}
    workloads = [deployment(app, 2, on=["n1", "n2"], **facts) for app in ("web", "api")]
    cluster = living_cluster(4, workloads)
    play = Play(cluster, terms=IMPATIENT)
    web, api = cluster.pods("web"), cluster.pods("api")
    tasks = [play.task(pod, held_on="n3") for pod in (web[0], api[0], api[1], web[1])]
    for task, bundle, wave in zip(tasks, (1, 1, 2, 2), (1, 2, 1, 2), strict=True):
        task.eviction = replace(task.eviction, bundle=bundle, wave=wave)

    outcomes = play.run(tasks)

    assert [each.code for each in outcomes] == [OutcomeCode.DONE] * 4


@cache
def num_calls() -> int:
    """How many calls a run makes that carries a chain out undisturbed."""
    play = Play(chain())
    way = FaultyWay(play.cluster.api)
    play.through(way).run(linked(play))
    return way.num_calls


def left_of_a_killed_chain(number: int, *, after: bool) -> list[str]:
    """What is wrong once the run after the one that was killed at its call `number` has ended, a sentence each.

    The pod that had left stays away, and a plan over the cluster as it is moves the other one or none.
    """
    cluster = chain()
    observer = Observer(cluster, Limits(at_once_per_workload=1))
    play = Play(cluster).through(FaultyWay(cluster.api, kill_at=number, kills_after_effect=after))
    with suppress(Killed):
        play.run(linked(play))
    cluster.clock.sleep(5)

    second = Play(cluster)
    second.take_up()

    wrong = [*map(str, observer.finish()), *map(str, left_over(cluster))]
    if len(observer.departures) > 2:
        wrong.append(f"{len(observer.departures)} pods have left")
    return [f"call {number}: {text}" for text in wrong]


@pytest.mark.long
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("part", parts(3))
def test_a_chain_whose_run_is_killed_leaves_nothing(part: Part, after: bool) -> None:
    numbers = part.of(range(1, num_calls() + 1), shift=after)

    assert [text for number in numbers for text in left_of_a_killed_chain(number, after=after)] == []
