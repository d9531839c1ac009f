"""The eviction API's answers for budgets: code, cause and Retry-After."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.eviction.background import BackgroundEvictions, EvictionAnswer
from descheduler.eviction.checks.budgets import BudgetCheck, BudgetLedger
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.pod import Pod
from descheduler.model.verdict import BudgetRefusal
from descheduler.plan.bundles import Bundle, Candidate
from tests.builders import make_budget, make_pod, make_snapshot

APP = {"app": "x"}
STALE = BudgetRefusal(429, "The disruption budget b is still being processed by the server.", 10)
SEVERAL = BudgetRefusal(
    500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
)


def needs(desired: int, healthy: int) -> BudgetRefusal:
    return BudgetRefusal(429, f"The disruption budget b needs {desired} healthy pods and has {healthy} currently")


def make_covered(name: str = "p", **facts: Any) -> Pod:
    return make_pod(name, labels=APP, **facts)


def ledger_of(*budgets: DisruptionBudget) -> BudgetLedger:
    return BudgetLedger(make_snapshot(budgets=budgets))


@pytest.mark.parametrize(
    ("status", "pod", "expected"),
    [
        pytest.param({}, {}, STALE, id="a new budget"),
        pytest.param({"current_healthy": 3, "desired_healthy": 2}, {}, STALE, id="figures of an earlier spec"),
        pytest.param({"unhealthy_policy": "AlwaysAllow"}, {"ready": False}, None, id="AlwaysAllow comes first"),
        pytest.param({}, {"ready": False}, STALE, id="IfHealthyBudget without figures does not"),
        pytest.param({}, {"phase": "Pending"}, None, id="a Pending pod"),
        pytest.param(
            {"disruptions_allowed": -1}, {}, BudgetRefusal(403, "pdb disruptions allowed is negative"), id="-1"
        ),
        pytest.param(
            {"disruptions_allowed": 0, "desired_healthy": 3, "current_healthy": 3}, {}, needs(3, 3), id="all are needed"
        ),
        pytest.param(
            {"disruptions_allowed": 0, "current_healthy": 2},
            {},
            BudgetRefusal(429, "The disruption budget b does not allow evicting pods currently"),
            id="more than are needed, and none allowed all the same",
        ),
        pytest.param(
            {"disruptions_allowed": 0}, {"ready": False}, needs(0, 0), id="no pod is Ready, and none has to be"
        ),
        pytest.param(
            {"disruptions_allowed": 1, "num_disrupted": 2001},
            {},
            BudgetRefusal(403, "DisruptedPods map too big - too many evictions not confirmed by PDB controller"),
            id="too many that were evicted are not seen leaving",
        ),
    ],
)
def test_answer_for_one_budget(status: dict[str, Any], pod: dict[str, Any], expected: BudgetRefusal | None) -> None:
    assert ledger_of(make_budget("b", APP, **status)).refusal(make_covered(**pod)) == expected


@pytest.mark.parametrize("is_ready", [True, False])
def test_two_budgets_are_an_error_whatever_they_allow(is_ready: bool) -> None:
    budgets = [make_budget(name, APP, disruptions_allowed=5, unhealthy_policy="AlwaysAllow") for name in "bc"]

    assert ledger_of(*budgets).refusal(make_covered(ready=is_ready)) == SEVERAL
    assert ledger_of(*budgets).refusal(make_covered(phase="Failed")) is None


def test_planners_learn_that_pods_with_two_budgets_cannot_go() -> None:
    pod = make_covered()
    allowance = ledger_of(*[make_budget(name, APP, disruptions_allowed=5) for name in "bc"]).allowance()

    key = allowance.key_of(pod)

    assert key is not None
    assert allowance.left(key) == 0


def test_evictions_of_this_run_are_counted_before_the_controller_has_seen_them() -> None:
    ledger = ledger_of(make_budget("b", APP, disruptions_allowed=1, current_healthy=3, desired_healthy=2))
    ledger.charge(make_covered())

    assert ledger.refusal(make_covered("q")) == needs(2, 2)
    assert ledger.refusal(make_covered("q"), is_counted_again=False) == BudgetRefusal(
        429, "The disruption budget b does not allow evicting pods currently"
    )


def test_pod_that_is_not_ready_is_charged_where_its_budget_does_not_spare_it() -> None:
    ledger = ledger_of(make_budget("b", APP, disruptions_allowed=1, current_healthy=1))
    ledger.charge(make_covered(ready=False))

    refusal = ledger.refusal(make_covered("q"))

    assert refusal is not None
    assert refusal.cause == "The disruption budget b does not allow evicting pods currently"


def test_failed_precondition_has_charged_the_budget() -> None:
    """The API server charges first: the next pod of the budget is refused, and not asked for."""
    first, second = make_covered("p"), make_covered("q")
    snapshot = make_snapshot(pods=[first, second], budgets=(make_budget("b", APP, disruptions_allowed=1),))

    verdicts = [
        BudgetCheck(snapshot, BackgroundEvictions(snapshot, {first.key: EvictionAnswer(code, "x")}))
        .verdict(Bundle("main", "X", (Candidate(second),)))
        .code
        for code in (404, 409)
    ]

    assert verdicts == ["", "DisruptionBudget"]


@pytest.mark.parametrize(("unconfirmed", "is_refused"), [(2000, False), (2001, True)])
def test_api_waits_where_too_many_evictions_are_not_confirmed(unconfirmed: int, is_refused: bool) -> None:
    ledger = ledger_of(make_budget("b", APP, disruptions_allowed=5, num_disrupted=unconfirmed))

    verdict = ledger.verdict(make_covered())

    assert (verdict.api_refusal is not None and verdict.api_refusal.code == 403) is is_refused
    assert ("has more than 2,000 evictions" in verdict.message) is is_refused


def test_evictions_of_the_run_are_not_confirmed_either() -> None:
    ledger = ledger_of(make_budget("b", APP, disruptions_allowed=5, num_disrupted=1999))

    answers = []
    for name in ("p", "q", "r"):
        answers.append(ledger.verdict(make_covered(name)).is_accepted)
        ledger.charge(make_covered(name))

    assert answers == [True, True, False]
