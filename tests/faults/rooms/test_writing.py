"""The objects of the faulty server and its scheduler: what is created, changed, deleted, placed and noted."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.faults.answers import Answers
from tests.faults.disturbances import Event
from tests.faults.faults import Act, Fault, Lie, Requests
from tests.faults.history import History, Request, Terms
from tests.faults.leases import Leases
from tests.faults.objects import Object, pod
from tests.faults.rooms.bystanders import broken_objects, job, lookalikes
from tests.faults.rooms.kinds import (
    ALLOCATED,
    CREATED_BY,
    JOB_LABEL,
    JOBS,
    OWNER,
    OWNER_LABEL,
    PODS,
    PRIORITY_CLASS,
    PRIORITY_CLASSES,
    RESERVATIONS,
)
from tests.faults.rooms.leaving import left_over, open_jobs
from tests.faults.rooms.meddling import change_jobs, delete_records
from tests.faults.rooms.scheduling import RoomScheduler
from tests.faults.rules import FaultPlan, Rule
from tests.faults.server import FaultyServer
from tests.faults.state import ClusterState
from tests.faults.timers import Timers

pytestmark = pytest.mark.own_calls

SHOP = "/api/v1/namespaces/shop/pods"
CLASS: Object = {"metadata": {"name": PRIORITY_CLASS}, "value": -1_000_000_000, "preemptionPolicy": "Never"}


@dataclass(frozen=True, slots=True)
class Served:
    """A server with the kinds of Koordinator; `call` sends a request to it."""

    call: Callable[..., tuple[int, Any]]
    state: ClusterState
    answers: Answers
    history: History
    timers: Timers


@contextmanager
def serving(
    objects: dict[str, list[Object]] | None = None, fault: Fault | None = None, kind: Requests = Requests.ROOM_CREATE
) -> Iterator[Served]:
    """The server, of which calls of a kind meet a fault, if there is one."""
    history, timers = History(1, Terms()), Timers()
    state = ClusterState({PRIORITY_CLASSES: [CLASS], **(objects or {})}, history, timers, grace_seconds=0.0)
    leases = Leases(history)
    answers = Answers(state, leases, history, page_size=500, secrets={}, usage={}, has_jobs=True)
    rules = {kind: Rule((fault,))} if fault else {}
    server = FaultyServer(answers, leases, FaultPlan(1, rules), history, timers)

    def call(method: str, target: str, body: Any = None) -> tuple[int, Any]:
        answer, _ = server.respond(method, target, "", body, is_secured=False)
        assert answer is not None
        return answer.code, json.loads(answer.body)

    with server:
        yield Served(call, state, answers, history, timers)
        timers.finish()


def placeholder(name: str = "placeholder-j1", job_uid: str = "j1") -> Object:
    """What a run creates to hold room for a job."""
    labels = {OWNER_LABEL: OWNER, JOB_LABEL: job_uid}
    spec = {"priorityClassName": PRIORITY_CLASS, "containers": [{"name": "placeholder", "image": "pause"}]}
    return {"kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": {"phase": "Running"}}


def wait_until(is_so: Callable[[], Any]) -> None:
    """Waits for something that happens by itself, for a few seconds at most."""
    give_up_at = time.monotonic() + 5
    while not is_so():
        assert time.monotonic() < give_up_at
        time.sleep(0.01)


def notes(history: History) -> list[tuple[str, str, str]]:
    """Verb, path and owner of each change."""
    return [(write.verb, write.path, write.whose) for write in history.writes]


def test_a_placeholder_is_ours_from_its_creation_to_its_deletion() -> None:
    with serving() as served:
        code, made = served.call("POST", SHOP, placeholder())
        _, listed = served.call("GET", f"/api/v1/pods?labelSelector={OWNER_LABEL}={OWNER}")
        gone, _ = served.call("DELETE", f"{SHOP}/placeholder-j1", {"preconditions": {"uid": made["metadata"]["uid"]}})

    assert (code, gone) == (201, 200)
    assert (made["spec"]["priority"], made["status"]["phase"]) == (-1_000_000_000, "Pending")
    assert [item["metadata"]["name"] for item in listed["items"]] == ["placeholder-j1"]
    path = f"{PODS}/shop/placeholder-j1"
    assert notes(served.history) == [("create", path, "ours"), ("delete", path, "ours")]


def test_a_change_of_what_others_have_made_is_noted_as_such() -> None:
    theirs = job("nightly", random.Random(1), pod_name="p0", annotations={CREATED_BY: OWNER})
    waits = job("user-1", random.Random(2), pod_name="p0")
    ended = job("user-2", random.Random(3), pod_name="p0", phase="Failed")
    with serving({JOBS: [theirs, waits, ended], PODS: [pod("p0", namespace="shop", node="n1")]}) as served:
        for name in ("nightly", "user-1", "user-2"):
            served.call("PATCH", f"{JOBS}/{name}/status", {"status": {"phase": "Running"}})
        served.call("DELETE", f"{SHOP}/p0")

    assert notes(served.history) == [
        ("patch", f"{JOBS}/nightly", "others"),
        ("patch", f"{JOBS}/user-1", "open"),
        ("patch", f"{JOBS}/user-2", "others"),
        ("delete", f"{PODS}/shop/p0", "others"),
    ]


@pytest.mark.parametrize(
    ("method", "body"),
    [
        pytest.param("PATCH", {"metadata": {"resourceVersion": "0"}}, id="another version"),
        pytest.param("PATCH", {"metadata": {"uid": "another"}}, id="another UID"),
        pytest.param("DELETE", {"preconditions": {"uid": "another"}}, id="a deletion of another UID"),
    ],
)
def test_a_precondition_that_does_not_hold_changes_nothing(method: str, body: Object) -> None:
    with serving({JOBS: [job("j", random.Random(1), pod_name="p0")]}) as served:
        code, _ = served.call(method, f"{JOBS}/j", body)

    assert (code, served.history.writes) == (409, [])


def test_status_and_spec_are_changed_by_calls_of_their_own() -> None:
    with serving() as served:
        served.call(
            "POST", JOBS, {"kind": "PodMigrationJob", "metadata": {"name": "j"}, "spec": {}, "status": {"a": 1}}
        )
        _, first = served.call("PATCH", f"{JOBS}/j", {"spec": {"mode": "m"}, "status": {"phase": "Running"}})
        _, second = served.call("PATCH", f"{JOBS}/j/status", {"spec": {"mode": "x"}, "status": {"phase": "Running"}})

    assert (first["spec"], first["status"]) == ({"mode": "m"}, {})
    assert (second["spec"], second["status"]) == ({"mode": "m"}, {"phase": "Running"})


@pytest.mark.parametrize(
    ("fault", "code", "num_made"),
    [
        pytest.param(Fault(Act.AT_ONCE, 504), 504, 1, id="an error after the effect"),
        pytest.param(Fault(Act.NEVER, 500), 500, 0, id="an error without effect"),
        pytest.param(Fault(Act.NEVER, lie=Lie.DONE), 200, 0, id="a success without effect"),
        pytest.param(Fault(Act.LATE, 504, late_seconds=2.0), 504, 1, id="an effect after the answer"),
    ],
)
def test_the_answer_says_nothing_of_the_effect(fault: Fault, code: int, num_made: int) -> None:
    with serving(fault=fault) as served:
        answered, _ = served.call("POST", SHOP, placeholder())

    assert (answered, len(served.history.writes)) == (code, num_made)
    assert [write.is_late for write in served.history.writes] == [fault.act is Act.LATE] * num_made


def test_kinds_of_calls_are_told_by_what_they_are_about() -> None:
    with serving() as served:
        served.call("POST", SHOP, placeholder())
        served.call("POST", "/api/v1/namespaces/kube-system/configmaps", {"metadata": {"name": "descheduler-job-1"}})
        served.call("POST", JOBS, {"metadata": {"name": "j"}, "spec": {}})
        served.call("PATCH", f"{JOBS}/j/status", {"status": {}})
        served.call("DELETE", f"{RESERVATIONS}/r")
        served.call("GET", f"{SHOP}/p0")

    kinds = [request.kind for request in served.history.requests]
    assert kinds == ["room create", "job create", "job create", "job status", "room delete", "pod"]


def test_the_scheduler_places_room_and_the_replacement_takes_it() -> None:
    leaving = pod("p0", namespace="shop", node="n1", owner="ReplicaSet/app", app="app")
    with serving({PODS: [leaving]}) as served:
        scheduler = RoomScheduler(served.state, served.timers, ["t1"], seed=1)
        served.state.on_arrival, served.answers.objects.on_created = scheduler.replace, scheduler.hold
        served.call("POST", SHOP, placeholder())
        wait_until(lambda: _node_of(served, "placeholder-j1"))
        served.call("POST", f"{SHOP}/p0/eviction", {})
        wait_until(lambda: _node_of(served, "p0.1"))

    assert _node_of(served, "p0.1") == "t1"
    assert served.state.find(PODS, "shop", "placeholder-j1") is None


def test_a_reservation_is_used_by_a_pod_of_its_owner() -> None:
    leaving = pod("p0", namespace="shop", node="n1", owner="ReplicaSet/app", app="app")
    owner = {"controller": {"uid": "shop.ReplicaSet/app"}}
    held = {"kind": "Reservation", "metadata": {"name": "r"}, "spec": {"owners": [owner], "template": {"spec": {}}}}
    with serving({PODS: [leaving]}) as served:
        scheduler = RoomScheduler(served.state, served.timers, ["t1"], seed=1)
        served.state.on_arrival, served.answers.objects.on_created = scheduler.replace, scheduler.hold
        served.call("POST", RESERVATIONS, held)
        wait_until(lambda: served.call("GET", f"{RESERVATIONS}/r")[1]["status"].get("nodeName"))
        served.call("POST", f"{SHOP}/p0/eviction", {})
        wait_until(lambda: _node_of(served, "p0.1"))
        _, used = served.call("GET", f"{RESERVATIONS}/r")
        _, user = served.call("GET", f"{SHOP}/p0.1")

    assert used["status"]["phase"] == "Succeeded"
    assert json.loads(user["metadata"]["annotations"][ALLOCATED])["name"] == "r"


def _node_of(served: Served, name: str) -> str:
    found = served.state.find(PODS, "shop", name)
    return str(found["spec"].get("nodeName", "")) if found else ""


def test_what_is_left_of_ours_is_told_with_its_job() -> None:
    held = {"metadata": {"name": "descheduler-job-1"}, "data": {"job.json": '{"spec": {"podRef": {"uid": "p"}}}'}}
    ended = {"metadata": {"name": "descheduler-job-2"}, "data": {"job.json": '{"status": {"phase": "Aborted"}}'}}
    with serving({PODS: [pod("p0", namespace="shop", node="n1")]}) as served:
        maps = "/api/v1/namespaces/kube-system/configmaps"
        uid = served.call("POST", maps, held)[1]["metadata"]["uid"]
        served.call("POST", maps, ended)
        served.call("POST", SHOP, placeholder(job_uid=uid))

    found = left_over(served.state.store, served.answers.objects.made)
    assert [(each.kind, each.pod_uid, each.is_over) for each in found] == [
        ("job", "p", False),
        ("job", "", True),
        ("room", "", False),
    ]
    assert found[2].job_uid == uid
    assert open_jobs(served.state.store) == {uid}


def test_others_delete_and_change_jobs() -> None:
    with serving({JOBS: [job("theirs", random.Random(1), pod_name="p0")]}) as served:
        _, made = served.call("POST", JOBS, {"kind": "PodMigrationJob", "metadata": {"name": "j"}, "spec": {}})
        change_jobs(served.state.store)
        _, changed = served.call("GET", f"{JOBS}/j")
        delete_records(served.state.store, served.answers.objects.made, Event.JOBS_DELETED)
        remaining = [item["metadata"]["name"] for item in served.state.items(JOBS)]

    assert changed["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]
    assert remaining == ["theirs"]


@pytest.mark.parametrize("seed", range(20))
def test_objects_of_others_can_be_served_whatever_they_hold(seed: int) -> None:
    draw = random.Random(seed)
    objects = lookalikes(draw, "n1", has_jobs=True)
    for path, items in broken_objects(draw, has_jobs=True).items():
        objects[path] += items
    with serving(objects) as served:
        listed = {path: served.call("GET", path)[1]["items"] for path in (PODS, JOBS, RESERVATIONS)}
        _, ours = served.call("GET", f"/api/v1/namespaces/kube-system/configmaps?labelSelector={OWNER_LABEL}={OWNER}")

    assert {path: len(items) for path, items in listed.items()} == {path: len(objects[path]) for path in listed}
    assert len(ours["items"]) == 4
    assert left_over(served.state.store, served.answers.objects.made) == []


def test_requests_name_the_object_that_they_are_about() -> None:
    with serving() as served:
        served.call("POST", SHOP, placeholder())
        served.call("DELETE", f"{SHOP}/placeholder-j1")
        served.call("GET", "/api/v1/pods")

    def about(request: Request) -> str:
        return request.about

    path = f"{PODS}/shop/placeholder-j1"
    assert list(map(about, served.history.requests)) == [path, path, ""]
