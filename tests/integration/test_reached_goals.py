"""What a planner's goal has come to after a run: in the outcome, the status, the metrics and an Event on the Lease."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.kube.client import KubeClient
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.report.formats.render import render
from descheduler.report.outcome.document import OutcomeDocument
from descheduler.report.outcome.making import make_outcome
from descheduler.report.outcome.status_document import StatusDocument
from descheduler.report.plan.making import make_plan
from descheduler.telemetry.metrics.families import run_registry
from descheduler.telemetry.run_record import RunRecord
from tests.builders import node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.faults import budget_refusal
from tests.integration.live_runs import FAST, run, serve
from tests.policy.builders import upstream

WITH_LEASE = replace(FAST, lease=LeaseOptions(name="d", namespace="kube-system"))
POLICY = upstream(
    "profiles:\n"
    "- name: p\n"
    "  pluginConfig:\n"
    "  - name: MigrationPlanner\n"
    "    args: {objectives: [{balanceUtilization: {targetThresholds: {cpu: 50}}}]}\n"
    "  plugins: {balance: {enabled: [MigrationPlanner]}}\n"
)


OWNER = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": {"name": "web", "namespace": "default", "uid": "replicaset-web"},
    "spec": {"replicas": 6},
}


@pytest.fixture
def crowded(fake_api: FakeApi) -> None:
    """Two nodes that are over the target by one pod each, and two empty ones."""
    pods = [pod_object(f"{node}{number}", node=node, cpu="1") for node in ("a", "b") for number in range(3)]
    serve(fake_api, OWNER, *(node_object(name, cpu="4") for name in "abcd"), *pods)


def outcome_of(client: KubeClient, **flags: Any) -> OutcomeDocument:
    result = run(client, POLICY, options=replace(WITH_LEASE, **flags), deadline_seconds=5)
    plan = make_plan(result.decisions)
    return make_outcome(plan, result.decisions, result.all_outcomes, stopped_by=result.guard, goals=result.goals)


def goal_metrics(outcome: OutcomeDocument) -> dict[str, float]:
    families = run_registry(RunRecord(plan=outcome.plan, outcome=outcome), last_success=None).collect()
    samples = [sample for family in families for sample in family.samples if sample.name == "descheduler_goal"]
    return {sample.labels["value"]: sample.value for sample in samples}


def kept_goals(fake_api: FakeApi) -> StatusDocument:
    return StatusDocument.decoded(fake_api.config_maps.objects["kube-system", "d-status"]["data"]["status.json"])


def events_on_the_lease(fake_api: FakeApi) -> list[tuple[str, str, str]]:
    events = [request.body for request in fake_api.sent("POST", "/events")]
    return [(e["type"], e["reason"], e["note"]) for e in events if e["regarding"]["kind"] == "Lease"]


@pytest.mark.usefixtures("crowded")
def test_goal_that_is_reached_is_told_everywhere(fake_api: FakeApi, client: KubeClient) -> None:
    outcome = outcome_of(client)

    [goal] = outcome.goals
    assert (goal.before, goal.planned, goal.reached, goal.left) == (2, 0, 0, 0)
    assert kept_goals(fake_api).runs[0].goals == outcome.goals
    assert goal_metrics(outcome) == {"before": 2, "after": 0, "reached": 0, "bound": 0}
    assert events_on_the_lease(fake_api) == [("Normal", "PlanCarriedOut", "nodes over target: 2 → 0")]
    assert re.search("^Goal after the run: +nodes over target: 2 → 0$", "".join(render(outcome, "table")), re.MULTILINE)


@pytest.mark.usefixtures("crowded")
def test_goal_of_a_run_that_was_stopped_is_that_of_its_evictions(fake_api: FakeApi, client: KubeClient) -> None:
    outcome = outcome_of(client, qps=0.001, burst=1)

    [goal] = outcome.goals
    said = "nodes over target: 2 → 1 (planned: 0, best possible: 0)"
    assert outcome.counts["not-attempted"] == 1
    assert (goal.before, goal.planned, goal.reached, goal.left) == (2, 0, 1, 1)
    assert goal_metrics(outcome)["reached"] == 1
    assert events_on_the_lease(fake_api) == [("Warning", "PlanNotCarriedOut", said)]
    assert said in "".join(render(outcome, "table"))
    assert said in "".join(render(kept_goals(fake_api), "table"))


@pytest.mark.usefixtures("crowded")
def test_goal_counts_what_every_round_has_evicted(fake_api: FakeApi, client: KubeClient) -> None:
    """Another pod is chosen for the one that the API server keeps; before is what it was before the first round."""
    fake_api.on_eviction("a0", budget_refusal("web"), namespace="default")
    fake_api.on_eviction("a1", budget_refusal("web"), namespace="default")

    outcome = outcome_of(client)

    [goal] = outcome.goals
    assert outcome.counts["evicted"] == 2
    assert (goal.before, goal.planned, goal.reached) == (2, 0, 0)


@pytest.mark.long
@pytest.mark.usefixtures("crowded")
def test_goal_that_no_pod_was_evicted_for_stays_where_it_was(fake_api: FakeApi, client: KubeClient) -> None:
    for name in ("a0", "a1", "a2", "b0", "b1", "b2"):
        fake_api.on_eviction(name, budget_refusal("web"), namespace="default")

    outcome = outcome_of(client)

    [goal] = outcome.goals
    assert (goal.before, goal.reached) == (2, 2)
    assert outcome.counts["evicted"] == 0
