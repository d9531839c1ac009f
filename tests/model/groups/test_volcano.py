"""What Volcano's Jobs and PodGroups say of evictions (volcano.md)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.model.groups.volcano import (
    JobBudget,
    LifecyclePolicy,
    VolcanoJob,
    VolcanoPodGroup,
    VolcanoTask,
    is_switched_on,
    task_of,
)
from descheduler.model.groups.workloads import Workload
from tests.builders import make_pod

TASK = "volcano.sh/task-spec"
MINIMUM, MAXIMUM = "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"


def job(*policies: LifecyclePolicy, **tasks: VolcanoTask) -> VolcanoJob:
    return VolcanoJob("Job", "default", "train", "u", 0, policies=policies, tasks=tasks)


@pytest.mark.parametrize(
    ("text", "default", "is_on"),
    [
        (None, True, True),
        (None, False, False),
        ("true", False, True),
        ("1", False, True),
        ("T", False, True),
        ("false", True, False),
        ("yes", True, False),
        ("", True, False),
    ],
)
def test_switch_that_cannot_be_read_is_off(text: str | None, default: bool, is_on: bool) -> None:
    assert is_switched_on(text, default=default) is is_on


@pytest.mark.parametrize(
    ("annotations", "labels", "task"),
    [
        pytest.param({TASK: "ps"}, {TASK: "worker"}, "ps", id="the annotation goes first"),
        pytest.param({}, {TASK: "worker"}, "worker", id="the label"),
        pytest.param({TASK: ""}, {TASK: "worker"}, "worker", id="an empty annotation names none"),
        pytest.param({TASK: "ps"}, {}, "ps", id="no label"),
        pytest.param({}, {}, "", id="none"),
    ],
)
def test_task_of_a_pod(annotations: dict[str, str], labels: dict[str, str], task: str) -> None:
    assert task_of(replace(make_pod("p", labels=labels), annotations=annotations)) == task


EVICTED, FAILED = frozenset({"PodEvicted"}), frozenset({"PodFailed"})


@pytest.mark.parametrize(
    ("policies", "action"),
    [
        pytest.param([LifecyclePolicy("AbortJob", EVICTED)], "AbortJob", id="the event"),
        pytest.param([LifecyclePolicy("AbortJob", frozenset({"*"}))], "AbortJob", id="any event"),
        pytest.param([LifecyclePolicy("AbortJob", FAILED)], "", id="another event"),
        pytest.param([LifecyclePolicy("AbortJob")], "", id="no event"),
        pytest.param(
            [LifecyclePolicy("AbortJob", FAILED), LifecyclePolicy("RestartJob", EVICTED)],
            "RestartJob",
            id="a later one",
        ),
    ],
)
def test_first_policy_about_an_event_says_what_becomes_of_a_job(policies: list[LifecyclePolicy], action: str) -> None:
    assert job(*policies).action_on("PodEvicted", "worker") == action


@pytest.mark.parametrize(("task", "action"), [("worker", "RestartTask"), ("ps", "AbortJob"), ("", "AbortJob")])
def test_policies_of_a_task_go_before_those_of_its_job(task: str, action: str) -> None:
    own = VolcanoTask(policies=(LifecyclePolicy("RestartTask", EVICTED),))
    found = job(LifecyclePolicy("AbortJob", EVICTED), worker=own, ps=VolcanoTask())

    assert found.action_on("PodEvicted", task) == action


def test_replicas_of_a_job_are_known_when_all_tasks_state_theirs() -> None:
    known, unknown = VolcanoTask(1), VolcanoTask()

    assert job(a=known).are_replicas_known
    assert not job(a=known, b=unknown).are_replicas_known
    assert job(a=known).succeeded_are_available
    other = Workload("ReplicaSet", "default", "web", "u", 1)
    assert (other.are_replicas_known, other.succeeded_are_available) == (True, False)


@pytest.mark.parametrize(
    ("annotations", "text", "num_allowed"),
    [
        pytest.param({MINIMUM: "3"}, f"{MINIMUM}: 3", 2, id="3 have to run, and 5 do"),
        pytest.param({MINIMUM: "25%"}, f"{MINIMUM}: 25%", 2, id="a quarter of 10, rounded up, has to run"),
        pytest.param({MINIMUM: "7"}, f"{MINIMUM}: 7", -2, id="2 too few run"),
        pytest.param({MAXIMUM: "3"}, f"{MAXIMUM}: 3", 1, id="3 can be away, and 2 are"),
        pytest.param({MAXIMUM: "25%"}, f"{MAXIMUM}: 25%", 1, id="a quarter of 10, rounded up, can be away"),
        pytest.param({MAXIMUM: "1"}, f"{MAXIMUM}: 1", -1, id="more are away than can be"),
        pytest.param({MAXIMUM: "3", MINIMUM: "4"}, f"{MINIMUM}: 4", 1, id="the minimum goes first"),
        pytest.param({MAXIMUM: "3", MINIMUM: "some"}, f"{MAXIMUM}: 3", 1, id="one that cannot be read does not count"),
    ],
)
def test_budget_of_a_job_of_ten_pods_of_which_three_have_finished_and_five_run(
    annotations: dict[str, str], text: str, num_allowed: int
) -> None:
    budget = JobBudget.of(VolcanoPodGroup("default", "train", annotations=annotations))

    assert budget is not None
    assert budget.text == text
    assert budget.num_allowed(num_pods=10, num_finished=3, num_running=5) == num_allowed


@pytest.mark.parametrize("annotations", [{}, {MINIMUM: "-1"}, {MAXIMUM: "1.5"}, {MAXIMUM: "%"}])
def test_group_without_an_amount_that_can_be_read_has_no_budget(annotations: dict[str, str]) -> None:
    assert JobBudget.of(VolcanoPodGroup("default", "train", annotations=annotations)) is None
