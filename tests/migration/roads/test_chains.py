"""Which jobs of a bundle begin ahead of their wave, to hold room where others leave."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from descheduler.migration.roads.chains import hold_ahead, with_time_for_waves
from descheduler.migration.roads.job_task import JobTask
from descheduler.migration.store.journal import NewJob
from descheduler.model.pod import Owner
from descheduler.plan.planned import PlannedEviction


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
