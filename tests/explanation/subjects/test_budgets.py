"""`explain budgets`: what each budget allows, and which can never allow an eviction."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.explanation.finding import UnknownSubjectError
from descheduler.explanation.subjects.budget import BudgetsExplanation, budgets_table, explain_budgets
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_budget, make_pod, make_snapshot

NONE_LEFT: dict[str, Any] = {"disruptions_allowed": 0, "current_healthy": 1, "desired_healthy": 1, "expected_pods": 1}


def explained(*budgets: DisruptionBudget, name: str = "", labels: Any = None) -> BudgetsExplanation:
    """The budgets of a cluster with one pod."""
    pod = make_pod("p", labels=labels or {"app": "x"})
    return explain_budgets(name, make_snapshot(pods=[pod], budgets=budgets))


def test_each_budget_says_what_it_allows_and_why_not_more() -> None:
    (never, some) = explained(
        make_budget("a", {"app": "x"}, max_unavailable=0, **NONE_LEFT),
        make_budget("b", {"app": "y"}, disruptions_allowed=1, min_available=1),
    ).budgets

    assert (never.rule, never.disruptions_allowed, never.num_pods, never.never_allows) == (
        "maxUnavailable: 0",
        0,
        1,
        True,
    )
    assert never.why_none == "can never allow an eviction: maxUnavailable is 0"
    assert (some.disruptions_allowed, some.num_pods, some.never_allows, some.why_none) == (1, 0, False, "")


def test_two_budgets_over_one_pod_can_never_allow_its_eviction() -> None:
    found = explained(*[make_budget(name, {"app": "x"}, disruptions_allowed=1) for name in "ab"]).budgets

    assert [(each.other_budgets, each.num_shared_pods, each.never_allows) for each in found] == [
        (("b",), 1, True),
        (("a",), 1, True),
    ]
    assert found[0].why_none == "can never allow the eviction of any of its pods: b covers them too"


def test_unready_pods_may_leave_a_budget_that_allows_nothing() -> None:
    (found,) = explained(
        make_budget("a", {"app": "x"}, max_unavailable=0, unhealthy_policy="AlwaysAllow", **NONE_LEFT)
    ).budgets

    assert found.why_none.endswith("; pods that are not Ready can be evicted (unhealthyPodEvictionPolicy: AlwaysAllow)")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("", ["a", "b"]), ("default/", ["a"]), ("b", ["b"]), ("shop/b", ["b"]), ("empty/", [])],
)
def test_all_budgets_those_of_a_namespace_or_one(name: str, expected: list[str]) -> None:
    budgets = [make_budget("a", {"app": "x"}), make_budget("b", {"app": "x"}, namespace="shop")]

    assert [each.name for each in explained(*budgets, name=name).budgets] == expected


def test_unknown_budget_is_named() -> None:
    with pytest.raises(UnknownSubjectError, match="no PodDisruptionBudget 'c'"):
        explained(make_budget("a", {"app": "x"}), name="c")


def test_table_fits_a_terminal_of_eighty_columns_with_what_is_healthy_of_what_is_expected() -> None:
    figures: dict[str, Any] = {"disruptions_allowed": 0, "current_healthy": 1, "desired_healthy": 2, "expected_pods": 3}
    told = explained(make_budget("payments-api", {"app": "x"}, min_available=2, **figures))

    assert list(budgets_table(told, TableStyle(width=80)))[1:-1] == [
        "NAMESPACE   NAME           RULE              ALLOWED   HEALTHY   REQUIRED   PODS",
        "    WHY NONE",
        "default     payments-api   minAvailable: 2   0         1/3       2          1",
        "    allows 0 disruptions (1 healthy, 2 required)",
    ]


def test_table_has_a_row_for_each_budget() -> None:
    stale = explained(make_budget("a", {"app": "x"}, min_available="50%"))

    assert list(budgets_table(stale, TableStyle()))[1:] == [
        "NAMESPACE   NAME   RULE                ALLOWED   HEALTHY   REQUIRED   PODS   WHY NONE",
        "default     a      minAvailable: 50%   unknown   0         0          1      "
        "allows 0 disruptions until the disruption controller has processed its latest spec",
        "",
    ]
    assert list(budgets_table(BudgetsExplanation(budgets=()), TableStyle()))[1:] == ["none", ""]
