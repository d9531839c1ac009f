"""How jobs of a run end that do not come to their good end, and what is given back then."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.dispatch.surroundings import HALTED
from descheduler.migration.job.conditions import aborted, with_condition
from descheduler.migration.job.steps import End, Evict
from descheduler.migration.recheck import Rechecked
from descheduler.migration.roads.adoption import adopted_task
from descheduler.migration.roads.job_task import Turn
from descheduler.migration.roads.keeper import Progress
from descheduler.migration.settings import ClosingTime, EvictionTerms, JobSettings
from descheduler.migration.store.journal import NewJob
from descheduler.model.koordinator.migration_job import JobConditionType, MigrationJob
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.transport.errors import ExchangeError, TransportError
from tests.builders import NOW
from tests.migration.roads.scripted import (
    EVICTION,
    SETTINGS,
    Look,
    World,
    at,
    ended,
    fails,
    leaves,
    may_leave,
    move,
    objecting,
    pod_of,
    waits,
)
from tests.migration.stand_ins import no_disruption

DONE, BUDGET = OutcomeCode.DONE, OutcomeCode.BUDGET
LOST = fails(TransportError("lost"))


def told(outcome: Outcome) -> tuple[OutcomeCode, str]:
    return outcome.code, outcome.message


def closing(seconds: float) -> JobSettings:
    """Profile p evicts nothing more after so many seconds."""
    terms = {"p": EvictionTerms(closing=ClosingTime(seconds, at(1e6), "the window is closed"))}
    return replace(SETTINGS, eviction=replace(EVICTION, terms=terms))


class TestClosings:
    """The window of the profile closes."""

    def test_job_that_has_evicted_nothing_is_undone(self) -> None:
        world = World({"a": [waits] * 99}, settings=closing(5.0))

        outcome = world.run(move("a"))["a"]

        assert told(outcome) == (OutcomeCode.WINDOW_CLOSED, "the window is closed")
        assert world.undone == [("a", "Aborted", "the window is closed")]

    def test_what_was_refused_before_says_so(self) -> None:
        world = World(settings=closing(5.0), api={"a": [no_disruption()] * 9})

        assert world.run(move("a"))["a"].code is BUDGET
        assert world.undone == [("a", "Aborted", "the window is closed")]

    def test_pod_that_has_left_is_awaited(self) -> None:
        world = World({"a": [may_leave, waits, waits, waits, waits, waits, leaves]}, settings=closing(5.0))

        assert world.run(move("a"))["a"].code is DONE
        assert world.clock.now() > 5.0

    def test_what_has_not_begun_stays(self) -> None:
        world = World({"a": [may_leave, waits, waits, waits, waits, leaves]}, settings=closing(5.0))

        outcomes = world.run(move("a"), move("b", wave=2))

        assert [outcomes[name].code for name in "ab"] == [DONE, OutcomeCode.WINDOW_CLOSED]
        assert [name for name, _ in world.created] == ["a"]


class TestErrors:
    """Looks without an answer."""

    def test_looks_that_fail_are_repeated(self) -> None:
        world = World({"a": [LOST] * 9 + [leaves]})

        assert world.run(move("a"))["a"].code is DONE

    def test_job_that_cannot_be_looked_at_is_undone(self) -> None:
        world = World({"a": [LOST] * 10 + [leaves]})

        outcome = world.run(move("a"))["a"]

        assert told(outcome) == (OutcomeCode.SERVER_ERROR, "lost")
        assert world.undone == [("a", "Aborted", "lost")]

    def test_errors_count_in_a_row(self) -> None:
        world = World({"a": [*[LOST] * 9, waits, *[LOST] * 9, leaves]})

        assert world.run(move("a"))["a"].code is DONE

    def test_job_whose_pod_has_left_is_left_to_the_next_run(self) -> None:
        world = World({"a": [may_leave, LOST]})

        outcome = world.run(move("a"))["a"]

        assert told(outcome) == (OutcomeCode.NOT_REPLACED, "lost; the next run awaits the replacement")
        assert world.undone == []

    def test_job_of_an_earlier_run_is_left_to_the_next(self) -> None:
        job = MigrationJob("j", "Running", "shop", "a", "uid-a", uid="u", reservation_name="r")
        world = World({"a": [LOST]})

        assert world.run(adopted_task(job))["a"].code is OutcomeCode.SERVER_ERROR
        assert world.undone == []

    def test_job_that_cannot_be_created_fails(self) -> None:
        world = World()

        def create(wanted: NewJob, name: str) -> MigrationJob:
            raise ExchangeError("no right")

        world.journal.create = create  # type: ignore[method-assign]

        outcome = world.run(move("a"))["a"]

        assert (outcome.kind, *told(outcome)) == (OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, "no right")

    def test_defect_of_this_program_leaves_the_call_in_doubt(self) -> None:
        world = World(api={"a": [RuntimeError("secret")]})

        outcome = world.run(move("a"))["a"]

        assert outcome.code is DONE
        assert world.api.names == ["a", "a"]


class TestRechecks:
    """Moves are rechecked before they begin."""

    def test_move_that_does_not_hold_any_more_is_undone(self) -> None:
        world = World(recheck=objecting("a"))

        outcomes = world.run(move("a"), move("b"))

        assert told(outcomes["a"]) == (OutcomeCode.CHANGED, "its node is full")
        assert (outcomes["b"].code, world.undone) == (DONE, [("a", "Failed", "its node is full")])

    def test_recheck_that_fails_is_repeated_and_its_moves_undone_at_last(self) -> None:
        def recheck(*arguments: object) -> Any:
            raise TransportError("lost")

        world = World(recheck=recheck)

        assert told(world.run(move("a"))["a"]) == (OutcomeCode.SERVER_ERROR, "lost")
        assert world.undone == [("a", "Aborted", "lost")]
        assert world.clock.now() < 60.0

    def test_recheck_that_fails_now_and_then_is_repeated(self) -> None:
        failing = [True, False] * 9 + [True] * 9

        def recheck(turns: Sequence[Turn], *others: object) -> Rechecked:
            if failing and failing.pop():
                raise TransportError("lost")
            return Rechecked(waiting=frozenset(turn.eviction.uid for turn in turns) if failing else frozenset())

        world = World(recheck=recheck)

        assert world.run(move("a"))["a"].code is DONE


OTHER = JobConditionType.EVICTION


def paused(job: MigrationJob) -> Progress:
    return waits(replace(job, is_paused=True))


def deleted(job: MigrationJob) -> Progress:
    return Progress(None, End(), pod_of(job))


def without_pod(job: MigrationJob) -> Progress:
    return Progress(job, Evict("Eviction"))


def another_pod(job: MigrationJob) -> Progress:
    return Progress(job, Evict("Eviction"), pod_of(job, "another"))


def undone_by_others(job: MigrationJob) -> Progress:
    return Progress(aborted(job, "somebody"), End())


@pytest.mark.parametrize(
    ("looks", "code", "message", "undone"),
    [
        pytest.param([paused], OutcomeCode.JOB_WAITS, "its job is paused", [], id="its user has paused it"),
        pytest.param([deleted], OutcomeCode.JOB_DELETED, "another client deleted the job", [], id="it is deleted"),
        pytest.param(
            [another_pod], OutcomeCode.JOB_WAITS, "its podRef was changed during the run", ["a"], id="another pod"
        ),
        pytest.param([undone_by_others], OutcomeCode.NO_ROOM, "somebody", [], id="somebody has ended it"),
        pytest.param([without_pod, leaves], DONE, "", [], id="its pod is not there for a moment"),
    ],
)
def test_job_ends_by_what_others_make_of_it(
    looks: Sequence[Look], code: OutcomeCode, message: str, undone: list[str]
) -> None:
    world = World({"a": looks})

    outcome = world.run(move("a"))["a"]

    assert told(outcome) == (code, message)
    assert [name for name, _, _ in world.undone] == undone


def adopted(*conditions: JobConditionType, **facts: Any) -> MigrationJob:
    """A job that an earlier run has begun."""
    made = MigrationJob("j", "Running", "shop", "a", "uid-a", uid="u", reservation_name="r")
    for each in conditions:
        made = with_condition(made, each, False, NOW)
    return replace(made, **facts)


def test_job_of_an_earlier_run_that_does_not_change_is_left_after_a_while() -> None:
    world = World({"a": [waits]}, settings=replace(SETTINGS, adopted_seconds=30.0))

    outcome = world.run(adopted_task(adopted(JobConditionType.EVICTION), finishes_only=True))["a"]

    assert outcome.message == "its job has not changed for 30 s; the next run awaits the replacement"
    assert 30.0 <= world.clock.now() < 34.0


def test_pod_of_a_job_that_is_only_finished_is_not_evicted() -> None:
    world = World({"a": [may_leave]})

    outcome = world.run(adopted_task(adopted(), finishes_only=True))["a"]

    assert told(outcome) == (OutcomeCode.JOB_WAITS, "the eviction of its pod has not begun")
    assert (world.api.calls, world.undone) == ([], [])


STOPPED = OutcomeCode.STOPPED


class TestStops:
    """The run is stopped."""

    def test_what_has_not_begun_and_what_holds_room_is_given_back(self) -> None:
        world = World({"a": [waits]})
        world.clock.on_sleep = world.stop.set

        outcomes = world.run(move("a"), move("b", wave=2))

        why = HALTED[STOPPED]
        assert [told(outcomes[name]) for name in "ab"] == [(STOPPED, why), (STOPPED, why)]
        assert world.undone == [("a", "Aborted", why)]

    def test_pod_that_has_left_is_looked_at_once_more(self) -> None:
        world = World({"a": [may_leave, waits, leaves]})
        world.clock.on_sleep = world.stop.set

        outcome = world.run(move("a"))["a"]

        assert outcome.code is OutcomeCode.NOT_REPLACED
        assert world.undone == []

    def test_last_look_may_find_the_end(self) -> None:
        world = World({"a": [may_leave, leaves]})
        world.clock.on_sleep = world.stop.set

        assert world.run(move("a"))["a"].code is DONE

    def test_job_that_has_ended_is_not_looked_at_again(self) -> None:
        """Its replacement was awaited."""
        world = World({"a": [may_leave, ended]})
        world.clock.on_sleep = lambda: world.stop.set() if world.clock.now() > 1.0 else None

        outcome = world.run(move("a"))["a"]

        assert (outcome.code, world.looks_at("a"), world.undone) == (OutcomeCode.NOT_REPLACED, [0.0, 0.5], [])

    def test_without_the_lease_nothing_is_given_back(self) -> None:
        lost = list[str]()
        world = World({"a": [waits]}, why_not_call=lambda: next(iter(lost), ""))

        def lose() -> None:
            lost.append("lost")
            world.stop.set()

        world.clock.on_sleep = lose
        world.run(move("a"))

        assert world.undone == []


def test_job_that_waits_is_looked_at_ever_more_rarely() -> None:
    world = World({"a": [*[waits] * 6, leaves]})
    world.clock.sleep(100.0)

    world.run(move("a"))

    assert [round(at, 1) for at in world.looks_at("a")][:7] == [100.0, 100.5, 101.5, 103.5, 106.5, 109.5, 112.5]


def test_undoing_that_fails_is_repeated() -> None:
    world = World({"a": [another_pod]})
    world.undo_fails = [TransportError("lost")] * 3

    outcome = world.run(move("a"))["a"]

    assert outcome.code is OutcomeCode.JOB_WAITS
    assert len(world.undone) == 1
    assert world.looks_at("a") == [0.0]


def test_what_cannot_be_undone_is_told() -> None:
    notes = list[str]()
    world = World({"a": [another_pod]}, tell=notes.append)
    world.undo_fails = [TransportError("lost")] * 99

    outcome = world.run(move("a"))["a"]

    assert told(outcome) == (OutcomeCode.SERVER_ERROR, "lost")
    assert ["may be left in the cluster" in note for note in notes] == [True]


SLOW = replace(SETTINGS, eviction=replace(EVICTION, qps=0.05, burst=1))


@pytest.mark.parametrize(
    ("found", "code"),
    [
        pytest.param(lambda job, progress: progress, DONE, id="as it was"),
        pytest.param(lambda job, progress: Progress(None, End()), OutcomeCode.JOB_DELETED, id="it is deleted"),
        pytest.param(lambda job, progress: undone_by_others(job), OutcomeCode.NO_ROOM, id="it has ended"),
    ],
)
def test_job_whose_turn_comes_late_is_read_meanwhile(found: Any, code: OutcomeCode) -> None:
    world = World(settings=SLOW)
    world.read = found

    outcomes = world.run(move("a"), move("b"))

    assert (outcomes["a"].code, outcomes["b"].code) == (DONE, code)
    read = [round(at) for at in world.looks_at("turn of b")]
    assert read == ([3, 6, 9, 12, 15, 18] if code is DONE else [3])


def test_moves_are_rechecked_when_it_is_their_turn() -> None:
    asked = list[str]()

    def recheck(turns: Sequence[Turn], under_way: Collection[str], granted: Collection[str]) -> Rechecked:
        asked.extend(turn.eviction.name for turn in turns)
        return Rechecked()

    World({"b": [waits, leaves]}, recheck=recheck).run(move("a"), move("b"), move("c"))

    assert asked == ["a", "c", "b"]


def test_pods_that_leave_are_told_to_a_recheck() -> None:
    asked = list[set[str]]()

    def recheck(turns: Sequence[Turn], under_way: Collection[str], granted: Collection[str]) -> Rechecked:
        asked.append(set(under_way))
        return Rechecked()

    world = World({"a": [may_leave, waits, waits, leaves], "b": [waits, leaves]}, recheck=recheck)
    world.run(move("a"), move("b"))

    assert asked == [set(), {"uid-a"}]


def test_move_that_waits_long_for_its_pace_is_rechecked() -> None:
    asked = list[str]()

    def recheck(turns: Sequence[Turn], under_way: Collection[str], granted: Collection[str]) -> Rechecked:
        asked.extend(turn.eviction.name for turn in turns)
        return Rechecked()

    World(settings=SLOW, recheck=recheck).run(move("a"), move("b"))

    assert (asked.count("a"), asked.count("b")) == (1, 4)
