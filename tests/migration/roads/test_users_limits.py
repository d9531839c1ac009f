"""PodMigrationJobs of users count against the limits on evictions and the pace, as evictions of the plan do."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.living.builders import deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.migration.roads.whole_runs import WAYS, live_run, policy_of

DIRECTLY = WAYS["directly"]
Object = dict[str, Any]


def user_job(name: str, pod: Object) -> Object:
    reference = {"namespace": pod["metadata"]["namespace"], "name": pod["metadata"]["name"]}
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": {"name": name},
        "spec": {"podRef": reference, "mode": "EvictDirectly", "ttl": "30m"},
    }


def world(*, asked: int, tainted: int) -> LivingCluster:
    """Deployments of three pods on n2; users ask for a pod of each of `asked`, the plugin for those of `tainted`."""
    facts: dict[str, Any] = {"cpu": "100m", "grace_seconds": 1}
    by_users = [deployment(f"asked-{number}", 3, on=["n2"] * 3, **facts) for number in range(asked)]
    by_plugin = [deployment(f"tainted-{number}", 3, on=["n1", "n2", "n2"], **facts) for number in range(tainted)]
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    cluster = living_cluster(nodes, [*by_users, *by_plugin])
    for number in range(asked):
        cluster.add(user_job(f"job-{number}", cluster.pods(f"asked-{number}")[0]))
    return cluster


def with_limits(limits: str, **args: str) -> str:
    return policy_of(DIRECTLY, maxMigratingPerNode="0", **args) + limits


def evicted(cluster: LivingCluster) -> list[str]:
    """The workloads that lost a pod, in order."""
    calls = [call for call in cluster.api.sent("POST", "/eviction") if call.code == 201]
    return [call.request.path.split("/")[-2].rsplit("-", 2)[0] for call in calls]


def pod_on(cluster: LivingCluster, node_name: str, app: str) -> Object:
    return next(pod for pod in cluster.pods(app) if pod["spec"]["nodeName"] == node_name)


@pytest.mark.parametrize(
    ("limits", "reached"),
    [
        pytest.param("maxNoOfPodsToEvictTotal: 1\n", "maxNoOfPodsToEvictTotal (1) reached", id="in total"),
        pytest.param("maxNoOfPodsToEvictPerNode: 1\n", "maxNoOfPodsToEvictPerNode (1) reached for node n2", id="node"),
        pytest.param(
            "maxNoOfPodsToEvictPerNamespace: 10%\n",
            "maxNoOfPodsToEvictPerNamespace (10%: 1 of 9 pods) reached for namespace shop",
            id="a share of the namespace",
        ),
    ],
)
def test_jobs_above_a_limit_wait_for_the_next_run(limits: str, reached: str) -> None:
    cluster = world(asked=3, tainted=0)

    first = live_run(cluster, with_limits(limits))

    assert len(evicted(cluster)) == 1
    assert f"left 2 PodMigrationJobs of users to the next run: {reached}" in first.decisions.notes
    live_run(cluster, with_limits(limits))
    assert len(evicted(cluster)) == 2


def test_no_job_is_let_go_where_no_eviction_is_allowed() -> None:
    cluster = world(asked=1, tainted=0)

    live_run(cluster, with_limits("maxNoOfPodsToEvictTotal: 0\n"))

    assert cluster.api.sent("POST", "/eviction") == []


def test_jobs_use_up_the_limits_of_the_plan() -> None:
    cluster = world(asked=2, tainted=3)

    live_run(cluster, with_limits("maxNoOfPodsToEvictTotal: 3\n"))

    assert [name.split("-")[0] for name in evicted(cluster)] == ["asked", "asked", "tainted"]


def test_limit_of_the_node_counts_what_users_had_evicted_there() -> None:
    cluster = world(asked=0, tainted=2)
    cluster.add(user_job("job", pod_on(cluster, "n1", "tainted-0")))

    live_run(cluster, with_limits("maxNoOfPodsToEvictPerNode: 1\n"))

    assert evicted(cluster) == ["tainted-0"]


def test_object_limiters_count_what_users_had_evicted_of_a_workload() -> None:
    cluster = world(asked=0, tainted=2)
    cluster.add(user_job("job", pod_on(cluster, "n2", "tainted-0")))

    live_run(cluster, with_limits(""))

    assert evicted(cluster) == ["tainted-0", "tainted-1"]


def test_jobs_and_plan_share_the_pace_of_the_profile() -> None:
    cluster = world(asked=2, tainted=2)

    live_run(cluster, with_limits("", evictQPS="0.1", evictBurst="1"), deadline_seconds=None)

    times = [call.at for call in cluster.api.sent("POST", "/eviction")]
    assert len(times) == 4
    assert min(later - earlier for earlier, later in pairwise(times)) >= 9.9
