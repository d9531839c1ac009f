"""Live runs remember which workloads they moved; dry runs only read that."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.options import ConnectionOptions, RunOptions, RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.explanation.explaining import explain, settings_for
from descheduler.explanation.sources import read_live
from descheduler.explanation.subjects.pod import PodExplanation
from descheduler.kube.client import KubeClient
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.policy.load import load_policy
from descheduler.report.outcome.status_document import StatusDocument
from descheduler.report.tables.status_table import status_table
from descheduler.report.tables.table_style import TableStyle
from tests.builders import NOW, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.live_runs import FAST, crowded_cluster, run, serve
from tests.policy.builders import koordinator

MINUTE = timedelta(minutes=1)
WITH_LEASE = replace(FAST, lease=LeaseOptions(name="d", namespace="kube-system"))
POLICY = koordinator(
    """\
    profiles:
    - name: p
      pluginConfig:
      - name: MigrationController
        args:
          defaultJobMode: EvictDirectly
          reservationProvider: none
          skipEvictionGates: [ExpectedReplicas, MaxUnavailablePerWorkload, MaxMigratingPerWorkload]
          moveHistory: {cooldown: 10m}
      plugins:
        deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}
        filter: {enabled: [{name: MigrationController}], disabled: [{name: "*"}, {name: PlacementVerification}]}
    """
)


def run_at(client: KubeClient, minute: float, options: RunOptions = WITH_LEASE) -> RunResult:
    """A run at a minute after NOW."""
    return run(client, POLICY, options=options, now=NOW + minute * MINUTE)


def codes(result: RunResult) -> list[str]:
    """Why pods were not evicted."""
    return [refusal.verdict.code for refusal in result.decisions.refusals]


def test_workload_that_one_run_moved_rests_in_the_next(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("web-1", owners=["StatefulSet/web"]))

    first = run_at(client, 0)
    serve(fake_api, pod_object("web-2", node="tainted", owners=["StatefulSet/web"]))
    second, third = run_at(client, 5), run_at(client, 12)

    assert (codes(first), codes(second), codes(third)) == ([], ["Cooldown"], [])
    kept = json.loads(fake_api.config_maps.objects["kube-system", "d-memory"]["data"]["memory.json"])
    *_, (workload, source, *_) = kept["notes"]["recent-moves"]["note"]
    assert (workload, source) == (["StatefulSet", "default", "web", "statefulset-web"], "tainted")


def test_dry_run_reads_the_moves_and_writes_none(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("web-1", owners=["StatefulSet/web"]))
    dry = replace(WITH_LEASE, dry_run=True)

    before = run_at(client, 0, dry)
    is_kept = bool(fake_api.config_maps.objects)
    run_at(client, 1)
    serve(fake_api, pod_object("web-2", node="tainted", owners=["StatefulSet/web"]))
    after = run_at(client, 2, dry)

    assert (codes(before), is_kept, codes(after)) == ([], False, ["Cooldown"])


def test_status_says_why_nothing_was_evicted(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("web-1", owners=["StatefulSet/web"]))
    run_at(client, 0)
    serve(fake_api, pod_object("web-2", node="tainted", owners=["StatefulSet/web"]))
    run_at(client, 5)

    kept = StatusDocument.decoded(fake_api.config_maps.objects["kube-system", "d-status"]["data"]["status.json"])

    assert [dict(each.not_evicted) for each in kept.runs] == [{"Cooldown": 1}, {}]
    assert "Not evicted:   1 pod (Cooldown 1)" in [line.rstrip() for line in status_table(kept, TableStyle())]


@pytest.mark.parametrize(
    ("lease", "decision"),
    [
        pytest.param(LeaseOptions(name="d", namespace="kube-system"), "kept", id="the Lease of the runs"),
        pytest.param(LeaseOptions(name="other", namespace="kube-system"), "evicted", id="another Lease"),
    ],
)
def test_explanation_counts_what_runs_with_the_lease_have_moved(
    fake_api: FakeApi, client: KubeClient, kubeconfig: Path, lease: LeaseOptions, decision: str
) -> None:
    serve(fake_api, *crowded_cluster("web-1", owners=["StatefulSet/web"]))
    run_at(client, 0)
    serve(fake_api, pod_object("web-2", node="tainted", owners=["StatefulSet/web"]))
    policy = load_policy(POLICY, REGISTRY)

    cluster = read_live(ConnectionOptions(kubeconfig=str(kubeconfig)), policy, lease, taken_at=NOW + MINUTE)
    explanation = explain(
        "pod",
        "default/web-2",
        cluster.snapshot,
        policy=policy,
        settings=settings_for(policy),
        now=NOW + MINUTE,
        setting=RunSetting(memory=cluster.memory),
    ).answer

    assert isinstance(explanation, PodExplanation)
    assert explanation.decision is not None
    assert explanation.decision.outcome == decision
