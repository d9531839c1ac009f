"""Limits and budgets as rules of the optimizer, and what the goal of a plan says of those that stop it."""

from __future__ import annotations

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.budgets import BudgetLedger
from descheduler.eviction.placement_verification.in_any_order import NOTHING_HELD_BACK, OrderCheck
from descheduler.eviction.request_check import Allowance, always
from descheduler.optimizer.problem import Problem, make_problem
from descheduler.planner.problem.move_limits import move_limits
from descheduler.planner.search.stopping_limits import stopping_limits
from descheduler.policy.load import load_policy
from tests.builders import make_budget, make_pod, make_snapshot
from tests.planner.runs import verified

PODS = [make_pod(name, node="n") for name in ("goes", "stays", "waits")]
HELD_BACK = NOTHING_HELD_BACK.with_more({PODS[1]: "others may take its room"})
POLICY = load_policy(verified({"objectives": [{"makeRoom": {}}]}), REGISTRY)


def limited_by_order() -> Problem:
    total = Allowance(lambda _: True, lambda _: 2, name_of=always("maxEvictions (2)"))
    rules = move_limits(PODS, 2, [*OrderCheck(POLICY.profiles, HELD_BACK).allowances(0), total])
    return make_problem([[1]] * 3, [[3]], [0, 0, 0], rules=rules)


def test_pods_held_back_for_the_order_of_replacements_are_a_limit_with_that_name() -> None:
    order, total = limited_by_order().move_limits

    assert (order.group.tolist(), order.limit.tolist()) == ([-1, 0, -1], [0])
    assert order.names == ("the order of the replacements (OrderDependentLanding)",)
    assert (total.group.tolist(), total.limit.tolist(), total.names) == ([0, 0, -1], [2], ("maxEvictions (2)",))


def test_plan_is_stopped_by_the_order_of_replacements_where_it_gets_further_without_it() -> None:
    problem = limited_by_order()

    stopping = stopping_limits(problem, 2, lambda other: (2 if other is problem else 1, 2))

    assert stopping is not None
    assert stopping.text == "the order of the replacements (OrderDependentLanding)"
    assert stopping.rest(1, lambda most: "") == "the rest needs at least 1 more eviction"


def test_two_budgets_are_named_and_how_many_more_stop_the_plan_but_none_that_allows_nothing() -> None:
    pods = [make_pod(f"{app}-{n}", node="n", labels={"app": app}) for app in "abcde" for n in range(2)]
    allowed = {"a": 1, "b": 1, "c": 1, "d": 1, "e": 0}
    budgets = [make_budget(app, {"app": app}, disruptions_allowed=number) for app, number in allowed.items()]
    ledger = BudgetLedger(make_snapshot(pods=pods, budgets=tuple(budgets)))
    problem = make_problem([[1]] * 10, [[10]], [0] * 10, rules=move_limits(pods, 10, [ledger.allowance()]))
    lifted: list[Problem] = []

    def bound_of(other: Problem) -> tuple[int, int]:
        lifted.append(other)
        return 1, 8

    stopping = stopping_limits(problem, 2, bound_of)

    assert stopping is not None
    assert stopping.text == (
        "PodDisruptionBudget default/a (1 disruption now), PodDisruptionBudget default/b (1 disruption now) and 2 more"
    )
    assert [other.move_limits[0].limit.tolist() for other in lifted] == [[10, 10, 10, 10, 0]]
