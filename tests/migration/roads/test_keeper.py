"""One job against the cluster: what is saved, given back and told, whatever others do to the job meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, cast

import pytest
from msgspec.structs import replace

from descheduler.kube.errors import ApiError, KindForbidden
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.job.conditions import with_condition
from descheduler.migration.job.machine import JobTerms
from descheduler.migration.job.seen import Room, RoomState
from descheduler.migration.job.steps import End, Evict, WaitForChange
from descheduler.migration.listeners import EveryListener
from descheduler.migration.roads.keeper import JobKeeper, RoomUnclear
from descheduler.migration.room.provider import CannotHold, CannotHoldNow, CannotHoldYet
from descheduler.migration.store.journal import MemoryJobs, NewJob
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION, PROVIDER_ANNOTATION
from descheduler.model.koordinator.migration_job import JobConditionType, MigrationJob
from descheduler.model.pod import Owner, Pod
from descheduler.transport.errors import ExchangeError, TransportError
from tests.builders import NOW
from tests.migration.room.still import OLD, Object, pod, still
from tests.migration.stand_ins import make_eviction

WANTED = NewJob("shop", "web-0", "web-0", "ReservationFirst", "why", "Plugin", "rooms")
OURS = {CREATED_BY_ANNOTATION: "us", PROVIDER_ANNOTATION: "rooms"}
HELD = Room(RoomState.HELD, "n2")
Edit = Callable[[MigrationJob], MigrationJob]


class Rooms:
    """A provider whose room is as it is told; `fails` is raised when room is asked for."""

    def __init__(self, name: str = "rooms", room: Room = HELD, fails: Exception | None = None) -> None:
        self.name = name
        self.room = room
        self.fails = fails
        self.fails_on_release: list[Exception] = []
        self.calls: list[str] = []

    def hold(self, job: MigrationJob, now: datetime) -> str:
        """Asks for room."""
        self.calls.append("hold")
        if self.fails is not None:
            raise self.fails
        return "r"

    def look(self, job: MigrationJob, now: datetime) -> tuple[Room, Pod | None]:
        """The room."""
        return self.room, None

    def release(self, job: MigrationJob) -> None:
        """Gives it back."""
        self.calls.append("release")
        if self.fails_on_release:
            raise self.fails_on_release.pop(0)


class Journal(MemoryJobs):
    """Jobs in memory; before a save of the numbers `edited` somebody else edits the job, or deletes it."""

    def __init__(self, edit: Edit | None = lambda job: job, edited: tuple[int, ...] = ()) -> None:
        super().__init__()
        self._edit = edit
        self._edited = edited
        self.num_saves = 0

    def save(self, old: MigrationJob, new: MigrationJob) -> MigrationJob | None:
        """As it is kept."""
        self.num_saves += 1
        if self.num_saves in self._edited and (kept := self.find(old.name)) is not None:
            if self._edit is None:
                self.delete(kept)
            else:
                super().save(kept, self._edit(kept))
        return super().save(old, new)


class Heard(EveryListener):
    """Keeps the phases of the jobs that it hears of."""

    def __init__(self) -> None:
        super().__init__()
        self.phases: list[str] = []

    def changed(self, old: MigrationJob | None, new: MigrationJob) -> None:
        """Keeps it."""
        self.phases.append(new.phase)


class World:
    """A keeper of one job for pod web-0, which is there unless another one is `found`."""

    def __init__(
        self,
        rooms: Rooms | None = None,
        journal: Journal | None = None,
        *others: Rooms,
        found: Object | None = OLD,
        is_halted: bool = False,
        terms: JobTerms | None = None,
    ) -> None:
        self.rooms, self.journal, self.heard = rooms or Rooms(), journal or Journal(), Heard()
        self.cluster = still(found)
        providers: dict[str, Any] = {each.name: each for each in (self.rooms, *others)}
        self.keeper = JobKeeper(
            ObjectCalls(self.cluster.client()),
            self.journal,
            providers,
            terms or JobTerms(),
            now=lambda: NOW,
            listener=self.heard,
            is_halted=lambda: is_halted,
        )

    def job(self, **facts: Any) -> MigrationJob:
        """The job as it is kept, with these facts."""
        made = MemoryJobs.create(self.journal, WANTED, "j")
        kept = MemoryJobs.save(self.journal, made, replace(made, **{"annotations": OURS, **facts}))
        assert kept is not None
        return kept


def test_job_goes_on_until_its_pod_is_to_leave() -> None:
    world = World()

    progress = world.keeper.advance(world.job())

    assert progress.job is not None
    assert (progress.step, progress.job.reservation_name, progress.job.node_name) == (Evict("Eviction"), "r", "n2")
    assert (progress.pod is not None, world.rooms.calls) == (True, ["hold"])
    assert world.heard.phases == ["Running"] * 3


def test_job_that_holds_room_ahead_goes_no_further_than_to_ask_for_it() -> None:
    world = World()
    progress = world.keeper.advance(world.job(), holds_only=True)
    again = world.keeper.advance(cast(Any, progress.job), holds_only=True)

    assert progress.step == again.step == WaitForChange("others have to leave before")
    assert world.rooms.calls == ["hold"]


@pytest.mark.parametrize(
    ("facts", "step"),
    [
        pytest.param({}, WaitForChange("the run ends"), id="it runs"),
        pytest.param({"phase": ""}, WaitForChange("the run ends"), id="it is new"),
        pytest.param({"reservation_name": "r"}, Evict("Eviction"), id="it has its room"),
    ],
)
def test_no_room_is_asked_for_once_the_run_is_halted(facts: dict[str, Any], step: Evict | WaitForChange) -> None:
    world = World(is_halted=True)
    progress = world.keeper.advance(world.job(**facts))
    assert (progress.step, world.rooms.calls) == (step, [])


@pytest.mark.parametrize(
    ("error", "annotations", "phase", "step"),
    [
        pytest.param(CannotHold("no owner"), OURS, "Failed", End(), id="for good"),
        pytest.param(CannotHoldNow("no quota"), OURS, "Failed", End(), id="now, of a job of ours"),
        pytest.param(CannotHold("no owner"), {}, "Failed", End(), id="for good, of a user's job"),
        pytest.param(CannotHoldNow("no quota"), {}, "Running", WaitForChange("no quota"), id="now, of a user's job"),
    ],
)
def test_room_that_cannot_be_held_ends_the_job_unless_a_user_waits_for_it(
    error: Exception, annotations: dict[str, str], phase: str, step: End | WaitForChange
) -> None:
    world = World(Rooms(fails=error))

    progress = world.keeper.advance(world.job(annotations=annotations, ttl=timedelta(minutes=5)))

    assert progress.job is not None
    assert (progress.job.phase, progress.step, world.rooms.calls[:2]) == (phase, step, ["hold", "release"])
    told = progress.job.found(JobConditionType.RESERVATION_CREATED)
    assert told is not None
    assert (told.is_true, told.message) == (False, str(error))


def test_job_waits_for_its_turn_and_says_why_or_does_without() -> None:
    world = World(Rooms(fails=CannotHoldYet("a full quota")))
    job = world.job()

    waiting = world.keeper.advance(job)
    ended = world.keeper.advance(job, takes_turns=False)

    assert (waiting.step, waiting.job) == (WaitForChange("a full quota"), job)
    assert ended.job is not None
    assert (ended.step, ended.job.phase, ended.job.message) == (End(), "Failed", "a full quota")


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        pytest.param(TransportError("no answer"), RoomUnclear, id="an answer that was lost"),
        pytest.param(ApiError("not allowed", status_code=403, reason="Forbidden"), ApiError, id="a refusal"),
    ],
)
def test_error_says_whether_room_may_be_there_and_the_job_says_why_there_is_none(
    error: ExchangeError, raised: type[Exception]
) -> None:
    world = World(Rooms(fails=error))

    with pytest.raises(ExchangeError) as caught:
        world.keeper.advance(world.job())

    assert type(caught.value) is raised
    kept = world.journal.find("j")
    assert kept is not None
    assert (kept.phase, kept.conditions[0].message) == ("Running", str(error))
    num_saves = world.journal.num_saves
    with pytest.raises(ExchangeError):
        world.keeper.advance(kept)
    assert world.journal.num_saves == num_saves  # it says so already


class TestOthers:
    """Somebody else changes, ends or deletes the job while it is carried out."""

    def test_deleted_job_has_its_room_given_back(self) -> None:
        world = World(journal=Journal(None, (1,)))

        progress = world.keeper.advance(world.job())

        assert (progress.job, progress.step, world.rooms.calls) == (None, End(), ["hold", "release"])

    def test_ended_job_has_its_room_given_back(self) -> None:
        world = World(journal=Journal(lambda job: replace(job, phase="Aborted"), (1,)))

        progress = world.keeper.advance(world.job())

        assert progress.job is not None
        assert (progress.job.phase, progress.step, world.rooms.calls) == ("Aborted", End(), ["hold", "release"])

    def test_changed_job_goes_on_as_it_is_now(self) -> None:
        world = World(journal=Journal(lambda job: replace(job, labels={"a": "b"}), (1,)))

        progress = world.keeper.advance(world.job())

        assert progress.job is not None
        assert (progress.job.labels, progress.step) == ({"a": "b"}, Evict("Eviction"))

    @pytest.mark.parametrize(
        ("edit", "step", "calls"),
        [
            pytest.param(None, End(), ["release"], id="deleted"),
            pytest.param(lambda job: replace(job, phase="Failed"), End(), ["release"], id="ended"),
            pytest.param(lambda job: job, WaitForChange("another client has changed it"), [], id="changed"),
        ],
    )
    def test_job_of_which_nothing_was_written_is_read_again(
        self, edit: Edit | None, step: End | WaitForChange, calls: list[str]
    ) -> None:
        world = World()
        ready = world.keeper.advance(world.job()).job
        assert ready is not None
        if edit is None:
            world.journal.delete(ready)
        else:
            world.journal.save(ready, edit(ready))
        world.rooms.calls.clear()

        progress = world.keeper.advance(ready)

        assert (progress.step, world.rooms.calls) == (step, calls)


def aborted(job: MigrationJob) -> MigrationJob:
    return replace(job, phase="Aborted")


def with_eviction(job: MigrationJob) -> MigrationJob:
    return with_condition(job, JobConditionType.EVICTION, False, NOW)


@pytest.mark.parametrize(
    ("edit", "edited", "phase", "num_saves"),
    [
        pytest.param(lambda job: job, (), "Aborted", 1, id="nobody changes it"),
        pytest.param(lambda job: job, (1,), "Aborted", 2, id="somebody changes it once"),
        pytest.param(lambda job: job, (1, 2, 3, 4), "Aborted", 5, id="somebody changes it often"),
        pytest.param(lambda job: job, (1, 2, 3, 4, 5), "Running", 5, id="somebody keeps changing it"),
        pytest.param(lambda job: replace(job, phase="Succeeded"), (1,), "Succeeded", 1, id="somebody ends it"),
        pytest.param(with_eviction, (1,), "Running", 1, id="its pod leaves meanwhile"),
        pytest.param(None, (1,), None, 1, id="somebody deletes it"),
    ],
)
def test_job_is_undone_whatever_others_do_to_it(
    edit: Edit | None, edited: tuple[int, ...], phase: str | None, num_saves: int
) -> None:
    world = World(journal=Journal(edit, edited))

    kept = world.keeper.undo(world.job(reservation_name="r"), aborted)

    assert (None if kept is None else kept.phase, world.journal.num_saves) == (phase, num_saves)
    assert world.rooms.calls == ["release"] * num_saves
    assert world.heard.phases == (["Aborted"] if phase == "Aborted" else [])


@pytest.mark.parametrize(
    ("errors", "is_undone"),
    [
        pytest.param([TransportError("lost")] * 4, True, id="answers that were lost"),
        pytest.param([TransportError("lost")] * 5, False, id="too many of them"),
        pytest.param([ApiError("no", status_code=403, reason="Forbidden")], False, id="a refusal"),
    ],
)
def test_undoing_goes_on_where_a_call_may_have_had_its_effect(errors: list[Exception], *, is_undone: bool) -> None:
    world = World()
    job = world.job(reservation_name="r")
    world.rooms.fails_on_release = errors

    if is_undone:
        assert world.keeper.undo(job, aborted) is not None
    else:
        with pytest.raises(ExchangeError):
            world.keeper.undo(job, aborted)


NO_RIGHT = KindForbidden("not allowed", status_code=403, reason="Forbidden")


@pytest.mark.parametrize(
    ("facts", "default_mode", "calls", "is_error"),
    [
        pytest.param({"reservation_name": "r"}, "ReservationFirst", ["release"], True, id="it knows its room"),
        pytest.param({}, "ReservationFirst", ["release"], False, id="it may have room"),
        pytest.param({"mode": "EvictDirectly"}, "ReservationFirst", [], False, id="it has none"),
        pytest.param({"mode": ""}, "EvictDirectly", [], False, id="by default it has none"),
    ],
)
def test_right_to_read_room_is_missed_where_there_is_some(
    facts: dict[str, Any], default_mode: str, calls: list[str], *, is_error: bool
) -> None:
    world = World(terms=JobTerms(default_mode=default_mode))
    world.rooms.fails_on_release = [NO_RIGHT]
    job = world.job(**facts)

    if is_error:
        with pytest.raises(KindForbidden):
            world.keeper.release_room(job)
    else:
        world.keeper.release_room(job)
    assert world.rooms.calls == calls


@pytest.mark.parametrize(("named", "held_by"), [("others", "others"), ("rooms", "rooms"), ("none such", "rooms")])
def test_room_is_held_by_the_provider_that_the_job_names_or_else_by_the_first(named: str, held_by: str) -> None:
    others = Rooms("others")
    world = World(None, None, others)

    world.keeper.advance(world.job(annotations={**OURS, PROVIDER_ANNOTATION: named}))

    assert (world.rooms.calls, others.calls) == ((["hold"], []) if held_by == "rooms" else ([], ["hold"]))


@pytest.mark.parametrize("facts", [{"pod_name": ""}, {"pod_namespace": ""}])
def test_job_that_names_no_pod_ends_without_a_look(facts: dict[str, Any]) -> None:
    world = World()

    progress = world.keeper.advance(world.job(phase="", **facts))

    assert progress.job is not None
    assert (progress.job.reason, world.cluster.api.sent("GET")) == ("InvalidPodRef", [])


def test_pod_that_has_left_is_not_looked_at_again() -> None:
    world = World()
    left = with_condition(world.job(reservation_name="r"), JobConditionType.EVICTION, True, NOW)
    kept = world.journal.save(cast(Any, world.journal.find("j")), left)
    assert kept is not None

    assert world.keeper.advance(kept).pod is None
    assert world.cluster.api.sent("GET", "/web-0") == []


def test_what_was_seen_is_good_while_only_a_status_is_written() -> None:
    """One look before room is asked for and one after: what is written into the job in between changes nothing."""
    world = World()
    world.keeper.advance(world.job())
    assert len(world.cluster.api.sent("GET", "/web-0")) == 2


def test_replacement_is_that_of_the_controller() -> None:
    world = World(found=pod("web-1", "n2"))
    job = world.job()
    web = Owner("ReplicaSet", "web", "replicaset-web", "apps/v1", controller=True)

    found = world.keeper.find_replacement(job, replace(make_eviction("web-0"), controller=web))

    assert found is not None
    assert found.name == "web-1"
    assert world.keeper.find_replacement(job, make_eviction("web-0")) is None
