"""When a job is looked at, what its pod may have done, and when a refused eviction is asked for again."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.roads.job_task import JobTask, Turns
from descheduler.migration.settings import DispatchSettings, JobSettings
from descheduler.model.koordinator.migration_job import MigrationJob
from tests.builders import make_pod
from tests.migration.roads.tasks import BUDGET, CONFLICT, DONE, HANDED_OVER, LOST, THROTTLED, asked, gone, job, task
from tests.migration.stand_ins import make_eviction

SETTINGS = JobSettings(DispatchSettings(longest_wait_seconds=60.0), budget_seconds=120.0)
NEW = job(reservation_name="")


def called(of: JobTask) -> JobTask:
    """A task of which a call has no answer yet."""
    of.is_called = True
    return of


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        pytest.param(task(job()), (False, False, False, False), id="nothing was asked for"),
        pytest.param(task(job(), BUDGET), (False, False, False, False), id="it was refused"),
        pytest.param(called(task(job())), (True, True, True, False), id="a call is under way"),
        pytest.param(task(job(), LOST), (True, True, True, False), id="a call has no clear answer"),
        pytest.param(task(job(), DONE), (False, True, True, False), id="it was granted"),
        pytest.param(task(job(), HANDED_OVER), (False, True, True, False), id="it was handed over"),
        pytest.param(task(asked(), DONE), (False, True, True, False), id="the job knows"),
        pytest.param(task(gone()), (False, True, False, True), id="it is gone by itself"),
        pytest.param(task(gone(), finishes_only=True), (False, True, False, False), id="an earlier run has evicted it"),
    ],
)
def test_pod_may_have_left_by_what_was_asked_for(of: JobTask, expected: tuple[bool, bool, bool, bool]) -> None:
    assert (of.is_in_doubt, of.may_have_left, of.may_have_acted, of.has_left_unasked) == expected


def test_doubt_ends_when_the_pod_is_seen_after_the_call_can_have_no_effect_any_more() -> None:
    of = task(job(), LOST)
    of.pod = make_pod("web", uid="uid-web")

    of.looked_at = 39.0
    of.see(make_pod("web", uid="uid-web"))
    early = of.is_in_doubt
    of.looked_at = 40.0
    of.see(make_pod("web", uid="uid-web"))

    assert (early, of.is_in_doubt, of.may_have_acted) == (True, False, True)


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(None, id="none"),
        pytest.param(make_pod("web", uid="new"), id="a successor"),
        pytest.param(make_pod("web", uid="uid-web", deleted=1), id="it leaves"),
    ],
)
def test_look_that_does_not_find_the_pod_alive_ends_no_doubt(seen: Any) -> None:
    of = task(job(), LOST)
    of.pod, of.looked_at = make_pod("web", uid="uid-web"), 50.0

    of.see(seen)

    assert of.is_in_doubt


def test_pod_of_which_nothing_was_known_is_not_seen_again() -> None:
    of = task(job(), LOST)
    of.looked_at = 50.0

    of.see(make_pod("web", uid="uid-web"))

    assert of.is_in_doubt


@pytest.mark.parametrize(
    ("of", "may_create"),
    [
        pytest.param(task(None), True, id="it has no job"),
        pytest.param(task(NEW), True, id="it has no room"),
        pytest.param(task(job()), False, id="it has room"),
        pytest.param(task(gone(reservation_name="")), False, id="its pod has left"),
        pytest.param(called(task(NEW)), False, id="it is evicted"),
        pytest.param(task(NEW, DONE), False, id="it was granted"),
        pytest.param(task(NEW, BUDGET), True, id="it was refused"),
        pytest.param(task(NEW, is_adopted=True), False, id="an earlier run has begun it"),
    ],
)
def test_call_may_create_something_before_there_is_room(of: JobTask, *, may_create: bool) -> None:
    assert of.may_create is may_create


@pytest.mark.parametrize(
    ("of", "asks_others", "is_handed_over"),
    [
        pytest.param(asked(), True, True, id="another program is to evict it"),
        pytest.param(gone(), True, False, id="another program has evicted it"),
        pytest.param(asked(), False, False, id="this one evicts it"),
        pytest.param(None, True, False, id="it has no job"),
    ],
)
def test_pod_is_handed_over_until_it_has_left(
    of: MigrationJob | None, *, asks_others: bool, is_handed_over: bool
) -> None:
    assert task(of, asks_others=asks_others).is_handed_over is is_handed_over


def test_reservation_is_tried_next_once_the_scheduler_has_backed_off() -> None:
    of = task(NEW)
    of.note_room(10.0)
    assert not of.is_next_for_room(1e6)

    of.take(job())
    of.note_room(20.0)
    of.note_room(30.0)  # it was asked for before

    assert [of.is_next_for_room(now) for now in (23.9, 24.0)] == [False, True]


def test_bundle_does_not_wait_for_the_room_of_others() -> None:
    assert task(NEW).takes_turns
    assert not JobTask(make_eviction("web", bundle=1)).takes_turns


@pytest.mark.parametrize(
    ("answers", "is_for_good"),
    [
        pytest.param([], False, id="no answer"),
        pytest.param([BUDGET] * 5, False, id="a budget"),
        pytest.param([CONFLICT], True, id="a conflict"),
        pytest.param([LOST] * 2, False, id="as many faults as may be"),
        pytest.param([LOST] * 3, True, id="one more"),
    ],
)
def test_pod_that_is_still_there_is_not_asked_for_for_ever(answers: list[Judgement], *, is_for_good: bool) -> None:
    assert task(job(), *answers).is_refused_for_good(2) is is_for_good


def test_faults_without_an_answer_that_was_judged_refuse_nothing() -> None:
    of = task(job())
    of.num_faults = 3

    assert not of.is_refused_for_good(2)


@pytest.mark.parametrize(
    ("answer", "refused_since", "now", "is_asked_again"),
    [
        pytest.param(None, None, 0.0, False, id="no answer"),
        pytest.param(BUDGET, 10.0, 129.9, True, id="a budget, in time"),
        pytest.param(BUDGET, 10.0, 130.0, False, id="a budget, for too long"),
        pytest.param(BUDGET, None, 0.0, False, id="a budget, nobody knows since when"),
        pytest.param(THROTTLED, None, 1e6, True, id="the longest wait"),
        pytest.param(replace(THROTTLED, retry_after_seconds=60.1), None, 0.0, False, id="a longer wait"),
        pytest.param(replace(THROTTLED, retry_after_seconds=None), None, 0.0, False, id="a refusal for good"),
    ],
)
def test_refused_eviction_is_asked_for_again_within_bounds(
    answer: Judgement | None, refused_since: float | None, now: float, *, is_asked_again: bool
) -> None:
    of = task(job(), *([] if answer is None else [answer]))
    of.refused_since = refused_since

    assert of.is_asked_again(now, SETTINGS) is is_asked_again


@pytest.mark.parametrize(
    ("asks_at", "due"), [(None, 13.0), (10.0, 13.0), (9.0, 13.0), (11.0, 11.0), (13.0, 13.0), (20.0, 13.0)]
)
def test_job_is_looked_at_when_its_pod_may_be_asked_for_and_often_enough(asks_at: float | None, due: float) -> None:
    of = task(job())

    of.wait_for_turn(10.0, asks_at=asks_at)

    assert of.due == due
    assert of.asks_at == (asks_at or 0.0)


def test_time_at_which_a_pod_may_be_asked_for_stays() -> None:
    of = task(job())
    of.wait_for_turn(10.0, asks_at=12.0)
    of.wait_for_turn(11.0)

    assert (of.asks_at, of.due) == (12.0, 12.0)


def test_job_that_does_not_change_is_looked_at_ever_more_rarely() -> None:
    of = task(job())
    dues = []
    for _ in range(5):
        of.wait(100.0)
        dues.append(of.due - 100.0)
    of.wait(200.0)
    of.take(replace(job(), resource_version="1"))
    same = of.num_waits
    of.take(replace(job(), resource_version="2"))

    assert dues == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert (of.unchanged_since, same, of.num_waits) == (100.0, 6, 0)
    of.wait(300.0)
    assert (of.unchanged_since, of.due) == (300.0, 300.5)


POD = make_pod("web", uid="uid-web")


def test_turn_is_taken_once_and_dropped_once() -> None:
    first, second, turns = task(job()), task(job()), Turns()
    turns.take(first, POD, "Eviction")
    (turn,) = turns
    turns.take(first, POD, "Delete")

    assert (bool(turns), turn in turns, turn.policy, list(turns.tasks)) == (True, True, "Eviction", [first])
    assert [turns.drop(second), turns.drop(first), turns.drop(first)] == [False, True, False]
    assert (bool(turns), turn in turns) == (False, False)
    turns.take(first, POD, "Eviction")
    assert turn not in turns  # that is another one
    turns.clear()
    assert not turns


@pytest.mark.parametrize(
    ("due", "is_busy", "of", "is_late"),
    [
        pytest.param(10.0, False, job(), True, id="it is due"),
        pytest.param(10.1, False, job(), False, id="not yet"),
        pytest.param(10.0, True, job(), False, id="a call is under way"),
        pytest.param(10.0, False, None, False, id="it has no job"),
    ],
)
def test_job_whose_turn_comes_late_is_looked_at(
    due: float, of: MigrationJob | None, *, is_busy: bool, is_late: bool
) -> None:
    waiting, turns = task(of, due=due), Turns()
    turns.take(waiting, POD, "Eviction")

    assert bool(turns.late(10.0, [waiting] if is_busy else [])) is is_late


@pytest.mark.parametrize(
    ("of", "policy", "node", "has_landed"),
    [
        pytest.param(None, "Eviction", "", False, id="no job"),
        pytest.param(NEW, "Eviction", "", False, id="no room"),
        pytest.param(job(node_name="n2"), "Eviction", "n2", False, id="room"),
        pytest.param(job(node_name="n2"), "ScaleBack", "n2", True, id="a surge, whose new pod is there"),
    ],
)
def test_move_is_rechecked_with_its_room(of: MigrationJob | None, policy: str, node: str, *, has_landed: bool) -> None:
    turns = Turns()
    turns.take(task(of), POD, policy)
    (turn,) = turns

    move = turn.asked()

    assert (move.eviction.name, move.pod, move.room_node, move.has_landed) == ("web", POD, node, has_landed)
