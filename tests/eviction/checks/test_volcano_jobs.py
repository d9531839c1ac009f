"""A job of Volcano as a whole: policies that restart or end it, its disruption budget, and what counts as ready."""

from __future__ import annotations

import pytest

from tests.builders import Object
from tests.eviction.checks.volcano_jobs import clear, evicted, pod_group, queue, refusals, task, volcano_job

MIN, MAX = "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"
JOB = [pod_group(), task("a"), task("b", node="room"), task("c", node="room")]


def on_evicted(action: str, event: str = "PodEvicted") -> Object:
    return {"event": event, "action": action}


@pytest.mark.parametrize(
    ("action", "does"),
    [
        pytest.param("RestartJob", "restarts 3 pods of the job", id="restarted"),
        pytest.param("AbortJob", "ends the job", id="aborted"),
        pytest.param("TerminateJob", "ends the job", id="terminated"),
        pytest.param("CompleteJob", "ends the job", id="completed"),
    ],
)
def test_eviction_that_restarts_or_ends_the_job_is_refused(action: str, does: str) -> None:
    (refusal,) = clear([*JOB, volcano_job([on_evicted(action)])]).refusals

    setting = " (onGangMinimum: refuse)" if action == "RestartJob" else ""
    assert (refusal.code, refusal.message) == (
        "JobLifecycle",
        f"Job default/train {does} when one of its pods is evicted (policies: PodEvicted: {action}){setting}",
    )


@pytest.mark.parametrize(
    "policies",
    [
        pytest.param([], id="no policy"),
        pytest.param([on_evicted("RestartJob", "PodFailed")], id="another event"),
        pytest.param([on_evicted("SyncJob")], id="the pod alone is made again"),
        pytest.param([on_evicted("RestartPod")], id="the pod alone is restarted"),
        pytest.param([on_evicted("SyncJob"), on_evicted("RestartJob", "*")], id="the first policy counts"),
    ],
)
def test_eviction_that_costs_one_pod_is_granted(policies: list[Object]) -> None:
    assert evicted(clear([*JOB, volcano_job(policies)])) == ["a"]


def test_pod_of_a_job_that_was_read_needs_no_permission_for_unknown_landings() -> None:
    pods = [pod_group(), queue(), task("train-worker-0", "worker"), task("train-worker-1", "worker", node="room")]
    worker = {"name": "worker", "replicas": 2}

    assert evicted(clear([*pods, volcano_job(tasks=[worker])], onUnknown="refuse")) == ["train-worker-0"]
    assert refusals(clear(pods, onUnknown="refuse")) == [("train-worker-0", "UnknownLanding")]


@pytest.mark.parametrize("on_minimum", ["refuse", "evictGang"])
def test_last_restart_of_a_job_is_refused(on_minimum: str) -> None:
    worker = {"name": "worker", "replicas": 1}
    job = volcano_job([on_evicted("RestartPod")], [worker], {"retryCount": 2})

    (refusal,) = clear([pod_group(), queue(), task("train-worker-0", "worker"), job], onGangMinimum=on_minimum).refusals

    counts = "policies: PodEvicted: RestartPod, maxRetry: 3, restarted 2 times before"
    assert (refusal.code, refusal.message) == ("OwnerFails", f"the eviction fails Job train ({counts})")


def test_star_stands_for_every_event_and_events_are_read() -> None:
    listed: Object = {"events": ["PodFailed", "PodEvicted"], "action": "RestartJob"}

    for policy in (on_evicted("RestartJob", "*"), listed):
        assert refusals(clear([*JOB, volcano_job([policy])])) == [("a", "JobLifecycle")]


def test_policy_of_the_task_comes_before_that_of_the_job() -> None:
    tasks = [{"name": "worker", "policies": [on_evicted("SyncJob")]}]
    job = volcano_job([on_evicted("AbortJob")], tasks)

    result = clear([pod_group(), task("w", "worker"), task("ps", "ps"), task("b", node="room"), job])

    assert (evicted(result), refusals(result)) == (["w"], [("ps", "JobLifecycle")])


def test_whole_job_goes_at_once_where_gangs_move_whole() -> None:
    objects = [*JOB, volcano_job([on_evicted("RestartJob")])]

    assert sorted(evicted(clear(objects, onGangMinimum="evictGang"))) == ["a", "b", "c"]


def test_restart_of_a_task_takes_its_pods_alone() -> None:
    tasks = [{"name": "worker", "policies": [on_evicted("RestartTask")]}]
    pods = [task("w0", "worker"), task("w1", "worker", node="room"), task("ps", "ps", node="room")]

    result = clear([pod_group(), *pods, volcano_job([], tasks)], onGangMinimum="evictGang")

    assert sorted(evicted(result)) == ["w0", "w1"]


def test_job_that_would_end_is_not_evicted_whole_either() -> None:
    result = clear([*JOB, volcano_job([on_evicted("AbortJob")])], onGangMinimum="evictGang")

    assert refusals(result) == [("a", "JobLifecycle")]


