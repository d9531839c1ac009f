from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from descheduler.eviction.checks.limits import RunLimits
from descheduler.kube.evict import EvictionResponse
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.migration.stand_ins import (
    FAST,
    ONE_BY_ONE,
    Clock,
    Heard,
    ScriptedApi,
    codes,
    make_eviction,
    make_plan,
    no_disruption,
    run,
    wait_told,
)


def test_every_eviction_has_one_outcome_in_plan_order() -> None:
    api = ScriptedApi(b=[EvictionResponse(404)], c=[no_disruption()])
    sink = Heard()

    outcomes = run(make_plan("a", "b", "c", "d"), api, sink=sink)

    assert [(outcome.eviction.name, outcome.kind) for outcome in outcomes] == [
        ("a", OutcomeKind.EVICTED),
        ("b", OutcomeKind.GONE),
        ("c", OutcomeKind.REFUSED),
        ("d", OutcomeKind.EVICTED),
    ]
    assert sorted(sink, key=lambda outcome: outcome.eviction.name) == list(outcomes)


def test_call_carries_uid_grace_period_and_annotation() -> None:
    api = ScriptedApi()

    run([make_eviction("a", grace_period_seconds=30)], api)

    assert api.requests == [("shop/a", "uid-a", 30, "triggered by p/PodLifeTime: ")]


def test_nothing_to_do_is_done() -> None:
    assert run([], ScriptedApi()) == ()


def test_eviction_of_a_dry_profile_is_never_sent_and_uses_no_limit() -> None:
    api = ScriptedApi()
    settings = replace(ONE_BY_ONE, limits=RunLimits(total=1))

    outcomes = run([make_eviction("a", dry=True), make_eviction("b")], api, settings)

    assert [(outcome.kind, outcome.code) for outcome in outcomes] == [
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.DRY_RUN),
        (OutcomeKind.EVICTED, OutcomeCode.DONE),
    ]
    assert outcomes[0].message == "profile p is a dry run (MigrationController dryRun: true)"


def test_repeated_request_is_never_sent() -> None:
    api = ScriptedApi()

    outcomes = run([make_eviction("a"), make_eviction("a")], api)

    assert api.names == ["a"]
    assert [outcome.code for outcome in outcomes] == [OutcomeCode.DONE, OutcomeCode.REPEATED]
    assert outcomes[1].kind is OutcomeKind.NOT_ATTEMPTED


def test_pod_without_uid_is_never_sent() -> None:
    api = ScriptedApi()

    outcomes = run([make_eviction("a", uid="")], api)

    assert api.names == []
    assert codes(outcomes) == [("a", OutcomeCode.NO_UID)]


def test_calls_keep_the_pace_after_the_burst() -> None:
    clock = Clock()
    api = ScriptedApi(clock)

    run(make_plan("a", "b", "c", "d"), api, DispatchSettings(qps=2.0, burst=2, max_in_flight=1), clock=clock)

    assert api.calls == [("a", 0.0), ("b", 0.0), ("c", 0.5), ("d", 1.0)]


def test_slow_answers_do_not_cap_the_pace() -> None:
    """As many calls are under way at once as the settings allow: all of them meet at the barrier."""
    barrier = threading.Barrier(20, timeout=10)

    def meet(_: str) -> None:
        barrier.wait()

    api = ScriptedApi()
    api.before_answer = meet
    names = [f"p{number:02}" for number in range(20)]

    outcomes = run(make_plan(*names), api, replace(FAST, max_in_flight=20))

    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.EVICTED}


def test_wait_that_the_server_asks_for_is_taken_while_others_go_on() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[wait_told(10.0)])

    outcomes = run(make_plan("a", "b", "c"), api, clock=clock)

    assert api.calls == [("a", 0.0), ("b", 0.0), ("c", 0.0), ("a", 10.0)]
    assert [(outcome.kind, outcome.num_attempts) for outcome in outcomes] == [
        (OutcomeKind.EVICTED, 2),
        (OutcomeKind.EVICTED, 1),
        (OutcomeKind.EVICTED, 1),
    ]


def test_budget_without_a_wait_is_refused_at_once() -> None:
    api = ScriptedApi(a=[no_disruption()])

    outcomes = run(make_plan("a"), api)

    assert api.names == ["a"]
    assert codes(outcomes) == [("a", OutcomeCode.BUDGET)]


def test_waiting_ends_after_the_agreed_number_of_retries() -> None:
    api = ScriptedApi(a=[wait_told(1.0)] * 9)

    outcomes = run(make_plan("a"), api, replace(ONE_BY_ONE, max_retries=3))

    assert codes(outcomes) == [("a", OutcomeCode.THROTTLED)]
    assert outcomes[0].num_attempts == 4


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(replace(ONE_BY_ONE, deadline=10.0), id="it would end at the deadline"),
        pytest.param(replace(ONE_BY_ONE, longest_wait_seconds=9.0), id="it is longer than patience"),
    ],
)
def test_wait_that_is_too_long_is_not_begun(settings: DispatchSettings) -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[wait_told(10.0)])

    outcomes = run(make_plan("a"), api, settings, clock=clock)

    assert codes(outcomes) == [("a", OutcomeCode.THROTTLED)]
    assert clock.seconds == 0.0


