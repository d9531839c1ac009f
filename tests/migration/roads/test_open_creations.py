"""What a creation without a clear answer may have made is looked for before the run ends, or told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, cast

import pytest
from msgspec.structs import replace

from descheduler.migration.dispatch.surroundings import HALTED
from descheduler.migration.roads.job_task import JobTask
from descheduler.migration.roads.keeper import RoomUnclear
from descheduler.migration.roads.open_creations import OpenCreations
from descheduler.migration.settings import DispatchSettings
from descheduler.migration.store.unclear import CreationUnclear
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.plan.outcome import OutcomeCode
from descheduler.transport.errors import ExchangeError, TransportError
from tests.migration.roads.tasks import job, task
from tests.migration.stand_ins import FAST, Clock, around

SETTINGS = DispatchSettings(effect_seconds=40.0, drain_seconds=3.0)
LOST = TransportError("no answer")


class Run:
    """A run whose creations are open; jobs of the names `stored` are there, and the first looks fail so often."""

    def __init__(self, *stored: str, num_failures: int = 0, is_fenced: bool = False) -> None:
        self._stored = stored
        self._num_failures = num_failures
        self.clock = Clock()
        self.notes: list[str] = []
        self.calls: list[tuple[str, float]] = []
        self.halted: tuple[OutcomeCode, str] | None = None
        there = replace(
            around(FAST, self.clock, why_not_call=lambda: "lost" if is_fenced else ""),
            tell=self.notes.append,
            halted=lambda: self.halted,
        )
        self.creations = OpenCreations(cast(Any, self), cast(Any, self), SETTINGS, there)

    def _note(self, call: str) -> None:
        self.calls.append((call, self.clock.now()))
        if self._num_failures:
            self._num_failures -= 1
            raise LOST

    def find(self, name: str) -> MigrationJob | None:
        """The job of this name."""
        self._note(f"find {name}")
        return job() if name in self._stored else None

    def undo(self, of: MigrationJob, end: Callable[[MigrationJob], MigrationJob]) -> MigrationJob:
        """Gives back what is held."""
        self._note(f"undo {of.name}, {end(of).phase}")
        return of

    def release_room(self, of: MigrationJob) -> None:
        """Gives back the room."""
        self._note(f"release {of.name}")

    def halt(self) -> None:
        """The run has to end."""
        self.halted = OutcomeCode.DEADLINE, HALTED[OutcomeCode.DEADLINE]

    @property
    def done(self) -> list[str]:
        """The calls, without their times."""
        return [call for call, _ in self.calls]


def unclear(of: MigrationJob | None = None, **facts: Any) -> JobTask:
    """A task of which a creation, of its job `new` or of its room, has no clear answer."""
    return task(of, job_name="new", **facts)


def doubted(run: Run, *tasks: JobTask) -> None:
    for each in tasks:
        run.creations.doubted(each)
        run.creations.finished(each)


@pytest.mark.parametrize(
    ("error", "is_open"),
    [
        pytest.param(CreationUnclear("a job"), True, id="of a job"),
        pytest.param(RoomUnclear("room"), True, id="of room"),
        pytest.param(ExchangeError("refused"), False, id="that was refused"),
    ],
)
def test_creation_is_open_where_the_error_leaves_that_open(error: Exception, *, is_open: bool) -> None:
    run, of = Run(), unclear()
    run.creations.failed(of, error)
    run.creations.finished(of)

    run.creations.settle()

    assert run.done == (["find new"] if is_open else [])
    assert run.clock.now() == (40.0 if is_open else 0.0)


@pytest.mark.parametrize(
    ("of", "stored", "done"),
    [
        pytest.param(unclear(), [], ["find new"], id="no job is there"),
        pytest.param(unclear(), ["new"], ["find new", "undo j, Aborted"], id="a job is there"),
        pytest.param(unclear(job()), [], ["undo j, Aborted"], id="a job that goes on may have room"),
        pytest.param(unclear(job(phase="Failed")), [], ["release j"], id="a job that has ended may have room"),
        pytest.param(unclear(job(), is_deleted=True), [], ["release j"], id="a deleted job may have room"),
    ],
)
def test_what_was_created_is_taken_back_once_it_is_certain(of: JobTask, stored: list[str], done: list[str]) -> None:
    run = Run(*stored)
    doubted(run, of)

    run.creations.settle()
    run.creations.settle()  # nothing is left then

    assert (run.done, run.notes) == (done, [])
    assert {at for _, at in run.calls} == {40.0}


@pytest.mark.parametrize(
    ("end", "of", "is_left"),
    [
        pytest.param(None, job(), False, id="nothing is to be undone"),
        pytest.param(lambda ended: ended, job(), True, id="a job that could not be undone"),
        pytest.param(lambda ended: ended, job(phase="Aborted"), False, id="a job that was undone"),
        pytest.param(lambda ended: ended, None, True, id="a job that nobody has seen"),
    ],
)
def test_job_that_could_not_be_undone_is_looked_after(end: Any, of: MigrationJob | None, *, is_left: bool) -> None:
    run = Run()
    run.creations.finished(unclear(of, end=end))

    run.creations.settle()

    assert bool(run.calls) is is_left


def test_deleted_job_needs_nothing() -> None:
    run = Run()
    run.creations.finished(unclear(job(), end=lambda ended: ended, is_deleted=True))
    run.creations.settle()
    assert run.calls == []


def test_creation_that_can_have_no_effect_any_more_when_its_task_ends_is_over() -> None:
    run, of = Run(), unclear()
    run.creations.doubted(of)
    run.clock.sleep(40.0)
    run.creations.finished(of)

    run.creations.settle()

    assert run.calls == []


@pytest.mark.parametrize(("num_failures", "num_calls", "is_told"), [(0, 1, False), (9, 10, False), (10, 10, True)])
def test_look_is_repeated_and_what_may_be_left_is_told(num_failures: int, num_calls: int, *, is_told: bool) -> None:
    run = Run(num_failures=num_failures)
    doubted(run, unclear())

    run.creations.settle()

    assert (len(run.calls), len(run.notes)) == (num_calls, is_told)
    assert all("the job new and what holds room for it may be left in the cluster" in note for note in run.notes)
    assert run.clock.now() == 40.0 + 3.0 * num_failures


def test_without_the_lease_nothing_is_done_and_all_is_told() -> None:
    run = Run(is_fenced=True)
    doubted(run, unclear(), unclear(job()))

    run.creations.settle()

    assert run.calls == []
    assert [note.split()[2] for note in run.notes] == ["new", "j"]


@pytest.mark.parametrize(
    ("seconds", "num_failures", "num_told"),
    [
        pytest.param(39.0, 0, 1, id="a creation that may yet take effect"),
        pytest.param(40.0, 0, 0, id="a creation that cannot"),
        pytest.param(40.0, 1, 1, id="and a look that fails"),
    ],
)
def test_run_that_has_to_end_tries_once_and_does_not_wait(seconds: float, num_failures: int, num_told: int) -> None:
    run = Run(num_failures=num_failures)
    doubted(run, unclear())
    run.clock.sleep(seconds)
    run.halt()

    run.creations.settle()

    assert (len(run.calls), len(run.notes), run.clock.now()) == (1, num_told, seconds)


def test_run_that_has_to_end_without_the_lease_only_tells() -> None:
    run = Run(is_fenced=True)
    doubted(run, unclear())
    run.halt()

    run.creations.settle()

    assert (run.calls, len(run.notes)) == ([], 1)


def test_run_that_is_halted_while_it_waits_does_not_wait_on() -> None:
    run = Run()
    doubted(run, unclear())
    run.clock.on_sleep = run.halt

    run.creations.settle()

    assert (run.clock.now(), len(run.calls), len(run.notes)) == (1.0, 1, 1)


def test_run_that_is_halted_between_two_tries_gives_up() -> None:
    run = Run(num_failures=5)
    doubted(run, unclear())
    run.clock.sleep(40.0)
    run.clock.on_sleep = run.halt

    run.creations.settle()

    assert (run.clock.now(), len(run.calls), len(run.notes)) == (43.0, 2, 1)


class OnAThread:
    """Makes each call on a thread of its own once `may_begin` is set."""

    def __init__(self) -> None:
        self.may_begin = threading.Event()
        self.num_calls = 0

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """The future of `call`."""
        future: Future[Any] = Future()
        self.num_calls += 1

        def work() -> None:
            self.may_begin.wait(timeout=30)
            future.set_result(call())

        threading.Thread(target=work, daemon=True).start()
        return future


def test_look_is_awaited() -> None:
    run, calls = Run(), OnAThread()
    run.clock.sleep(50.0)

    def clock() -> float:
        if calls.num_calls:
            calls.may_begin.set()
        return run.clock.now()

    there = replace(around(FAST, run.clock), calls=calls, clock=clock, tell=run.notes.append)
    creations = OpenCreations(cast(Any, run), cast(Any, run), SETTINGS, there)
    creations.finished(unclear(job(), end=lambda ended: ended))

    creations.settle()

    assert (run.done, run.notes, calls.num_calls) == (["undo j, Aborted"], [], 1)
