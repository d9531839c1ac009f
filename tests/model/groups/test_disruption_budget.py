"""Budgets that can never allow an eviction, and what they say about it."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.groups.disruption_budget import DisruptionBudget

CURRENT = {"disruptions_allowed": 0, "current_healthy": 3, "desired_healthy": 3, "expected_pods": 3}


def budget(**facts: Any) -> DisruptionBudget:
    return DisruptionBudget("shop", "web", **facts)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        pytest.param(CURRENT | {"max_unavailable": 0}, "maxUnavailable is 0", id="nothing may be missing"),
        pytest.param({"max_unavailable": "0%"}, "maxUnavailable is 0%", id="nor a share, whatever its status"),
        pytest.param({"min_available": "100%"}, "minAvailable is 100%", id="all have to be there"),
        pytest.param(CURRENT | {"min_available": 3}, "minAvailable is 3, and 3 pods are expected", id="as many"),
        pytest.param(
            CURRENT | {"min_available": "67%"}, "minAvailable is 67% (3 pods), and 3 pods are expected", id="rounded up"
        ),
        pytest.param(
            {"max_unavailable": 1, "sync_failure": "jobs.batch does not implement the scale subresource"},
            "SyncFailed (jobs.batch does not implement the scale subresource)",
            id="pods of a Job",
        ),
        pytest.param(
            {"max_unavailable": 1, "disruptions_allowed": 0, "current_healthy": 2, "expected_pods": 0},
            "its pods have no controller with replicas (maxUnavailable: 1 needs one)",
            id="bare pods",
        ),
        pytest.param(
            CURRENT | {"expected_pods": 0, "desired_healthy": 0},
            "its spec states neither minAvailable nor maxUnavailable",
            id="no rule",
        ),
        pytest.param(CURRENT | {"max_unavailable": 1, "current_healthy": 2, "desired_healthy": 2}, "", id="not now"),
        pytest.param({"min_available": 3, "desired_healthy": 3, "expected_pods": 3}, "", id="figures of an old spec"),
        pytest.param(CURRENT | {"max_unavailable": 0, "disruptions_allowed": 1}, "", id="it allows one all the same"),
        pytest.param(CURRENT | {"min_available": 3, "expected_pods": 0}, "", id="it covers no pod"),
        pytest.param(CURRENT | {"min_available": 3, "expected_pods": None}, "", id="a dump that does not tell"),
    ],
)
def test_why_a_budget_can_never_allow_an_eviction(facts: dict[str, Any], why: str) -> None:
    assert budget(**facts).why_never == why


def test_what_a_budget_says_about_now() -> None:
    assert budget(disruptions_allowed=1).why_none == ""
    assert budget().why_none == "allows 0 disruptions until the disruption controller has processed its latest spec"
    assert budget(**CURRENT).why_none == "allows 0 disruptions (3 healthy, 3 required)"
    assert budget(max_unavailable=0).why_none == "can never allow an eviction: maxUnavailable is 0"


@pytest.mark.parametrize(
    ("allowed", "why"),
    [
        pytest.param(2, "", id="it allows some"),
        pytest.param(0, "allows 0 disruptions (3 healthy, 3 required)", id="it allows none"),
        pytest.param(
            -1,
            "has the negative status.disruptionsAllowed -1: the API server refuses all evictions of its pods",
            id="a status that is not valid",
        ),
    ],
)
def test_why_a_budget_allows_no_eviction_now(allowed: int, why: str) -> None:
    assert budget(**CURRENT | {"disruptions_allowed": allowed}).why_none == why


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        pytest.param({}, "", id="none"),
        pytest.param({"min_available": 0}, "minAvailable: 0", id="a minimum of 0"),
        pytest.param({"max_unavailable": 0}, "maxUnavailable: 0", id="a maximum of 0"),
        pytest.param({"max_unavailable": "10%"}, "maxUnavailable: 10%", id="a percentage"),
    ],
)
def test_rule_of_a_budget_is_what_its_spec_asks_for(facts: dict[str, Any], rule: str) -> None:
    assert budget(**facts).rule == rule


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        pytest.param(
            {"expected_pods": 1}, "minAvailable is 3, and 1 pod is expected", id="fewer than have to be there"
        ),
        pytest.param({"expected_pods": 4}, "", id="one more than has to be there"),
        pytest.param({"expected_pods": 0, "desired_healthy": 0, "current_healthy": 0}, "", id="nothing is there"),
        pytest.param({"expected_pods": 0, "desired_healthy": 1}, "", id="some have to be there"),
    ],
)
def test_minimum_that_is_as_large_as_the_workload_never_allows_an_eviction(facts: dict[str, Any], why: str) -> None:
    assert budget(**CURRENT | {"min_available": 3} | facts).why_never == why
