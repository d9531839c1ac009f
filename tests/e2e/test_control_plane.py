"""The control plane itself: what later tests take for granted."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.e2e.binaries import Binaries
from tests.e2e.cluster import Cluster
from tests.e2e.cluster_fill import fill, generated
from tests.e2e.control_plane import STORE, running
from tests.e2e.kube_api import ApiError, Object, condition, is_ready, wait_until
from tests.e2e.objects import (
    BEHAVIOUR,
    READY_AFTER,
    STOPS,
    daemon_set,
    deployment,
    disruption_budget,
    job,
    node,
    pod,
    stateful_set,
)
from tests.e2e.pins import CONTROL_PLANE


def test_api_server_has_the_pinned_version(cluster: Cluster) -> None:
    version = cluster.api.request("GET", "/version")

    assert version["gitVersion"] == CONTROL_PLANE.version("k8s.io/kubernetes")


def test_pods_of_a_deployment_are_bound_and_become_ready(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), node("b"))

    pods = cluster.run(deployment("web", cluster.namespace, replicas=4))

    assert {pod["spec"]["nodeName"] for pod in pods} == {"a", "b"}


def test_every_kind_of_workload_runs(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), node("b"))

    cluster.create(stateful_set("store", cluster.namespace, replicas=2))
    cluster.create(daemon_set("agent", cluster.namespace))
    cluster.create(job("batch", cluster.namespace, completions=2, parallelism=2))

    cluster.wait_ready("store", 2)
    cluster.wait_ready("agent", 2)
    wait_until("the job completes", lambda: condition(cluster.api.get(job("batch", cluster.namespace)), "Complete"))


def test_pod_without_room_waits(cluster: Cluster) -> None:
    cluster.add_nodes(node("a", cpu="1"))

    cluster.create(pod("large", cluster.namespace, cpu="2"))

    wait_until("the scheduler says no", lambda: _scheduled(cluster, "large") == "False")


def test_pod_that_is_told_to_fail_fails(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"))

    cluster.create(pod("bad", cluster.namespace, annotations={BEHAVIOUR: "fails"}, restartPolicy="Never"))

    failed = wait_until("the pod fails", lambda: _with_phase(cluster, "bad", "Failed"))
    assert failed["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 1


def test_pod_that_is_told_to_restart_counts_its_restarts(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"))

    cluster.create(pod("flaky", cluster.namespace, annotations={BEHAVIOUR: "restarts"}))

    wait_until("the pod restarts more than once", lambda: _restarts(cluster, "flaky") > 1)


def test_pod_becomes_ready_as_late_as_it_is_told(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"))

    cluster.create(pod("slow", cluster.namespace, annotations={READY_AFTER: "2s"}))

    running = wait_until("the pod runs", lambda: _with_phase(cluster, "slow", "Running"))
    assert not is_ready(running)
    cluster.wait_ready("slow", 1)


def test_node_that_is_told_so_is_not_ready_and_tainted(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"))

    cluster.api.patch(node("a"), {"metadata": {"annotations": {BEHAVIOUR: "not-ready"}}})

    wait_until("the node is tainted", lambda: "node.kubernetes.io/not-ready" in _taints(cluster, "a"))


def test_deleted_pod_keeps_its_room_until_its_grace_period_is_over(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"))
    late = deployment("late", cluster.namespace, annotations={STOPS: "late"}, terminationGracePeriodSeconds=3)
    (victim,) = cluster.run(late)
    started = time.monotonic()

    cluster.api.delete(victim)

    dying = cluster.api.get(victim)
    assert dying["metadata"]["deletionGracePeriodSeconds"] == 3
    wait_until("the pod is gone", lambda: cluster.api.find(victim) is None)
    assert time.monotonic() - started > 2
    cluster.wait_ready("late", 1)


def test_budget_refuses_the_second_eviction_until_the_replacement_is_ready(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"))
    first, second = cluster.run(deployment("web", cluster.namespace, replicas=2, annotations={READY_AFTER: "3s"}))
    budget = disruption_budget("web", cluster.namespace, maxUnavailable=1)
    cluster.create(budget)
    wait_until("the budget is counted", lambda: cluster.api.get(budget)["status"].get("disruptionsAllowed") == 1)

    cluster.api.evict(first)
    with pytest.raises(ApiError) as refused:
        cluster.api.evict(second)

    assert refused.value.status == 429
    (cause,) = refused.value.body["details"]["causes"]
    assert cause["reason"] == "DisruptionBudget"
    # Which of its sentences the server says hangs on how far the controller of budgets has come.
    assert cause["message"].startswith("The disruption budget web ")
    cluster.wait_ready("web", 2)
    wait_until("the budget allows one again", lambda: cluster.api.get(budget)["status"]["disruptionsAllowed"] == 1)
    cluster.api.evict(second)


def test_cluster_survives_a_killed_api_server(fresh_cluster: Cluster) -> None:
    fresh_cluster.add_nodes(node("a"))
    fresh_cluster.run(deployment("before", fresh_cluster.namespace))

    fresh_cluster.plane["kube-apiserver"].kill()
    assert not fresh_cluster.api.is_ready()
    fresh_cluster.plane["kube-apiserver"].restart()

    fresh_cluster.wait_ready("before", 1)
    fresh_cluster.run(deployment("after", fresh_cluster.namespace))


def test_paused_scheduler_binds_nothing_until_it_goes_on(fresh_cluster: Cluster) -> None:
    fresh_cluster.add_nodes(node("a"))
    fresh_cluster.plane["kube-scheduler"].pause()

    fresh_cluster.create(deployment("web", fresh_cluster.namespace))
    (waiting,) = wait_until("the pod is there", lambda: fresh_cluster.pods("web"))
    assert "nodeName" not in waiting["spec"]
    fresh_cluster.plane["kube-scheduler"].resume()

    fresh_cluster.wait_ready("web", 1)


def test_service_account_may_do_only_what_its_roles_allow(cluster: Cluster) -> None:
    account: Object = {"apiVersion": "v1", "kind": "ServiceAccount"}
    cluster.create({**account, "metadata": {"name": "reader", "namespace": cluster.namespace}})

    reader = cluster.plane.api_as(cluster.namespace, "reader")

    with pytest.raises(ApiError) as refused:
        reader.pods(cluster.namespace)
    assert refused.value.status == 403


def test_filled_cluster_is_served_whole(binaries: Binaries, data_folder: Path) -> None:
    written: list[int] = []

    def fill_etcd(url: str) -> None:
        written.append(fill(url, generated(nodes=20, pods=600, seed=1)))

    with running(data_folder, binaries, parts=STORE, fill_etcd=fill_etcd) as plane:
        nodes = plane.api.items("/api/v1/nodes")
        pods = plane.api.items("/api/v1/pods")

    assert len(nodes) == 20
    assert len(pods) == 600
    assert written[0] > 620


def _find_pod(cluster: Cluster, name: str) -> Object:
    return cluster.api.get(pod(name, cluster.namespace))


def _scheduled(cluster: Cluster, name: str) -> str | None:
    return condition(_find_pod(cluster, name), "PodScheduled")


def _with_phase(cluster: Cluster, name: str, phase: str) -> Object | None:
    found = _find_pod(cluster, name)
    return found if found["status"]["phase"] == phase else None


def _restarts(cluster: Cluster, name: str) -> int:
    return sum(status["restartCount"] for status in _find_pod(cluster, name)["status"].get("containerStatuses", []))


def _taints(cluster: Cluster, name: str) -> set[str]:
    return {taint["key"] for taint in cluster.api.get(node(name))["spec"].get("taints", [])}
