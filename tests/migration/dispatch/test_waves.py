"""Waves of a plan: the next begins when all jobs of the last have ended."""

from __future__ import annotations

from descheduler.migration.dispatch.waves import Waves
from descheduler.migration.roads.job_task import JobTask
from descheduler.plan.planned import PlannedEviction


def task(name: str, wave: int, *, is_adopted: bool = False) -> JobTask:
    eviction = PlannedEviction("shop", name, name, "n1", "p", "Plugin", wave=wave)
    return JobTask(eviction, is_adopted=is_adopted)


def begin(waves: Waves[JobTask]) -> JobTask | None:
    found = waves.next(is_full=False)
    if found is not None:
        waves.remove(found)
        waves.began(found)
    return found


def test_the_next_wave_begins_when_all_of_the_last_has_ended() -> None:
    first, second, later = task("a", 1), task("b", 1), task("c", 2)
    waves = Waves([first, second, later])

    assert [begin(waves), begin(waves), begin(waves)] == [first, second, None]
    waves.ended(first)
    assert begin(waves) is None
    waves.ended(second)
    assert begin(waves) is later
    assert not waves


def test_a_wave_that_is_left_out_holds_nobody_back() -> None:
    first, later = task("a", 1), task("b", 3)
    waves = Waves([first, later])

    waves.remove(first)

    assert begin(waves) is later


def test_tasks_begin_by_wave_whatever_their_order() -> None:
    first, later = task("a", 1), task("b", 2)
    waves = Waves([later, first])

    assert begin(waves) is first


def test_adopted_jobs_hold_no_wave_back() -> None:
    """They have no place in the plan, and may wait for longer than it lasts."""
    first, later = task("a", 1), task("b", 2)
    waves = Waves([first, later])
    waves.began(task("old", 1, is_adopted=True))

    assert begin(waves) is first
    waves.ended(first)
    assert begin(waves) is later


def in_bundle(name: str, wave: int, bundle: int = 1, *, waves_ahead: int = 0) -> JobTask:
    eviction = PlannedEviction("shop", name, name, "n1", "p", "Plugin", wave=wave, bundle=bundle)
    return JobTask(eviction, waves_ahead=waves_ahead)


def test_what_holds_room_for_its_bundle_begins_as_soon_as_one_of_it_has() -> None:
    first, between, ahead = in_bundle("a", 1), task("b", 1), in_bundle("c", 2, waves_ahead=1)
    other, last = in_bundle("d", 2, bundle=2, waves_ahead=1), in_bundle("e", 2)
    waves = Waves([first, between, ahead, other, last])

    assert [begin(waves) for _ in range(4)] == [first, ahead, between, None]
    waves.ended(first)
    waves.ended(between)
    assert [begin(waves) for _ in range(3)] == [other, last, None]
    assert not waves


def test_waves_know_what_still_waits() -> None:
    first, later = task("a", 1), task("b", 2)
    waves = Waves([later, first])

    assert list(waves) == [first, later]
    assert (first in waves, task("a", 1) in waves) == (True, False)
    waves.remove(first)
    assert (first in waves, later in waves, bool(waves)) == (False, True, True)
    waves.remove(later)
    assert (list(waves), bool(waves), waves.next(is_full=False)) == ([], False, None)


def test_wave_has_come_when_those_before_it_are_over() -> None:
    first, later = task("a", 1), task("b", 2)
    waves = Waves([first, later])
    come = [(waves.has_come(first.eviction), waves.has_come(later.eviction))]

    begin(waves)
    waves.next(is_full=False)
    come.append((waves.has_come(first.eviction), waves.has_come(later.eviction)))
    waves.ended(first)
    waves.next(is_full=False)
    come.append((waves.has_come(first.eviction), waves.has_come(later.eviction)))

    assert come == [(True, False), (True, False), (True, True)]
    assert Waves[JobTask]([]).has_come(later.eviction)


def test_what_another_plan_of_the_run_has_begun_holds_later_waves_back() -> None:
    second = task("b", 2)
    waves = Waves([second])
    other = task("other", 1)
    waves.began(other)

    assert waves.next(is_full=False) is None
    waves.ended(other)
    assert waves.next(is_full=False) is second


def test_what_another_plan_has_begun_in_a_later_wave_holds_nobody_back() -> None:
    first = task("a", 1)
    waves = Waves([first])
    waves.began(task("other", 2))

    assert waves.next(is_full=False) is first
