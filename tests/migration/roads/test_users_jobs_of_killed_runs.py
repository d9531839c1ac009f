"""PodMigrationJobs of users after a run that was killed: their pods are judged again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from descheduler.plan.outcome import OutcomeCode
from tests.living.api.server import Call
from tests.living.builders import deployment, living_cluster
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay, Killed
from tests.migration.roads.test_users_limits import evicted, with_limits
from tests.migration.roads.users_jobs import JOBS, codes, crowd, job_for, status_of
from tests.migration.roads.whole_runs import LEASE_SECONDS, WAYS, live_run, policy_of


def test_job_whose_eviction_has_begun_is_finished_and_not_counted_again() -> None:
    cluster = crowd(2)
    with suppress(Killed):
        live_run(cluster, with_limits(""), killed_once_an_eviction_is_noted(cluster))
    cluster.clock.sleep(LEASE_SECONDS + 20.0)
    assert len(evicted(cluster)) == 1

    result = live_run(cluster, with_limits("maxNoOfPodsToEvictTotal: 1\n"))

    assert len(evicted(cluster)) == 2
    assert {job["status"]["phase"] for job in cluster.all(JOBS)} == {"Succeeded"}
    assert codes(result) == [OutcomeCode.DONE]
    assert "found 1 migration under way; 1 succeeded" in result.decisions.notes


def killed_when(cluster: LivingCluster, is_time: Callable[[Call], bool]) -> FaultyWay:
    """Ends the program at the first call for which `is_time`, before its effect."""
    way = FaultyWay(cluster.api, lambda call: end_at(call))

    def end_at(call: Call) -> None:
        if is_time(call):
            way.is_dead = True
            raise Killed("the test ends the run here")

    return way


def killed_at_the_first_eviction(cluster: LivingCluster) -> FaultyWay:
    return killed_when(cluster, lambda call: call.request.path.endswith("/eviction"))


def killed_once_an_eviction_is_noted(cluster: LivingCluster) -> FaultyWay:
    return killed_when(
        cluster, lambda call: any(job["status"].get("status") == "Eviction" for job in cluster.all(JOBS))
    )


def test_run_that_was_killed_before_the_eviction_leaves_nothing_that_is_not_judged_again() -> None:
    cluster = crowd(4, "")
    with suppress(Killed):
        live_run(cluster, with_limits(""), killed_at_the_first_eviction(cluster))
    assert [job["status"]["phase"] for job in cluster.all(JOBS)] == ["Running"] * 4
    cluster.clock.sleep(LEASE_SECONDS + 20.0)

    result = live_run(cluster, with_limits("maxNoOfPodsToEvictTotal: 1\n"))

    assert len(evicted(cluster)) == 1
    assert Counter(codes(result)) == {OutcomeCode.DONE: 1, OutcomeCode.LIMIT: 3}


def test_run_that_was_killed_and_a_policy_that_protects_the_pods_now() -> None:
    cluster = crowd(2, "")
    with suppress(Killed):
        live_run(cluster, with_limits(""), killed_at_the_first_eviction(cluster))
    cluster.clock.sleep(LEASE_SECONDS + 20.0)

    result = live_run(cluster, with_limits("", namespaces="{exclude: [shop]}"))

    assert evicted(cluster) == []
    assert codes(result) == [OutcomeCode.PROTECTED] * 2
    assert {job["status"]["reason"] for job in cluster.all(JOBS)} == {"ForbiddenMigratePod"}


def test_room_of_a_job_that_runs_and_is_refused_is_given_back() -> None:
    way = WAYS["reservations"]
    cluster = living_cluster(3, [deployment("web", 3, on=["n1"] * 3, scheduler=way.scheduler, grace_seconds=1)])
    job = job_for(cluster.pods("web")[0], "")
    job["spec"]["mode"] = "ReservationFirst"
    cluster.add(job)
    with suppress(Killed):
        live_run(cluster, policy_of(way), killed_at_the_first_eviction(cluster))
    assert len(cluster.all("reservations.scheduling.koordinator.sh")) == 1
    cluster.clock.sleep(LEASE_SECONDS + 20.0)

    live_run(cluster, policy_of(way, namespaces="{exclude: [shop]}"))

    assert status_of(cluster)["reason"] == "ForbiddenMigratePod"
    assert cluster.all("reservations.scheduling.koordinator.sh") == []
