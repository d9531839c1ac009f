"""What may still take effect when a run ends, and what is left behind then."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from itertools import count
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.eviction.checks.limits import RunLimits
from descheduler.kube.background import BackgroundCalls
from descheduler.kube.evict import EvictionResponse, PodState
from descheduler.migration.dispatch.surroundings import HALTED, Halting, OpenCalls
from descheduler.migration.roads.plain import execute
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.outcome import OutcomeCode
from descheduler.transport.errors import ExchangeError
from tests.migration.stand_ins import (
    ONE_BY_ONE,
    Clock,
    ScriptedApi,
    around,
    make_eviction,
    make_plan,
    no_answer,
    no_disruption,
    not_sent,
    turned_away,
)

_MANY_LOOKS = 20
"""More than there are once the time is over."""
SETTINGS = replace(ONE_BY_ONE, effect_seconds=40.0, drain_seconds=0.0)


def left_open(
    api: ScriptedApi, *, clock: Clock, settings: DispatchSettings = SETTINGS, stop: threading.Event | None = None
) -> OpenCalls:
    """What evicting pods a and b, and a once more, leaves open."""
    plan = [*make_plan("a", "b"), make_eviction("a")]
    there = around(settings, clock, stop=stop)
    execute(plan, api, settings, there)
    return there.open_calls


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([], id="evicted"),
        pytest.param([no_disruption()], id="refused"),
        pytest.param([EvictionResponse(404)], id="gone"),
        pytest.param([not_sent()], id="not sent at first"),
        pytest.param([no_answer()] * 3, id="seen alive after the last call could take effect"),
        pytest.param([no_answer()], id="evicted by the second call"),
    ],
)
def test_run_that_comes_to_its_end_leaves_nothing_open(answers: list[EvictionResponse | Exception]) -> None:
    clock = Clock()

    calls = left_open(ScriptedApi(clock, a=answers), clock=clock)

    assert (calls.pods, calls.seconds_left) == ([], 0.0)


def test_call_without_an_answer_is_open_until_it_can_no_longer_take_effect() -> None:
    clock = Clock()
    api = ScriptedApi(clock, a=[no_answer()] * 9).finds("a", PodState.UNKNOWN)
    settings = replace(SETTINGS, deadline=2.0, limits=RunLimits(total=1))

    calls = left_open(api, clock=clock, settings=settings)

    assert clock.now() == 2.0
    assert (calls.pods, calls.seconds_left) == (["shop/a"], 38.0)
    clock.sleep(38.0)
    assert (calls.pods, calls.seconds_left) == (["shop/a"], 0.0)


def test_call_that_is_under_way_may_take_effect_for_the_whole_time() -> None:
    clock, stop, hung = Clock(), threading.Event(), threading.Event()
    api = ScriptedApi(clock)

    def hang(_: str) -> None:
        stop.set()
        hung.wait(timeout=30)

    api.before_answer = hang

    calls = left_open(api, clock=clock, stop=stop)
    clock.sleep(3.0)
    hung.set()

    assert (calls.pods, calls.seconds_left) == (["shop/a"], 40.0)


def test_call_that_was_turned_away_unread_is_not_open() -> None:
    clock = Clock()

    calls = left_open(ScriptedApi(clock, a=[turned_away(1.0)] * 99), clock=clock)

    assert calls.pods == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("why", "ends"),
    [
        pytest.param(OutcomeCode.GUARD, True, id="a guard"),
        pytest.param(OutcomeCode.DEADLINE, False, id="the deadline"),
        pytest.param(OutcomeCode.STOPPED, False, id="a signal"),
        pytest.param(OutcomeCode.LEASE_LOST, False, id="the loss of the Lease"),
    ],
)
def test_what_is_under_way_is_left_behind_where_time_is_over_alone(why: OutcomeCode, *, ends: bool) -> None:
    looks, done, given_up = count(), threading.Event(), threading.Event()

    def halted() -> tuple[OutcomeCode, str]:
        if next(looks) == _MANY_LOOKS:
            done.set()
        return why, HALTED[why]

    there = replace(around(SETTINGS, Clock()), calls=BackgroundCalls[Any](1, name="work"), halted=halted)

    with nullcontext() if ends else pytest.raises(ExchangeError, match="the run ended while it took up jobs"):
        there.in_time("took up jobs", done.wait, give_up=given_up.set)

    assert given_up.is_set() is not ends
    done.set()


LATE, EARLY = 10.0, 9.9


@pytest.mark.parametrize(
    ("is_stopped", "why", "tripped", "at", "deadline", "code"),
    [
        pytest.param(False, "", "", LATE, None, None, id="nothing"),
        pytest.param(False, "", "", EARLY, 10.0, None, id="the deadline is not there yet"),
        pytest.param(False, "", "", LATE, 10.0, OutcomeCode.DEADLINE, id="the deadline"),
        pytest.param(False, "", "too many", LATE, 10.0, OutcomeCode.GUARD, id="a guard, before the deadline"),
        pytest.param(True, "", "too many", LATE, 10.0, OutcomeCode.STOPPED, id="a signal, before both"),
        pytest.param(True, "lost", "", EARLY, 10.0, OutcomeCode.LEASE_LOST, id="the Lease, which stops a run"),
        pytest.param(False, "lost", "", EARLY, 10.0, None, id="a Lease that is in doubt halts calls alone"),
    ],
)
def test_first_thing_that_halts_the_run_is_named(
    why: str, tripped: str, at: float, deadline: float | None, code: OutcomeCode | None, *, is_stopped: bool
) -> None:
    stop, clock = threading.Event(), Clock()
    if is_stopped:
        stop.set()
    clock.sleep(at)

    halted = Halting(stop, deadline, lambda: why, clock.now, lambda: tripped)()

    assert halted == (None if code is None else (code, HALTED[code]))


def test_open_calls_are_those_that_may_still_have_an_effect() -> None:
    clock = Clock()
    calls = OpenCalls(40.0, now=clock.now)
    first, second, third = make_plan("a", "b", "c")
    calls.began(first)
    calls.doubted(second, 25.0)
    calls.began(third)
    calls.ended(third)

    assert (calls.pods, calls.seconds_left) == (["shop/a", "shop/b"], 40.0)
    calls.ended(first)
    assert calls.seconds_left == 25.0
    clock.sleep(30.0)
    assert calls.seconds_left == 0.0


@pytest.mark.parametrize("raised", [ExchangeError("no answer"), None])
def test_work_of_a_run_that_goes_on_is_done_whatever_it_brings(raised: ExchangeError | None) -> None:
    def work() -> str:
        if raised is not None:
            raise raised
        return "done"

    there, given_up = around(SETTINGS, Clock()), threading.Event()
    if raised is None:
        assert there.in_time("took up jobs", work, give_up=given_up.set) == "done"
    else:
        with pytest.raises(ExchangeError, match="no answer"):
            there.in_time("took up jobs", work, give_up=given_up.set)
    assert not given_up.is_set()
