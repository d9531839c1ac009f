"""PodMigrationJobs of users in every phase, whoever has written that: nothing is evicted for them unjudged."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from descheduler.eviction.checks.scope import Scope
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.report.outcome.status_document import StatusDocument
from tests.faults.faults import Act, Fault
from tests.living.acting.workloads import reference_to
from tests.living.api.server import Call
from tests.living.builders import budget, deployment, living_cluster, node, pod, priority_class
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay
from tests.migration.roads.test_users_limits import evicted, user_job, with_limits
from tests.migration.roads.users_jobs import JOBS, Object, codes, crowd, job_for, status_of
from tests.migration.roads.whole_runs import WAYS, live_run, policy_of, watch_of

DIRECTLY = WAYS["directly"]
PHASES = ["", "Pending", "Running"]


def daemon_pod(name: str, on: str) -> Object:
    daemons = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "uid": "daemons"}}
    made = pod(name, on=on)
    made["metadata"]["ownerReferences"] = [reference_to(daemons)]
    return made


CRITICAL = priority_class("system-cluster-critical", 2_000_000_000)
PROTECTED = {
    "system-critical": ([*deployment("dns", 3, on=["n1"] * 3, priorityClassName="system-cluster-critical")], "dns"),
    "of a DaemonSet": ([daemon_pod("agent", "n1")], "agent"),
    "bare": ([pod("etcd", on="n1")], "etcd"),
}
CODES = {"system-critical": "SystemCritical", "of a DaemonSet": "DaemonSet", "bare": "BarePod"}


def protected(kind: str, phase: str) -> LivingCluster:
    """A user's job in this phase for a pod of this kind."""
    objects, app = PROTECTED[kind]
    cluster = living_cluster(3, [objects], [CRITICAL])
    cluster.add(job_for(cluster.pods(app)[0], phase))
    return cluster


def uids(cluster: LivingCluster) -> set[str]:
    return {each["metadata"]["uid"] for each in cluster.pods()}


@pytest.mark.parametrize("kind", PROTECTED)
@pytest.mark.parametrize("phase", PHASES)
def test_protected_pod_stays_whatever_phase_the_job_has(kind: str, phase: str) -> None:
    cluster = protected(kind, phase)
    before = uids(cluster)

    result = live_run(cluster, policy_of(DIRECTLY))

    assert uids(cluster) == before
    assert (status_of(cluster)["phase"], status_of(cluster)["reason"]) == ("Failed", "ForbiddenMigratePod")
    (outcome,) = result.all_outcomes
    assert (outcome.kind, outcome.code) == (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.PROTECTED)
    assert (outcome.check, outcome.message) == (CODES[kind], status_of(cluster)["message"])


@pytest.mark.parametrize("phase", PHASES)
def test_pod_under_a_budget_of_zero_stays(phase: str) -> None:
    cluster = living_cluster(3, [deployment("web", 3, on=["n1"] * 3)], [budget("web", maxUnavailable=0)])
    before = uids(cluster)
    cluster.add(job_for(cluster.pods("web")[0], phase))

    result = live_run(cluster, policy_of(DIRECTLY))

    assert uids(cluster) == before
    assert codes(result) == [OutcomeCode.BUDGET]


@pytest.mark.long
@pytest.mark.parametrize("phase", PHASES)
def test_jobs_that_run_are_under_the_limits_of_the_run(phase: str) -> None:
    cluster = crowd(20, phase)

    first = live_run(cluster, with_limits("maxNoOfPodsToEvictTotal: 10\n"))

    assert len(evicted(cluster)) == 10
    assert Counter(codes(first)) == {OutcomeCode.DONE: 10, OutcomeCode.LIMIT: 10}
    assert Counter(job["status"]["phase"] for job in cluster.all(JOBS)) == {"Succeeded": 10, phase: 10}
    live_run(cluster, with_limits("maxNoOfPodsToEvictTotal: 10\n"))
    assert len(evicted(cluster)) == 20


@pytest.mark.parametrize(
    "limits", ["maxNoOfPodsToEvictPerNode: 2\n", "maxNoOfPodsToEvictPerNamespace: 2\n", "maxNoOfPodsToEvictTotal: 7%\n"]
)
def test_limits_of_node_and_namespace_and_shares_hold_too(limits: str) -> None:
    cluster = crowd(10)

    result = live_run(cluster, with_limits(limits))

    assert len(evicted(cluster)) == 2
    assert Counter(codes(result)) == {OutcomeCode.DONE: 2, OutcomeCode.LIMIT: 8}


def test_jobs_that_run_are_evicted_at_the_pace_of_the_profile() -> None:
    cluster = crowd(3)

    live_run(cluster, with_limits("", evictQPS="0.1", evictBurst="1"), deadline_seconds=None)

    times = [call.at for call in cluster.api.sent("POST", "/eviction")]
    assert len(times) == 3
    assert times[-1] - times[0] >= 19.9


