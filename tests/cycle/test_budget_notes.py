"""The line about budgets that block pods of a run for ever."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_budget, make_node, make_pod, make_snapshot
from tests.report.decided_cycles import pod_life_time_policy

PLANNER = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "p",
            "pluginConfig": [{"name": "MigrationPlanner", "args": {"objectives": [{"consolidateNodes": {}}]}}],
            "plugins": {"balance": {"enabled": ["MigrationPlanner"]}},
        }
    ],
}
NEVER: dict[str, Any] = {"disruptions_allowed": 0, "max_unavailable": 0, "current_healthy": 1, "desired_healthy": 1}
NOT_NOW = NEVER | {"max_unavailable": 1, "expected_pods": 2}


def notes(document: Any, *budgets: DisruptionBudget, age: int = 7200) -> list[str]:
    """What a run says about budgets of a cluster with two pods."""
    pods = [make_pod(name, node="a", labels={"app": name}, age=age) for name in ("one", "two")]
    snapshot = make_snapshot([make_node("a"), make_node("b")], pods, budgets=budgets)
    decisions = decide(load_policy(document, REGISTRY), snapshot, now=NOW)
    return [note for note in decisions.notes if "PodDisruptionBudget" in note]


def test_budgets_that_can_never_allow_what_was_asked_for_are_named() -> None:
    budgets = [make_budget(name, {"app": name}, **NEVER) for name in ("one", "two")]

    assert notes(pod_life_time_policy(), *budgets) == [
        "2 PodDisruptionBudgets can never allow an eviction and block 2 pods: default/one (maxUnavailable is 0), "
        "default/two (maxUnavailable is 0); see 'descheduler explain budgets'"
    ]


@pytest.mark.parametrize(
    ("facts", "age"),
    [
        pytest.param(NOT_NOW, 7200, id="a budget that allows none now"),
        pytest.param(NEVER, 1, id="a budget whose pods nobody asks for"),
    ],
)
def test_other_budgets_are_not_named(facts: dict[str, Any], age: int) -> None:
    assert notes(pod_life_time_policy(), make_budget("one", {"app": "one"}, **facts), age=age) == []


def test_planner_asks_for_no_such_pod_and_has_them_named_all_the_same() -> None:
    assert notes(PLANNER, make_budget("one", {"app": "one"}, **NEVER)) == [
        "1 PodDisruptionBudget can never allow an eviction and blocks 1 pod: default/one (maxUnavailable is 0); "
        "see 'descheduler explain budgets'"
    ]


SEVERAL = "covered by more than one PodDisruptionBudget and can never be evicted: default/first, default/second; "
EITHER: dict[str, Any] = {"disruptions_allowed": 1, "current_healthy": 2, "desired_healthy": 1}


@pytest.mark.parametrize("document", [pod_life_time_policy(), PLANNER], ids=["a strategy", "a planner"])
def test_budgets_that_cover_a_pod_together_are_named(document: Any) -> None:
    budgets = [make_budget(name, {"app": "one"}, **EITHER) for name in ("first", "second")]

    assert notes(document, *budgets) == [f"1 pod is {SEVERAL}see 'descheduler explain budgets'"]


def test_budgets_that_cover_a_pod_together_are_not_named_where_nobody_asks_for_it() -> None:
    budgets = [make_budget(name, {"app": "one"}, **EITHER) for name in ("first", "second")]

    assert notes(pod_life_time_policy(), *budgets, age=1) == []
