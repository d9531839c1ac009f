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


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """The time."""
        return self.now


@pytest.mark.parametrize(
    ("seconds", "work", "ending"),
    [
        pytest.param(9.5, 4.5, "", id="neither"),
        pytest.param(10.0, 4.5, "time", id="the last second"),
        pytest.param(9.5, 5.0, "work", id="the last unit"),
        pytest.param(11.0, 6.0, "time", id="both"),
    ],
)
def test_a_budget_is_over_as_soon_as_one_of_its_limits_is_reached(seconds: float, work: float, ending: str) -> None:
    clock = Clock()
    budget = Budget(Limits(seconds=10.0, work=5.0), clock=clock)

    clock.now += seconds
    budget.spend(work)

    assert (budget.ending, budget.is_over) == (ending, ending != "")
    assert (budget.seconds, budget.seconds_left) == (seconds, 10.0 - seconds)


def test_a_budget_that_somebody_cancels_is_over_before_its_limits() -> None:
    is_cancelled = False
    budget = Budget(Limits(work=5.0), lambda: is_cancelled)
    assert not budget.is_over

    is_cancelled = True

    assert (budget.is_over, budget.ending) == (True, "cancelled")


def test_seconds_do_not_end_where_only_work_is_limited() -> None:
    assert Budget(Limits(work=5.0)).seconds_left == float("inf")


@pytest.mark.parametrize(
    ("limits", "progress"),
    [
        (Limits(seconds=10.0), 0.2),
        (Limits(work=4.0), 0.75),
        (Limits(seconds=10.0, work=4.0), 0.75),
        (Limits(seconds=4.0, work=30.0), 0.5),
        (Limits(work=1.0), 1.0),
        (Limits(work=0.0, seconds=10.0), 0.2),
    ],
)
def test_progress_is_that_of_the_nearer_limit(limits: Limits, progress: float) -> None:
    """After 2 seconds and 3 units of work."""
    clock = Clock()
    budget = Budget(limits, clock=clock)

    clock.now += 2.0
    budget.spend(3.0)

    assert budget.progress == pytest.approx(progress)


def test_limits_are_scaled_together() -> None:
    assert Limits(seconds=10.0, work=4.0).scaled(0.5) == Limits(seconds=5.0, work=2.0)
    assert Limits(seconds=10.0).scaled(0.5) == Limits(seconds=5.0)
    assert Limits(work=4.0).scaled(2.0) == Limits(work=8.0)


def test_limits_that_end_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="neither seconds nor work is given"):
        Limits()


def test_what_a_part_spends_is_spent_of_the_whole() -> None:
    clock = Clock()
    whole = Budget(Limits(seconds=10.0, work=5.0), clock=clock)
    whole.spend(1.0)
    clock.now += 4.0

    part = whole.part(Limits(seconds=3.0, work=2.0))
    part.spend(1.5)
    clock.now += 1.0

    assert (part.spent, whole.spent) == (1.5, 2.5)
    assert (part.seconds, whole.seconds) == (1.0, 5.0)


def test_half_of_the_rest_is_a_part_that_ends_with_the_whole() -> None:
    clock, cancelled = Clock(), list[bool]()
    whole = Budget(Limits(seconds=10.0, work=5.0), lambda: bool(cancelled), clock)
    whole.spend(1.0)
    clock.now += 4.0

    half = whole.half_of_rest()
    half.spend(0.5)

    assert (half.seconds_left, half.work_left, whole.spent) == (3.0, 1.5, 1.5)
    assert Budget(Limits(work=4.0)).half_of_rest().seconds_left == float("inf")
    assert Budget(Limits(seconds=4.0), clock=clock).half_of_rest().work_left == float("inf")
    assert not half.is_over
    cancelled.append(True)
    assert half.is_over


def test_evaluations_are_worth_their_pairs_and_the_time_of_their_calls() -> None:
    budget = Budget(Limits(work=5.0))

    budget.spend_evaluations(170_000)
    budget.spend_evaluations(10_000, calls=3)

    assert budget.spent == pytest.approx(3e-3)


@pytest.mark.parametrize(
    ("seconds", "work", "share"),
    [
        pytest.param(60.0, 60.0, Limits(seconds=5.0, work=0.6), id="work that is done in just these seconds"),
        pytest.param(60.0, 61.0, Limits(seconds=0.6, work=0.61), id="more work than is done in them"),
        pytest.param(8.0, 4.0, Limits(seconds=2.0, work=0.04), id="a quarter of a short time"),
    ],
)
def test_a_short_part_has_seconds_to_spare_where_work_ends_it(seconds: float, work: float, share: Limits) -> None:
    found = Budget(Limits(seconds=seconds, work=work), clock=lambda: 0.0).share(0.01)

    assert found.seconds == pytest.approx(share.seconds)
    assert found.work == pytest.approx(share.work)


def test_nothing_is_left_for_a_part_after_the_end() -> None:
    clock = Clock()
    budget = Budget(Limits(seconds=10.0, work=5.0), clock=clock)
    budget.spend(4.0)
    clock.now += 9.0
    assert budget.stretch(2.0).seconds == pytest.approx(0.6)
    assert budget.stretch(2.0).work == 1.0

    budget.spend(4.0)
    clock.now += 9.0

    assert budget.share(0.5) == budget.stretch(2.0) == Limits(seconds=0.0, work=0.0)
