"""Live runs of a DeschedulerConfiguration: what MigrationController lets through, and at which pace."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from descheduler.cycle.options import RunOptions
from descheduler.kube.client import KubeClient
from descheduler.plan.outcome import OutcomeCode
from tests.builders import Object, node_object, owner, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.faults import budget_refusal
from tests.integration.live_runs import TAINTED, asked_for, codes, eviction_requests, run, serve
from tests.migration.stand_ins import Clock
from tests.policy.builders import koordinator

JOBS = "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs"


def configuration(args: str = "{}", top: str = "") -> str:
    """A DeschedulerConfiguration that runs RemovePodsViolatingNodeTaints under MigrationController with `args`."""
    return koordinator(
        f"{top}\n"
        "profiles:\n"
        "- name: p\n"
        "  pluginConfig:\n"
        "  - name: RemovePodsViolatingNodeTaints\n"
        f"  - {{name: MigrationController, args: {args}}}\n"
        "  plugins: {deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}}\n"
    )


def two_profiles(args_by_namespace: Mapping[str, str], top: str = "") -> str:
    """A DeschedulerConfiguration with a profile a namespace, each under a MigrationController with its own `args`."""
    profiles = "".join(
        f"- name: {namespace}\n"
        "  pluginConfig:\n"
        "  - name: RemovePodsViolatingNodeTaints\n"
        f"    args: {{namespaces: {{include: [{namespace}]}}}}\n"
        f"  - {{name: MigrationController, args: {args}}}\n"
        "  plugins: {deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}}\n"
        for namespace, args in args_by_namespace.items()
    )
    return koordinator(f"{top}\nprofiles:\n{profiles}")


def misplaced_in(namespace: str, *names: str) -> list[Object]:
    """As `misplaced`, in a namespace."""
    pods = misplaced(*names)
    for item in pods:
        item["metadata"]["namespace"] = namespace
    return pods


def replica_set(name: str, *, replicas: int, deployment: str = "") -> Object:
    """A ReplicaSet, of a Deployment where one is named."""
    owners = [owner(f"Deployment/{deployment}")] if deployment else []
    metadata = {"name": name, "namespace": "default", "uid": f"replicaset-{name}", "ownerReferences": owners}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": {"replicas": replicas}}


def deployment(name: str, *, replicas: int) -> Object:
    """A Deployment."""
    metadata = {"name": name, "namespace": "default", "uid": f"deployment-{name}"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"replicas": replicas}}


def migration_job(pod: str, phase: str) -> Object:
    """A PodMigrationJob that moves a pod of namespace default."""
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": {"name": f"move-{pod}"},
        "spec": {"podRef": {"namespace": "default", "name": pod, "uid": f"default-{pod}"}},
        "status": {"phase": phase},
    }


def misplaced(*names: str, node: str = "tainted") -> list[Object]:
    """Pods that the taint of their node should drive away, each of a ReplicaSet of 40 that has its name."""
    pods = [pod_of(name, f"ReplicaSet/{name}", node=node) for name in names]
    return [*pods, *(replica_set(name, replicas=40) for name in names)]


def pod_of(name: str, workload: str, *, node: str = "tainted") -> Object:
    """A pod that Koordinator's scheduler has placed."""
    return pod_object(name, node=node, owners=[workload], scheduler="koord-scheduler")


def test_two_pods_of_a_node_move_at_a_time_by_default(fake_api: FakeApi, client: KubeClient) -> None:
    other = node_object("tainted-too", taints=["gone=soon:NoSchedule"])
    pods = [*misplaced("p1", "p2", "p3"), *misplaced("q1", node="tainted-too")]
    serve(fake_api, TAINTED, other, node_object("free"), *pods)

    run(client, configuration())

    assert asked_for(fake_api) == ["p1", "p2", "q1"]


def test_replicas_are_those_of_the_deployment_behind_the_replica_set(fake_api: FakeApi, client: KubeClient) -> None:
    """Of 3 replicas one may be away; the ReplicaSet's own 40 are those of a rollout that has not settled."""
    workload = [replica_set("web", replicas=40, deployment="shop"), deployment("shop", replicas=3)]
    pods = [pod_of(name, "ReplicaSet/web") for name in ("p1", "p2")]
    serve(fake_api, TAINTED, node_object("free"), *workload, *pods)

    run(client, configuration("{objectLimiters: {workload: {duration: 0s}}}"))

    assert asked_for(fake_api) == ["p1"]


@pytest.mark.parametrize(
    ("phase", "moved"),
    [
        pytest.param("Running", ["p2"], id="a job that runs holds its pod, and counts on its node"),
        pytest.param("Pending", ["p2"], id="a job that waits does too"),
        pytest.param("Succeeded", ["p1", "p2"], id="a job that is over does not"),
        pytest.param("Failed", ["p1", "p2"], id="a job that failed does not"),
    ],
)
def test_live_migration_jobs_are_respected(fake_api: FakeApi, client: KubeClient, phase: str, moved: list[str]) -> None:
    serve(fake_api, TAINTED, node_object("free"), *misplaced("p1", "p2", "p3"), migration_job("p1", phase))

    run(client, configuration())

    assert asked_for(fake_api) == moved


