"""The only replica of a workload moves while a second one serves: on the real controllers and the real scheduler."""

from __future__ import annotations

import time

import pytest
import yaml

from tests.cronjob.manifests import OVERLAYS
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, is_ready, wait_until
from tests.e2e.objects import READY_AFTER, deployment, disruption_budget, node
from tests.e2e.program import Program, Report, RunningProgram, koordinator_policy

SURGING = koordinator_policy(
    "RemovePodsViolatingNodeTaints",
    {
        "reservationProvider": "placeholder",
        "singleReplicas": "Surge",
        "maxMigratingPerNode": 0,
        "objectLimiters": {"workload": {"duration": "0s"}},
    },
)
SLOW = {READY_AFTER: "3s"}
CLOSED = {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}}
OURS = {"labelSelector": "descheduler/jobs-of"}


@pytest.fixture
def web(cluster: Cluster) -> Object:
    """A Deployment of one replica with a budget that lets no pod go alone, on a node that is closed to new pods."""
    delete_leases(cluster)
    cluster.create(yaml.safe_load((OVERLAYS / "placeholder" / "priority-class.yaml").read_text()))
    cluster.add_nodes(node("a"))
    made = deployment("web", cluster.namespace, replicas=1, annotations=SLOW)
    cluster.run(made)
    cluster.create(disruption_budget("web", cluster.namespace, minAvailable=1))
    cluster.add_nodes(node("b"))
    cluster.api.patch(node("a"), CLOSED)
    return made


def test_a_second_pod_serves_before_the_only_one_leaves(cluster: Cluster, program: Program, web: Object) -> None:
    report, fewest = watched(cluster, program.start(SURGING))

    assert report.exit_code == 0, report.log
    assert set(report.codes().values()) == {"done"}
    assert fewest == 1
    assert [pod["spec"]["nodeName"] for pod in cluster.wait_ready("web", 1)] == ["b"]
    assert_as_it_was(cluster, web, num_changes=2)


def test_a_run_that_is_killed_in_between_is_made_good_by_the_next(
    cluster: Cluster, program: Program, web: Object
) -> None:
    killed = program.start(SURGING)
    wait_until("the workload is scaled up", lambda: cluster.api.get(web)["spec"]["replicas"] == 2)
    killed.kill()
    killed.wait()
    delete_leases(cluster)

    report, fewest = watched(cluster, program.start(SURGING))

    assert report.exit_code == 0, report.log
    assert fewest == 1
    assert [pod["spec"]["nodeName"] for pod in cluster.wait_ready("web", 1)] == ["b"]
    assert_as_it_was(cluster, web, num_changes=4)


def test_what_a_user_scales_meanwhile_stands(cluster: Cluster, program: Program, web: Object) -> None:
    running = program.start(SURGING)
    wait_until("the workload is scaled up", lambda: cluster.api.get(web)["spec"]["replicas"] == 2)
    cluster.api.patch(web, {"spec": {"replicas": 3}}, subresource="scale")

    report, fewest = watched(cluster, running)

    assert set(report.codes().values()) == {"not-surged"}
    assert fewest == 1
    assert cluster.api.get(web)["spec"]["replicas"] == 3
    wait_until("no placeholder is left", lambda: not cluster.api.pods(cluster.namespace, **OURS))


def delete_leases(cluster: Cluster) -> None:
    """Nobody waits until the Lease of a run that was killed has expired."""
    for lease in cluster.api.items("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"):
        if lease["metadata"]["name"].startswith("descheduler"):
            cluster.api.delete(lease)


def watched(cluster: Cluster, running: RunningProgram) -> tuple[Report, int]:
    """The end of the run, and the fewest pods that served at any time that was looked at."""
    fewest = 1000
    while running.is_running:
        serving = [pod for pod in cluster.pods("web") if is_ready(pod) and "deletionTimestamp" not in pod["metadata"]]
        fewest = min(fewest, len(serving))
        time.sleep(0.05)
    return running.wait(), fewest


def assert_as_it_was(cluster: Cluster, web: Object, *, num_changes: int) -> None:
    """One replica again after so many changes of the spec, and no room held for anybody."""
    wait_until("no placeholder is left", lambda: not cluster.api.pods(cluster.namespace, **OURS))
    found = cluster.api.get(web)
    assert (found["spec"]["replicas"], found["metadata"]["generation"]) == (1, 1 + num_changes)
