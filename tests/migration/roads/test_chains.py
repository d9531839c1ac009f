"""Which jobs of a bundle begin ahead of their wave, to hold room where others leave."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.dispatch.bundles import Bundles
from descheduler.migration.roads.chains import bundle_is_ready, hold_ahead, with_time_for_waves
from descheduler.migration.roads.job_task import JobTask
from descheduler.migration.store.journal import NewJob
from descheduler.model.pod import Owner
from descheduler.plan.planned import PlannedEviction, PlannedRoom


def task(workload: str, wave: int, bundle: int = 1, held_on: str = "n2") -> JobTask:
    owner = Owner("ReplicaSet", workload, workload, controller=True)
    name = f"{workload}-{wave}"
    facts: dict[str, Any] = {"controller": owner, "bundle": bundle, "wave": wave, "held_on": held_on}
    return JobTask(PlannedEviction("shop", name, name, "n1", "p", "Plugin", **facts))


def waves_ahead(*tasks: JobTask) -> list[int]:
    hold_ahead(tasks)
    return [each.waves_ahead for each in tasks]


def test_all_of_a_bundle_begin_with_its_first_wave_where_all_nodes_are_chosen() -> None:
    assert waves_ahead(task("a", 2), task("b", 3), task("c", 5), task("other", 4, bundle=0)) == [0, 1, 3, 0]


def test_a_bundle_of_which_the_scheduler_chooses_a_node_keeps_to_its_waves() -> None:
    assert waves_ahead(task("a", 1), task("b", 2), task("c", 2, held_on="")) == [0, 0, 0]


@pytest.mark.parametrize(("bundle", "wave", "ahead"), [(2, 1, 0), (0, 1, 0), (1, 1, 1), (2, 2, 1)])
def test_a_bundle_keeps_to_its_waves_where_another_pod_of_a_workload_goes_before(
    bundle: int, wave: int, ahead: int
) -> None:
    assert waves_ahead(task("a", 1), task("b", 2), task("b", wave, bundle))[1] == ahead


def test_of_two_bundles_one_holds_room_ahead_for_a_workload() -> None:
    assert waves_ahead(task("a", 1), task("b", 2), task("c", 1, 2), task("b", 2, 2)) == [0, 1, 0, 0]


def test_the_time_limit_counts_once_for_each_wave() -> None:
    new = NewJob("shop", "a", "a", "ReservationFirst", "", "Plugin", "koordinator", ttl=timedelta(minutes=5))
    late = task("a", 3)
    late.waves_ahead = 2

    assert with_time_for_waves(new, late).ttl == timedelta(minutes=15)


def test_job_without_a_time_limit_gets_none_for_waves() -> None:
    new = NewJob("shop", "a", "a", "ReservationFirst", "", "Plugin", "koordinator")
    late = task("a", 3)
    late.waves_ahead = 2

    assert with_time_for_waves(new, late) == new


def test_a_pod_of_the_workload_that_goes_before_the_bundle_begins_is_not_in_the_way() -> None:
    assert waves_ahead(task("a", 2), task("b", 3), task("b", 1, bundle=0))[:2] == [0, 1]


NOW = 100.0


def holding(name: str, wave: int = 1, bundle: int = 1, *, asked: float | None = None, ahead: int = 0) -> JobTask:
    """One of a bundle; its room was asked for then."""
    found = task(name, wave, bundle)
    found.room_asked_at, found.waves_ahead = asked, ahead
    return found


def making_room(of: JobTask) -> JobTask:
    """The same, by which room is held for a pending pod."""
    of.eviction = replace(of.eviction, rooms=(PlannedRoom("shop", "p", "p", "n1"),))
    return of


def ready(of: JobTask, *others: JobTask, at_turn: Collection[JobTask]) -> bool:
    return bundle_is_ready(of, Bundles([of, *others]), at_turn, NOW)


def test_pod_of_its_own_leaves_at_once_unless_it_makes_room() -> None:
    alone, late, early = task("a", 1, 0), holding("b", bundle=0, asked=96.0), holding("c", bundle=0, asked=96.1)

    assert ready(alone, at_turn=[])
    assert ready(making_room(late), at_turn=[])
    assert not ready(making_room(early), at_turn=[early])
    assert ready(making_room(alone), at_turn=[alone])
    assert not ready(making_room(alone), at_turn=[])


def test_bundle_leaves_when_it_is_the_turn_of_all_of_its_wave() -> None:
    first, second, later = task("a", 1), task("b", 1), task("c", 2)

    assert not ready(first, second, later, at_turn=[first])
    assert ready(first, second, later, at_turn=[first, second])


@pytest.mark.parametrize(
    ("later", "is_ready"),
    [
        pytest.param(holding("c", 2, asked=96.0, ahead=1), True, id="its Reservation is tried next"),
        pytest.param(holding("c", 2, asked=96.1, ahead=1), False, id="the scheduler has yet to back off"),
        pytest.param(holding("c", 2, ahead=1), False, id="its room is not asked for"),
        pytest.param(holding("c", 2), True, id="it holds no room ahead"),
        pytest.param(making_room(holding("c", 2)), True, id="it makes room in a later wave"),
        pytest.param(making_room(holding("c", 1)), False, id="it makes room in this wave"),
    ],
)
def test_bundle_waits_for_the_room_that_is_held_ahead(later: JobTask, *, is_ready: bool) -> None:
    first = task("a", 1)
    turn = [first, *([later] if later.eviction.wave == 1 and is_ready else [])]

    assert ready(first, later, at_turn=turn) is is_ready


def test_bundle_of_which_one_has_left_goes_on() -> None:
    first, second = task("a", 1), task("b", 1)
    bundles = Bundles([first, second])
    bundles.leaves(first.eviction)

    assert bundle_is_ready(second, bundles, [], NOW)
