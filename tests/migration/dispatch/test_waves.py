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
