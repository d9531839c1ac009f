"""MakeRoom for pending jobs of Volcano: others leave so that a whole job is scheduled, or nothing leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import pytest

from descheduler import evaluate
from descheduler.planner.room_policy import BUILT_IN
from tests.placement.volcano.worlds import Object, group, node, owned, pods, queue, renamed

NOW = datetime(2026, 11, 1, tzinfo=UTC)
NODES = [node(name, cpu=cpu) for name, cpu in {"a": "8", "b": "8", "c": "4", "d": "1"}.items()]


def _fixed(on: str, cpu: str) -> Object:
    """A bare pod of another scheduler, which is not evicted."""
    pod = renamed(f"fixed-{on}", pods("fixed", 1, cpu=cpu, on=on))
    return {**pod, "spec": {**pod["spec"], "schedulerName": "default-scheduler"}}


def _filler(on: str, cpu: str = "2") -> Object:
    """A pod of a job that runs two more than it needs."""
    return renamed(f"filler-{on}", owned(pods("filler", 1, cpu=cpu, on=on)))


FULL = [
    *NODES,
    *(_fixed(on, "3") for on in "ab"),
    *(*map(_filler, "ab"), _filler("d", "1")),
    group("filler", phase="Running"),
]
"""Room for 5 cores can be made on a and on b, as c has room for what leaves; 3 are free there, and 4 on c."""


def _evicted(*objects: Object | Iterable[Object]) -> tuple[list[str], str]:
    """The pods that leave, and what is said of the goal."""
    listed: list[Object] = []
    for each in objects:
        listed += [each] if isinstance(each, dict) else list(each)
    result = evaluate(BUILT_IN, listed, now=NOW)
    assert result.plan.goal is not None
    (objective,) = result.plan.goal.objectives
    return sorted(each.name for each in result.evictions), objective.sentence


def _job(number: int, *, of_queue: str = "default", cpu: str = "5", **spec: object) -> Sequence[Object]:
    """A pending gang of so many pods."""
    return [
        group("gang", least=number, queue=of_queue, phase="Pending", **spec),
        *owned(pods("gang", number, cpu=cpu), owner="gang"),
    ]


def test_others_leave_so_that_the_whole_job_is_scheduled() -> None:
    evicted, said = _evicted(queue("default"), FULL, _job(2, minResources={"cpu": "10"}))

    assert evicted == ["filler-a", "filler-b"]
    assert said.startswith("2 pods pending → 0 (batch/gang-0 onto ")


def test_no_pod_leaves_for_a_part_of_a_job() -> None:
    evicted, _ = _evicted(queue("default"), FULL, _job(4))

    assert evicted == []


def test_pods_of_a_job_that_runs_without_them_are_served_one_by_one() -> None:
    extra = [group("gang", phase="Running"), *owned(pods("gang", 4, cpu="5"), owner="gang")]

    evicted, said = _evicted(queue("default"), FULL, extra)

    assert (len(evicted), said.partition(" with")[0]) == (2, "4 pods pending → 2")


@pytest.mark.parametrize(
    ("spec", "job"),
    [
        pytest.param({"capability": {"cpu": "8"}}, {}, id="the capability of its queue"),
        pytest.param({}, {"minResources": {"cpu": "30"}}, id="its admission"),
    ],
)
def test_no_pod_leaves_for_a_job_that_room_does_not_help(spec: Object, job: Object) -> None:
    evicted, _ = _evicted(queue("default"), queue("small", **spec), FULL, _job(2, of_queue="small", **job))

    assert evicted == []


def test_a_gang_at_its_minimum_does_not_leave_for_another_job() -> None:
    at_minimum = [group("filler", least=3, phase="Running"), *(each for each in FULL if each["kind"] != "PodGroup")]

    evicted, _ = _evicted(queue("default"), at_minimum, _job(2))

    assert evicted == []
