"""How a pod is made to leave, what the job knows of that, and when a clock is wrong enough to be told."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, cast

import pytest
from msgspec.structs import replace

from descheduler.kube.evict import EvictionResponse
from descheduler.migration.job.steps import End, WaitForChange
from descheduler.migration.roads.calls import JobCalls
from descheduler.migration.store.journal import MemoryJobs, NewJob
from descheduler.model.koordinator.migration_job import JobConditionType, MigrationJob
from tests.builders import NOW, make_pod
from tests.migration.roads.tasks import job
from tests.migration.stand_ins import FAST, Clock, around, make_eviction

OK = EvictionResponse(201)


class Port:
    """Keeps what it is asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []

    def evict(
        self, namespace: str, name: str, *, grace_period_seconds: int | None, **options: object
    ) -> EvictionResponse:
        """Evicts."""
        self.calls.append(("evict", grace_period_seconds))
        return OK

    def delete(
        self, namespace: str, name: str, *, grace_period_seconds: int | None, **options: object
    ) -> EvictionResponse:
        """Deletes."""
        self.calls.append(("delete", grace_period_seconds))
        return OK

    def annotate(
        self, namespace: str, name: str, annotations: Mapping[str, str], **options: object
    ) -> EvictionResponse:
        """Annotates."""
        self.calls.append(("annotate", json.loads(annotations["scheduling.koordinator.sh/soft-eviction"])))
        return OK


class Keeper:
    """Keeps jobs in memory; what was given back, and what was scaled back."""

    def __init__(self, kept: Callable[[MigrationJob], MigrationJob | None] = lambda job: job) -> None:
        self._kept = kept
        self.calls: list[str] = []

    def save(self, old: MigrationJob, new: MigrationJob) -> MigrationJob | None:
        """As it is kept."""
        return self._kept(new)

    def undo(self, old: MigrationJob, end: Callable[[MigrationJob], MigrationJob]) -> MigrationJob | None:
        """As it is kept."""
        return self._kept(end(old))

    def release(self, of: MigrationJob) -> None:
        """Takes note."""
        self.calls.append(f"release {of.name}")

    def scale_back(self, of: MigrationJob, *others: object) -> EvictionResponse:
        """Takes note."""
        self.calls.append(f"scale back {of.name}")
        return OK


def calls(port: Port | None = None, keeper: Keeper | None = None) -> JobCalls:
    there = around(FAST, Clock())
    return JobCalls(MemoryJobs(), cast(Any, keeper or Keeper()), cast(Any, port or Port()), there)


ASKED = {"timestamp": "2026-06-30T12:00:00Z", "initiator": "descheduler", "reason": "why"}


@pytest.mark.parametrize(
    ("policy", "grace", "expected"),
    [
        ("Eviction", None, ("evict", None)),
        ("Eviction", 0, ("evict", 0)),
        ("Delete", 5, ("delete", 5)),
        ("SoftEviction", None, ("annotate", ASKED | {"deleteOptions": {}})),
        ("SoftEviction", 0, ("annotate", ASKED | {"deleteOptions": {"gracePeriodSeconds": 0}})),
    ],
)
def test_pod_leaves_as_the_policy_says(policy: str, grace: int | None, expected: tuple[str, object]) -> None:
    port = Port()
    eviction = make_eviction("web", reason="why", grace_period_seconds=grace)

    assert calls(port).evict(job(), eviction, policy, lambda: True) is OK
    assert port.calls == [expected]


@pytest.mark.parametrize(("of", "scaled", "evicted"), [(job(), ["scale back j"], 0), (None, [], 1)])
def test_surged_pod_leaves_by_the_scale_of_its_job(of: MigrationJob | None, scaled: list[str], evicted: int) -> None:
    port, keeper = Port(), Keeper()

    calls(port, keeper).evict(of, make_eviction("web"), "ScaleBack", lambda: True)

    assert (keeper.calls, len(port.calls)) == (scaled, evicted)


def test_job_knows_that_its_pod_was_asked_to_leave_and_when() -> None:
    progress = calls().note_eviction(job(), make_pod("web"), NOW - timedelta(seconds=5))

    assert progress.job is not None
    known = progress.job.found(JobConditionType.EVICTION)
    assert known is not None
    assert (known.is_true, known.probed_at, progress.step) == (
        False,
        NOW - timedelta(seconds=5),
        WaitForChange("the pod is to leave"),
    )


def test_what_a_deleted_job_holds_is_given_back() -> None:
    keeper = Keeper(lambda kept: None)

    progress = calls(keeper=keeper).note_eviction(job(), make_pod("web"), NOW)

    assert (progress.job, progress.step, keeper.calls) == (None, End(), ["release j"])


@pytest.mark.parametrize(
    ("kept", "step"),
    [
        pytest.param(lambda ended: ended, End(), id="it has ended"),
        pytest.param(lambda ended: None, End(), id="it is gone"),
        pytest.param(lambda ended: job(), WaitForChange("it keeps changing"), id="others change it"),
    ],
)
def test_undone_job_is_at_its_end_unless_others_keep_changing_it(
    kept: Callable[[MigrationJob], MigrationJob | None], step: End | WaitForChange
) -> None:
    undone = calls(keeper=Keeper(kept)).undo(job(), lambda old: replace(old, phase="Aborted"))

    assert undone.step == step


class Journal(MemoryJobs):
    """Jobs that are created at this time, by the clock of the server."""

    def __init__(self, created_at: datetime | None) -> None:
        super().__init__()
        self._created_at = created_at

    def create(self, wanted: NewJob, name: str) -> MigrationJob:
        """The job."""
        return replace(super().create(wanted, name), created_at=self._created_at)


WANTED = NewJob("shop", "web", "uid-web", "ReservationFirst", "why", "Plugin", "koordinator")


@pytest.mark.parametrize(
    ("ahead_seconds", "told"),
    [
        pytest.param(0, "", id="not at all"),
        pytest.param(59, "", id="ahead, a little"),
        pytest.param(60, "about 60 s ahead of the clock", id="ahead"),
        pytest.param(-59, "", id="behind, a little"),
        pytest.param(-60, "about 60 s behind the clock", id="behind"),
        pytest.param(7204, "about 7,200 s ahead of the clock", id="ahead by hours"),
        pytest.param(None, "", id="nobody knows"),
    ],
)
def test_clock_that_is_wrong_by_a_minute_is_told_once(ahead_seconds: int | None, told: str) -> None:
    notes = list[str]()
    created_at = None if ahead_seconds is None else NOW - timedelta(seconds=ahead_seconds)
    there = replace(around(FAST, Clock()), tell=notes.append)
    creating = JobCalls(Journal(created_at), cast(Any, Keeper()), cast(Any, Port()), there)

    for name in ("one", "two"):
        creating.create(WANTED, name)

    assert len(notes) == bool(told)
    assert all(told in note for note in notes)


def test_call_that_took_long_says_nothing_of_the_clocks() -> None:
    """The job was created some time between the call and its answer."""
    notes, clock = list[str](), Clock()
    there = replace(around(FAST, clock), tell=notes.append)

    class Slow(Journal):
        def create(self, wanted: NewJob, name: str) -> MigrationJob:
            """After two minutes."""
            clock.sleep(120.0)
            return super().create(wanted, name)

    JobCalls(Slow(NOW + timedelta(seconds=60)), cast(Any, Keeper()), cast(Any, Port()), there).create(WANTED, "one")

    assert notes == []
