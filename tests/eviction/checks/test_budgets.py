"""Disruption budgets, as the eviction API would answer."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.eviction.checks.budgets import BudgetLedger
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from tests.builders import make_budget, make_pod, make_snapshot

APP = {"app": "x"}


def make_covered(name: str = "p", **facts: Any) -> Pod:
    """A pod that budgets over `app=x` cover."""
    return make_pod(name, labels=APP, **facts)


def make_ledger(*budgets: DisruptionBudget) -> BudgetLedger:
    """The ledger of a cluster with these budgets."""
    return BudgetLedger(make_snapshot(budgets=budgets))


@pytest.mark.parametrize(
    ("budgets", "expected"),
    [
        pytest.param([], None, id="no budget"),
        pytest.param([make_budget("b", APP, disruptions_allowed=1)], None, id="one disruption left"),
        pytest.param([make_budget("b", APP, disruptions_allowed=0)], Reason.DISRUPTION_BUDGET, id="none left"),
        pytest.param([make_budget("b", {"app": "y"}, disruptions_allowed=0)], None, id="a budget for others"),
        pytest.param([make_budget("b", APP, namespace="z", disruptions_allowed=0)], None, id="another namespace"),
        pytest.param([make_budget("b", APP)], Reason.DISRUPTION_BUDGET, id="a budget whose status is not current"),
        pytest.param([make_budget("b", APP, has_status=False)], None, id="a budget that no API server has stored"),
        pytest.param(
            [make_budget(name, APP, disruptions_allowed=5) for name in "bc"], Reason.SEVERAL_BUDGETS, id="two budgets"
        ),
    ],
)
def test_budget_decides(budgets: list[DisruptionBudget], expected: Reason | None) -> None:
    assert make_ledger(*budgets).verdict(make_covered()).reason is expected


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"phase": "Succeeded"}, id="a finished pod"),
        pytest.param({"phase": "Pending"}, id="a pod that does not run yet"),
        pytest.param({"deleted": 1}, id="a pod that is being deleted"),
    ],
)
def test_pod_that_disrupts_nothing_needs_no_budget(facts: dict[str, Any]) -> None:
    ledger = make_ledger(make_budget("b", APP, disruptions_allowed=1))
    ledger.charge(make_covered(**facts))
    ledger.charge(make_covered("q"))

    assert ledger.verdict(make_covered(**facts)).is_accepted
    assert ledger.verdict(make_covered("r")).reason is Reason.DISRUPTION_BUDGET


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        pytest.param(0, "allows 0 disruptions (3 healthy, 2 required)", id="none"),
        pytest.param(1, "allows 1 disruption, used by other pods of this run (3 healthy, 2 required)", id="one"),
        pytest.param(2, "allows 2 disruptions, used by other pods of this run (3 healthy, 2 required)", id="several"),
    ],
)
def test_used_up_budget_says_what_it_allowed(allowed: int, words: str) -> None:
    ledger = make_ledger(
        make_budget("b", APP, disruptions_allowed=allowed, current_healthy=3, desired_healthy=2, expected_pods=3)
    )
    for number in range(allowed):
        ledger.charge(make_covered(f"p{number}"))

    verdict = ledger.verdict(make_covered("q"))

    assert verdict.subject == "default/b"
    assert verdict.message == f"PodDisruptionBudget default/b {words}"


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        pytest.param(
            {"disruptions_allowed": -3},
            "has the negative status.disruptionsAllowed -3: the API server refuses all evictions of its pods",
            id="its status allows a negative number",
        ),
        pytest.param(
            {"disruptions_allowed": 1, "num_disrupted": 2001},
            "has more than 2,000 evictions that the disruption controller has not confirmed",
            id="too many evictions are not confirmed",
        ),
    ],
)
def test_no_disruption_counts_as_used_by_a_run_that_has_evicted_nothing(facts: dict[str, Any], words: str) -> None:
    verdict = make_ledger(make_budget("b", APP, **facts)).verdict(make_covered())

    assert verdict.message == f"PodDisruptionBudget default/b {words}"


def test_a_negative_number_of_disruptions_allows_no_fewer_than_none() -> None:
    allowance = make_ledger(make_budget("b", APP, disruptions_allowed=-3)).allowance()

    assert allowance.left(("default", "b")) == 0


@pytest.mark.parametrize(
    ("allowed", "name"),
    [
        (3, "PodDisruptionBudget default/b (3 disruptions now)"),
        (1, "PodDisruptionBudget default/b (1 disruption now)"),
        (0, ""),
        (-1, ""),
    ],
)
def test_goals_of_plans_name_budgets_of_which_more_is_allowed_later(allowed: int, name: str) -> None:
    allowance = make_ledger(make_budget("b", APP, disruptions_allowed=allowed)).allowance()

    assert allowance.name_of(("default", "b")) == name


@pytest.mark.parametrize(
    ("policy", "healthy", "expected"),
    [
        pytest.param("AlwaysAllow", 0, None, id="AlwaysAllow lets an unready pod go"),
        pytest.param("", 2, None, id="by default if enough others are healthy"),
        pytest.param("IfHealthyBudget", 2, None, id="IfHealthyBudget says the same"),
        pytest.param("", 1, Reason.DISRUPTION_BUDGET, id="not if too few are"),
        pytest.param("Unheard-of", 2, Reason.DISRUPTION_BUDGET, id="nor under a policy that is not known"),
    ],
)
def test_unready_pod_and_the_policy_of_its_budget(policy: str, healthy: int, expected: Reason | None) -> None:
    budget = make_budget(
        "b", APP, disruptions_allowed=0, current_healthy=healthy, desired_healthy=2, unhealthy_policy=policy
    )

    assert make_ledger(budget).verdict(make_covered(ready=False)).reason is expected


def test_unready_pod_that_goes_freely_charges_nothing() -> None:
    ledger = make_ledger(make_budget("b", APP, disruptions_allowed=1, unhealthy_policy="AlwaysAllow"))

    ledger.charge(make_covered(ready=False))

    assert ledger.verdict(make_covered("q")).is_accepted


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({"min_available": 1}, None, id="so many have to serve, and one more does"),
        pytest.param({"min_available": 2, "desired_healthy": 2}, Reason.DISRUPTION_BUDGET, id="two more would have to"),
        pytest.param({}, Reason.DISRUPTION_BUDGET, id="a share, or a number that may be missing, grows with the pods"),
    ],
)
def test_budget_of_a_pod_beside_which_a_second_one_comes(facts: dict[str, Any], expected: Reason | None) -> None:
    used_up = {"disruptions_allowed": 0, "current_healthy": 1, "desired_healthy": 1}
    ledger = make_ledger(make_budget("b", APP, **(used_up | facts)))

    assert ledger.verdict(make_covered(), is_surged=True).reason is expected
    assert ledger.verdict(make_covered()).reason is Reason.DISRUPTION_BUDGET


def test_what_another_pod_of_the_budget_has_used_is_gone_for_a_surged_one() -> None:
    facts: dict[str, Any] = {"disruptions_allowed": 0, "current_healthy": 1, "desired_healthy": 1, "min_available": 1}
    ledger = make_ledger(make_budget("b", APP, **facts))
    ledger.charge(make_covered("q"))

    assert ledger.verdict(make_covered(), is_surged=True).reason is Reason.DISRUPTION_BUDGET
