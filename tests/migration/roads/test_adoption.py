"""What is made of jobs that earlier runs or users have left: which are undone, finished, removed or left alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import pytest
from msgspec.structs import replace

from descheduler.kube.errors import ApiError, KindAbsent, KindForbidden
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.roads.adoption import Adopted, adopt, adopted_task
from descheduler.migration.room.sweeping import KnownJobs, Swept
from descheduler.migration.store.journal import FoundJobs
from descheduler.model.koordinator.eviction_annotations import (
    CREATED_BY_ANNOTATION,
    REASON_ANNOTATION,
    TRIGGER_ANNOTATION,
)
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.transport.errors import ExchangeError
from tests.builders import NOW, make_pod, owner
from tests.migration.roads.tasks import asked, gone, job
from tests.migration.room.still import Object, pod, still

THEIRS = {CREATED_BY_ANNOTATION: "another"}
OURS = {CREATED_BY_ANNOTATION: "us"}
FORBIDDEN = ApiError("not allowed", status_code=403, reason="Forbidden")
BROKEN = ApiError("internal error", status_code=500, reason="InternalError")


def ours(of: MigrationJob | None = None, **facts: Any) -> MigrationJob:
    """A job of this program for pod `web`."""
    return replace(of or job(), annotations=OURS, **facts)


class World:
    """Jobs as they are kept, a pod, and what is done about both."""

    def __init__(self, *jobs: MigrationJob, found: Object | None = None, fails: dict[str, Exception] | None = None):
        self._found = FoundJobs(jobs, frozenset({"unread"}), ("a look-alike",))
        self._objects = ObjectCalls(still(found).client())
        self._fails = fails or {}
        self.calls: list[str] = []
        self.known = KnownJobs(frozenset(), {}, frozenset())
        self.undone_as: Callable[[MigrationJob], MigrationJob | None] = lambda ended: ended

    def adopt(self) -> Adopted:
        """What is made of all of it."""
        return adopt(
            self._objects,
            cast(Any, self),
            cast(Any, self),
            [cast(Any, self)],
            is_own=lambda job: job.annotations.get(CREATED_BY_ANNOTATION) == "us",
            is_users=lambda job: CREATED_BY_ANNOTATION not in job.annotations,
            now=NOW,
        )

    def _note(self, call: str) -> None:
        self.calls.append(call)
        if call.partition(" ")[0] in self._fails:
            raise self._fails[call.partition(" ")[0]]

    def found(self) -> FoundJobs:
        """The jobs."""
        return self._found

    def undo(self, of: MigrationJob, end: Callable[[MigrationJob], MigrationJob]) -> MigrationJob | None:
        """Gives back what is held."""
        self._note(f"undo {of.uid}")
        return self.undone_as(end(of))

    def take_back_surge(self, of: MigrationJob) -> None:
        """Scales back."""
        self._note(f"take-back {of.uid}")

    def delete(self, of: MigrationJob) -> None:
        """Removes it."""
        self._note(f"delete {of.uid}")

    def sweep(self, known: KnownJobs) -> Swept:
        """Removes room."""
        self._note("sweep")
        self.known = known
        return Swept(("room",), ("left alone",))


ALIVE = pod("web", "n1") | {"metadata": {**pod("web", "n1")["metadata"], "uid": "uid-web"}}
SUCCESSOR, LEAVING = pod("web", "n1"), pod("web", "n1", deleted=1) | {}
LEAVING["metadata"]["uid"] = "uid-web"


@pytest.mark.parametrize(
    ("of", "found", "calls", "is_unfinished"),
    [
        pytest.param(ours(), ALIVE, ["undo u"], False, id="its pod stays"),
        pytest.param(ours(), SUCCESSOR, [], True, id="a successor has come"),
        pytest.param(ours(), LEAVING, [], True, id="its pod leaves"),
        pytest.param(ours(), None, [], True, id="its pod is gone"),
        pytest.param(ours(asked()), ALIVE, [], True, id="its pod was asked to leave"),
        pytest.param(ours(asked(), is_paused=True), ALIVE, [], False, id="asked, and paused"),
        pytest.param(ours(pod_uid=""), None, ["undo u"], False, id="it names no UID"),
        pytest.param(ours(pod_name=""), None, ["undo u"], False, id="it names no pod"),
        pytest.param(ours(pod_namespace=""), None, ["undo u"], False, id="it names no namespace"),
        pytest.param(ours(is_terminating=True), ALIVE, [], False, id="it is being deleted"),
        pytest.param(ours(phase="Succeeded"), ALIVE, [], False, id="it has succeeded"),
        pytest.param(ours(phase="Failed"), ALIVE, ["take-back u"], False, id="it has failed"),
        pytest.param(ours(phase="Aborted"), ALIVE, ["take-back u"], False, id="it was undone"),
        pytest.param(asked(), ALIVE, [], True, id="a user's job, whose pod was asked to leave"),
        pytest.param(job(), None, [], True, id="a user's job, whose pod is gone"),
        pytest.param(job(), ALIVE, [], False, id="a user's job that has not come so far"),
        pytest.param(asked(phase="Pending"), None, [], False, id="a user's job that does not run"),
        pytest.param(replace(asked(), annotations=THEIRS), None, [], False, id="another program's"),
    ],
)
def test_job_is_undone_unless_its_pod_has_left(
    of: MigrationJob, found: Object | None, calls: list[str], *, is_unfinished: bool
) -> None:
    world = World(of, found=found)

    adopted = world.adopt()

    assert world.calls == [*calls, "sweep"]
    assert adopted.unfinished == ((of,) if is_unfinished else ())
    assert adopted.undone == ((of,) if "undo u" in calls else ())
    assert (adopted.swept, adopted.notes) == (("room",), ("a look-alike", "left alone"))


@pytest.mark.parametrize(
    ("kept", "is_unfinished"),
    [
        pytest.param(ours(asked()), True, id="its pod has left meanwhile"),
        pytest.param(ours(gone(), phase="Succeeded"), False, id="it has ended meanwhile"),
        pytest.param(ours(), False, id="others keep changing it"),
        pytest.param(None, False, id="it is gone"),
    ],
)
def test_job_that_changes_while_it_is_undone_is_finished_if_its_pod_has_left(
    kept: MigrationJob | None, *, is_unfinished: bool
) -> None:
    world = World(ours(), found=ALIVE)
    world.undone_as = lambda ended: kept

    adopted = world.adopt()

    assert (adopted.unfinished, adopted.undone) == (((kept,), ()) if is_unfinished else ((), (ours(),)))


def ended(seconds: float | None, ttl: timedelta | None = timedelta(minutes=5), **facts: Any) -> MigrationJob:
    """A job that was created so long ago and has succeeded."""
    created_at = None if seconds is None else NOW - timedelta(seconds=seconds)
    return ours(phase="Succeeded", created_at=created_at, ttl=ttl, **facts)


@pytest.mark.parametrize(
    ("of", "is_deleted"),
    [
        pytest.param(ended(599), False, id="its time limit and five minutes have not passed"),
        pytest.param(ended(600), True, id="its time limit and five minutes have passed"),
        pytest.param(ended(1799, None), False, id="without a limit, half an hour has not passed"),
        pytest.param(ended(1800, None), True, id="without a limit, half an hour has passed"),
        pytest.param(ended(1800, timedelta(0)), True, id="a limit of 0 is none"),
        pytest.param(ended(None), False, id="nobody knows when it was created"),
        pytest.param(replace(ended(9999), annotations={}), False, id="it is a user's"),
        pytest.param(replace(ended(9999), phase="Running", is_terminating=True), False, id="it has not ended"),
    ],
)
def test_job_that_has_ended_is_removed_after_a_while(of: MigrationJob, *, is_deleted: bool) -> None:
    world = World(of, found=ALIVE)
    world.adopt()

    assert ("delete u" in world.calls) is is_deleted


@pytest.mark.parametrize(
    ("call", "of", "told"),
    [
        pytest.param("undo", ours(), ["could not be undone"], id="to undo"),
        pytest.param("delete", ended(600), ["could not be removed"], id="to remove"),
        pytest.param("take-back", ours(phase="Failed"), [], id="to scale back"),
    ],
)
def test_missing_right_is_told_and_other_errors_end_the_run(call: str, of: MigrationJob, told: list[str]) -> None:
    forbidden = World(of, found=ALIVE, fails={call: FORBIDDEN})

    adopted = forbidden.adopt()

    notes = [f"the job j of an earlier run {each}: not allowed" for each in told]
    assert [note for note in adopted.notes if "job j" in note] == notes
    assert adopted.undone == ()
    with pytest.raises(ExchangeError, match="internal error"):
        World(of, found=ALIVE, fails={call: BROKEN}).adopt()


@pytest.mark.parametrize(
    "error",
    [KindAbsent("no such kind", status_code=404), KindForbidden("not allowed", status_code=403, reason="Forbidden")],
)
def test_room_that_may_not_be_listed_was_not_created(error: ApiError) -> None:
    assert World(fails={"sweep": error}).adopt().swept == ()


def test_room_is_known_by_the_jobs_that_there_are() -> None:
    def named(uid: str, of: MigrationJob) -> MigrationJob:
        return replace(of, uid=uid)

    world = World(
        named("undone", ours()),
        named("over", ours(phase="Succeeded")),
        named("goes-on", ours(asked())),
        named("user's", job()),
        named("user's, over", job(phase="Failed")),
        named("foreign", replace(job(), annotations=THEIRS)),
        named("foreign, over", replace(job(phase="Failed"), annotations=THEIRS)),
        found=ALIVE,
    )
    world.adopt()

    assert world.known.live == {"goes-on", "user's", "foreign", "unread"}
    assert world.known.over.keys() == {"undone", "over", "user's, over", "foreign, over"}
    assert world.known.foreign == {"foreign, over"}


POD = make_pod("web", namespace="shop", uid="found", node="n3", labels={"a": "b"}, owners=[owner("ReplicaSet/web")])


@pytest.mark.parametrize(
    ("of", "found", "uid"),
    [
        pytest.param(job(), POD, "uid-web", id="of the job"),
        pytest.param(job(pod_uid=""), POD, "found", id="of the pod"),
        pytest.param(job(pod_uid=""), None, "u", id="none, that of the job itself"),
    ],
)
def test_pod_of_a_job_is_known_by_its_uid(of: MigrationJob, found: Any, uid: str) -> None:
    assert adopted_task(of, found).eviction.uid == uid


def test_what_a_user_writes_into_annotations_is_no_plugin() -> None:
    text = {TRIGGER_ANNOTATION: "Plugin", REASON_ANNOTATION: "x" * 2000}
    by_us = adopted_task(replace(job(), annotations=OURS | text), POD, profile="p").eviction
    by_user = adopted_task(replace(job(), annotations=text)).eviction

    assert (by_us.plugin, by_us.users_job, by_us.node, by_us.labels) == ("Plugin", "", "n3", {"a": "b"})
    assert by_us.controller is not None
    assert (by_user.plugin, by_user.users_job, by_user.node, by_user.controller) == ("", "j", "", None)
    assert len(by_us.reason) == len(by_user.reason) == 1003


MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("stated", "seconds"),
    [
        (30, 30),
        (0, 0),
        (MOST, MOST),
        (MOST + 1, None),
        (-MOST, -MOST),
        (-MOST - 1, None),
        (True, None),
        ("5", None),
        (None, None),
    ],
)
def test_grace_period_is_what_the_api_server_can_read(stated: object, seconds: int | None) -> None:
    options = {} if stated is None else {"gracePeriodSeconds": stated}

    assert adopted_task(job(delete_options=options)).eviction.grace_period_seconds == seconds
