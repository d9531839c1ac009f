"""The promises about rooms, jobs and other objects: each is broken by a made-up history, and kept by one like it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.history import Deletion, History, LeftOver, Limits, Tenure, Terms, Write
from tests.faults.made_up import both_evicted, effect, one_evicted, report, reported, request, run, sound_reading
from tests.faults.observer import judge
from tests.faults.rooms.kinds import CONFIG_MAPS, JOBS, PODS, RESERVATIONS

FOREIGN = "nothing that is not ours is changed"
JUDGED = "every eviction is judged"
COUNTED = "every eviction is counted"
NO_END = "no object ends a run"
LEFT = "nothing is left behind"

JOB = f"{JOBS}/j1"
ROOM = f"{PODS}/shop/placeholder-j1"
LEASED = Terms(deadline_seconds=10.0, lease_seconds=6)


def written(verb: str, path: str, whose: str) -> History:
    """A run without flaw that made one more call, for an object that is `whose`."""
    return one_evicted(writes=[Write(2.0, 0, verb, path, "u", whose)])


def room(**facts: Any) -> LeftOver:
    """A placeholder for the job j1, which the first run has created."""
    return replace(LeftOver("room", ROOM, "j1", made_by=0), **facts)


def job(**facts: Any) -> LeftOver:
    """The job j1, which the first run has created for pod b."""
    return replace(LeftOver("job", JOB, "j1", made_by=0, pod_uid="b"), **facts)


def left(*found: LeftOver, **facts: Any) -> History:
    """A run that evicted pod a, and left these objects when it ended."""
    return one_evicted(left={0: list(found)}, **facts)


def asked_last(method: str, path: str, fault: str) -> list[Any]:
    """The calls of a run whose last one for an object met a fault."""
    return [*sound_reading(), request("room", method=method, about=path, fault=fault)]


def written_in_vain(times: int) -> list[Any]:
    """The calls of a run that tried so often to end its job, and looked at it each time."""
    tries = [("PATCH", "reset (no effect)"), ("GET", "")] * times
    calls = [request("job status", method=method, about=JOB, fault=fault) for method, fault in tries]
    return [*sound_reading(), *(replace(call, number=number) for number, call in enumerate(calls, 1))]


def second_run(exit_code: int, *found: LeftOver) -> History:
    """A killed run that left these objects, and another one that left them too."""
    killed = run(exit_code=137, signals=[(1.0, "SIGKILL")])
    next_run = run(report(), index=1, exit_code=exit_code)
    reading = [*sound_reading(), *sound_reading(run=1)]
    return one_evicted(runs=[killed, next_run], effects=[], requests=reading, left={0: list(found), 1: list(found)})


BROKEN: list[tuple[str, str, Callable[[], History]]] = [
    ("a deleted pod of others", FOREIGN, lambda: written("delete", f"{PODS}/kube-system/etcd-n1", "others")),
    ("a patched pod of others", FOREIGN, lambda: written("patch", f"{PODS}/shop/costly", "others")),
    ("a deleted ConfigMap of others", FOREIGN, lambda: written("delete", f"{CONFIG_MAPS}/settings", "others")),
    ("a changed job of others", FOREIGN, lambda: written("patch", f"{JOBS}/of-another", "others")),
    ("a deleted job of a user", FOREIGN, lambda: written("delete", f"{JOBS}/user-1", "open")),
    ("a deleted Reservation of others", FOREIGN, lambda: written("delete", f"{RESERVATIONS}/team-a", "others")),
    (
        "a pod whose job is paused",
        JUDGED,
        lambda: one_evicted(terms=Terms(deadline_seconds=10.0, unasked=frozenset({"a"}))),
    ),
    (
        "a protected pod that a user's job names",
        JUDGED,
        lambda: one_evicted(terms=Terms(deadline_seconds=10.0, protected=frozenset({"a"}))),
    ),
    (
        "a pod of a user's job beyond the limit",
        "no limit is exceeded",
        lambda: both_evicted(terms=Terms(limits=Limits(total=1), deadline_seconds=10.0)),
    ),
    ("two pods of which one is counted", COUNTED, lambda: one_evicted(effects=[effect("a"), effect("b")])),
    ("a failure without a fault", NO_END, lambda: one_evicted(runs=[run(exit_code=1)], effects=[])),
    (
        "a failure with no fault but one of an Event",
        NO_END,
        lambda: one_evicted(
            runs=[run(exit_code=1)], effects=[], requests=[*sound_reading(), request("event", fault="reset")]
        ),
    ),
    ("a placeholder without a job", LEFT, lambda: left(room())),
    ("a placeholder whose job is over", LEFT, lambda: left(room(), job(is_over=True))),
    ("a placeholder whose job waits for nothing", LEFT, lambda: left(room(), job())),
    ("a Reservation without a job", LEFT, lambda: left(room(path=f"{RESERVATIONS}/j1"))),
    (
        "room of a job that was deleted before the last look at it",
        LEFT,
        lambda: left(room(), requests=asked_last("GET", JOB, ""), deletions={"j1": Deletion(1.0, JOB)}),
    ),
    ("a job that evicted nothing", LEFT, lambda: left(job())),
    ("a room after a signal", LEFT, lambda: left(room(), runs=[_interrupted()])),
    (
        "a room whose creation got no answer",
        LEFT,
        lambda: left(room(), requests=asked_last("POST", ROOM, "504 (after the effect)")),
    ),
    (
        "a room after a deletion that had been answered",
        LEFT,
        lambda: left(room(), requests=asked_last("DELETE", ROOM, "")),
    ),
    ("a job that was given up after two writes", LEFT, lambda: left(job(), requests=written_in_vain(2))),
    ("a job whose room had been seen", LEFT, lambda: left(job(), requests=asked_last("GET", ROOM, ""))),
    (
        "a job when the room of another one could not be read",
        LEFT,
        lambda: left(job(), requests=asked_last("GET", f"{PODS}/shop/placeholder-j2", "reset (after the effect)")),
    ),
    (
        "a job of a stopped run whose Lease the machine did not delay",
        LEFT,
        lambda: left(job(), runs=[run(exit_code=4, stalled_seconds=0.5)], effects=[], terms=LEASED),
    ),
    ("what a killed run left, after one that ended well", LEFT, lambda: second_run(0, room(), job())),
    ("a room of its own after a run that failed", LEFT, lambda: left(room(), runs=[run(exit_code=1)], effects=[])),
]


def _interrupted() -> Any:
    results = ("a", "evicted", "done"), ("b", "not-attempted", "stopped")
    return run(report(*results), exit_code=143, signals=[(1.0, "SIGTERM")])


@pytest.mark.parametrize(
    ("promise", "make_history"), [pytest.param(promise, make, id=what) for what, promise, make in BROKEN]
)
def test_a_history_that_breaks_a_promise_about_rooms_is_told_so(
    promise: str, make_history: Callable[[], History]
) -> None:
    broken = judge(make_history())

    assert promise in {found.promise for found in broken}


KEPT: list[tuple[str, Callable[[], History]]] = [
    ("a deleted placeholder of ours", lambda: written("delete", ROOM, "ours")),
    ("a user's job that is carried out", lambda: written("patch", f"{JOBS}/user-1", "open")),
    (
        "a pod of a user's job that is reported",
        lambda: both_evicted(terms=Terms(limits=Limits(total=2), deadline_seconds=10.0)),
    ),
    (
        "a failure after a fault of a list",
        lambda: one_evicted(
            runs=[run(exit_code=1)], effects=[], requests=[request("list", path=PODS, fault="500, Status (no effect)")]
        ),
    ),
    (
        "a failure to write the report",
        lambda: one_evicted(
            runs=[run(exit_code=1, stderr="error: cannot write to standard output: no space left on device")],
            effects=[],
        ),
    ),
    ("a failure before any call", lambda: one_evicted(runs=[run(exit_code=1)], effects=[], requests=[])),
    ("a job that is over", lambda: left(job(is_over=True))),
    ("room of a job whose pod has left", lambda: left(room(), job(pod_uid="a"))),
    ("room of a job whose pod somebody deleted", lambda: left(room(), job(), departed={"b"})),
    (
        "room of a job whose eviction got no answer",
        lambda: left(
            room(),
            job(),
            runs=reported(("a", "evicted", "done"), ("b", "evicted", "outcome-unknown")),
            requests=[*sound_reading(), request("eviction", uid="b", fault="no answer")],
        ),
    ),
    ("room of a user's job that goes on", lambda: left(room(job_uid="user"), open_jobs={0: {"user"}})),
    (
        "room of a job that was deleted after the last look at it",
        lambda: left(room(), requests=asked_last("GET", JOB, ""), deletions={"j1": Deletion(3.0, JOB)}),
    ),
    ("a Reservation that was used", lambda: left(room(path=f"{RESERVATIONS}/j1", is_over=True))),
    ("room whose creation took effect late", lambda: left(room(is_late=True))),
    (
        "room whose deletion met a fault at the last",
        lambda: left(room(), requests=asked_last("DELETE", ROOM, "500 (no effect)")),
    ),
    (
        "a job whose room could not be read at the last",
        lambda: left(job(), requests=asked_last("GET", ROOM, "reset (after the effect)")),
    ),
    ("a job whose last three writes met faults", lambda: left(job(), requests=written_in_vain(3))),
    (
        "a job of a stopped run whose Lease may have run out",
        lambda: left(job(), runs=[run(exit_code=4, stalled_seconds=1.5)], effects=[], terms=LEASED),
    ),
    ("room when a rival has the Lease", lambda: left(room(), tenures=[Tenure(1.0, "us"), Tenure(2.0, "rival", True)])),
    ("what a killed run left, after one that could not go on", lambda: second_run(4, room(), job())),
]


@pytest.mark.parametrize("make_history", [pytest.param(make, id=what) for what, make in KEPT])
def test_a_history_that_keeps_the_promises_about_rooms_is_left_alone(make_history: Callable[[], History]) -> None:
    ours = {FOREIGN, JUDGED, COUNTED, NO_END, LEFT, "no limit is exceeded", "no pod is evicted unlisted"}

    assert [found for found in judge(make_history()) if found.promise in ours] == []
