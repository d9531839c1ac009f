"""When an objective is reached."""

from __future__ import annotations

import pytest

from descheduler.plan.goals import Goal, Level


def goal(*figures: tuple[int, int]) -> Goal:
    """A goal of one level for each figure after the plan with its bound."""
    levels = tuple(Level("nodes", 9, after, bound) for after, bound in figures)
    return Goal("BalanceUtilization", levels, 1, 1, 1, 1, "optimal", 0.0, 0.0, "")


@pytest.mark.parametrize(
    ("figures", "is_reached"),
    [
        pytest.param([(3, 3)], True, id="at the bound"),
        pytest.param([(4, 3)], False, id="above the bound"),
        pytest.param([(3, 3), (5, 4)], False, id="one of two"),
        pytest.param([], True, id="nothing to reach"),
    ],
)
def test_a_goal_is_reached_when_every_figure_is_at_its_bound(figures: list[tuple[int, int]], is_reached: bool) -> None:
    assert goal(*figures).is_reached is is_reached
