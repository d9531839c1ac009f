"""Whole runs on a cluster without Koordinator: which of them evict with care."""

from __future__ import annotations

from descheduler.plan.outcome import OutcomeCode
from tests.integration.live_runs import taint_policy
from tests.living.builders import TAINTED, deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.migration.roads.whole_runs import Way, live_run, observed, policy_of

PLAIN = Way("none", has_koordinator=False)


def crowded() -> LivingCluster:
    """Three pods of one Deployment and one of another on a node that nobody may be on any more."""
    workloads = [deployment("web", 3, on=["n1"] * 3, grace_seconds=1), deployment("db", 1, on=["n1"], grace_seconds=1)]
    return living_cluster([TAINTED, node("n2"), node("n3")], workloads, has_koordinator=False)


def free_policy() -> str:
    """A policy by which all pods of a workload may be evicted in one run."""
    limits = {"objectLimiters": "{workload: {duration: 0s}}", "maxMigratingPerNode": "0"}
    return policy_of(PLAIN, **limits, maxMigratingPerWorkload="99%", maxUnavailablePerWorkload="99%")


def seconds_between_evictions(cluster: LivingCluster) -> float:
    """From the first to the last."""
    calls = cluster.api.sent("POST", "/eviction")
    return calls[-1].at - calls[0].at


def test_a_descheduler_configuration_moves_one_pod_of_a_workload_at_a_time() -> None:
    cluster = crowded()
    observer = observed(cluster)

    result = live_run(cluster, free_policy())

    assert {outcome.code for outcome in result.outcomes} == {OutcomeCode.DONE}
    assert len(result.outcomes) >= 3
    assert seconds_between_evictions(cluster) > 2.0
    assert observer.finish() == []


def test_a_descheduler_policy_evicts_at_its_pace_and_looks_at_nothing() -> None:
    cluster = crowded()

    result = live_run(cluster, taint_policy())

    assert [outcome.code for outcome in result.outcomes] == [OutcomeCode.DONE] * 4
    assert seconds_between_evictions(cluster) < 1.0
    first = cluster.api.sent("POST", "/eviction")[0].number
    reads = [call.request.path for call in cluster.api.sent("GET") if call.number > first]
    assert [path for path in reads if "/pods" in path or "/nodes" in path] == []
