"""Pods that somebody else deletes during a run are not reported as evicted, and jobs that are changed are undone."""

from __future__ import annotations

import json

import pytest

from descheduler.cycle.options import RunResult
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.faults.faults import Act, Fault
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay
from tests.migration.roads.unclear_writes import left_over
from tests.migration.roads.whole_runs import WAYS, Way, live_run, policy_of, world

JOBS = "podmigrationjobs.scheduling.koordinator.sh"
BY_JOB = pytest.mark.parametrize("name", WAYS)


def delete_pods(cluster: LivingCluster) -> None:
    """Whoever deletes the pods of the plan right before their evictions."""
    for found in cluster.pods(node="n1"):
        path = f"/api/v1/namespaces/shop/pods/{found['metadata']['name']}"
        cluster.client(agent="admin").send("DELETE", path, body=b'{"gracePeriodSeconds": 0}')


def run_while_pods_go(name: str, *, fault: Fault | None = None) -> tuple[LivingCluster, RunResult]:
    """A run whose pods are gone when its evictions come; the first eviction meets `fault`."""
    cluster = world(WAYS[name])
    way = FaultyWay(cluster.api, lambda call: fault if call.request.path.endswith("/eviction") else None)
    way.before("POST", "/eviction", lambda: delete_pods(cluster))
    return cluster, live_run(cluster, policy_of(WAYS[name]), way)


@BY_JOB
def test_pod_that_somebody_else_deletes_is_not_reported_as_evicted(name: str) -> None:
    cluster, result = run_while_pods_go(name)

    accepted = [call for call in cluster.api.sent("POST", "/eviction") if call.code == 201]
    counted = [outcome for outcome in result.outcomes if outcome.kind.uses_limits]
    assert len(counted) == len(accepted) == 0
    assert OutcomeKind.GONE in {outcome.kind for outcome in result.outcomes}
    assert left_over(cluster) == []


@pytest.mark.parametrize("name", [*WAYS, "without jobs"])
def test_pod_that_another_one_of_its_name_has_replaced_is_gone(name: str) -> None:
    """The API server answers 409: the UID is another one."""
    way = {**WAYS, "without jobs": Way("none", has_koordinator=False)}[name]
    cluster = world(way)
    passage = FaultyWay(cluster.api)

    def replace_pod() -> None:
        delete_pods(cluster)
        cluster.clock.sleep(5)

    for nth in (1, 2, 3):
        passage.before("POST", "/db-0/eviction", replace_pod, nth=nth)
    result = live_run(cluster, policy_of(way), passage)

    assert [call.code for call in cluster.api.sent("POST", "/db-0/eviction")] == [409]
    assert {o.code for o in result.outcomes if o.eviction.name == "db-0"} == {OutcomeCode.POD_GONE}
    assert left_over(cluster) == []


@BY_JOB
def test_pod_that_is_gone_after_an_unclear_answer_counts_as_evicted(name: str) -> None:
    cluster, result = run_while_pods_go(name, fault=Fault(Act.NEVER, 504))

    asked = {call.request.path for call in cluster.api.sent("POST", "/eviction")}
    counted = {outcome.eviction.name for outcome in result.outcomes if outcome.kind.uses_limits}
    assert {path.split("/")[-2] for path in asked} >= counted != set()


@pytest.mark.parametrize(("name", "nth"), [("reservations", 2), ("reservations", 3), ("directly", 1)])
def test_job_whose_pod_reference_is_changed_is_undone_at_the_end_of_the_run(name: str, nth: int) -> None:
    cluster = world(WAYS[name])
    way = FaultyWay(cluster.api)

    def change() -> None:
        other = next(found for found in cluster.pods() if found["spec"].get("nodeName") == "n3")["metadata"]
        patch = json.dumps({"spec": {"podRef": {"name": other["name"], "uid": other["uid"]}}}).encode()
        for job in cluster.all(JOBS):
            path = f"/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs/{job['metadata']['name']}"
            cluster.client(agent="admin").send("PATCH", path, body=patch, content_type="application/merge-patch+json")

    way.before("PATCH", "/status", change, nth=nth)
    result = live_run(cluster, policy_of(WAYS[name]), way)

    evicted = {call.request.path.split("/")[-2] for call in cluster.api.sent("POST", "/eviction")}
    assert evicted <= {outcome.eviction.name for outcome in result.outcomes}
    assert OutcomeCode.JOB_WAITS in {outcome.code for outcome in result.outcomes}
    assert left_over(cluster) == []
