"""Limits and budgets as rules of the optimizer, and what the goal of a plan says of those that stop it."""

from __future__ import annotations

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.placement_verification.in_any_order import NOTHING_HELD_BACK
from descheduler.eviction.placement_verification.order_check import OrderCheck
from descheduler.eviction.request_check import Allowance
from descheduler.optimizer.problem import Problem, make_problem
from descheduler.planner.problem.move_limits import move_limits
from descheduler.planner.search.stopping_limits import stopping_limits
from descheduler.policy.load import load_policy
from tests.builders import make_pod
from tests.planner.runs import verified

PODS = [make_pod(name, node="n") for name in ("goes", "stays", "waits")]
HELD_BACK = NOTHING_HELD_BACK.with_more({PODS[1]: "others may take its room"})
POLICY = load_policy(verified({"objectives": [{"makeRoom": {}}]}), REGISTRY)


def limited_by_order() -> Problem:
    total = Allowance(lambda _: True, lambda _: 2, name="maxEvictions (2)")
    rules = move_limits(PODS, 2, [*OrderCheck(POLICY.profiles, HELD_BACK).allowances(0), total])
    return make_problem([[1]] * 3, [[3]], [0, 0, 0], rules=rules)


def test_pods_held_back_for_the_order_of_replacements_are_a_limit_with_that_name() -> None:
    order, total = limited_by_order().move_limits

    assert (order.group.tolist(), order.limit.tolist()) == ([-1, 0, -1], [0])
    assert order.name == "the order of the replacements (OrderDependentLanding)"
    assert (total.group.tolist(), total.limit.tolist(), total.name) == ([0, 0, -1], [2], "maxEvictions (2)")


def test_plan_is_stopped_by_the_order_of_replacements_where_it_gets_further_without_it() -> None:
    problem = limited_by_order()

    stopping = stopping_limits(problem, 2, lambda other: (2 if other is problem else 1, 2))

    assert stopping is not None
    assert stopping.text == "the order of the replacements (OrderDependentLanding)"
    assert stopping.rest(1) == "the rest needs at least 1 more eviction"
