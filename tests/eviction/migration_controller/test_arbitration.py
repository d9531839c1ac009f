"""Arbitration of PodMigrationJobs: one decision a job, within the limits of MigrationController."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.arbitration import JobDecision, JobOutcome, arbitrate
from descheduler.model.koordinator.migration_job import JobPhase, JobReason, JobStatus, MigrationJob
from descheduler.model.verdict import Reason
from tests.builders import NOW
from tests.eviction.migration_controller.koordinator_clusters import (
    make_args,
    make_cluster,
    make_job,
    make_koord_pod,
    make_workload,
)
from tests.eviction.migration_controller.random_arbitration import faults_of, make_world

EVICT = {"descheduler.alpha.kubernetes.io/evict": ""}
PASSED = {"descheduler.koordinator.sh/passed-arbitration": "true"}
FIVE_MINUTES = timedelta(minutes=5)
PAUSED: Sequence[tuple[str, tuple[str, ...]]] = (("paused", ("ReplicaSet/web",)), ("bare", ()), ("gone", ()))
NO_LIMITERS = {"workload": {"duration": timedelta(0)}}
FAILED = JobPhase.FAILED
STARTED, HELD, WAITING = JobOutcome.STARTED, JobOutcome.HELD, JobOutcome.WAITING


def decide(handle: Handle, **args: Any) -> tuple[JobDecision, ...]:
    """What becomes of the jobs of the cluster at NOW."""
    return arbitrate(handle.view.snapshot.migration_jobs, handle.view, make_args(**args), now=NOW)


def outcomes(handle: Handle, **args: Any) -> dict[str, JobOutcome]:
    """Name of the job → its outcome."""
    return {decision.job.name: decision.outcome for decision in decide(handle, **args)}


def make_waiting(*names: str, node: str = "a", first_age: float = 60, **facts: Any) -> tuple[list[Any], list[Any]]:
    """Pods of `web`, and a waiting job for each, named as the pod, whose first is the newest."""
    pods = [make_koord_pod(name, node=node, **facts) for name in names]
    jobs = [make_job(pod, phase="", name=pod.name, age=first_age + number) for number, pod in enumerate(pods)]
    return pods, jobs


def test_job_of_an_ordinary_replica_is_started() -> None:
    pod = make_koord_pod("p")
    job = make_job(pod, phase="")

    decisions = decide(make_cluster([pod], jobs=[job]))

    assert decisions == (JobDecision(job, STARTED, pod, status=JobStatus(JobPhase.RUNNING, "ReservationCreated")),)
    assert decisions[0].has_passed


@pytest.mark.parametrize(
    ("mode", "default", "condition"),
    [
        pytest.param("", "ReservationFirst", "ReservationCreated", id="the controller's mode counts for an empty one"),
        pytest.param("EvictDirectly", "ReservationFirst", "Eviction", id="the job's own mode comes first"),
        pytest.param("ReservationFirst", "EvictDirectly", "ReservationCreated", id="either way"),
    ],
)
def test_mode_says_what_the_first_step_is(mode: str, default: str, condition: str) -> None:
    pod = make_koord_pod("p")

    (decision,) = decide(make_cluster([pod], jobs=[make_job(pod, phase="", mode=mode)]), defaultJobMode=default)

    assert decision.status is not None
    assert decision.status.condition == condition


def test_job_of_a_pod_that_may_not_move_fails() -> None:
    pod = make_koord_pod("p", owners=())

    (decision,) = decide(make_cluster([pod], jobs=[make_job(pod, phase="Pending")]))

    assert (decision.outcome, decision.verdict.reason) == (JobOutcome.REFUSED, Reason.BARE_POD)
    assert decision.status == JobStatus(FAILED, reason=JobReason.FORBIDDEN)
    assert not decision.has_passed


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        pytest.param(("default", "gone", ""), JobReason.MISSING_POD, id="a pod that is not there"),
        pytest.param(("other", "p", ""), JobReason.MISSING_POD, id="a pod of that name elsewhere"),
        pytest.param(("default", "p", "its predecessor's"), JobReason.MISSING_POD, id="another pod of that name"),
        pytest.param(("default", "", ""), JobReason.INVALID_POD, id="no name at all"),
    ],
)
def test_job_without_its_pod_fails(reference: tuple[str, str, str], reason: JobReason) -> None:
    job = MigrationJob("j", "", *reference)

    (decision,) = decide(make_cluster([make_koord_pod("p")], jobs=[job]))

    assert (decision.outcome, decision.status) == (JobOutcome.MISSING, JobStatus(FAILED, reason=reason))
    assert decision.has_passed


def test_job_without_its_pod_takes_no_place() -> None:
    pods, jobs = make_waiting("p")
    gone = make_job(make_koord_pod("gone"), phase="", name="gone")

    decided = outcomes(make_cluster(pods, jobs=[*jobs, gone]), maxMigratingGlobally=1)

    assert decided == {"p": STARTED, "gone": JobOutcome.MISSING}


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({"maxMigratingPerNode": 1}, 1, id="of a node"),
        pytest.param({"maxMigratingPerNamespace": 1}, 1, id="of a namespace"),
        pytest.param({"maxMigratingGlobally": 2}, 2, id="of the cluster"),
        pytest.param({"maxMigratingPerWorkload": 1}, 1, id="of a workload"),
        pytest.param({"maxUnavailablePerWorkload": 1}, 1, id="of a workload that may be unavailable"),
        pytest.param({"maxMigratingPerNode": 0, "maxMigratingPerWorkload": 2}, 2, id="of which there may be several"),
    ],
)
def test_jobs_wait_at_the_limit(args: dict[str, Any], expected: int) -> None:
    pods, jobs = make_waiting("p", "q", "r")

    decisions = decide(make_cluster(pods, [make_workload(6)], jobs), objectLimiters=NO_LIMITERS, **args)

    assert [decision.outcome for decision in decisions] == [STARTED] * expected + [WAITING] * (3 - expected)
    assert all(decision.status is None for decision in decisions[expected:])


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param({"phase": "Running"}, WAITING, id="a running job counts"),
        pytest.param({"phase": "Pending", "annotations": PASSED}, WAITING, id="so does one that was let go before"),
        pytest.param({"phase": "Succeeded"}, STARTED, id="one that is done does not"),
        pytest.param({"phase": "Failed"}, STARTED, id="nor one that failed"),
    ],
)
def test_jobs_under_way_take_places_and_are_not_decided_again(other: dict[str, Any], expected: JobOutcome) -> None:
    pods, jobs = make_waiting("p")
    moving = make_koord_pod("m", owners=["StatefulSet/db"])

    decided = outcomes(make_cluster([*pods, moving], jobs=[*jobs, make_job(moving, **other)]), maxMigratingPerNode=1)

    assert decided == {"p": expected}


def test_section_2_6_crowd_of_waiting_jobs_does_not_block_itself() -> None:
    """Koordinator issue 1150: jobs that wait for the place of each other would wait for ever."""
    pods, jobs = make_waiting("p", "q", "r")

    assert list(outcomes(make_cluster(pods, jobs=jobs), maxMigratingPerNode=1).values()).count(STARTED) == 1


def test_what_the_run_itself_evicts_takes_places() -> None:
    pods, jobs = make_waiting("p")
    mine = make_koord_pod("m", owners=["StatefulSet/db"])
    handle = make_cluster([*pods, mine], jobs=jobs)
    handle.view.book_eviction(mine)

    assert outcomes(handle, maxMigratingPerNode=1) == {"p": WAITING}


def test_evict_annotation_of_the_pod_bypasses_limits_and_counts_against_them() -> None:
    pods, jobs = make_waiting("p")
    urgent, urgent_jobs = make_waiting("u", owners=(), annotations=EVICT, first_age=30)

    decided = outcomes(make_cluster([*pods, *urgent], jobs=[*jobs, *urgent_jobs]), maxMigratingPerNode=1)

    assert decided == {"u": STARTED, "p": WAITING}


def test_two_jobs_for_one_pod_are_one_move() -> None:
    pod = make_koord_pod("p")
    jobs = [make_job(pod, phase="", name=name) for name in ("first", "second")]

    decided = outcomes(make_cluster([pod], jobs=jobs), maxMigratingGlobally=1, objectLimiters=NO_LIMITERS)

    assert decided == {"first": STARTED, "second": STARTED}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({}, HELD, id="by default one of a workload"),
        pytest.param({"annotations": EVICT}, STARTED, id="whose limit the annotation of the job bypasses"),
    ],
)
def test_job_that_object_limiters_hold_runs_and_does_nothing(facts: dict[str, Any], expected: JobOutcome) -> None:
    pods = [make_koord_pod(name) for name in "pq"]
    jobs = [make_job(pods[0], phase="", age=60), make_job(pods[1], phase="", age=90, **facts)]

    decisions = decide(make_cluster(pods, jobs=jobs))

    assert [decision.outcome for decision in decisions] == [STARTED, expected]
    assert decisions[1].has_passed
    if expected is HELD:
        assert decisions[1].verdict.reason is Reason.MIGRATING_LIMIT
        assert decisions[1].status == JobStatus(JobPhase.RUNNING)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({"ttl": FIVE_MINUTES, "age": 300}, JobOutcome.TIMED_OUT, id="its time is over"),
        pytest.param({"ttl": FIVE_MINUTES, "age": 299}, STARTED, id="its time is not over"),
        pytest.param({"ttl": timedelta(0), "age": 300}, STARTED, id="0 is no time limit"),
        pytest.param({"ttl": -FIVE_MINUTES, "age": 300}, STARTED, id="nor is anything below"),
        pytest.param({"age": 300}, STARTED, id="it has no time limit"),
        pytest.param({"ttl": FIVE_MINUTES, "age": 300, "is_paused": True}, HELD, id="it is paused"),
    ],
)
def test_section_2_19_time_limit_holds_while_a_job_waits(facts: dict[str, Any], expected: JobOutcome) -> None:
    pod = make_koord_pod("p")

    (decision,) = decide(make_cluster([pod], jobs=[make_job(pod, phase="", **facts)]))

    assert decision.outcome is expected
    if expected is JobOutcome.TIMED_OUT:
        assert decision.status == JobStatus(FAILED, reason=JobReason.TIMEOUT)


def test_paused_job_is_arbitrated_and_goes_no_further() -> None:
    pods, jobs = make_waiting("p")
    paused, bare, gone = (make_koord_pod(name, owners=owners) for name, owners in PAUSED)
    facts: dict[str, Any] = {"phase": "", "is_paused": True, "age": 10}
    all_jobs = [*jobs, *(make_job(pod, name=pod.name, **facts) for pod in (paused, bare, gone))]

    decisions = decide(make_cluster([*pods, paused, bare], jobs=all_jobs), maxMigratingPerNode=1)

    by_name = {decision.job.name: (decision.outcome, decision.status) for decision in decisions}
    assert by_name == {
        "paused": (HELD, None),
        "p": (WAITING, None),
        "bare": (JobOutcome.REFUSED, JobStatus(FAILED, reason=JobReason.FORBIDDEN)),
        "gone": (WAITING, None),
    }


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({}, JobOutcome.REFUSED, id="which fails the job"),
        pytest.param({"skipCheckExpectedReplicas": True}, JobOutcome.REFUSED, id="with the check skipped, too"),
        pytest.param({"skipEvictionGates": ["ExpectedReplicas"]}, WAITING, id="without its gate the job waits"),
    ],
)
def test_section_2_16_replicas_of_a_batch_job_cannot_be_looked_up(args: dict[str, Any], expected: JobOutcome) -> None:
    pods, jobs = make_waiting("p", owners=["Job/etl"])

    assert outcomes(make_cluster(pods, jobs=jobs), **args) == {"p": expected}


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({}, JobOutcome.REFUSED, id="it wants 0 replicas"),
        pytest.param({"skipCheckExpectedReplicas": True}, WAITING, id="none of which may be away"),
    ],
)
def test_section_2_7_owner_that_is_gone_wants_no_replicas(args: dict[str, Any], expected: JobOutcome) -> None:
    pods, jobs = make_waiting("p", owners=["ReplicaSet/gone"])

    assert outcomes(make_cluster(pods, jobs=jobs), **args) == {"p": expected}


@pytest.mark.parametrize(
    ("replicas", "at_once", "is_refused"),
    [
        pytest.param(0, 0, True, id="0 of an unknown workload, refused"),
        pytest.param(1, 1, True, id="1, refused"),
        pytest.param(2, 1, False, id="2"),
        pytest.param(3, 1, False, id="3"),
        pytest.param(4, 2, False, id="4"),
        pytest.param(10, 2, False, id="10"),
        pytest.param(11, 1, False, id="11, fewer than at 10"),
        pytest.param(19, 1, False, id="19"),
        pytest.param(20, 2, False, id="20"),
    ],
)
def test_section_2_7_table_of_default_limits(replicas: int, at_once: int, is_refused: bool) -> None:
    pods, jobs = make_waiting(*(f"p{number:02}" for number in range(max(replicas, 1))))
    args = {"maxMigratingPerNode": 0, "objectLimiters": NO_LIMITERS}

    decided = list(outcomes(make_cluster(pods, [make_workload(replicas)], jobs), **args).values())

    assert decided.count(JobOutcome.REFUSED) == (len(jobs) if is_refused else 0)
    assert decided.count(STARTED) == (0 if is_refused else at_once)


def test_section_2_18_worked_timeline_passes_arbitration() -> None:
    """A Deployment with 6 replicas, defaults: 6 is not 2, nobody is unavailable, the node has no other job."""
    pods = [make_koord_pod(f"cart-{number}", node="ab"[number % 2], owners=["ReplicaSet/cart"]) for number in range(6)]
    workloads = [
        make_workload(6, name="cart", deployment="cart"),
        make_workload(6, kind="Deployment", name="cart"),
    ]
    job = make_job(pods[0], phase="", age=0.5, ttl=FIVE_MINUTES)

    (decision,) = decide(make_cluster(pods, workloads, [job]))

    assert decision.outcome is STARTED
    assert decision.status == JobStatus(JobPhase.RUNNING, "ReservationCreated")


@pytest.mark.parametrize("seed", range(60))
def test_no_arbitration_of_a_random_world_goes_beyond_a_limit(seed: int) -> None:
    assert sorted(set(faults_of(make_world(seed)))) == []
