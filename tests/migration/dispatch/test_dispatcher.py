"""What the dispatcher tells of doubts and of a busy server, what it counts, and how long it waits."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from msgspec.structs import replace

from descheduler.eviction.checks.limits import RunLimits
from descheduler.kube.evict import EvictionResponse, PodState
from descheduler.migration.settings import ClosingTime, EvictionTerms
from descheduler.plan.outcome import OutcomeCode
from tests.builders import NOW
from tests.migration.stand_ins import (
    ONE_BY_ONE,
    Clock,
    Heard,
    ScriptedApi,
    broken_off,
    codes,
    make_plan,
    no_answer,
    no_disruption,
    not_sent,
    run,
    turned_away,
    wait_told,
)

DONE, DEADLINE = OutcomeCode.DONE, OutcomeCode.DEADLINE
SETTINGS = replace(ONE_BY_ONE, effect_seconds=40.0, drain_seconds=0.0, fault_wait_seconds=2.0)


@pytest.mark.parametrize(
    ("answers", "doubts"),
    [
        pytest.param([], [], id="none"),
        pytest.param([no_disruption()], [], id="a refusal"),
        pytest.param([not_sent()], [], id="nothing was sent"),
        pytest.param([no_answer()], [("a", "connection lost", 40.0)], id="no answer"),
        pytest.param([no_answer(), broken_off()], [("a", "connection lost", 40.0)], id="no answer, twice"),
    ],
)
def test_first_doubt_about_a_pod_is_told_with_the_time_until_it_is_resolved(
    answers: list[EvictionResponse], doubts: list[tuple[str, str, float]]
) -> None:
    sink, clock = Heard(), Clock()

    run(make_plan("a", "b"), ScriptedApi(clock, a=answers), SETTINGS, clock=clock, sink=sink)

    assert sink.doubts == doubts


def test_time_until_a_doubt_is_resolved_runs_from_the_answer() -> None:
    sink, clock = Heard(), Clock()
    clock.sleep(100.0)

    run(make_plan("a"), ScriptedApi(clock, a=[no_answer()]), SETTINGS, clock=clock, sink=sink)

    assert [seconds for *_, seconds in sink.doubts] == [40.0]


@pytest.mark.parametrize(
    ("answer", "overloads"),
    [
        pytest.param(turned_away(3.0), [3.0], id="for any pod"),
        pytest.param(wait_told(3.0), [], id="for this pod"),
        pytest.param(no_answer(), [], id="no answer at all"),
    ],
)
def test_server_that_turns_calls_away_is_told(answer: EvictionResponse, overloads: list[float]) -> None:
    sink, clock = Heard(), Clock()

    run(make_plan("a"), ScriptedApi(clock, a=[answer]), SETTINGS, clock=clock, sink=sink)

    assert sink.overloads == overloads


def test_outcomes_are_the_same_where_nobody_hears_of_them() -> None:
    def outcomes(sink: Heard | None) -> list[tuple[str, OutcomeCode]]:
        clock = Clock()
        api = ScriptedApi(clock, a=[no_answer()], b=[turned_away(1.0)])
        return codes(run(make_plan("a", "b"), api, SETTINGS, clock=clock, sink=sink))

    assert outcomes(None) == outcomes(Heard())


def test_run_waits_until_the_deadline_and_not_beyond() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[wait_told(4.0)])
    settings = replace(SETTINGS, qps=0.1, burst=1, deadline=7.0)

    outcomes = run(make_plan("a", "b"), api, settings, clock=clock)

    assert clock.now() == 7.0
    assert outcomes[1].code is DEADLINE


@pytest.mark.parametrize(("deadline", "is_sent"), [(0.0, False), (0.1, True), (None, True)])
def test_no_call_starts_at_the_deadline(deadline: float | None, *, is_sent: bool) -> None:
    api = ScriptedApi()

    (outcome,) = run(make_plan("a"), api, replace(SETTINGS, deadline=deadline))

    assert (outcome.code, len(api.calls)) == ((DONE, 1) if is_sent else (DEADLINE, 0))


@pytest.mark.parametrize(
    ("deadline", "code"),
    [
        pytest.param(None, OutcomeCode.OVERLOADED, id="no deadline"),
        pytest.param(1.5, OutcomeCode.OVERLOADED, id="a deadline that comes first"),
    ],
)
def test_server_that_is_overloaded_for_longer_than_the_run_can_wait_halts_it(
    deadline: float | None, code: OutcomeCode
) -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[turned_away(1.0), turned_away(61.0)])

    outcomes = run(make_plan("a", "b"), api, replace(SETTINGS, deadline=deadline), clock=clock)

    assert outcomes[1].code is code
    assert "b" not in api.names


def test_signal_comes_before_an_overloaded_server() -> None:
    stop, clock = threading.Event(), Clock()
    api = ScriptedApi(clock, a=[turned_away(61.0)])
    api.before_answer = lambda name: stop.set()

    outcomes = run(make_plan("a", "b"), api, SETTINGS, clock=clock, stop=stop)

    assert outcomes[1].code is OutcomeCode.STOPPED


def closing(seconds: float, *, by_day: float = 1e6) -> dict[str, EvictionTerms]:
    """Profile p evicts nothing any more after so many seconds by the one clock or the other."""
    time = ClosingTime(seconds, NOW + timedelta(seconds=by_day), "the window of p is closed")
    return {"p": EvictionTerms(closing=time)}


@pytest.mark.parametrize(
    ("terms", "num_sent"),
    [
        pytest.param(closing(5.0), 1, id="its time has come by the clock of the run"),
        pytest.param(closing(1e6, by_day=5.0), 1, id="its time has come by the time of day"),
        pytest.param(closing(1e6), 2, id="it has not come"),
    ],
)
def test_profile_evicts_nothing_more_after_its_closing(terms: dict[str, EvictionTerms], num_sent: int) -> None:
    clock = Clock()
    api = ScriptedApi(clock)
    settings = replace(SETTINGS, qps=0.2, burst=1, terms=terms)

    outcomes = run(make_plan("a", "b"), api, settings, clock=clock)

    assert len(api.calls) == num_sent
    assert [outcome.code for outcome in outcomes] == [DONE, DONE if num_sent == 2 else OutcomeCode.WINDOW_CLOSED]


def test_pod_counts_once_however_often_it_is_asked_for() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[no_answer(), wait_told(1.0)])
    settings = replace(SETTINGS, limits=RunLimits(total=2))

    outcomes = run(make_plan("a", "b", "c"), api, settings, clock=clock)

    assert codes(outcomes) == [("a", DONE), ("b", DONE), ("c", OutcomeCode.LIMIT)]
    assert outcomes[0].num_attempts == 3


def test_pod_that_stays_frees_the_limit_for_another() -> None:
    settings = replace(SETTINGS, limits=RunLimits(total=1))

    outcomes = run(make_plan("a", "b"), ScriptedApi(a=[no_disruption()]), settings)

    assert codes(outcomes) == [("a", OutcomeCode.BUDGET), ("b", DONE)]


def test_call_without_an_answer_is_awaited_for_a_moment_when_the_run_ends() -> None:
    """What is in doubt counts as evicted."""
    clock = Clock()
    api = ScriptedApi(clock, a=[no_answer()] * 9).finds("a", PodState.UNKNOWN)

    (outcome,) = run(make_plan("a"), api, replace(SETTINGS, deadline=3.0), clock=clock)

    assert (outcome.code, outcome.status_code) == (OutcomeCode.OUTCOME_UNKNOWN, 0)