def test_object_limiters_hold_for_jobs_that_run() -> None:
    cluster = living_cluster(3, [deployment("web", 10, on=["n2"] * 10, cpu="10m", grace_seconds=1)])
    for victim in cluster.pods("web")[:3]:
        cluster.add(job_for(victim))

    result = live_run(cluster, with_limits(""))

    assert evicted(cluster) == ["web"]
    assert sorted(codes(result), key=str) == [OutcomeCode.DONE, OutcomeCode.JOB_WAITS, OutcomeCode.JOB_WAITS]


@pytest.mark.parametrize("phase", ["running", "Paused", "Evicting", "Succeeded", "Failed", "Aborted"])
def test_nothing_is_evicted_for_a_job_in_any_other_phase(phase: str) -> None:
    cluster = crowd(1, phase)

    result = live_run(cluster, with_limits(""))

    assert (evicted(cluster), result.all_outcomes) == ([], ())
    assert status_of(cluster)["phase"] == phase


@pytest.mark.parametrize("phase", PHASES)
def test_job_that_arbitration_let_pass_before_is_judged_all_the_same(phase: str) -> None:
    cluster = living_cluster(3, [PROTECTED["bare"][0]])
    job = job_for(cluster.pods("etcd")[0], phase)
    job["metadata"]["annotations"] = {"descheduler.koordinator.sh/passed-arbitration": "true"}
    cluster.add(job)

    result = live_run(cluster, with_limits(""))

    assert cluster.pods("etcd")
    assert codes(result) == [OutcomeCode.PROTECTED]


@pytest.mark.parametrize("phase", PHASES)
def test_job_whose_pod_has_another_uid_evicts_nobody(phase: str) -> None:
    cluster = crowd(0)
    cluster.add(pod("web-0", on="n2"))
    job = job_for(cluster.pods("web-0")[0], phase)
    job["spec"]["podRef"]["uid"] = "that-of-a-pod-that-is-gone"
    cluster.add(job)

    result = live_run(cluster, with_limits("", evictAllBarePods="true"))

    assert cluster.pods("web-0")
    assert codes(result) == ([] if phase == "Running" else [OutcomeCode.POD_GONE])
    assert (status_of(cluster)["phase"], status_of(cluster)["reason"]) == ("Failed", "MissingPod")


@pytest.mark.parametrize("phase", PHASES)
def test_pod_that_has_got_the_name_since_the_job_was_judged_is_not_evicted(phase: str) -> None:
    cluster = crowd(0)
    cluster.add(pod("web-0", on="n2"))
    job = user_job("job", cluster.pods("web-0")[0]) | {"status": {"phase": phase}}
    cluster.add(job)
    way = FaultyWay(cluster.api)
    way.before("GET", "/podmigrationjobs/job", lambda: swap(cluster))

    live_run(cluster, with_limits("", evictAllBarePods="true"), way)

    (found,) = cluster.pods("web-0")
    assert "deletionTimestamp" not in found["metadata"]
    assert evicted(cluster) == []


def swap(cluster: LivingCluster) -> None:
    """Another pod gets the name of the first, once."""
    if cluster.get("configmaps", "swapped", "shop") is None:
        cluster.client(agent="admin").send(
            "DELETE", "/api/v1/namespaces/shop/pods/web-0", query={"gracePeriodSeconds": "0"}
        )
        cluster.add(pod("web-0", on="n3"))
        cluster.add({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "swapped", "namespace": "shop"}})


@pytest.mark.parametrize(
    ("method", "path", "nth"),
    [
        pytest.param("GET", "/podmigrationjobs/job", 1, id="before the job is read"),
        pytest.param("PATCH", "/podmigrationjobs/job/status", 1, id="before its phase is written"),
        pytest.param("GET", "/pods/web-0", 2, id="before its pod is read"),
    ],
)
@pytest.mark.parametrize("phase", PHASES)
def test_job_that_names_another_pod_since_it_was_judged_evicts_nobody(
    phase: str, method: str, path: str, nth: int
) -> None:
    cluster = crowd(0)
    cluster.add(pod("web-0", on="n2"))
    cluster.add(pod("web-1", on="n2"))
    first, second = cluster.pods("web-0")[0], cluster.pods("web-1")[0]
    cluster.add(job_for(first, phase, name="job"))
    way = FaultyWay(cluster.api)
    reference = {"namespace": "shop", "name": "web-1", "uid": second["metadata"]["uid"]}

    def point_elsewhere() -> None:
        with cluster.store.acting("user"):
            cluster.store.edit(JOBS, "job", "", lambda job: job["spec"].update(podRef=reference))

    way.before(method, path, point_elsewhere, nth=nth)

    live_run(cluster, with_limits("", evictAllBarePods="true"), way)

    assert uids(cluster) >= {second["metadata"]["uid"]}


@pytest.mark.parametrize("phase", PHASES)
def test_several_jobs_for_one_pod_count_once(phase: str) -> None:
    cluster = living_cluster(3, [deployment("web", 3, on=["n2"] * 3), deployment("api", 3, on=["n2"] * 3)])
    for number in range(3):
        cluster.add(job_for(cluster.pods("web")[0], phase, name=f"job-{number}"))
    cluster.add(job_for(cluster.pods("api")[0], phase, name="job-other"))
    policy = with_limits("maxNoOfPodsToEvictTotal: 2\n", objectLimiters="{workload: {duration: 0s}}")

    result = live_run(cluster, policy)

    assert sorted(evicted(cluster)) == ["api", "web"]
    assert sum(outcome.kind is OutcomeKind.EVICTED for outcome in result.all_outcomes) == 2


