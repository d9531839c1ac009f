"""Budgets of searches: what a share of one is."""

from __future__ import annotations

import pytest

from descheduler.optimizer.limits import Budget, Limits


@pytest.mark.parametrize(
    ("spent", "share"), [pytest.param(2.0, 6.0, id="enough left"), pytest.param(7.0, 3.0, id="less left")]
)
def test_a_share_is_of_the_whole_as_far_as_that_is_left(spent: float, share: float) -> None:
    now = 0.0
    budget = Budget(Limits(seconds=100.0, work=10.0), clock=lambda: now)

    now = 10.0 * spent
    budget.spend(spent)

    assert budget.share(0.6) == Limits(seconds=10.0 * share, work=share)


def test_nothing_is_left_of_a_budget_that_is_over() -> None:
    budget = Budget(Limits(work=1.0))

    budget.spend(2.0)

    assert budget.share(0.5) == Limits(work=0.0)


@pytest.mark.parametrize(
    ("work", "part"),
    [
        pytest.param(15.0, Limits(seconds=5.0, work=0.075), id="work ends the search"),
        pytest.param(1000.0, Limits(seconds=0.3, work=5.0), id="time ends the search"),
        pytest.param(None, Limits(seconds=0.3), id="only time is limited"),
    ],
)
def test_a_short_part_ends_by_its_work_where_that_ends_the_search(work: float | None, part: Limits) -> None:
    """Else it would depend on what else the machine does in that moment."""
    budget = Budget(Limits(seconds=60.0, work=work), clock=lambda: 0.0)

    assert budget.share(0.005) == part


@pytest.mark.parametrize(
    ("limits", "stretch"),
    [
        pytest.param(Limits(work=10.0), Limits(work=2.0), id="work"),
        pytest.param(Limits(work=1000.0), Limits(work=2.0), id="the same of more work"),
        pytest.param(Limits(work=1.5), Limits(work=1.5), id="what is left of less"),
        pytest.param(Limits(seconds=100.0), Limits(seconds=2.0), id="seconds"),
        pytest.param(Limits(seconds=2.0), Limits(seconds=1.2), id="seconds with a rest for what is made of it"),
        pytest.param(Limits(seconds=100.0, work=10.0), Limits(seconds=60.0, work=2.0), id="work within the seconds"),
    ],
)
def test_a_stretch_does_not_depend_on_how_much_the_limits_are(limits: Limits, stretch: Limits) -> None:
    assert Budget(limits, clock=lambda: 0.0).stretch(2.0) == stretch
