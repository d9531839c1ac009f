"""Runs that something goes wrong for: what is reported is what happened, and the next run finishes the work."""

from __future__ import annotations

import time
from pathlib import Path

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import deployment, node
from tests.e2e.program import Program, Report, RunningProgram, policy

POLICY = policy("RemovePodsViolatingNodeTaints")
NUM_PODS = 40
TEN_A_SECOND = ("--client-connection-qps=10", "--client-connection-burst=1")
AT_ONCE = ("--client-connection-qps=500", "--client-connection-burst=500")
OUTAGE_SECONDS = 6.0
"""Longer than a read is tried again for, so that the run has to wait by itself."""


def test_run_waits_for_an_api_server_that_restarts_and_ends_its_work(fresh_cluster: Cluster, tmp_path: Path) -> None:
    pods = run_on_tainted_node(fresh_cluster)
    program = Program(fresh_cluster.kubeconfig, tmp_path)
    run = program.start(POLICY, *TEN_A_SECOND)
    wait_some_left(fresh_cluster, pods, run)

    fresh_cluster.plane["kube-apiserver"].kill()
    time.sleep(OUTAGE_SECONDS)
    fresh_cluster.plane["kube-apiserver"].restart()

    report = run.wait()
    assert report.exit_code == 0
    assert_report_is_true(fresh_cluster, pods, report)
    # A call that was under way when the server died has no answer, and is not made again on a guess.
    assert report.document["counts"]["evicted"] >= NUM_PODS - 1
    program.run(POLICY, *AT_ONCE)
    moved = fresh_cluster.wait_ready("web", NUM_PODS)
    assert {pod["spec"]["nodeName"] for pod in moved} == {"b"}


def test_killed_run_leaves_nothing_that_keeps_the_next_from_finishing(cluster: Cluster, program: Program) -> None:
    pods = run_on_tainted_node(cluster)
    run = program.start(POLICY, *TEN_A_SECOND, "--no-lease")
    wait_some_left(cluster, pods, run)

    run.kill()

    assert run.wait().exit_code == -9
    rest = program.run(POLICY, *AT_ONCE)
    assert rest.exit_code == 0
    moved = cluster.wait_ready("web", NUM_PODS)
    assert {pod["spec"]["nodeName"] for pod in moved} == {"b"}


def test_sigterm_ends_a_run_in_order(cluster: Cluster, program: Program) -> None:
    pods = run_on_tainted_node(cluster)
    run = program.start(POLICY, *TEN_A_SECOND)
    wait_some_left(cluster, pods, run)

    run.terminate()

    report = run.wait(timeout_seconds=10)
    assert_report_is_true(cluster, pods, report)
    assert report.document["counts"]["not-attempted"] > 0
    assert set(report.codes().values()) == {"done", "stopped"}
    rest = program.run(POLICY, *AT_ONCE)
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
