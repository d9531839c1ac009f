"""A plan of one process is applied by another, by jobs, on a cluster that lives meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.live_processes import Cli
from tests.living.builders import deployment, living_cluster, node, pod
from tests.living.cluster import LivingCluster
from tests.living.http import LivingServer
from tests.living.observing.observer import Observer
from tests.migration.roads.whole_runs import WAYS, policy_of
from tests.policy.builders import koordinator

Object = dict[str, Any]
JOBS = "podmigrationjobs.scheduling.koordinator.sh"
WAY = WAYS["reservations"]


@pytest.fixture
def cluster() -> LivingCluster:
    """Two workloads with a pod each on a node that they have to leave; there is room on two others."""
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    facts: dict[str, Any] = {"scheduler": WAY.scheduler, "grace_seconds": 1, "cpu": "1"}
    return living_cluster(nodes, [deployment(name, 1, on=["n1"], **facts) for name in ("web", "api")])


@pytest.fixture
def policy() -> str:
    """A policy that moves pods by jobs."""
    return policy_of(WAY)


@pytest.fixture
def file(cli: Cli, cluster: LivingCluster, tmp_path: Path) -> Path:
    """The plan, which has changed nothing."""
    path = tmp_path / "plan.json"
    code, _, err = cli.run("--out", str(path), command="plan")
    assert (code, cluster.api.sent("POST", "/eviction"), cluster.all(JOBS)) == (0, [], []), err
    return path


def test_moves_are_carried_out_by_jobs_and_their_landings_recorded(
    cluster: LivingCluster, server: LivingServer, cli: Cli, file: Path
) -> None:
    observer = Observer(cluster)

    code, out, err = cli.run(str(file), "-o", "json", command="apply")

    server.__exit__()
    observer.assert_kept()
    outcome = json.loads(out)
    assert (code, len(observer.departures)) == (0, 2), err
    planned = {move["pod"]["name"] for move in json.loads(file.read_text())["plan"]["moves"]}
    assert {each["pod"]["name"] for each in outcome["results"]} == planned
    assert {app_of(each): each["landedOn"] for each in outcome["results"]} == {
        app: node for app in ("web", "api") for node in cluster.nodes_of(app)
    }
    assert [job["status"]["phase"] for job in cluster.all(JOBS)] == ["Succeeded"] * 2
    seen = outcome["predictions"]
    assert seen["asPredicted"] + seen["tied"] + seen["elsewhere"] == 2


def fill(cluster: LivingCluster) -> None:
    """Takes all room outside of the node that is to be left."""
    for name in ("n2", "n3"):
        cluster.add(pod(f"rival-{name}", cpu="3500m", on=name))


def delete_pod(cluster: LivingCluster) -> None:
    (victim,) = cluster.pods("web")
    path = f"/api/v1/namespaces/shop/pods/{victim['metadata']['name']}"
    cluster.client(agent="rival").send("DELETE", path)


@pytest.mark.parametrize("change", [fill, delete_pod])
def test_a_plan_of_a_cluster_that_has_changed_is_refused(
    cluster: LivingCluster, cli: Cli, file: Path, change: Callable[[LivingCluster], None]
) -> None:
    change(cluster)

    code, out, err = cli.run(str(file), command="apply")

    assert (code, out) == (1, "")
    assert "the plan is not applied, nothing was evicted" in err
    assert (cluster.api.sent("POST", "/eviction"), cluster.all(JOBS)) == ([], [])


def test_what_still_holds_is_applied_where_that_is_allowed(
    cluster: LivingCluster, server: LivingServer, cli: Cli, file: Path
) -> None:
    observer = Observer(cluster)
    delete_pod(cluster)

    code, out, err = cli.run(str(file), "--allow-partial", "-o", "json", command="apply")

    server.__exit__()
    observer.assert_kept()
    assert code == 0, err
    (result,) = json.loads(out)["results"]
    assert app_of(result) == "api"
    assert [result["landedOn"]] == cluster.nodes_of("api")
    assert [job["status"]["phase"] for job in cluster.all(JOBS)] == ["Succeeded"]


class TestMakingRoom:
    """The scheduler chooses the nodes, so the plan holds no room for the pending pod by name."""

    @pytest.fixture
    def cluster(self) -> LivingCluster:
        """Pod big needs more of n2 than is free there; of the pods on n2 only fill fits on n1."""
        facts: dict[str, Any] = {"scheduler": WAY.scheduler, "grace_seconds": 1}
        only_n2 = facts | {"nodeSelector": {"kubernetes.io/hostname": "n2"}}
        workloads = [
            deployment("fill", 1, on=["n2"], cpu="1500m", **facts),
            deployment("other", 1, on=["n2"], cpu="2", **only_n2),
            deployment("big", 1, cpu="2", **only_n2),
        ]
        return living_cluster([node("n1", cpu="16"), node("n2")], workloads)

    @pytest.fixture
    def policy(self) -> str:
        """A policy that makes room and evicts without holding any."""
        return koordinator(
            "profiles:\n"
            "- name: p\n"
            "  pluginConfig:\n"
            "  - {name: MigrationPlanner, args: {objectives: [{makeRoom: {}}], timeLimit: 60s, workLimit: 1}}\n"
            "  - name: MigrationController\n"
            "    args: {reservationProvider: none, defaultJobMode: EvictDirectly, skipCheckExpectedReplicas: true,"
            " maxUnavailablePerWorkload: 1}\n"
            "  plugins: {balance: {enabled: [{name: MigrationPlanner}]}}\n"
        )

    def test_nothing_is_evicted_for_a_pending_pod_that_was_deleted(
        self, cluster: LivingCluster, cli: Cli, file: Path
    ) -> None:
        (big,) = cluster.pods("big")
        delete_workload(cluster, "big")

        code, out, err = cli.run(str(file), command="apply")

        assert (code, out) == (1, ""), err
        assert f": pod shop/{big['metadata']['name']}, for which it makes room, is gone\n" in err
        assert cluster.api.sent("POST", "/eviction") == []


def delete_workload(cluster: LivingCluster, app: str) -> None:
    """Deletes a Deployment with its ReplicaSet and its pods."""
    client = cluster.client(agent="rival")
    for group, kind in (("apis/apps/v1", "deployments"), ("apis/apps/v1", "replicasets"), ("api/v1", "pods")):
        for each in cluster.all(kind if kind == "pods" else f"{kind}.apps"):
            if each["metadata"]["name"].startswith(f"{app}-") or each["metadata"]["name"] == app:
                client.send("DELETE", f"/{group}/namespaces/shop/{kind}/{each['metadata']['name']}")


def app_of(result: Object) -> str:
    """The workload of the pod that was evicted."""
    return str(result["pod"]["name"]).partition("-")[0]
