"""What owners make of several evictions together: pods that wait for lower ordinals, and further indexes of Jobs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.placement.created_pods import Coming, CreatedPods, created_pods
from descheduler.placement.prover import LandingProver
from tests.builders import NOW, Object, pod_object
from tests.placement.workloads import cluster_of, pod_named, workload_object

_INDEX = "batch.kubernetes.io/job-completion-index"
_FAILURES = "batch.kubernetes.io/job-index-failure-count"


def created(*objects: Object, evicted: Any, failed: Iterable[int] = ()) -> CreatedPods:
    """What comes after evictions of pods by name, each with whether the pod that comes for it gets ready.

    Jobs count these indexes as failed by then.
    """
    snapshot = cluster_of(*objects)
    workloads = {
        uid: workload
        if workload.job is None
        else replace(workload, job=replace(workload.job, failed_indexes=workload.job.failed_indexes | {*failed}))
        for uid, workload in snapshot.workloads.items()
    }
    prover = LandingProver(snapshot, now=NOW)
    coming = [
        Coming(pod_named(snapshot, name), prover.book(pod_named(snapshot, name)), ready)
        for name, ready in evicted.items()
    ]
    return created_pods(snapshot, workloads, coming, NOW)


def member(ordinal: int, **facts: Any) -> Object:
    labels = {"apps.kubernetes.io/pod-index": str(ordinal), "statefulset.kubernetes.io/pod-name": f"db-{ordinal}"}
    return pod_object(f"db-{ordinal}", owners=["StatefulSet/db"], labels=labels, **facts)


def stateful_set(replicas: int = 3, **spec: Any) -> Object:
    return workload_object("StatefulSet/db", replicas=replicas, **spec)


def shown(found: CreatedPods) -> tuple[list[str], list[str]]:
    """The victims for which nothing comes, and the pods that come for nobody, by name."""
    return sorted(uid.removeprefix("default-") for uid in found.held_back), [pod.name for pod in found.others]


@pytest.mark.parametrize(
    ("objects", "evicted", "held_back", "others"),
    [
        pytest.param(
            [member(0), member(1), member(2), stateful_set()], {"db-1": True, "db-2": True}, [], [], id="all get ready"
        ),
        pytest.param(
            [member(0), member(1), member(2), stateful_set()],
            {"db-1": False, "db-2": True},
            ["db-2"],
            [],
            id="one that does not get ready holds back those above it",
        ),
        pytest.param(
            [member(0), member(1), member(2), stateful_set()],
            {"db-0": True, "db-2": False},
            [],
            [],
            id="and none below it",
        ),
        pytest.param(
            [member(0, ready=False), member(1), stateful_set(2)],
            {"db-1": True},
            ["db-1"],
            [],
            id="one that stays and is not ready holds back too",
        ),
        pytest.param(
            [member(0, phase="Failed"), member(1), stateful_set(2)],
            {"db-1": True},
            ["db-1"],
            [],
            id="and one that has ended",
        ),
        pytest.param(
            [member(1), stateful_set(3)], {"db-1": True}, [], ["db-0", "db-2"], id="what is lacking comes as well"
        ),
        pytest.param(
            [member(1), stateful_set(3)],
            {"db-1": False},
            [],
            ["db-0"],
            id="up to the one that does not get ready",
        ),
        pytest.param([member(0), stateful_set(1)], {"db-0": True}, [], [], id="nothing is lacking"),
        pytest.param(
            [member(6), stateful_set(2, ordinals={"start": 5})],
            {"db-6": True},
            [],
            ["db-5"],
            id="ordinals begin where the StatefulSet says",
        ),
        pytest.param(
            [member(0), member(1), stateful_set(2, podManagementPolicy="Parallel")],
            {"db-0": False, "db-1": True},
            [],
            [],
            id="in parallel none waits",
        ),
        pytest.param(
            [member(0), member(1), member(4), stateful_set(2)],
            {"db-0": True, "db-4": True},
            [],
            [],
            id="one beyond the replicas does not count",
        ),
    ],
)
def test_pods_of_a_stateful_set_come_one_after_the_other(
    objects: list[Object], evicted: Any, held_back: list[str], others: list[str]
) -> None:
    assert shown(created(*objects, evicted=evicted)) == (held_back, others)


def test_pod_that_was_lacking_has_its_own_name_and_labels() -> None:
    (made,) = created(member(1), stateful_set(2), evicted={"db-1": True}).others

    assert (made.name, made.uid, made.node_name) == ("db-0", "statefulset-db-0+", "")
    assert made.labels["apps.kubernetes.io/pod-index"] == "0"
    assert made.labels["statefulset.kubernetes.io/pod-name"] == "db-0"
    assert made.created_at == NOW


def test_a_thousand_pods_come_at_once_at_most() -> None:
    """Those below a pod that is there count."""
    found = created(member(700), stateful_set(5000), evicted={"db-700": True})

    assert len(found.others) == 1000
    assert [found.others[place].name for place in (0, 699, 700, 999)] == ["db-0", "db-699", "db-701", "db-1000"]


def worker(name: str, index: int, **facts: Any) -> Object:
    labels = {_INDEX: str(index)}
    notes = {_INDEX: str(index), _FAILURES: "0"}
    return pod_object(name, owners=["Job/sum"], labels=labels, annotations=notes, **facts)


def job(*, parallelism: int = 2, completions: int = 5, limit: int = 0, **status: Any) -> Object:
    made = workload_object(
        "Job/sum",
        replicas=parallelism,
        completions=completions,
        completionMode="Indexed",
        backoffLimitPerIndex=limit,
        maxFailedIndexes=9,
    )
    return made | {"status": status}


@pytest.mark.parametrize(
    ("objects", "evicted", "indexes"),
    [
        pytest.param([worker("a", 0), worker("b", 1), job()], ["a"], [2], id="the next one"),
        pytest.param([worker("a", 0), worker("b", 1), job()], ["a", "b"], [2, 3], id="one for each"),
        pytest.param([worker("a", 0), worker("b", 1), job(limit=1)], ["a"], [], id="none where the index goes on"),
        pytest.param(
            [worker("a", 0), worker("b", 1), job(completedIndexes="2,3")], ["a"], [4], id="none that is completed"
        ),
        pytest.param([worker("a", 0), worker("b", 1), job(failedIndexes="2")], ["a"], [3], id="none that has failed"),
        pytest.param([worker("a", 0), worker("b", 1), job(completions=2)], ["a"], [], id="none is left"),
        pytest.param([worker("a", 0), worker("b", 1), job(parallelism=1)], ["a"], [], id="enough run"),
        pytest.param([worker("a", 0), worker("b", 1), job(parallelism=4)], ["a"], [2, 3, 4], id="more may run"),
        pytest.param(
            [worker("a", 0), worker("b", 1), worker("done", 2, phase="Succeeded"), job()],
            ["a"],
            [2],
            id="one that has ended does not run",
        ),
    ],
)
def test_job_runs_further_indexes_in_the_place_of_those_that_fail(
    objects: list[Object], evicted: list[str], indexes: list[int]
) -> None:
    failed = {"a": 0, "b": 1}
    found = created(*objects, evicted=dict.fromkeys(evicted, True), failed=[failed[name] for name in evicted])

    assert [pod.labels[_INDEX] for pod in found.others] == [str(index) for index in indexes]
    assert all(pod.annotations[_FAILURES] == "0" for pod in found.others)
    assert not found.held_back


def test_pods_of_other_owners_come_one_for_one() -> None:
    web, bare = pod_object("web"), pod_object("bare", owners=[])

    found = created(web, bare, workload_object("ReplicaSet/web"), evicted={"web": False, "bare": True})

    assert shown(found) == ([], [])
