from __future__ import annotations

from descheduler.simulation.status_after import budgets_after
from tests.builders import make_budget, make_pod, make_snapshot

LABELS = {"app": "web"}
BUDGET = make_budget("web", LABELS, disruptions_allowed=1, current_healthy=3, desired_healthy=2)


def test_pod_that_is_gone_takes_a_disruption() -> None:
    pod = make_pod("old", labels=LABELS)

    (budget,) = budgets_after(make_snapshot(pods=[pod], budgets=(BUDGET,)), [pod], [])

    assert (budget.current_healthy, budget.disruptions_allowed) == (2, 0)


def test_pod_that_has_come_gives_it_back() -> None:
    old, new = make_pod("old", labels=LABELS), make_pod("new", labels=LABELS)

    budgets = budgets_after(make_snapshot(pods=[old], budgets=(BUDGET,)), [old], [new])

    assert budgets == (BUDGET,)


def test_pod_that_was_not_ready_changes_nothing_when_it_goes() -> None:
    pod = make_pod("old", labels=LABELS, ready=False)

    assert budgets_after(make_snapshot(pods=[pod], budgets=(BUDGET,)), [pod], []) == (BUDGET,)


def test_no_fewer_than_zero_disruptions_are_allowed() -> None:
    pods = [make_pod(name, labels=LABELS) for name in ("old", "older")]

    (budget,) = budgets_after(make_snapshot(pods=pods, budgets=(BUDGET,)), pods, [])

    assert budget.disruptions_allowed == 0


def test_budget_that_nobody_has_reported_on_stays_so() -> None:
    pod, unknown = make_pod("old", labels=LABELS), make_budget("web", LABELS)

    assert budgets_after(make_snapshot(pods=[pod], budgets=(unknown,)), [pod], []) == (unknown,)
