"""Calls whose answer leaves open whether the pod was evicted: they count as evicted until the pod was seen alive."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace

from descheduler.eviction.checks.limits import RunLimits
from descheduler.kube.evict import EvictionResponse, PodState
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.transport.errors import ExchangeError
from tests.migration.stand_ins import (
    ONE_BY_ONE,
    Clock,
    Heard,
    ScriptedApi,
    broken_off,
    codes,
    make_eviction,
    make_plan,
    no_answer,
    no_disruption,
    not_sent,
    run,
    turned_away,
)

PATIENT = replace(ONE_BY_ONE, effect_seconds=40.0)
ONE_EVICTION = replace(PATIENT, limits=RunLimits(total=1))

UNCLEAR = [
    pytest.param(no_answer(), id="no answer"),
    pytest.param(EvictionResponse(302, is_told=False), id="a redirect"),
    pytest.param(EvictionResponse(400, "BadRequest", "no"), id="400"),
    pytest.param(EvictionResponse(401, "Unauthorized", "no"), id="401"),
    pytest.param(EvictionResponse(408, is_told=False), id="408 of a proxy"),
    pytest.param(EvictionResponse(429, is_told=False), id="429 of a proxy"),
    pytest.param(EvictionResponse(403, is_told=False), id="403 of a proxy"),
    pytest.param(EvictionResponse(404, is_told=False), id="404 of a proxy"),
    pytest.param(EvictionResponse(200, is_told=False), id="200 of somebody else"),
    pytest.param(broken_off(500), id="500"),
    pytest.param(EvictionResponse(502, is_told=False), id="502 of a balancer"),
    pytest.param(EvictionResponse(503, is_told=False), id="503 of a balancer"),
    pytest.param(broken_off(504), id="504"),
]


@pytest.mark.parametrize("answer", UNCLEAR)
def test_pod_that_left_after_an_unclear_answer_is_evicted_and_uses_the_limit_up(answer: EvictionResponse) -> None:
    api = ScriptedApi(a=[answer]).finds("a", PodState.GONE)

    outcomes = run(make_plan("a", "b"), api, ONE_EVICTION)

    assert codes(outcomes) == [("a", OutcomeCode.LEFT_WITHOUT_ANSWER), ("b", OutcomeCode.LIMIT)]
    assert api.names == ["a"]


@pytest.mark.parametrize("answer", UNCLEAR)
def test_limit_is_not_free_before_the_call_can_no_longer_take_effect(answer: EvictionResponse) -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[answer] * 9)

    outcomes = run(make_plan("a", "b"), api, ONE_EVICTION, clock=clock)

    assert outcomes[0].kind in {OutcomeKind.FAILED, OutcomeKind.REFUSED}
    assert outcomes[1].kind is OutcomeKind.EVICTED
    last_call = [at for name, at in api.calls if name == "a"][-1]
    assert next(at for name, at in api.calls if name == "b") == last_call + 40.0
    assert api.looks[-1] == ("a", last_call + 40.0)


@pytest.mark.parametrize("answer", UNCLEAR)
def test_effect_that_comes_late_is_seen_and_counted(answer: EvictionResponse) -> None:
    api = ScriptedApi(a=[answer] * 9).finds("a", PodState.PRESENT, PodState.TERMINATING)

    outcomes = run(make_plan("a", "b"), api, ONE_EVICTION)

    assert codes(outcomes)[1] == ("b", OutcomeCode.LIMIT)
    assert outcomes[0].kind is OutcomeKind.EVICTED


def test_pod_that_stays_is_asked_for_again_after_a_fault() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[no_answer()])

    outcomes = run(make_plan("a"), api, PATIENT, clock=clock)

    assert codes(outcomes) == [("a", OutcomeCode.DONE)]
    assert [api.calls, api.looks] == [[("a", 0.0), ("a", 1.0)], [("a", 0.0)]]


def test_faults_again_and_again_end_as_a_failure_of_a_pod_that_is_still_there() -> None:
    api = ScriptedApi(a=[no_answer()] * 9)

    outcomes = run(make_plan("a"), api, replace(PATIENT, max_fault_retries=2))

    assert codes(outcomes) == [("a", OutcomeCode.NO_ANSWER)]
    assert outcomes[0].num_attempts == 3
    assert outcomes[0].message == "connection lost; the pod still exists"


def test_refusal_after_an_unclear_answer_does_not_settle_the_first_call() -> None:
    """The budget is used up, perhaps by the very call whose answer was lost."""
    api = ScriptedApi(a=[no_answer(), no_disruption()]).finds("a", PodState.PRESENT, PodState.GONE)

    outcomes = run(make_plan("a", "b"), api, ONE_EVICTION)

    assert codes(outcomes) == [("a", OutcomeCode.LEFT_WITHOUT_ANSWER), ("b", OutcomeCode.LIMIT)]


def test_refusal_after_an_unclear_answer_stands_once_the_pod_is_seen_alive() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[no_answer(), no_disruption()])

    outcomes = run(make_plan("a"), api, PATIENT, clock=clock)

    assert codes(outcomes) == [("a", OutcomeCode.BUDGET)]
    assert api.looks == [("a", 0.0), ("a", 40.0)]


def test_pod_gone_after_an_unclear_answer_counts_as_evicted() -> None:
    api = ScriptedApi(a=[no_answer(), EvictionResponse(404)])

    outcomes = run(make_plan("a"), api, PATIENT)

    assert codes(outcomes) == [("a", OutcomeCode.LEFT_WITHOUT_ANSWER)]


def test_pod_that_nobody_can_read_counts_as_evicted_without_a_confirmation() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[no_answer()]).finds("a", PodState.UNKNOWN)

    outcomes = run(make_plan("a", "b"), api, ONE_EVICTION, clock=clock)

    assert [(outcome.kind, outcome.code) for outcome in outcomes] == [
        (OutcomeKind.EVICTED, OutcomeCode.OUTCOME_UNKNOWN),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.LIMIT),
    ]
    assert outcomes[0].message == "not confirmed: connection lost"
    assert clock.now() >= 40.0


def test_look_that_says_nothing_is_made_again() -> None:
    api = ScriptedApi(a=[no_answer()]).finds("a", PodState.UNKNOWN, PodState.UNKNOWN, PodState.GONE)

    outcomes = run(make_plan("a"), api, PATIENT)

    assert codes(outcomes) == [("a", OutcomeCode.LEFT_WITHOUT_ANSWER)]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        pytest.param(PodState.REPLACED, OutcomeCode.POD_GONE, id="a successor has the name"),
        pytest.param(PodState.PRESENT, OutcomeCode.CONFLICT, id="the pod stays"),
        pytest.param(PodState.UNKNOWN, OutcomeCode.CONFLICT, id="nobody can read it"),
    ],
)
def test_conflict_evicts_nothing_and_one_look_says_what_it_was_about(state: PodState, code: OutcomeCode) -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[EvictionResponse(409)]).finds("a", state)

    outcomes = run(make_plan("a", "b"), api, ONE_EVICTION, clock=clock)

    assert codes(outcomes) == [("a", code), ("b", OutcomeCode.DONE)]
    assert clock.now() < 10.0


def test_call_turned_away_by_priority_and_fairness_leaves_nothing_open() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[turned_away(5.0), no_disruption()])

    outcomes = run(make_plan("a"), api, PATIENT, clock=clock)

    assert codes(outcomes) == [("a", OutcomeCode.BUDGET)]
    assert (api.looks, clock.now()) == ([], 5.0)


def test_call_turned_away_by_somebody_before_the_server_may_have_been_made() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[turned_away(5.0, is_unread=False), no_disruption()])

    outcomes = run(make_plan("a"), api, PATIENT, clock=clock)

    assert codes(outcomes) == [("a", OutcomeCode.BUDGET)]
    assert (api.looks, clock.now()) == ([("a", 5.0), ("a", 40.0)], 40.0)


def test_deadline_leaves_an_open_fate_counted_as_evicted() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[broken_off()] * 9)

    outcomes = run(make_plan("a", "b"), api, replace(ONE_EVICTION, deadline=20.0), clock=clock)

    assert codes(outcomes) == [("a", OutcomeCode.OUTCOME_UNKNOWN), ("b", OutcomeCode.DEADLINE)]
    assert clock.now() == 20.0


def test_last_look_before_the_end_finds_what_has_happened_meanwhile() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[broken_off()] * 9).finds("a", *[PodState.PRESENT] * 3, PodState.GONE)

    outcomes = run(make_plan("a"), api, replace(PATIENT, deadline=20.0), clock=clock)

    assert codes(outcomes) == [("a", OutcomeCode.LEFT_WITHOUT_ANSWER)]
    assert api.looks[-1] == ("a", 20.0)


def test_stop_ends_the_wait_for_an_open_fate() -> None:
    clock, stop = Clock(), threading.Event()
    api = ScriptedApi(clock, a=[broken_off()] * 9)
    clock.on_sleep = stop.set

    outcomes = run(make_plan("a", "b"), api, ONE_EVICTION, clock=clock, stop=stop)

    assert codes(outcomes) == [("a", OutcomeCode.OUTCOME_UNKNOWN), ("b", OutcomeCode.STOPPED)]


def test_call_that_was_never_sent_leaves_nothing_open() -> None:
    api = ScriptedApi(a=[ExchangeError("TLS failed")], b=[not_sent()])

    outcomes = run(make_plan("a", "b"), api, PATIENT)

    assert codes(outcomes) == [("a", OutcomeCode.NO_CONNECTION), ("b", OutcomeCode.DONE)]
    assert outcomes[0].message == "TLS failed"
    assert api.looks == []


def test_defect_of_this_program_costs_one_pod_and_leaves_a_report() -> None:
    """Its text may quote a credential, so it is not repeated."""
    api = ScriptedApi(a=[ValueError("Invalid header value b'Bearer s3cret'")]).finds("a", ZeroDivisionError())

    outcomes = run(make_plan("a", "b"), api, PATIENT)

    assert codes(outcomes) == [("a", OutcomeCode.OUTCOME_UNKNOWN), ("b", OutcomeCode.DONE)]
    assert outcomes[0].message == "not confirmed: internal error (ValueError)"


def test_no_call_starts_once_another_run_may_hold_the_lease() -> None:
    held = iter(["", "", "the Lease ran out"])
    api = ScriptedApi()

    outcomes = run(make_plan("a", "b", "c", "d"), api, why_not_call=lambda: next(held, "the Lease ran out"))

    assert api.names == ["a", "b"]
    assert codes(outcomes)[2:] == [("c", OutcomeCode.LEASE_LOST), ("d", OutcomeCode.LEASE_LOST)]


def test_pod_that_another_controller_may_have_taken_over_proves_nothing_by_living_on() -> None:
    clock = Clock()
    settings = replace(ONE_EVICTION, evictions_in_background=True)
    plan = [make_eviction("vm", request_evict_only=True), make_eviction("b")]
    api = ScriptedApi(clock, vm=[no_answer()] * 9)

    outcomes = run(plan, api, settings, clock=clock)

    assert codes(outcomes) == [("vm", OutcomeCode.OUTCOME_UNKNOWN), ("b", OutcomeCode.LIMIT)]


def test_limit_stays_used_for_the_whole_time_after_an_answer_that_came_late() -> None:
    """The call may have waited for new credentials, so when the server got it is not known before the answer."""
    clock = Clock()
    api = ScriptedApi(clock, a=[no_answer(), no_disruption()])
    api.before_answer = lambda name: clock.sleep(20.0) if len(api.calls) == 1 else None

    run(make_plan("a", "b"), api, ONE_EVICTION, clock=clock)

    assert [at for name, at in api.calls if name == "b"] == [60.0]


def test_wait_for_an_open_fate_is_told_once_a_pod() -> None:
    clock, sink = Clock(), Heard()
    api = ScriptedApi(clock, a=[broken_off()] * 3, b=[no_answer()])

    run(make_plan("a", "b"), api, PATIENT, clock=clock, sink=sink)

    assert [(name, why) for name, why, _ in sink.doubts] == [
        ("a", "etcdserver: request timed out (500)"),
        ("b", "connection lost"),
    ]
    assert {seconds for _, _, seconds in sink.doubts} == {PATIENT.effect_seconds}


def test_lease_that_is_lost_and_stops_the_run_is_the_reason_for_what_is_left() -> None:
    stop = threading.Event()
    api = ScriptedApi()
    api.before_answer = lambda _name: stop.set()

    outcomes = run(
        make_plan("a", "b"), api, stop=stop, why_not_call=lambda: "the Lease ran out" if stop.is_set() else ""
    )

    assert codes(outcomes) == [("a", OutcomeCode.DONE), ("b", OutcomeCode.LEASE_LOST)]
    assert outcomes[1].message == "the Lease was lost, another run may be active"
