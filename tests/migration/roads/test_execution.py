"""What a plan says of an eviction is what the job of it knows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from descheduler.eviction.checks.limits import RunLimits
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.kube.background import BackgroundCalls
from descheduler.kube.evict import EvictionClient
from descheduler.migration.dispatch.limits import LimitLedger
from descheduler.migration.dispatch.surroundings import HALTED, CallRunner
from descheduler.migration.roads.execution import JobExecution
from descheduler.migration.room.table import ClusterOffer, JobProfile, choose
from descheduler.migration.settings import DispatchSettings, JobStorage
from descheduler.migration.store.journal import NewJob
from descheduler.plan.outcome import OutcomeCode
from descheduler.plan.planned import PlannedEviction, PlannedRoom
from descheduler.transport.errors import ExchangeError
from tests.living.builders import budget, deployment, living_cluster, node
from tests.living.faults import FaultyWay
from tests.migration.roads.playing import Play

OFFER = ClusterOffer(has_jobs=True, providers=frozenset({RoomProvider.KOORDINATOR}))
_OVER = OutcomeCode.DEADLINE, HALTED[OutcomeCode.DEADLINE]


def execution(play: Play) -> JobExecution:
    """The jobs of a policy whose only profile is that of `Play.task`."""
    args = MigrationControllerArgs()
    profile = JobProfile(args, choose("p", args, OFFER))
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


def test_jobs_beyond_a_limit_of_the_run_are_undone_and_say_which() -> None:
    workloads = [deployment(app, 1, on=["n1"], scheduler="koord-scheduler") for app in ("a", "b", "c")]
    cluster = living_cluster(3, workloads)
    play = Play(cluster, settings=DispatchSettings(qps=100.0, burst=100, limits=RunLimits(total=2)))

    outcomes = execution(play).execute([play.task(pod).eviction for pod in cluster.pods()])

    assert [outcome.code for outcome in outcomes] == [OutcomeCode.DONE, OutcomeCode.DONE, OutcomeCode.LIMIT]
    assert outcomes[2].message == "maxNoOfPodsToEvictTotal (2) reached"
    assert cluster.nodes_of("c") == ["n1"]
    assert len(cluster.all("reservations.scheduling.koordinator.sh")) == 2
    assert sorted(job.phase for job in play.jobs()) == ["Aborted", "Succeeded", "Succeeded"]


def test_limits_count_pods_that_left_and_those_alone() -> None:
    workloads = [deployment(app, 1, on=["n1"], scheduler="koord-scheduler") for app in ("a", "b", "c")]
    cluster = living_cluster(3, workloads, [budget("a", minAvailable=1)])
    play = Play(cluster, settings=DispatchSettings(qps=100.0, burst=100, limits=RunLimits(total=2)))
    ledger = LimitLedger(play.settings.limits)
    before = PlannedEviction("shop", "before", "before", "n1", "p", "q")
    ledger.book(before)
    ledger.settle(before, counts=True)

    outcomes = execution(play).execute([play.task(pod).eviction for pod in cluster.pods()], ledger)

    assert [outcome.code for outcome in outcomes] == [OutcomeCode.BUDGET, OutcomeCode.DONE, OutcomeCode.LIMIT]


@pytest.mark.long
def test_jobs_that_are_taken_up_when_the_run_is_over_are_left_to_the_next_run() -> None:
    cluster = living_cluster(2, [deployment("a", 1, on=["n1"], scheduler="koord-scheduler")])
    name, uid = (cluster.pods("a")[0]["metadata"][key] for key in ("name", "uid"))
    Play(cluster).create(NewJob("shop", name, uid, "ReservationFirst", "a reason", "Plugin", "koordinator"))
    passage, is_over, answered = FaultyWay(cluster.api), threading.Event(), threading.Event()
    passage.before("GET", name, lambda: [each() for each in (is_over.set, answered.wait)])
    with left_behind() as calls:
        play = Play(cluster, calls=calls, halted=lambda: _OVER if is_over.is_set() else None).through(passage)

        with pytest.raises(ExchangeError, match="the run ended while it took up jobs of earlier runs"):
            execution(play).take_up()

        answered.set()

    assert [job.has_ended for job in play.jobs()] == [False]
    assert len(Play(cluster).take_up().undone) == 1


@contextmanager
def left_behind() -> Iterator[CallRunner]:
    """A thread for calls, which has come to its end at the end."""
    calls = BackgroundCalls[Any](1, name="left behind")
    yield calls
    calls.close()
    for thread in threading.enumerate():
        if thread.name.startswith("left behind"):
            thread.join()
