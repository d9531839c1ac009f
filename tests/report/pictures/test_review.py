"""Risks that a plan names, and commands that do what they say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from descheduler.model.shard import Shard
from descheduler.report.pictures.review import review_of
from tests.builders import NOW, make_budget, make_pod
from tests.report.decided_cycles import make_test_plan


def test_budget_is_spent_by_all_workloads_that_it_covers() -> None:
    pods = [make_pod(f"{app}-1", owners=[f"ReplicaSet/{app}"], labels={"tier": "web"}) for app in "ab"]
    budget = make_budget("both", {"tier": "web"}, disruptions_allowed=2, has_status=True)

    risks = review_of(make_test_plan(pods, budgets=(budget,))).risks

    assert "1 budget with 0 disruptions left in some wave: default/both" in risks


def test_budget_that_allows_more_than_a_wave_takes_is_no_risk() -> None:
    budget = make_budget("web", {"tier": "web"}, disruptions_allowed=2, has_status=True)

    risks = review_of(make_test_plan([make_pod("p", labels={"tier": "web"})], budgets=(budget,))).risks

    assert not [risk for risk in risks if "disruptions left" in risk]


def test_single_replicas_alone_are_named_as_such() -> None:
    single = make_pod("one-1", owners=["ReplicaSet/one"])
    pair = [make_pod(f"two-{i}", owners=["ReplicaSet/two"]) for i in range(2)]

    risks = review_of(make_test_plan([single, *pair])).risks

    assert "1 workload with a single replica: default/one" in risks


@pytest.mark.parametrize(
    ("source", "flags"),
    [
        pytest.param("dump.json", " --snapshot dump.json", id="a file"),
        pytest.param("my dump.json", " --snapshot 'my dump.json'", id="a name with a space"),
        pytest.param("standard input", " --snapshot -", id="standard input"),
        pytest.param("https://10.0.0.1:6443", "", id="a cluster"),
    ],
)
def test_plan_is_made_again_of_the_same_source(source: str, flags: str) -> None:
    commands = review_of(make_test_plan([make_pod("old")], source=source, taken_at=NOW)).commands

    assert commands["Plan again"] == f"descheduler plan --policy-config-file policy.yaml{flags} --out plan.json"


def test_plan_says_until_when_it_can_be_applied() -> None:
    of_noon = datetime(2026, 1, 15, 12, tzinfo=UTC)

    assert review_of(make_test_plan(taken_at=of_noon)).identity["Expires"] == (
        "2026-01-15 12:15:00 UTC; apply --max-age takes older plans"
    )
    assert review_of(make_test_plan(taken_at=None)).identity["Expires"] == ""
    assert review_of(make_test_plan(taken_at=datetime.max.replace(tzinfo=UTC))).identity["Expires"] == ""


def test_plan_of_a_shard_names_the_shard_and_its_flags() -> None:
    shard = Shard(1, 4, label="example.com/rack", turn="night 17")

    review = review_of(make_test_plan([make_pod("old")], source="https://10.0.0.1:6443", shard=shard))

    assert review.identity["Shard"].startswith("shard 1 of 4 by label example.com/rack: ")
    flags = " --shards 4 --shard-index 1 --shard-by example.com/rack --shard-turn 'night 17'"
    again = f"descheduler plan --policy-config-file policy.yaml{flags} --out plan.json"
    assert review.commands["Plan again"] == again


def test_plan_of_a_dump_at_another_time_names_the_time() -> None:
    commands = review_of(make_test_plan([make_pod("old")], taken_at=NOW - timedelta(hours=1))).commands

    assert "--snapshot dump.json --now 2026-06-30T12:00:00Z" in commands["Explain a pod"]


def test_plan_of_several_dumps_names_no_command() -> None:
    assert review_of(make_test_plan([make_pod("old")], source="a.json, b.json")).commands == {}


def test_size_of_the_cluster_tells_the_pods_that_the_figures_count() -> None:
    pods = [make_pod("old"), make_pod("done", phase="Succeeded")]

    assert review_of(make_test_plan(pods)).identity["Cluster"].endswith("2 pods, 1 of them on nodes and not finished")
    assert review_of(make_test_plan(pods[:1])).identity["Cluster"].endswith(", 1 pod")
