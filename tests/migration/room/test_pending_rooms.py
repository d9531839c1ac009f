"""Reservations for the pending pods that an eviction makes room for."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.job.machine import JobTerms
from descheduler.migration.roads.adoption import adopted_task
from descheduler.migration.room.labels import labels_of
from descheduler.migration.room.provider import CannotHold
from descheduler.migration.store.journal import NewJob
from descheduler.model.koordinator.eviction_annotations import ROOMS_ANNOTATION
from descheduler.plan.outcome import Outcome, OutcomeCode
from descheduler.plan.planned import PlannedRoom
from tests.living.acting.kubelet import STOP_SECONDS
from tests.living.builders import deployment, living_cluster, node, reservation
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay, Killed
from tests.living.observing.observer import Observer
from tests.living.observing.promises import Limits
from tests.migration.roads.playing import Play
from tests.migration.roads.test_jobs import left_over
from tests.series import Part, parts

Object = dict[str, Any]
KOORD = "koord-scheduler"
RESERVATIONS = "reservations.scheduling.koordinator.sh"
IMPATIENT = JobTerms(unplaced_patience=timedelta(seconds=60))
KEPT = pytest.mark.parametrize("keeps_objects", [True, False], ids=["PodMigrationJobs", "ConfigMaps"])


def world(*apps: str, stop_seconds: int = 1) -> LivingCluster:
    """Pod q can leave n1 for n2; pods of `apps`, by default of early and late, wait for n1, which has room for one."""
    facts: dict[str, Any] = {"scheduler": KOORD, "grace_seconds": stop_seconds}
    facts["annotations"] = {STOP_SECONDS: str(stop_seconds)}
    running = [deployment("q", 1, on=["n1"], cpu="3", **facts), deployment("r", 1, on=["n2"], cpu="1", **facts)]
    facts["nodeSelector"] = {"kubernetes.io/hostname": "n1"}
    cluster = living_cluster([node("n1"), node("n2")], running)
    for app in apps or ("early", "late"):
        for item in deployment(app, 1, cpu="3", **facts):
            cluster.add(item)
        cluster.clock.sleep(30)
    return cluster


def room_of(*pods: Object, on: str = "n1", **facts: str) -> PlannedRoom:
    """Room on a node for the one pod of `pods`, of which something is stated otherwise."""
    (pod,) = pods
    return PlannedRoom(**{key: pod["metadata"][key] for key in ("namespace", "name", "uid")} | {"node": on} | facts)


def making_room(play: Play, *rooms: PlannedRoom, held_on: str = "n2") -> Outcome:
    """The outcome of evicting q for these rooms."""
    (outcome,) = play.run([play.task(*play.cluster.pods("q"), held_on=held_on, rooms=rooms)])
    return outcome


def rooms_in(cluster: LivingCluster) -> list[Object]:
    """The Reservations for pending pods."""
    return [found for found in cluster.all(RESERVATIONS) if "-room-" in found["metadata"]["name"]]


@pytest.mark.parametrize("stop_seconds", [0, 1, 30])
@pytest.mark.parametrize("chosen", ["early", "late"])
def test_the_pending_pod_of_the_plan_gets_the_room_whoever_waits_for_longer(chosen: str, stop_seconds: int) -> None:
    cluster = world(stop_seconds=stop_seconds)

    outcome = making_room(Play(cluster), room_of(*cluster.pods(chosen)))
    cluster.clock.sleep(20)

    assert (outcome.code, outcome.landed_on) == (OutcomeCode.DONE, "n2")
    assert {app: cluster.nodes_of(app) for app in ("early", "late")} == {
        "early": [""],
        "late": [""],
        chosen: ["n1"],
    }
    (used,) = rooms_in(cluster)
    assert used["status"]["phase"] == "Succeeded"


def test_a_reservation_for_a_pending_pod_is_for_that_pod_on_that_node_and_preempts_nobody() -> None:
    cluster = world(stop_seconds=30)
    (pod,) = cluster.pods("late")

    play = Play(cluster)
    making_room(play, room_of(pod))

    ((job,), (room,)) = play.jobs(), rooms_in(cluster)
    assert room["metadata"]["name"] == f"{job.uid}-room-0"
    assert room["metadata"]["labels"].keys() >= {"descheduler/job", "descheduler/jobs-of"}
    spec = room["spec"]
    named = {key: pod["metadata"][key] for key in ("uid", "name", "namespace")}
    assert (spec["owners"], spec["allocateOnce"]) == ([{"object": {"kind": "Pod", **named}}], True)
    assert spec["ttl"] == "11m0s"
    placed = spec["template"]["spec"]
    assert (placed["priority"], placed["preemptionPolicy"]) == (pod["spec"]["priority"] + 1, "Never")
    assert "priorityClassName" not in placed
    (term,) = placed["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchFields"] == [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]


ROOM = {"namespace": "default", "name": "a", "uid": "u", "node": "n3"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("no JSON", "is not a list of pods", id="no JSON"),
        pytest.param("[" * 100_000, "is not a list of pods", id="brackets"),
        pytest.param('{"uid": "u"}', "is not a list of pods", id="an object"),
        pytest.param("[1, null]", "is not a list of pods", id="numbers"),
        pytest.param("[" + json.dumps(ROOM | {"uid": 1}) + "]", "is not a list of pods", id="a number as UID"),
        pytest.param(json.dumps([ROOM | {"name": "../../nodes/n1"}]), "does not name a pod", id="a path"),
        pytest.param(json.dumps([ROOM | {"namespace": ""}]), "does not name a pod", id="no namespace"),
        pytest.param(json.dumps([ROOM | {"uid": ""}]), "does not name a pod", id="no UID"),
        pytest.param(json.dumps([ROOM | {"node": "N3\x1b[2J"}]), "does not name a node", id="no node"),
        pytest.param(json.dumps([ROOM] * 257), "names more than 256 pods", id="too many"),
    ],
)
def test_rooms_of_another_form_are_refused_in_few_words(text: str, told: str) -> None:
    cluster = world()
    play = Play(cluster)
    job = play.create(new_job(cluster, room_of(*cluster.pods("late"))))

    with pytest.raises(CannotHold) as refusal:
        play.rooms().hold(replace(job, annotations={**job.annotations, ROOMS_ANNOTATION: text}), play.now())

    said = str(refusal.value)
    assert said.startswith(f"annotation descheduler/rooms of the job {told}")
    assert len(said) < 200
    assert said.isprintable()
    assert not rooms_in(cluster)


def test_rooms_that_are_asked_for_again_are_found() -> None:
    cluster = world()
    play = Play(cluster)
    job = play.create(new_job(cluster, room_of(*cluster.pods("late"))))

    names = {play.rooms().hold(job, play.now()) for _ in range(2)}

    assert names == {job.uid}
    assert sorted(found["metadata"]["name"] for found in cluster.all(RESERVATIONS)) == [job.uid, f"{job.uid}-room-0"]


def new_job(cluster: LivingCluster, *rooms: PlannedRoom) -> NewJob:
    (pod,) = cluster.pods("q")
    name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
    mode = "ReservationFirst"
    return NewJob("shop", name, uid, mode, "", "Plugin", "koordinator", held_on="n2", rooms=rooms)


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        pytest.param({"uid": "another"}, "is gone", id="another pod has the name"),
        pytest.param({"name": "nobody"}, "is gone", id="no pod has the name"),
        pytest.param({"app": "r"}, "is scheduled already", id="it has a node"),
    ],
)
def test_nothing_is_evicted_for_pods_of_which_none_waits(facts: dict[str, str], told: str) -> None:
    cluster = world()
    before = cluster.pods("q")
    (pod,) = cluster.pods(facts.pop("app", "late"))
    room = room_of(pod, **facts)

    outcome = making_room(Play(cluster), room)

    assert outcome.code is OutcomeCode.NO_ROOM
    assert outcome.message == f"pod {room.namespace}/{room.name}, for which it makes room, {told}"
    assert (cluster.pods("q"), cluster.all(RESERVATIONS)) == (before, [])


def test_no_room_is_held_for_one_of_several_pods_that_waits_no_more() -> None:
    cluster = world()

    outcome = making_room(Play(cluster), room_of(*cluster.pods("r")), room_of(*cluster.pods("late")))

    assert outcome.code is OutcomeCode.DONE
    assert [found["spec"]["owners"][0]["object"]["name"] for found in rooms_in(cluster)] == [
        cluster.pods("late")[0]["metadata"]["name"]
    ]


def test_the_rooms_of_pending_pods_go_where_the_job_fails_before_the_eviction() -> None:
    cluster = world()

    outcome = making_room(Play(cluster, terms=IMPATIENT), room_of(*cluster.pods("late")), held_on="n1")

    assert outcome.code is OutcomeCode.NO_ROOM
    assert len(cluster.api.sent("POST", "/reservations")) == 2
    assert (cluster.all(RESERVATIONS), cluster.api.sent("POST", "/eviction")) == ([], [])


def test_room_that_cannot_be_asked_for_leaves_nothing() -> None:
    cluster = world()
    play = Play(cluster)
    pod = cluster.pods("late")[0]
    job = play.create(new_job(cluster, room_of(pod)))
    cluster.add(reservation(f"{job.uid}-room-0", "late"))

    play.run([adopted_task(job)])

    assert [found["metadata"]["name"] for found in cluster.all(RESERVATIONS)] == [f"{job.uid}-room-0"]
    assert [found.message for found in play.jobs()] == [
        f"a Reservation {job.uid}-room-0 exists, which is not of this job"
    ]


def test_a_room_that_is_not_used_outlasts_its_job_until_the_next_run() -> None:
    cluster = world()
    (pod,) = cluster.pods("late")
    play = Play(cluster)

    outcome = making_room(play, room_of(pod, on="n2"), room_of(*cluster.pods("early")))

    assert outcome.code is OutcomeCode.DONE
    assert len(rooms_in(cluster)) == 2
    cluster.clock.sleep(20)
    Play(cluster).take_up()
    assert [found["status"]["phase"] for found in rooms_in(cluster)] == ["Succeeded"]


def untried(*, node_name: str = "", **stated: str) -> LivingCluster:
    """Room left by a run for a pod that the scheduler has not tried since, of which something is stated otherwise.

    It is on `node_name`, if any.
    """
    pods = deployment("late", 1, on=[node_name] if node_name else [], scheduler=KOORD, nodeSelector={"tried": "later"})
    cluster = living_cluster([node("n1"), node("n2")], [pods])
    cluster.clock.sleep(5)
    (pod,) = cluster.pods("late")
    named = {key: pod["metadata"][key] for key in ("uid", "name", "namespace")} | stated
    facts: dict[str, Any] = {"owners": [{"object": {"kind": "Pod", **named}}], "ttl": "11m"}
    cluster.add(reservation("job-1-room-0", "late", labels=labels_of("job-1", "test"), **facts))
    cluster.clock.sleep(5)
    assert [found["status"]["phase"] for found in rooms_in(cluster)] == ["Available"]
    return cluster


def test_room_outlasts_further_runs_while_its_pod_still_waits_to_be_tried() -> None:
    cluster = untried()

    Play(cluster).take_up()

    assert len(rooms_in(cluster)) == 1


@pytest.mark.parametrize("facts", [{"node_name": "n1"}, {"uid": "another"}, {"name": "nobody"}])
def test_room_of_a_pod_that_waits_no_more_is_deleted_by_the_next_run(facts: dict[str, str]) -> None:
    cluster = untried(**facts)

    Play(cluster).take_up()

    assert rooms_in(cluster) == []


@KEPT
def test_the_rooms_of_a_job_outlive_the_run_that_has_begun_it(keeps_objects: bool) -> None:
    cluster = world()
    room = room_of(*cluster.pods("late"))
    play = Play(cluster, keeps_objects=keeps_objects)
    play.create(new_job(cluster, room))

    (job,) = Play(cluster, keeps_objects=keeps_objects).jobs()
    play.rooms().hold(job, play.now())
    play.rooms().release(job)

    assert len(cluster.api.sent("POST", "/reservations")) == 2
    assert rooms_in(cluster) == []


def test_placeholders_hold_no_room_for_pending_pods() -> None:
    cluster = world()

    making_room(Play(cluster, "placeholder", terms=IMPATIENT), room_of(*cluster.pods("late")))

    assert cluster.api.sent("POST", "/reservations") == []


@cache
def num_calls() -> int:
    """How many calls a run makes that nobody disturbs."""
    cluster = world("late")
    way = FaultyWay(cluster.api)
    making_room(Play(cluster).through(way), room_of(*cluster.pods("late")))
    return way.num_calls


def broken_by_a_kill(number: int, *, after: bool) -> list[str]:
    """What is wrong once the runs after the one that was killed at its call `number` have ended, a sentence each."""
    cluster = world("late")
    observer = Observer(cluster, Limits(at_once_per_workload=1))
    (victim,), room = cluster.pods("q"), room_of(*cluster.pods("late"))
    way = FaultyWay(cluster.api, kill_at=number, kills_after_effect=after)
    with suppress(Killed):
        making_room(Play(cluster).through(way), room)
    cluster.clock.sleep(5)

    second = Play(cluster)
    second.take_up()
    broken: list[str] = []
    if victim["metadata"]["uid"] in [pod["metadata"]["uid"] for pod in cluster.pods("q")]:
        broken += map(str, left_over(cluster))
        making_room(second, room)
    cluster.clock.sleep(20)
    Play(cluster).take_up()

    broken += map(str, observer.finish())
    if (where := (cluster.nodes_of("q"), cluster.nodes_of("late"))) != (["n2"], ["n1"]):
        broken.append(f"the pods are on {where}")
    return [f"call {number}: {text}" for text in broken]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("part", parts(3))
def test_a_run_that_is_killed_leaves_no_room_and_evicts_nothing_twice(part: Part, after: bool) -> None:
    numbers = part.of(range(1, num_calls() + 1), shift=after)

    assert [text for number in numbers for text in broken_by_a_kill(number, after=after)] == []
