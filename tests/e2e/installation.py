"""The rendered manifests, installed on a real cluster beside pods that a run is to move."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.cronjob.manifests import Manifest, named, pod_spec
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import collection_path
from tests.e2e.objects import deployment, namespace, node
from tests.e2e.program import Program, Report

ENFORCE = {"pod-security.kubernetes.io/enforce": "restricted"}
GPU_LABEL = {"nvidia.com/gpu.present": "true"}
AGED = f"--now={(datetime.now(UTC) + timedelta(hours=2)).isoformat(timespec='seconds')}"
"""Lets the pods be older than the policies' least age."""

DRY = "cmdOptions: {dry-run: null}"
"""Values of a release that only shows what it would evict."""

Rendered = list[Manifest]


def release_values(cluster: Cluster, *more: str) -> str:
    """Values of a release in a namespace of this test alone, which enforces the restricted profile."""
    home = f"{cluster.namespace}-home"
    cluster.create(namespace(home, **ENFORCE))
    return "\n".join([f"namespaceOverride: {home}", *more])


def install(cluster: Cluster, manifests: Iterable[Manifest]) -> None:
    """Applies the manifests, any field that the API does not know being an error, beside pods that are to move."""
    cluster.api.patch(namespace("kube-system"), {"metadata": {"labels": ENFORCE}})
    for manifest in manifests:
        path = collection_path(manifest)
        cluster.api.request("POST", f"{path}?dryRun=All&fieldValidation=Strict", manifest)
        cluster.create(manifest)
    cluster.add_nodes(node("a", labels=GPU_LABEL))
    cluster.run(deployment("web", cluster.namespace, replicas=2))
    cluster.add_nodes(node("b", labels=GPU_LABEL))
    cluster.api.patch(node("a"), {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}})


def assert_moved_to_the_other_node(cluster: Cluster, report: Report) -> None:
    """All pods left node a, and run on b."""
    assert report.exit_code == 0, report.log
    assert report.evicted_apps() == {"web": 2}
    assert {pod["spec"]["nodeName"] for pod in cluster.wait_ready("web", 2)} == {"b"}
    assert "could not be written" not in report.log


def run_as_its_account(cluster: Cluster, manifests: Rendered, folder: Path, *more: str) -> Report:
    """What the job's container would do: its arguments, its policy, its account's rights.

    In a pod the program learns its namespace, where its Lease goes, from the mounted token; here from a flag.
    """
    workload = workload_of(manifests)
    spec = pod_spec(workload)
    home = workload["metadata"]["namespace"]
    program = Program(cluster.plane.kubeconfig_as(home, spec["serviceAccountName"]), folder)
    (name,) = {volume["configMap"]["name"] for volume in spec["volumes"]}
    policy = named(manifests, "ConfigMap")[name]["data"]["policy.yaml"]
    _, *flags = spec["containers"][0]["args"]
    flags.remove("--policy-config-file=/policy-dir/policy.yaml")
    return program.run(policy, *flags, f"--lease-namespace={home}", AGED, *more)


def workload_of(manifests: Rendered) -> Manifest:
    """The CronJob or Job."""
    (found,) = (manifest for manifest in manifests if manifest["kind"] in {"CronJob", "Job"})
    return found
