from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.dispatch.pace import CallWindow, Paces, ServerPatience
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.migration.settings import DispatchSettings, EvictionTerms, Pace
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.migration.stand_ins import Clock, make_eviction


def num_calls(window: CallWindow) -> int:
    """How many calls may be under way at once."""
    return next(number for number in range(1000) if not window.has_room(number))


def test_volley_that_is_turned_away_halves_the_window_once() -> None:
    clock = Clock()
    window = CallWindow(64, clock.now)

    for _ in range(10):
        window.turned_away(2.0)

    assert num_calls(window) == 32
    assert window.shut_seconds == 2.0


def test_each_further_volley_halves_it_down_to_one_call() -> None:
    clock = Clock()
    window = CallWindow(64, clock.now)

    for _ in range(10):
        window.turned_away(1.0)
        clock.sleep(1.0)

    assert num_calls(window) == 1


def test_served_calls_open_it_again_and_never_wider_than_at_the_start() -> None:
    clock = Clock()
    window = CallWindow(4, clock.now)
    window.turned_away(1.0)
    sizes = []

    for _ in range(16):
        window.served()
        sizes.append(num_calls(window))

    assert sizes == [2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4]


def test_served_calls_count_anew_after_one_in_vain() -> None:
    clock = Clock()
    window = CallWindow(4, clock.now)
    window.turned_away(1.0)
    for _ in range(3):
        window.served()

    window.turned_away(1.0)
    window.served()

    assert num_calls(window) == 2


def test_longest_wait_of_a_volley_holds() -> None:
    clock = Clock()
    window = CallWindow(4, clock.now)

    window.turned_away(5.0)
    window.turned_away(1.0)

    assert window.shut_seconds == 5.0


def test_window_that_opens_at_this_instant_is_halved_by_the_next_volley() -> None:
    clock = Clock()
    window = CallWindow(8, clock.now)
    window.turned_away(1.0)
    clock.sleep(1.0)

    window.turned_away(1.0)

    assert (num_calls(window), window.shut_seconds) == (2, 1.0)


def test_profiles_with_a_pace_of_their_own_do_not_share_that_of_the_run() -> None:
    clock = Clock()
    terms = {"own": EvictionTerms(pace=Pace(2.0, 1)), "shared": EvictionTerms()}
    paces = Paces(DispatchSettings(qps=1.0, burst=1, terms=terms), now=clock.now)

    waits = [paces.try_take(profile) for profile in ("own", "own", "shared", "shared", "other")]

    assert waits == [0.0, 0.5, 0.0, 1.0, 1.0]


SETTINGS = DispatchSettings(
    longest_wait_seconds=60.0, longest_outage_seconds=60.0, max_retries=2, max_fault_retries=1, deadline=1000.0
)


def refused(code: OutcomeCode, wait_seconds: float | None) -> Judgement:
    return Judgement(OutcomeKind.REFUSED, code, "why", wait_seconds)


BUDGET, FAULT, AWAY = OutcomeCode.THROTTLED, OutcomeCode.NO_ANSWER, OutcomeCode.OVERLOADED
UNCONNECTED = OutcomeCode.NO_CONNECTION


def again_at(
    *judgements: Judgement, clock: Clock | None = None, settings: DispatchSettings = SETTINGS
) -> tuple[float | None, ServerPatience]:
    """When a pod may be asked for again to which these were the answers, all at once."""
    clock = clock or Clock()
    patience = ServerPatience(settings, clock.now)
    task = EvictionTask(make_eviction("web"))
    for each in judgements:
        task.num_calls += 1
        task.answer(each, now=clock.now(), effect_seconds=0.0)
        patience.note(each)
    return patience.again_at(task), patience


@pytest.mark.parametrize(
    ("answers", "at"),
    [
        pytest.param([], None, id="no answer"),
        pytest.param([refused(BUDGET, None)], None, id="a refusal for good"),
        pytest.param([refused(BUDGET, 60.0)], 60.0, id="the longest wait"),
        pytest.param([refused(BUDGET, 60.1)], None, id="a longer wait"),
        pytest.param([refused(BUDGET, 1.0)] * 2, 1.0, id="as many waits as a pod may have"),
        pytest.param([refused(BUDGET, 1.0)] * 3, None, id="one wait more"),
        pytest.param([refused(FAULT, 1.0)], 1.0, id="as many faults as a pod may have"),
        pytest.param([refused(FAULT, 1.0)] * 2, None, id="one fault more"),
        pytest.param([refused(BUDGET, 1.0)] * 2 + [refused(FAULT, 1.0)], 1.0, id="waits and a fault"),
        pytest.param([refused(AWAY, 60.0)] * 5, 60.0, id="the server is overloaded until the end of an outage"),
        pytest.param([refused(UNCONNECTED, 1.0)] * 5, 1.0, id="there is no connection"),
    ],
)
def test_pod_is_asked_for_again_within_bounds(answers: list[Judgement], at: float | None) -> None:
    assert again_at(*answers)[0] == at


@pytest.mark.parametrize(("deadline", "at"), [(5.1, 5.0), (5.0, None), (4.0, None), (None, 5.0)])
def test_no_call_is_made_again_at_the_deadline_or_later(deadline: float | None, at: float | None) -> None:
    assert again_at(refused(BUDGET, 5.0), settings=replace(SETTINGS, deadline=deadline))[0] == at


@pytest.mark.parametrize(("seconds", "at"), [(59.0, 60.0), (59.5, None)])
def test_outage_is_waited_for_as_long_as_the_policy_allows(seconds: float, at: float | None) -> None:
    clock = Clock()
    patience, task = ServerPatience(SETTINGS, clock.now), EvictionTask(make_eviction("web"))
    for wait in (0.0, seconds):
        clock.sleep(wait)
        task.answer(refused(UNCONNECTED, 1.0), now=clock.now(), effect_seconds=0.0)
        patience.note(refused(UNCONNECTED, 1.0))

    assert patience.again_at(task) == at


def test_outage_is_over_with_the_first_answer_about_a_pod() -> None:
    clock = Clock()
    patience, task = ServerPatience(SETTINGS, clock.now), EvictionTask(make_eviction("web"))
    for judgement in (refused(UNCONNECTED, 1.0), refused(BUDGET, 1.0), refused(UNCONNECTED, 1.0)):
        clock.sleep(40.0)
        task.answer(judgement, now=clock.now(), effect_seconds=0.0)
        patience.note(judgement)

    assert patience.again_at(task) == 121.0


@pytest.mark.parametrize(
    ("answer", "is_exhausted"),
    [
        pytest.param(refused(AWAY, 60.0), False, id="a wait that the run can bear"),
        pytest.param(refused(AWAY, 61.0), True, id="a longer one"),
        pytest.param(refused(AWAY, None), True, id="no wait is told"),
        pytest.param(refused(BUDGET, 61.0), False, id="a long wait for one pod"),
        pytest.param(refused(UNCONNECTED, 61.0), False, id="no connection"),
    ],
)
def test_patience_ends_with_a_server_that_is_overloaded_for_too_long(answer: Judgement, *, is_exhausted: bool) -> None:
    assert again_at(answer)[1].is_exhausted is is_exhausted


def test_only_a_call_that_is_turned_away_narrows_the_window() -> None:
    narrowed = again_at(refused(AWAY, 1.0))[1].window
    as_before = again_at(refused(UNCONNECTED, 1.0), refused(BUDGET, 1.0))[1].window

    assert (num_calls(narrowed), num_calls(as_before)) == (32, 64)
