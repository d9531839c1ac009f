"""Runs that something goes wrong for: what is reported is what happened, and the next run finishes the work."""

from __future__ import annotations

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import ApiError, Object, wait_until
from tests.e2e.objects import deployment, node
from tests.e2e.program import Program, Report, RunningProgram, koordinator_policy, policy

POLICY = policy("RemovePodsViolatingNodeTaints")
NUM_PODS = 40
TEN_A_SECOND = ("--client-connection-qps=10", "--client-connection-burst=1")


def test_run_survives_a_restart_of_the_api_server(fresh_cluster: Cluster, tmp_path) -> None:
    pods = run_on_tainted_node(fresh_cluster)
    run = Program(fresh_cluster.kubeconfig, tmp_path).start(POLICY, *TEN_A_SECOND)
    wait_some_left(fresh_cluster, pods, run)

    fresh_cluster.plane["kube-apiserver"].kill()
    fresh_cluster.plane["kube-apiserver"].restart()

    report = run.wait()
    from collections import Counter
    print(Counter(report.codes().values()), report.exit_code)
    for r in report.document["results"]:
        if r["code"]!="done": print(r)
    print(report.log[-3000:])
    assert_report_is_true(fresh_cluster, pods, report)
    assert 0


def test_sigterm_ends_a_run_in_order(cluster: Cluster, program: Program) -> None:
    pods = run_on_tainted_node(cluster)
    run = program.start(POLICY, *TEN_A_SECOND)
    wait_some_left(cluster, pods, run)

    run.terminate()

    report = run.wait(timeout_seconds=10)
    print(report.exit_code, report.document["counts"])
    assert_report_is_true(cluster, pods, report)
    assert report.document["counts"]["not-attempted"] > 0
    assert set(report.codes().values()) == {"done", "stopped"}
    rest = program.run(POLICY)
    assert rest.document["counts"]["evicted"] == NUM_PODS - report.document["counts"]["evicted"]


def run_on_tainted_node(cluster: Cluster) -> list[Object]:
    """Pods that all run on node a, which no longer wants them; node b is free."""
    cluster.add_nodes(node("a", cpu="16"))
    pods = cluster.run(deployment("web", cluster.namespace, replicas=NUM_PODS))
    cluster.add_nodes(node("b", cpu="16"))
    cluster.api.patch(node("a"), {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}})
    return pods


def wait_some_left(cluster: Cluster, pods: list[Object], run: RunningProgram) -> None:
    """Returns when the run has evicted a few pods and has most of them before it."""
    wait_until("a few pods have left", lambda: len(left(cluster, pods)) >= 5)
    assert run.is_running


def left(cluster: Cluster, pods: list[Object]) -> set[str]:
    """The uids of those pods that have left, or are about to."""
    there = {p["metadata"]["uid"] for p in cluster.pods("web") if "deletionTimestamp" not in p["metadata"]}
    return {pod["metadata"]["uid"] for pod in pods} - there


def assert_report_is_true(cluster: Cluster, pods: list[Object], report: Report) -> None:
    """Each pod has one line in the report, and it says what became of the pod."""
    results = report.document["results"]
    assert sorted(r["pod"]["uid"] for r in results) == sorted(pod["metadata"]["uid"] for pod in pods)
    gone = left(cluster, pods)
    unknown = {r["pod"]["uid"] for r in results if r["code"] == "outcome-unknown"}
    evicted = {uid for _, uid in report.pods("evicted")}
    assert evicted - unknown == gone - unknown