@pytest.mark.parametrize("phase", PHASES)
def test_paused_job_evicts_nothing_and_stays(phase: str) -> None:
    cluster = crowd(0)
    cluster.add(pod("web-0", on="n2"))
    job = job_for(cluster.pods("web-0")[0], phase)
    job["spec"]["paused"] = True
    cluster.add(job)

    result = live_run(cluster, with_limits("", evictAllBarePods="true"))

    assert cluster.pods("web-0")
    assert (status_of(cluster)["phase"], result.all_outcomes) == (phase, ())


@pytest.mark.parametrize("phase", PHASES)
def test_job_past_its_time_limit_evicts_nothing(phase: str) -> None:
    cluster = crowd(1, phase)
    cluster.clock.sleep(3_600.0)

    result = live_run(cluster, with_limits(""))

    assert evicted(cluster) == []
    assert (status_of(cluster)["phase"], status_of(cluster)["reason"]) == ("Failed", "Timeout")
    assert codes(result) == [OutcomeCode.TIMED_OUT]


@pytest.mark.parametrize("phase", PHASES)
def test_job_that_is_being_deleted_evicts_nothing(phase: str) -> None:
    cluster = crowd(1, "Succeeded")
    job = job_for(cluster.pods("app-00")[0], phase, name="going")
    job["metadata"] |= {"deletionTimestamp": "2026-06-01T08:00:00Z", "finalizers": ["example.com/hold"]}
    cluster.add(job)

    result = live_run(cluster, with_limits(""))

    assert (evicted(cluster), result.all_outcomes) == ([], ())


def test_evictions_for_users_are_charged_to_the_plan_of_the_same_run() -> None:
    facts: dict[str, Any] = {"cpu": "100m", "grace_seconds": 1}
    workloads = [deployment(f"tainted-{n}", 3, on=["n1", "n2", "n2"], **facts) for n in range(3)]
    workloads.append(deployment("asked", 3, on=["n2"] * 3, **facts))
    cluster = living_cluster([node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")], workloads)
    cluster.add(job_for(cluster.pods("asked")[0]))

    result = live_run(cluster, with_limits("maxNoOfPodsToEvictTotal: 2\n"))

    assert [name.split("-")[0] for name in evicted(cluster)] == ["asked", "tainted"]
    assert codes(result) == [OutcomeCode.DONE] * 2


@pytest.mark.parametrize("phase", PHASES)
def test_run_that_is_limited_to_a_namespace_leaves_jobs_for_other_pods(phase: str) -> None:
    cluster = living_cluster(
        3, [deployment("web", 3, on=["n2"] * 3), deployment("api", 3, on=["n2"] * 3, namespace="other")]
    )
    for app in ("web", "api"):
        cluster.add(job_for(cluster.pods(app)[0], phase, name=f"job-{app}"))

    result = live_run(cluster, with_limits(""), scope=Scope(frozenset({"other"})))

    assert evicted(cluster) == ["api"]
    assert codes(result) == [OutcomeCode.DONE, OutcomeCode.JOB_WAITS]
    assert result.all_outcomes[1].message == "the run is limited to pods of namespace other"


@pytest.mark.parametrize("phase", PHASES)
def test_run_that_ends_after_the_jobs_of_users_reports_them(phase: str) -> None:
    cluster = crowd(2, phase)
    watch = watch_of(cluster, 600.0)

    def stop_once_they_have_ended(_call: Call) -> None:
        if all(job["status"]["phase"] == "Succeeded" for job in cluster.all(JOBS)):
            watch.stop.set()

    result = live_run(cluster, with_limits(""), FaultyWay(cluster.api, stop_once_they_have_ended), watch=watch)

    assert len(evicted(cluster)) == 2
    assert codes(result) == [OutcomeCode.DONE] * 2
    assert (result.guard, result.decisions.moves) == ("request", ())
    (status,) = [each for each in cluster.all("configmaps") if each["metadata"]["name"].endswith("-status")]
    assert StatusDocument.decoded(status["data"]["status.json"]).runs[0].counts["evicted"] == 2


def test_run_that_cannot_read_the_cluster_again_reports_what_it_did_for_users() -> None:
    cluster = crowd(2)
    lists = Counter[str]()

    def second_list_fails(call: Call) -> Fault | None:
        lists[call.request.path] += call.request.method == "GET"
        is_second = call.request.path == "/api/v1/nodes" and lists[call.request.path] > 1
        return Fault(Act.NEVER, code=403) if is_second else None

    result = live_run(cluster, with_limits(""), FaultyWay(cluster.api, second_list_fails))

    assert codes(result) == [OutcomeCode.DONE] * 2
    assert "nodes" in result.guard
