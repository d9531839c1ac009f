"""No run waits without end for a job that a user has paused, or that waits for something which does not come."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.roads.job_task import JobTask
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.replacements.replacement import ReplacementMaker
from descheduler.plan.outcome import OutcomeCode
from tests.living.builders import deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.migration.roads.playing import Play
from tests.migration.roads.test_care import snapshot_of
from tests.migration.roads.test_jobs import left_over
from tests.migration.roads.test_users_limits import user_job
from tests.migration.roads.whole_runs import WAYS, live_run, policy_of

JOBS = "podmigrationjobs.scheduling.koordinator.sh"
KOORD = WAYS["reservations"]
FAR = {"mode": "ReservationFirst", "ttl": "1000h", "reservationOptions": {"reservationRef": {"name": "not-there"}}}


def asked(spec: dict[str, Any], status: dict[str, Any] | None = None) -> LivingCluster:
    """A user has asked for a pod of `asked`, and a pod of `tainted` is to be moved."""
    facts: dict[str, Any] = {"cpu": "100m", "grace_seconds": 1, "scheduler": KOORD.scheduler}
    workloads = [
        deployment("asked", 3, on=["n2"] * 3, **facts),
        deployment("tainted", 3, on=["n1", "n2", "n2"], **facts),
    ]
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    cluster = living_cluster(nodes, workloads)
    job = user_job("job", cluster.pods("asked")[0])
    cluster.add(job | {"spec": job["spec"] | spec} | ({"status": status} if status else {}))
    return cluster


def phase(cluster: LivingCluster) -> str:
    job = cluster.get(JOBS, "job")
    assert job is not None
    return str(job["status"]["phase"])


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        pytest.param({"paused": True}, {"phase": "Running"}, id="paused since it was begun"),
        pytest.param(FAR, None, id="whose Reservation does not exist"),
        pytest.param(FAR, {"phase": "Running"}, id="of an earlier run, whose Reservation does not exist"),
    ],
)
def test_run_decides_although_a_users_job_waits(spec: dict[str, Any], status: dict[str, Any] | None) -> None:
    cluster = asked(spec, status)
    begun_at = cluster.clock.monotonic()

    result = live_run(cluster, policy_of(KOORD), deadline_seconds=None)

    assert [outcome.code for outcome in result.outcomes] == [OutcomeCode.DONE]
    assert cluster.clock.monotonic() - begun_at < 300
    assert phase(cluster) == "Running"


def test_report_says_that_it_waits() -> None:
    cluster = asked(FAR)

    result = live_run(cluster, policy_of(KOORD), deadline_seconds=None)

    name = cluster.pods("asked")[0]["metadata"]["name"]
    text = f"PodMigrationJob of a user: pod shop/{name} not evicted: its job has not changed for 120 s"
    assert text in result.decisions.notes


def test_job_that_is_paused_under_way_is_left_and_undone_by_the_next_run() -> None:
    cluster = living_cluster(4, [deployment("web", 2, on=["n1", "n2"], scheduler="koord-scheduler")])
    cluster.pause_scheduling()
    cluster.clock.after(5, lambda: pause(cluster))

    (outcome,) = Play(cluster).evict(cluster.pods("web")[0])

    assert outcome.code is OutcomeCode.JOB_WAITS
    assert Play(cluster).take_up().undone
    assert not left_over(cluster)


def pause(cluster: LivingCluster) -> None:
    (job,) = cluster.all(JOBS)
    cluster.store.edit(JOBS, job["metadata"]["name"], "", lambda found: found["spec"].update(paused=True))


def without_room(cluster: LivingCluster) -> tuple[Play, list[JobTask]]:
    """Jobs that hold no room: of two pods of a in the first wave, and of one of b in the second."""
    play = Play(cluster, provider="none", mode="EvictDirectly")
    first, second, later = *(play.task(pod) for pod in cluster.pods("a")), play.task(cluster.pods("b")[0])
    later.eviction = replace(later.eviction, wave=2)
    return play, [first, second, later]


def two_workloads() -> LivingCluster:
    workloads = [deployment("a", 2, on=["n1"] * 2), deployment("b", 1, on=["n1"])]
    return living_cluster([node("n1", taints=["gone=soon:NoSchedule"]), node("n2")], workloads)


def test_jobs_do_not_begin_after_a_replacement_that_gets_no_node() -> None:
    cluster = two_workloads()
    cluster.pause_scheduling()
    play, tasks = without_room(cluster)

    outcomes = play.run(tasks)

    pending = OutcomeCode.REPLACEMENT_PENDING
    assert [outcome.code for outcome in outcomes] == [OutcomeCode.NOT_REPLACED, pending, pending]
    name = tasks[0].eviction.name
    assert outcomes[2].message == f"the replacement of pod shop/{name} was not scheduled within 120 s"


def test_a_job_does_not_wait_for_a_replacement_that_is_known_not_to_come() -> None:
    cluster = two_workloads()
    snapshot = snapshot_of(cluster)
    cluster.pause_scheduling()
    play, (task, _, later) = without_room(cluster)
    victim = next(pod for pod in snapshot.pods if pod.uid == task.eviction.uid)
    lost = replace(ReplacementMaker(snapshot).replacement_of(victim), pod=None)
    none = LandingVerdict.NO
    task.eviction = replace(task.eviction, landing=Landing(victim, lost, none, none))
    began = cluster.clock.monotonic()

    outcomes = play.run([task, later])

    assert [outcome.code for outcome in outcomes] == [OutcomeCode.DONE, OutcomeCode.NOT_REPLACED]
    at = [call.at for call in cluster.api.sent("POST", "/eviction")]
    assert at[1] - began < 60
