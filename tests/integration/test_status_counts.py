"""`descheduler status` counts the pods that the run itself has shown, however their evictions ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from descheduler.cycle.options import RunResult
from descheduler.kube.client import KubeClient
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.report.formats.json_text import json_text
from descheduler.report.formats.render import render
from descheduler.report.outcome.document import OutcomeDocument
from descheduler.report.outcome.making import make_outcome
from descheduler.report.outcome.status_document import RunSummary, StatusDocument
from descheduler.report.plan.making import make_plan
from tests.integration.fake_api import FakeApi
from tests.integration.faults import budget_refusal, failure
from tests.integration.live_runs import FAST, crowded_cluster, run, serve, taint_policy

WITH_LEASE = replace(FAST, lease=LeaseOptions(name="d", namespace="kube-system"))

Fault = Callable[[FakeApi], None]


def refused(fake_api: FakeApi) -> None:
    fake_api.on_eviction("p1", budget_refusal("b"), namespace="default")


def forbidden(fake_api: FakeApi) -> None:
    fake_api.on_eviction("p2", failure(403, "Forbidden", "no"), namespace="default")


def unclear(fake_api: FakeApi) -> None:
    fake_api.on_eviction("p3", failure(500, "InternalError", "broken"), namespace="default")


def nothing(fake_api: FakeApi) -> None:
    del fake_api


def shown_and_kept(fake_api: FakeApi, result: RunResult) -> tuple[OutcomeDocument, RunSummary]:
    """What the run shows, and what it has left for `status`."""
    outcome = make_outcome(make_plan(result.decisions), result.decisions, result.all_outcomes, stopped_by=result.guard)
    kept = fake_api.config_maps.objects["kube-system", "d-status"]["data"]["status.json"]
    return outcome, StatusDocument.decoded(kept).runs[0]


def check_counts(outcome: OutcomeDocument, kept: RunSummary) -> None:
    """Adds up what both say."""
    assert kept.counts == outcome.counts == dict(outcome.counts) | Counter(each.result for each in outcome.results)
    assert kept.unconfirmed == outcome.unconfirmed
    assert kept.planned == len(outcome.plan.moves)
    assert kept.not_evicted == {count.code: count.num_refusals for count in outcome.plan.refusal_counts}
    ran = [each for each in outcome.plugins if sum(each.counts.values())]
    assert sorted(kept.plugins, key=repr) == sorted(ran, key=repr)
    assert kept.predictions == outcome.predictions


@pytest.mark.parametrize("fault", [nothing, refused, forbidden, unclear])
@pytest.mark.parametrize("limit", [1, 2, 9])
def test_status_counts_what_the_run_shows(fake_api: FakeApi, client: KubeClient, limit: int, fault: Fault) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3", "p4"))
    fault(fake_api)

    result = run(client, taint_policy(f"maxNoOfPodsToEvictTotal: {limit}"), options=WITH_LEASE)

    check_counts(*shown_and_kept(fake_api, result))


def test_status_counts_pods_that_were_not_attempted(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2", "p3"))
    options = replace(WITH_LEASE, qps=0.001, burst=1)

    result = run(client, taint_policy(), options=options, deadline_seconds=5)

    outcome, kept = shown_and_kept(fake_api, result)
    assert kept.counts["not-attempted"] == 2
    check_counts(outcome, kept)
    status = "".join(render(StatusDocument.decoded("").with_run(kept), "table"))
    header, row = (line for line in status.splitlines() if line.startswith(("TIME", "2026-")))
    at = header.index("NOT ATTEMPTED")
    assert row[at:].split()[0] == "2"
    assert "Result:       1 pod evicted, 2 not attempted" in status
    assert "1 pod evicted, 2 not attempted" in "".join(render(outcome, "table"))


def test_both_documents_name_the_same_numbers_in_json(fake_api: FakeApi, client: KubeClient) -> None:
    serve(fake_api, *crowded_cluster("p1", "p2"))
    refused(fake_api)

    outcome, kept = shown_and_kept(fake_api, run(client, taint_policy(), options=WITH_LEASE))

    shown = json.loads(json_text(outcome))
    assert json.loads(json_text(kept))["counts"] == shown["counts"]