@pytest.mark.parametrize(
    ("annotations", "num_evicted"),
    [
        pytest.param({MIN: "3"}, 1, id="three of four have to run"),
        pytest.param({MIN: "51%"}, 1, id="a percentage is rounded up"),
        pytest.param({MAX: "2"}, 2, id="two may be away"),
        pytest.param({MAX: "30%"}, 2, id="two of four are 30% rounded up"),
        pytest.param({MAX: "0"}, 0, id="none may be away"),
        pytest.param({MIN: "3", MAX: "4"}, 1, id="the minimum comes first"),
        pytest.param({MAX: "some"}, 4, id="no number"),
        pytest.param({}, 4, id="no budget"),
    ],
)
def test_job_keeps_its_disruption_budget_over_the_whole_run(annotations: dict[str, str], num_evicted: int) -> None:
    result = clear([pod_group(0, annotations=annotations), *(task(name) for name in "abcd")])

    assert len(result.evictions) == num_evicted
    assert {each.code for each in result.refusals} <= {"JobDisruptionBudget"}


def test_pods_that_do_not_run_are_away_already() -> None:
    group = pod_group(0, annotations={MAX: "1"})

    result = clear([group, task("a"), task("b", node="room"), task("pending", node="", phase="Pending")])

    assert [each.message for each in result.refusals] == [
        "PodGroup default/train has 2 pods running of 3 (volcano.sh/jdb-max-unavailable: 1)"
    ]


def test_finished_pods_are_not_away() -> None:
    group = pod_group(0, annotations={MAX: "1"})

    assert evicted(clear([group, task("a"), task("b", node="room"), task("done", phase="Succeeded")])) == ["a"]


def test_pod_that_has_succeeded_counts_for_the_minimum_of_its_gang() -> None:
    """volcano.md §1.3: tasks that are bound, run or have succeeded are ready."""
    three = [task("a"), task("b", node="room"), task("c", node="room")]

    assert evicted(clear([pod_group(3), *three, task("done", phase="Succeeded")])) == ["a"]
    assert refusals(clear([pod_group(3), *three])) == [("a", "GangMinimum")]


def test_parameter_server_stays_while_surplus_workers_go() -> None:
    """volcano.md §13.4: minAvailable 3 with one ps and two workers; one ps and four workers run."""
    group = pod_group(3, minTaskMember={"ps": 1, "worker": 2})

    result = clear([group, task("ps-0", "ps"), *(task(f"worker-{number}", "worker") for number in range(4))])

    assert evicted(result) == ["worker-0", "worker-1"]
    assert ("ps-0", "GangMinimum") in refusals(result)


@pytest.mark.parametrize(
    ("annotations", "names"),
    [
        pytest.param({MAX: "2"}, [], id="two may be away"),
        pytest.param({MAX: "3"}, ["a", "b", "c"], id="all may be away"),
        pytest.param({MIN: "1"}, [], id="one has to run"),
    ],
)
def test_whole_job_goes_only_within_its_disruption_budget(annotations: dict[str, str], names: list[str]) -> None:
    objects = [pod_group(annotations=annotations), *JOB[1:], volcano_job([on_evicted("RestartJob")])]

    assert sorted(evicted(clear(objects, onGangMinimum="evictGang"))) == names


def test_restarts_of_both_tasks_are_counted_together() -> None:
    """The job needs two of its pods: the restart of one task leaves them, the restart of the other one does not."""
    tasks = [{"name": name, "policies": [on_evicted("RestartTask")]} for name in ("ps", "worker")]
    pods = [task("ps-0", "ps"), task("w-0", "worker"), task("w-1", "worker", node="room")]

    result = clear([pod_group(2), *pods, volcano_job([], tasks)], onGangMinimum="evictGang")

    assert set(evicted(result)) in ({"ps-0"}, {"ps-0", "w-0", "w-1"})


def test_task_that_restarts_does_not_fall_below_the_minimum_of_its_gang() -> None:
    tasks = [{"name": "worker", "policies": [on_evicted("RestartTask")]}]
    pods = [task("ps", "ps", node="room"), task("w-0", "worker"), task("w-1", "worker", node="room")]

    result = clear([pod_group(2), *pods, volcano_job([], tasks)], onGangMinimum="evictGang")

    assert sorted(evicted(result)) == ["ps", "w-0", "w-1"]


def test_job_that_has_lost_a_pod_before_is_restarted_for_the_rest() -> None:
    """A pod that is deleted already is not taken down again, and the others go together."""
    gone = task("a", deleted=30)

    result = clear(
        [pod_group(), gone, task("b"), task("c", node="room"), volcano_job([on_evicted("RestartJob")])],
        onGangMinimum="evictGang",
    )

    assert sorted(evicted(result)) == ["b", "c"]


@pytest.mark.parametrize("key", ["annotations", "labels"])
def test_task_of_a_group_that_is_not_preemptable_stays(key: str) -> None:
    group = pod_group()
    group["metadata"][key] = {"volcano.sh/preemptable": "false"}

    result = clear([group, task("a"), task("b", annotations={"volcano.sh/preemptable": "true"})])

    assert (evicted(result), refusals(result)) == (["b"], [("a", "NotPreemptable")])