def test_pods_moved_in_an_earlier_round_count_in_the_next(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("free"), *misplaced("p1", "p2", "p3", "p4"))
    fake_api.on_eviction("p1", budget_refusal("b"), namespace="default")

    result = run(client, configuration())

    assert codes(result) == {"p1": OutcomeCode.BUDGET, "p2": OutcomeCode.DONE, "p3": OutcomeCode.DONE}


def test_eviction_pace_of_the_arguments_is_kept(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("free"), *misplaced("p1", "p2"))
    clock = Clock()

    run(client, configuration("{evictQPS: '0.25', evictBurst: 1}"), options=RunOptions(), clock=clock)

    assert len(eviction_requests(fake_api)) == 2
    assert clock.seconds == pytest.approx(4)


def test_eviction_burst_of_the_arguments_is_kept(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("free"), *misplaced("p1", "p2"))
    clock = Clock()

    run(client, configuration("{evictQPS: 0.25, evictBurst: 2}"), options=RunOptions(), clock=clock)

    assert len(eviction_requests(fake_api)) == 2
    assert clock.seconds == 0


def test_grace_period_of_the_delete_options_is_sent(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("free"), *misplaced("p1"))

    run(client, configuration("{defaultDeleteOptions: {gracePeriodSeconds: 3}}"))

    (request,) = eviction_requests(fake_api)
    assert request.body["deleteOptions"]["gracePeriodSeconds"] == 3


def test_evictions_of_a_dry_profile_are_shown_and_not_made(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("free"), *misplaced_in("shop", "s1"), *misplaced_in("blog", "b1"))

    result = run(client, two_profiles({"shop": "{dryRun: true}", "blog": "{}"}))

    assert asked_for(fake_api) == ["b1"]
    assert codes(result) == {"s1": OutcomeCode.DRY_RUN, "b1": OutcomeCode.DONE}
    assert "profile shop evicts nothing (dryRun: true of MigrationController)" in result.decisions.notes
    assert {booked.pod.name for booked in result.decisions.moves} == {"s1", "b1"}


def test_dry_profiles_come_last_and_take_no_limit_from_the_others(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("free"), *misplaced_in("shop", "s1"), *misplaced_in("blog", "b1"))
    policy = two_profiles({"shop": "{dryRun: true}", "blog": "{}"}, top="maxNoOfPodsToEvictTotal: 1")

    result = run(client, policy)

    assert codes(result) == {"b1": OutcomeCode.DONE}


def test_run_is_dry_where_every_profile_is(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("free"), *misplaced_in("shop", "s1"), *misplaced_in("blog", "b1"))

    result = run(client, two_profiles({"shop": "{dryRun: true}", "blog": "{dryRun: true}"}))

    assert (asked_for(fake_api), result.outcomes) == ([], ())
    assert len(result.decisions.moves) == 2


def test_each_profile_keeps_its_own_grace_period(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("free"), *misplaced_in("shop", "s1"), *misplaced_in("blog", "b1"))

    run(client, two_profiles({"shop": "{defaultDeleteOptions: {gracePeriodSeconds: 3}}", "blog": "{}"}))

    options = {
        request.body["metadata"]["name"]: request.body["deleteOptions"] for request in eviction_requests(fake_api)
    }
    assert options["s1"]["gracePeriodSeconds"] == 3
    assert "gracePeriodSeconds" not in options["b1"]


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        pytest.param(RunOptions(), 4, id="each its own"),
        pytest.param(RunOptions(qps=0.5), 6, id="a rate on the command line is that of the run"),
    ],
)
def test_each_profile_keeps_its_own_pace(
    fake_api: FakeApi, client: KubeClient, options: RunOptions, seconds: int
) -> None:
    serve(fake_api, TAINTED, node_object("free"), *misplaced_in("shop", "s1", "s2"), *misplaced_in("blog", "b1", "b2"))
    clock = Clock()
    fast = "{evictQPS: 1000, evictBurst: 1, maxMigratingPerNode: 0}"
    policy = two_profiles({"shop": "{evictQPS: 0.25, evictBurst: 1, maxMigratingPerNode: 0}", "blog": fast})

    run(client, policy, options=options, clock=clock)

    assert len(eviction_requests(fake_api)) == 4
    assert clock.seconds == pytest.approx(seconds, abs=0.1)


def test_run_says_that_no_room_is_held(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, TAINTED, node_object("free"), *misplaced("p1"))

    result = run(client, configuration())

    assert result.decisions.notes == (
        "profile p evicts without holding room: the cluster has no Reservations; "
        "set reservationProvider to placeholder to hold room in any cluster",
    )
