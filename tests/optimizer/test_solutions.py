"""What a plan says of itself: how far from its bound it is, and what ended its search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import (
    BalanceUtilization,
    Limits,
    MinDomains,
    Problem,
    Reassignment,
    RepairViolations,
    SearchProgress,
    Solution,
    make_problem,
    solve,
)


def solution(value: tuple[int, ...], bound: tuple[int, ...], **facts: Any) -> Solution:
    known = {"waves": (), "seconds": 0.0, "first_seconds": 0.0, "work": 0.0, "endings": frozenset(), **facts}
    return Solution(np.zeros(1, np.int64), value_before=value, value=value, bound=bound, **known)


@pytest.mark.parametrize(
    ("value", "bound", "is_optimal", "gap"),
    [
        pytest.param((2, 5), (2, 5), True, 0.0, id="at its bound"),
        pytest.param((2, 6), (2, 5), False, 0.2, id="a fifth above it"),
        pytest.param((3, 5), (2, 5), False, float("inf"), id="above it in an earlier figure"),
        pytest.param((0, 3), (0, 0), False, 3.0, id="above nothing"),
        pytest.param((2, 4), (2, 5), True, -0.2, id="below a bound of other moves"),
        pytest.param((-3,), (-4,), False, 0.25, id="below nothing"),
    ],
)
def test_a_gap_is_a_share_of_the_bound_of_the_last_figure(
    value: tuple[int, ...], bound: tuple[int, ...], is_optimal: bool, gap: float
) -> None:
    found = solution(value, bound)

    assert found.is_optimal is is_optimal
    assert found.gap == pytest.approx(gap)


def test_moves_are_those_of_all_waves_in_order() -> None:
    first, second = Reassignment(0, 0, 1), Reassignment(1, 1, 0)

    assert solution((0,), (0,), waves=((second,), (), (first,))).moves == (second, first)


def apart() -> Problem:
    """8 of at most 7 on the first node; the pod that the other one has room for is not to be where the one there is."""
    rule = MinDomains(np.array([-1, 0, 0]), np.arange(2), np.array([2]))
    return make_problem([[5], [3], [4]], [[20], [20]], [0, 0, 1], rules=[rule])


CEILINGS = BalanceUtilization(np.array([[7], [7]]))


def test_a_small_problem_is_closed_although_its_bound_is_lower() -> None:
    """The bound does not look at the rule that keeps the pod where it is."""
    plan = solve(apart(), CEILINGS, Limits(work=1.0))

    assert plan.is_closed
    assert (plan.value, plan.bound) == ((1, 0), (0, 1))
    assert plan.endings == {""}


def test_a_small_problem_is_closed_where_no_order_leads_to_anything_better() -> None:
    """Both pods have to leave, each onto the node of the other one, which has no room for both."""
    plan = solve(make_problem([[3], [3]], [[4], [4]], [0, 1]), RepairViolations(np.array([1, 1])), Limits(work=1.0))

    assert plan.is_closed
    assert (plan.value, plan.bound) == ((2, 0), (0, 2))


def test_a_plan_that_was_not_searched_for_is_not_closed() -> None:
    plan = solve(apart(), CEILINGS, Limits(work=1e-9))

    assert not plan.is_closed
    assert plan.endings == {"work"}


def test_progress_is_told_of_plans_that_are_better_than_all_before_them() -> None:
    told: list[SearchProgress] = []
    problem = make_problem([[1]] * 3, [[9]] * 2, [0, 0, 0])

    plan = solve(problem, RepairViolations(np.array([1, 1, 0])), Limits(work=1.0), on_progress=told.append)

    assert [each.value for each in told] == sorted({each.value for each in told}, reverse=True)
    assert (told[-1].value, told[-1].bound, told[-1].num_moves) == (plan.value, plan.bound, 2)
    assert plan.first_seconds == told[0].seconds > 0.0


def test_nothing_is_told_where_no_plan_is_better_than_none() -> None:
    told: list[SearchProgress] = []

    plan = solve(
        make_problem([[1]], [[9]], [0]), RepairViolations(np.array([1])), Limits(work=1.0), on_progress=told.append
    )

    assert (told, plan.first_seconds, plan.value) == ([], 0.0, (1, 0))


def test_a_search_that_is_cancelled_says_so() -> None:
    plan = solve(apart(), CEILINGS, Limits(work=1.0), is_cancelled=lambda: True)

    assert plan.endings == {"cancelled"}
    assert plan.moves == ()
