"""The profile for batch clusters beside the real Volcano: no job falls below its minimum, and nothing stays pending."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object
from tests.e2e.objects import deployment, node
from tests.e2e.peers import volcano
from tests.e2e.program import Program

_PROFILE = Path("config/profiles/volcano.yaml")
_MINIMUMS = {"trainer": 4, "sweep": 2}
"""Job → how many of its four pods it needs."""


def test_jobs_keep_what_they_need_and_all_evicted_pods_run_again(peer_cluster: Cluster, tmp_path: Path) -> None:
    volcano.install_volcano(peer_cluster.plane)
    volcano.start_scheduler(peer_cluster.plane)
    peer_cluster.add_nodes(*(node(name, cpu="3") for name in ("a", "b", "c", "d")))
    for name, least in _MINIMUMS.items():
        peer_cluster.create(_group(name, peer_cluster.namespace, least))
        peer_cluster.run(_workload(name, peer_cluster.namespace))
    taints = [{"key": "maintenance", "value": "planned", "effect": "NoSchedule"}]
    before = {name: _nodes(peer_cluster, name) for name in _MINIMUMS}
    # Pods of both jobs are to leave it, so that the one at its minimum is refused.
    tainted = min(set(before["trainer"].values()) & set(before["sweep"].values()))
    peer_cluster.api.patch(node(tainted), {"spec": {"taints": taints}})

    report = Program(peer_cluster.kubeconfig, tmp_path).run(_policy(peer_cluster.plane.folder))

    assert report.exit_code == 0, report.log
    evicted = report.evicted_apps()
    assert evicted["trainer"] == 0
    assert evicted["sweep"] >= 1
    for name, least in _MINIMUMS.items():
        assert evicted[name] <= 4 - least
        peer_cluster.wait_ready(name, 4)
    assert _nodes(peer_cluster, "trainer") == before["trainer"]
    moved = _nodes(peer_cluster, "sweep").items() - before["sweep"].items()
    assert len(moved) == evicted["sweep"]
    assert all(place != tainted for _, place in moved)


def _group(name: str, namespace: str, least: int) -> Object:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"minMember": least, "queue": "default", "minResources": {"cpu": str(least)}},
    }


def _workload(name: str, namespace: str) -> Object:
    annotations = {"scheduling.k8s.io/group-name": name}
    return deployment(name, namespace, replicas=4, cpu="1", annotations=annotations, schedulerName=volcano.SCHEDULER)


def _nodes(cluster: Cluster, app: str) -> dict[str, str]:
    """The node of each pod of a workload, by pod name."""
    return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in cluster.pods(app)}


def _policy(folder: Path) -> str:
    """The profile, with the configuration that the scheduler runs."""
    policy = yaml.safe_load(_PROFILE.read_text())
    for config in policy["profiles"][0]["pluginConfig"]:
        if config["name"] == "PlacementVerification":
            config["args"]["schedulerConfigFile"] = str(folder / "volcano-scheduler.conf")
    return yaml.safe_dump(policy)
