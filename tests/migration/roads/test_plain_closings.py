"""A profile whose windows close, or whose blackout begins, while its evictions are carried out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from descheduler.migration.roads.plain import execute
from descheduler.migration.settings import ClosingTime, DispatchSettings, EvictionTerms
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from tests.builders import NOW
from tests.migration.stand_ins import ONE_BY_ONE, Clock, ScriptedApi, around, make_plan, no_answer, run, wait_told

CLOSED = "profile p evicts nothing more"


def closing_at(seconds: float, *, qps: float = 1.0) -> DispatchSettings:
    """One eviction a second, of profile p until then."""
    terms = {"p": EvictionTerms(closing=ClosingTime(seconds, NOW + timedelta(seconds=seconds), CLOSED))}
    return replace(ONE_BY_ONE, qps=qps, burst=1, terms=terms)


def of_other_profile(eviction: PlannedEviction) -> PlannedEviction:
    return replace(eviction, profile="other")


def test_what_is_left_is_not_attempted_and_says_why() -> None:
    clock = Clock()
    api = ScriptedApi(clock)

    outcomes = run(make_plan("a", "b", "c", "d"), api, closing_at(1.5), clock=clock)

    assert api.names == ["a", "b"]
    assert [(outcome.kind, outcome.code) for outcome in outcomes[2:]] == [
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.WINDOW_CLOSED)
    ] * 2
    assert {outcome.message for outcome in outcomes[2:]} == {CLOSED}


@pytest.mark.parametrize(
    ("closes_after", "set_by_seconds"),
    [
        pytest.param(1000.0, 1000.0, id="the machine was suspended, or the time of day is set forward"),
        pytest.param(1.5, -3600.0, id="the time of day is set back"),
    ],
)
def test_the_first_of_two_clocks_closes_it(closes_after: float, set_by_seconds: float) -> None:
    clock, settings = Clock(), closing_at(closes_after)
    api = ScriptedApi(clock)
    time_of_day = lambda: NOW + timedelta(seconds=clock.now() + (set_by_seconds if clock.now() > 1 else 0))  # noqa: E731

    execute(make_plan("a", "b", "c"), api, settings, replace(around(settings, clock), now=time_of_day))

    assert api.names == ["a", "b"]


def test_other_profiles_go_on() -> None:
    clock = Clock()
    api = ScriptedApi(clock)
    first, second, third = make_plan("a", "b", "c")

    run([first, second, of_other_profile(third)], api, closing_at(0.5), clock=clock)

    assert api.names == ["a", "c"]


def test_no_call_is_made_again_after_it() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[wait_told(30)])

    (outcome,) = run(make_plan("a"), api, closing_at(10), clock=clock)

    assert api.names == ["a"]
    assert (outcome.kind, outcome.code) == (OutcomeKind.REFUSED, OutcomeCode.THROTTLED)


def test_pod_in_doubt_is_still_looked_at() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[no_answer()])

    (outcome,) = run(make_plan("a"), api, closing_at(0.5), clock=clock)

    assert api.names == ["a"]
    assert api.looks
    assert outcome.kind is OutcomeKind.EVICTED
    assert outcome.code is OutcomeCode.OUTCOME_UNKNOWN


def test_run_that_closes_before_its_first_call_makes_none() -> None:
    api = ScriptedApi()

    outcomes = run(make_plan("a", "b"), api, closing_at(0.0))

    assert api.names == []
    assert {outcome.code for outcome in outcomes} == {OutcomeCode.WINDOW_CLOSED}
