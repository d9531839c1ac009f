"""Every manifest, rendered, on the real API server, and the job run as the account that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cronjob.manifests import BASE, OVERLAYS, Manifest, only
from tests.cronjob.rendering import Helm, Kustomize
from tests.e2e.cluster import Cluster
from tests.e2e.installation import DRY, assert_moved_to_the_other_node, install, release_values, run_as_its_account
from tests.e2e.kube_api import Object, condition, wait_until

OWN_LEASE = "cmdOptions: {lease-name: mine}"


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(BASE, id="base"),
        pytest.param(OVERLAYS / "job", id="job"),
        pytest.param(OVERLAYS / "gpu", id="gpu"),
    ],
)
def test_job_of_a_kustomization_runs_as_its_account(
    cluster: Cluster, kustomize: Kustomize, tmp_path: Path, folder: Path
) -> None:
    install(cluster, kustomize.build(folder))

    report = run_as_its_account(cluster, kustomize.build(folder), tmp_path)

    assert_moved_to_the_other_node(cluster, report)


@pytest.mark.parametrize(
    "values", [pytest.param("", id="with its defaults"), pytest.param(OWN_LEASE, id="with a lease of another name")]
)
def test_job_of_the_chart_runs_as_its_account(cluster: Cluster, helm: Helm, tmp_path: Path, values: str) -> None:
    manifests = helm.template(release_values(cluster, values))
    install(cluster, manifests)

    report = run_as_its_account(cluster, manifests, tmp_path)

    assert_moved_to_the_other_node(cluster, report)


@pytest.mark.parametrize("tool", ["kustomize", "helm"])
def test_dry_run_shows_what_it_could_not_do(
    cluster: Cluster, kustomize: Kustomize, helm: Helm, tmp_path: Path, tool: str
) -> None:
    values = release_values(cluster, DRY)
    manifests = kustomize.build(OVERLAYS / "dry-run") if tool == "kustomize" else helm.template(values)
    install(cluster, manifests)
    before = [pod["metadata"]["uid"] for pod in cluster.pods("web")]

    shown = run_as_its_account(cluster, manifests, tmp_path)
    tried = run_as_its_account(cluster, manifests, tmp_path, "--no-dry-run", "--no-lease")

    assert shown.exit_code == 0
    assert [move["pod"]["uid"] for move in shown.document["moves"]] == before
    assert tried.exit_code == 1
    assert set(tried.codes().values()) == {"forbidden"}
    assert [pod["metadata"]["uid"] for pod in cluster.pods("web")] == before


def test_pod_of_the_cronjob_is_let_in_bound_and_completes(cluster: Cluster, kustomize: Kustomize) -> None:
    """Under the restricted profile of Pod Security, as a critical pod, made by the real job controller."""
    manifests = kustomize.build(BASE)
    install(cluster, manifests)

    started = start_now(cluster, only(manifests, "CronJob"))

    wait_until("the job completes", lambda: condition(cluster.api.get(started), "Complete") == "True")
    (ran,) = cluster.api.pods("kube-system", labelSelector="batch.kubernetes.io/job-name=now")
    assert ran["spec"]["serviceAccountName"] == "descheduler"
    assert ran["spec"]["priority"] == 2_000_000_000


def start_now(cluster: Cluster, cronjob: Manifest) -> Object:
    """A job made from the CronJob, as `kubectl create job --from` does."""
    template = cronjob["spec"]["jobTemplate"]
    meta = {"name": "now", "namespace": cronjob["metadata"]["namespace"]}
    return cluster.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": template["spec"]})
