"""The commands of the tutorial that need a control plane."""

from __future__ import annotations

from pathlib import Path

from docs.generator.sessions import steps
from docs.generator.workshop import workshop_on
from tests.cronjob.rendering import Helm
from tests.docs.pages import ROOT
from tests.e2e.cluster import Cluster
from tests.e2e.installation import install, run_as_its_account
from tests.e2e.kube_api import Object

TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text("utf-8")


def test_chart_is_installed_in_a_dry_run_and_removed(cluster: Cluster, helm: Helm, tmp_path: Path) -> None:
    to_install, to_remove = (step.commands for step in steps(TUTORIAL) if step.needs_control_plane)
    install(cluster, ())
    before = [pod["metadata"]["uid"] for pod in cluster.pods("web")]

    with workshop_on(cluster.kubeconfig, helm.binary.parent) as run:
        installed = run(to_install)
        assert installed.code == 0, installed.output
        cronjob = cluster.api.get(named_descheduler("batch/v1", "CronJob"))
        policy = cluster.api.get(named_descheduler("v1", "ConfigMap"))
        shown = run_as_its_account(cluster, [cronjob, policy], tmp_path)
        removed = run(to_remove)

    assert [move["pod"]["uid"] for move in shown.document["moves"]] == before
    assert [pod["metadata"]["uid"] for pod in cluster.pods("web")] == before
    assert removed.code == 0, removed.output
    assert cluster.api.find(cronjob) is None


def named_descheduler(api_version: str, kind: str) -> Object:
    """What the release is asked for."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "descheduler", "namespace": "kube-system"}}
