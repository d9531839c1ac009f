"""What settings allow, and when a profile evicts nothing more."""

from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.migration.settings import ClosingTime, DispatchSettings, EvictionTerms, Pace
from tests.builders import NOW

CLOSING = ClosingTime(100.0, NOW, "the window is closed")


@pytest.mark.parametrize(
    ("qps", "burst", "why"),
    [(0.1, 1, ""), (0.0, 1, "qps is 0.0, it must be above 0"), (-1.0, 1, "qps"), (1.0, 0, "burst is 0, at least 1")],
)
def test_pace_lets_something_through(qps: float, burst: int, why: str) -> None:
    for make in (lambda: Pace(qps, burst), lambda: DispatchSettings(qps=qps, burst=burst)):
        if why:
            with pytest.raises(ValueError, match=why):
                make()
        else:
            assert make()


@pytest.mark.parametrize(("most", "is_valid"), [(1, True), (0, False)])
def test_at_least_one_call_is_under_way(most: int, *, is_valid: bool) -> None:
    if is_valid:
        assert DispatchSettings(max_in_flight=most).max_in_flight == most
    else:
        with pytest.raises(ValueError, match="max_in_flight is 0, at least 1 is needed"):
            DispatchSettings(max_in_flight=most)


@pytest.mark.parametrize(
    ("now", "on_seconds", "has_come"),
    [(99.9, -1, False), (100.0, -1, True), (99.9, 0, True), (101.0, -1, True), (0.0, 1, True)],
)
def test_profile_closes_by_the_first_of_two_clocks(now: float, on_seconds: float, *, has_come: bool) -> None:
    on = NOW + timedelta(seconds=on_seconds)
    settings = DispatchSettings(terms={"p": EvictionTerms(closing=CLOSING), "q": EvictionTerms()})

    assert CLOSING.has_come(now, on) is has_come
    assert settings.why_closed("p", now, on) == ("the window is closed" if has_come else "")
    assert (settings.why_closed("q", now, on), settings.why_closed("unknown", now, on)) == ("", "")
    assert settings.has_closed(now, on) is has_come


def test_profile_without_terms_of_its_own_has_those_of_the_run() -> None:
    own = EvictionTerms(grace_period_seconds=0)
    settings = DispatchSettings(terms={"p": own})

    assert (settings.terms_of("p"), settings.terms_of("q")) == (own, EvictionTerms())
    assert not settings.has_closed(1e9, NOW)
