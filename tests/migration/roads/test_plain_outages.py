"""What the dispatcher does while the API server is away, or turns calls away because it has too much to do."""

from __future__ import annotations

from msgspec.structs import replace

from descheduler.eviction.checks.limits import RunLimits
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.migration.stand_ins import (
    FAST,
    ONE_BY_ONE,
    BusyApi,
    Clock,
    ScriptedApi,
    codes,
    make_plan,
    not_sent,
    run,
    turned_away,
)


def test_evictions_wait_for_an_api_server_that_is_away_for_a_while() -> None:
    away = not_sent()
    api = ScriptedApi(a=[away] * 20, b=[away] * 20)

    outcomes = run(make_plan("a", "b", "c"), api, replace(ONE_BY_ONE, max_retries=1, max_fault_retries=1))

    assert codes(outcomes) == [("a", OutcomeCode.DONE), ("b", OutcomeCode.DONE), ("c", OutcomeCode.DONE)]


def test_api_server_that_stays_away_is_waited_for_once_and_not_once_a_pod() -> None:
    """Nothing was sent, so the limit is not used up either."""
    away = not_sent()
    clock = Clock()
    api = ScriptedApi(clock, a=[away] * 99, b=[away] * 99, c=[away] * 99)
    patient = replace(ONE_BY_ONE, longest_outage_seconds=30.0, limits=RunLimits(total=3))

    outcomes = run(make_plan("a", "b", "c"), api, patient, clock=clock)

    assert codes(outcomes) == [(name, OutcomeCode.NO_CONNECTION) for name in "abc"]
    assert 29.0 <= clock.now() <= 32.0


def test_outage_starts_anew_after_an_answer() -> None:
    away = not_sent()
    clock = Clock()
    api = ScriptedApi(clock, a=[away] * 8, b=[away] * 8)
    settings = replace(ONE_BY_ONE, qps=1.0, burst=1, longest_outage_seconds=10.0)

    outcomes = run(make_plan("a", "b"), api, settings, clock=clock)

    assert codes(outcomes) == [("a", OutcomeCode.DONE), ("b", OutcomeCode.DONE)]
    assert clock.now() > 10.0


def test_overloaded_api_server_is_asked_for_no_more_than_it_bears() -> None:
    """All pods get their turn though it serves five a second, and calls in vain stay within a few a served one."""
    clock = Clock()
    api = BusyApi(clock, num_served=5)
    names = [f"p{number:03}" for number in range(200)]

    outcomes = run(make_plan(*names), api, replace(FAST, max_retries=0), clock=clock)

    assert {outcome.code for outcome in outcomes} == {OutcomeCode.DONE}
    assert 39.0 <= clock.now() <= 80.0
    assert api.num_turned_away <= 200


def test_no_call_starts_before_the_time_that_an_overloaded_server_told() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[turned_away(7.0)])

    outcomes = run(make_plan("a", "b"), api, clock=clock)

    assert api.calls == [("a", 0.0), ("a", 7.0), ("b", 7.0)]
    assert codes(outcomes) == [("a", OutcomeCode.DONE), ("b", OutcomeCode.DONE)]


def test_api_server_that_stays_overloaded_ends_the_run() -> None:
    """Pods whose turn had not come are not asked for, and nothing uses a limit up."""
    clock = Clock()
    api = ScriptedApi(clock, a=[turned_away(5.0)] * 99)
    patient = replace(ONE_BY_ONE, longest_outage_seconds=30.0)

    outcomes = run(make_plan("a", "b"), api, patient, clock=clock)

    assert [(outcome.kind, outcome.code) for outcome in outcomes] == [
        (OutcomeKind.REFUSED, OutcomeCode.OVERLOADED),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.OVERLOADED),
    ]
    assert outcomes[1].message == ("the API server was overloaded for too long")
    assert clock.now() == 30.0