def test_no_call_starts_at_or_after_the_deadline() -> None:
    clock = Clock()
    api = ScriptedApi(clock)
    settings = DispatchSettings(qps=1.0, burst=1, max_in_flight=1, deadline=2.0)

    outcomes = run(make_plan("a", "b", "c", "d"), api, settings, clock=clock)

    assert api.calls == [("a", 0.0), ("b", 1.0)]
    assert codes(outcomes)[2:] == [("c", OutcomeCode.DEADLINE), ("d", OutcomeCode.DEADLINE)]


def test_stop_lets_the_call_in_flight_end_and_starts_no_other() -> None:
    stop = threading.Event()
    api = ScriptedApi()
    api.before_answer = lambda name: stop.set() if name == "b" else None

    outcomes = run(make_plan("a", "b", "c", "d"), api, stop=stop)

    assert api.names == ["a", "b"]
    assert codes(outcomes) == [
        ("a", OutcomeCode.DONE),
        ("b", OutcomeCode.DONE),
        ("c", OutcomeCode.STOPPED),
        ("d", OutcomeCode.STOPPED),
    ]


def test_stop_while_waiting_to_ask_again_keeps_the_answer_that_was_given() -> None:
    clock, stop = Clock(), threading.Event()
    clock.on_sleep = stop.set
    api = ScriptedApi(clock, a=[wait_told(10.0)])

    outcomes = run(make_plan("a"), api, clock=clock, stop=stop)

    assert codes(outcomes) == [("a", OutcomeCode.THROTTLED)]
    assert outcomes[0].num_attempts == 1


def test_stop_before_the_start_sends_nothing() -> None:
    stop = threading.Event()
    stop.set()
    api = ScriptedApi()

    outcomes = run(make_plan("a", "b"), api, stop=stop)

    assert api.names == []
    assert codes(outcomes) == [("a", OutcomeCode.STOPPED), ("b", OutcomeCode.STOPPED)]


def test_call_that_hangs_after_a_stop_is_given_up_and_reported_as_unknown() -> None:
    stop, hung = threading.Event(), threading.Event()
    api = ScriptedApi()

    def hang(_: str) -> None:
        stop.set()
        hung.wait(timeout=30)

    api.before_answer = hang

    outcomes = run(make_plan("a", "b"), api, replace(ONE_BY_ONE, drain_seconds=0.0), stop=stop)
    hung.set()

    assert codes(outcomes) == [("a", OutcomeCode.OUTCOME_UNKNOWN), ("b", OutcomeCode.STOPPED)]


def test_limit_counts_successes_only() -> None:
    api = ScriptedApi(a=[no_disruption()], b=[EvictionResponse(404)])

    outcomes = run(make_plan("a", "b", "c", "d"), api, replace(FAST, limits=RunLimits(total=1)))

    assert codes(outcomes) == [
        ("a", OutcomeCode.BUDGET),
        ("b", OutcomeCode.POD_GONE),
        ("c", OutcomeCode.DONE),
        ("d", OutcomeCode.LIMIT),
    ]
    assert outcomes[3].message == "maxNoOfPodsToEvictTotal (1) reached"


def test_eviction_handed_over_counts_against_limits() -> None:
    evacuation = EvictionResponse(429, message="Eviction triggered evacuation")
    settings = replace(FAST, limits=RunLimits(per_node=1), evictions_in_background=True)

    outcomes = run(
        [make_eviction("vm", request_evict_only=True), make_eviction("a")], ScriptedApi(vm=[evacuation]), settings
    )

    assert codes(outcomes) == [("vm", OutcomeCode.HANDED_OVER), ("a", OutcomeCode.LIMIT)]


def test_eviction_waits_for_the_retry_that_decides_its_limit() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[wait_told(5.0)])

    outcomes = run(make_plan("a", "b"), api, replace(FAST, limits=RunLimits(total=1)), clock=clock)

    assert api.calls == [("a", 0.0), ("a", 5.0)]
    assert codes(outcomes) == [("a", OutcomeCode.DONE), ("b", OutcomeCode.LIMIT)]


@settings(deadline=None)
@given(
    answers=st.lists(st.sampled_from([201, 404, 403, 429, 500]), max_size=25),
    nodes=st.lists(st.sampled_from(["n1", "n2", "n3"]), min_size=25, max_size=25),
    total=st.none() | st.integers(0, 8),
    per_node=st.none() | st.integers(0, 4),
)
def test_limits_are_met_exactly_whatever_the_answers(
    answers: list[int], nodes: list[str], total: int | None, per_node: int | None
) -> None:
    """The parallel run ends as one that makes its calls one after the other."""
    plan = [make_eviction(f"p{number}", node=nodes[number]) for number in range(len(answers))]
    responses = {f"p{number}": [EvictionResponse(code)] for number, code in enumerate(answers)}
    limits = RunLimits(total=total, per_node=per_node)

    parallel = run(plan, ScriptedApi(**responses), replace(FAST, limits=limits))
    serial = run(plan, ScriptedApi(**responses), replace(ONE_BY_ONE, limits=limits))

    assert parallel == serial
    evicted = [outcome.eviction.node for outcome in parallel if outcome.kind is OutcomeKind.EVICTED]
    assert total is None or len(evicted) <= total
    assert per_node is None or all(evicted.count(node) <= per_node for node in nodes)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"qps": 0.0}, id="no pace"),
        pytest.param({"burst": 0}, id="no burst"),
        pytest.param({"max_in_flight": 0}, id="no call at once"),
    ],
)
def test_settings_that_never_let_a_call_through_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        DispatchSettings(**change)
