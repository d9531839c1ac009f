"""Jobs of Volcano create a pod again by its name, unless a policy ends or restarts them; see `volcano.md`, 3.4."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.replacements.answer import OwnerAnswer, OwnerEnd, Returns
from descheduler.placement.replacements.owners import Owners
from descheduler.placement.replacements.replacement import ReplacementMaker
from tests.builders import NOW, Object, pod_object
from tests.eviction.checks.volcano_jobs import task, volcano_job
from tests.placement.replacements.controllers.answers import answer
from tests.placement.workloads import cluster_of, pod_named, workload_object

_RESTART = {"event": "PodEvicted", "action": "RestartJob"}


def workers(number: int) -> list[Object]:
    """Pods of the task `worker`."""
    return [task(f"train-worker-{index}", "worker") for index in range(number)]


def job(*policies: Object, replicas: int = 2, **facts: Any) -> Object:
    """A Job of one task."""
    return volcano_job(policies, [{"name": "worker", "replicas": replicas}], **facts)


def asked(*objects: Object, number: int = 2) -> OwnerAnswer:
    """What becomes of an eviction of the first of so many pods."""
    return answer(*workers(number), *objects, of="train-worker-0")


@pytest.mark.parametrize(
    "policies",
    [
        pytest.param([], id="no policy"),
        pytest.param([{"event": "PodEvicted", "action": "SyncJob"}], id="SyncJob"),
        pytest.param([{"event": "TaskCompleted", "action": "CompleteJob"}], id="policy for another event"),
    ],
)
def test_pod_comes_by_the_same_name_once_the_old_one_is_gone(policies: list[Object]) -> None:
    assert asked(job(*policies)) == OwnerAnswer(Returns.WHEN_GONE, has_same_name=True)


def test_replacement_is_named_by_task_and_index_and_equals_the_pod() -> None:
    snapshot = cluster_of(*workers(2), job())
    victim = pod_named(snapshot, "train-worker-0")

    made = ReplacementMaker(snapshot, NOW).replacement_of(victim)

    assert made.pod is not None
    assert (made.pod.name, made.pod.spec, made.source) == ("train-worker-0", victim.spec, "live")


@pytest.mark.parametrize(
    ("action", "condition"), [("AbortJob", "Failed"), ("TerminateJob", "Failed"), ("CompleteJob", "Complete")]
)
def test_policy_that_ends_the_job_loses_it(action: str, condition: Any) -> None:
    assert asked(job({"events": ["PodEvicted"], "action": action})) == OwnerAnswer(
        Returns.OWNER_ENDS,
        loss=f"the eviction ends Job train (policies: PodEvicted: {action})",
        end=OwnerEnd(condition, action),
    )


@pytest.mark.parametrize(
    ("action", "num_restarted"), [("RestartJob", 3), ("RestartTask", 2), ("RestartPartition", 2), ("RestartPod", 1)]
)
def test_restart_leaves_a_doubt_while_it_takes_down_pods_that_stay(action: str, num_restarted: int) -> None:
    pods = [*workers(2), task("train-ps-0", "ps")]

    made = answer(*pods, job({"event": "*", "action": action}), of="train-worker-0")

    pods_lost = f"{num_restarted} pod{'' if num_restarted == 1 else 's'}"
    lost = f"Job train restarts {pods_lost} (policies: PodEvicted: {action})"
    doubt = f"{lost}, and it is unknown whether all of them can be scheduled again" if num_restarted > 1 else ""
    assert made == OwnerAnswer(
        Returns.LATER, doubt=doubt, has_same_name=True, notes=(f"{lost}; it is restart 1 of maxRetry: 3",)
    )


def test_restart_is_certain_for_a_job_that_is_evicted_whole() -> None:
    snapshot = cluster_of(*workers(3), job(_RESTART, replicas=3))
    victim, gone, mate = snapshot.pods

    made = Owners(snapshot, NOW).answer(victim, [gone], mates=[mate])

    assert (made.returns, made.doubt) == (Returns.LATER, "")


def test_pods_that_have_finished_are_not_lost_with_a_restart() -> None:
    ended = task("train-worker-1", "worker", phase="Succeeded")

    made = answer(task("train-worker-0", "worker"), ended, job(_RESTART), of="train-worker-0")

    assert made.doubt == ""


@pytest.mark.parametrize(("num_before", "is_created"), [(1, True), (2, False)])
def test_restart_that_reaches_max_retry_fails_the_job(num_before: int, *, is_created: bool) -> None:
    made = asked(job(_RESTART, status={"retryCount": num_before}, maxRetry=3))

    assert made.is_created == is_created
    if not is_created:
        counts = "policies: PodEvicted: RestartJob, maxRetry: 3, restarted 2 times before"
        assert made.loss == f"the eviction fails Job train ({counts})"
        assert made.end == OwnerEnd("Failed", "RestartJob")


def test_policy_of_the_task_comes_before_that_of_the_job() -> None:
    own = {"name": "worker", "replicas": 2, "policies": [{"event": "PodEvicted", "action": "SyncJob"}]}

    made = asked(volcano_job([_RESTART], [own]))

    assert made == OwnerAnswer(Returns.WHEN_GONE, has_same_name=True)


@pytest.mark.parametrize("event", ["PodFailed", "TaskFailed"])
def test_policy_for_failures_leaves_a_doubt(event: str) -> None:
    made = asked(job({"event": event, "action": "RestartJob"}))

    policy = f"policies: {event}: RestartJob"
    assert made.is_created
    assert made.doubt == f"it is unknown whether Job train counts an evicted pod as failed ({policy})"


def test_action_that_is_not_modelled_leaves_a_doubt() -> None:
    made = asked(job({"event": "PodEvicted", "action": "ResumeJob"}))

    assert made.doubt == "it is unknown what Job train does after an eviction (policies: PodEvicted: ResumeJob)"


@pytest.mark.parametrize(
    ("phase", "cause"),
    [
        ("Completed", "Job train has ended (phase: Completed)"),
        ("Aborting", "Job train is ending (phase: Aborting)"),
    ],
)
def test_job_that_has_ended_or_is_ending_creates_no_pod(phase: str, cause: str) -> None:
    made = asked(job(_RESTART, status={"state": {"phase": phase}}))

    assert (made.returns, made.cause) == (Returns.NOT_CREATED, cause)


def test_job_that_is_restarting_leaves_a_doubt() -> None:
    made = asked(job(status={"state": {"phase": "Restarting"}}))

    assert made.doubt == "Job train is restarting, and deletes pods itself"


def test_index_beyond_the_replicas_of_its_task_does_not_come_again() -> None:
    made = answer(*workers(2), job(replicas=1), of="train-worker-1")

    assert made.cause == "task worker of Job train has no index 1 (replicas: 1)"


def test_replicas_that_an_old_dump_lacks_leave_the_pod_wanted() -> None:
    assert asked(volcano_job(tasks=[{"name": "worker"}])).returns is Returns.WHEN_GONE


def test_job_that_is_being_deleted_or_is_gone_creates_no_pod() -> None:
    deleted = job()
    deleted["metadata"]["deletionTimestamp"] = "2026-06-30T12:00:00Z"
    other = job()
    other["metadata"] |= {"name": "other", "uid": "job-other"}

    assert asked(deleted).cause == "Job train is being deleted"
    assert asked(other).cause == "Job train does not exist, so that its pods are deleted"


def test_owner_reference_without_a_group_means_the_job_of_kubernetes() -> None:
    pod = pod_object("victim", owners=["Job/sum"])
    del pod["metadata"]["ownerReferences"][0]["apiVersion"]

    made = answer(pod, workload_object("Job/other"), job())

    assert made.cause == "Job sum does not exist, so that its pods are deleted"
