"""What an eviction's answers and the looks at its pod mean for it."""

from __future__ import annotations

import pytest

from descheduler.kube.evict import PodState
from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.migration.stand_ins import make_eviction

DONE = Judgement(OutcomeKind.EVICTED, OutcomeCode.DONE, "")
GONE = Judgement(OutcomeKind.GONE, OutcomeCode.POD_GONE, "the pod does not exist any more")
HANDED_OVER = Judgement(OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER, "handed over")
BUDGET = Judgement(OutcomeKind.REFUSED, OutcomeCode.BUDGET, "a budget")
CONFLICT = Judgement(OutcomeKind.REFUSED, OutcomeCode.CONFLICT, "a conflict")
LOST = Judgement(OutcomeKind.FAILED, OutcomeCode.NO_ANSWER, "connection lost", 1.0, is_open=True)
OVERLOADED = Judgement(OutcomeKind.REFUSED, OutcomeCode.OVERLOADED, "busy", 1.0)
UNCONNECTED = Judgement(OutcomeKind.FAILED, OutcomeCode.NO_CONNECTION, "no connection", 1.0)
EFFECT_SECONDS = 30.0


def answered(*judgements: Judgement, now: float = 0.0, outlives_effect: bool = False) -> EvictionTask:
    """The task of an eviction to which these were the answers, at `now` all of them."""
    task = EvictionTask(make_eviction("web"), outlives_effect=outlives_effect)
    for judgement in judgements:
        task.num_calls += 1
        task.answer(judgement, now=now, effect_seconds=EFFECT_SECONDS)
    return task


@pytest.mark.parametrize(
    ("kind", "code", "is_decided"),
    [
        (OutcomeKind.EVICTED, OutcomeCode.DONE, True),
        (OutcomeKind.GONE, OutcomeCode.POD_GONE, True),
        (OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER, True),
        (OutcomeKind.REFUSED, OutcomeCode.BUDGET, False),
    ],
)
def test_pod_that_leaves_or_is_gone_needs_no_further_call(
    kind: OutcomeKind, code: OutcomeCode, is_decided: bool
) -> None:
    task = EvictionTask(make_eviction("web"))
    assert not task.is_decided

    task.answer(Judgement(kind, code, ""), now=0.0, effect_seconds=30.0)

    assert task.is_decided is is_decided


def test_only_waits_for_this_very_pod_are_counted_as_such() -> None:
    task = answered(BUDGET, LOST, OVERLOADED, BUDGET, UNCONNECTED)

    assert (task.num_calls, task.num_faults, task.num_unread, task.num_waits) == (5, 1, 2, 2)


def test_pod_of_an_open_call_has_to_be_seen_once_the_call_can_have_no_effect_any_more() -> None:
    task = answered(LOST, now=10.0)
    assert (task.is_open, task.settles_at, task.is_unsettled, task.needs_look) == (True, 40.0, True, True)

    task.see_alive(39.9)
    assert (task.is_unsettled, task.needs_look) == (True, True)
    task.see_alive(40.0)
    assert (task.is_unsettled, task.needs_look) == (False, False)


def test_call_of_longest_effect_counts() -> None:
    task = answered(LOST, now=10.0)

    task.answer(LOST, now=5.0, effect_seconds=EFFECT_SECONDS)
    assert task.settles_at == 40.0
    task.leave_open(50.0)
    assert task.settles_at == 50.0


@pytest.mark.parametrize(
    ("judgement", "needs_look"),
    [
        pytest.param(None, False, id="no answer yet"),
        pytest.param(BUDGET, False, id="a budget"),
        pytest.param(DONE, False, id="done"),
        pytest.param(CONFLICT, True, id="a conflict: another pod may have the name"),
        pytest.param(LOST, True, id="an answer that was lost"),
    ],
)
def test_pod_is_looked_at_where_that_decides(judgement: Judgement | None, *, needs_look: bool) -> None:
    task = answered(*([] if judgement is None else [judgement]))
    assert task.needs_look is needs_look

    task.see_alive(EFFECT_SECONDS)
    assert not task.needs_look


@pytest.mark.parametrize(
    ("judgement", "seen_at", "is_unseen"),
    [
        pytest.param(None, None, False, id="no answer yet"),
        pytest.param(BUDGET, None, False, id="a budget"),
        pytest.param(LOST, None, True, id="an answer that was lost, and no look"),
        pytest.param(CONFLICT, None, True, id="a conflict, and no look"),
        pytest.param(LOST, 9.9, True, id="a look before the answer"),
        pytest.param(LOST, 10.0, False, id="a look right after the answer"),
        pytest.param(CONFLICT, 11.0, False, id="a look after a conflict"),
    ],
)
def test_look_counts_that_began_after_the_answer(
    judgement: Judgement | None, seen_at: float | None, *, is_unseen: bool
) -> None:
    task = answered(*([] if judgement is None else [judgement]), now=10.0)
    if seen_at is not None:
        task.see(PodState.PRESENT, looked_at=seen_at)

    assert task.is_unseen is is_unseen


@pytest.mark.parametrize(("num_looks", "now", "is_given_up"), [(2, 99.0, False), (3, 29.9, False), (3, 30.0, True)])
def test_pod_is_given_up_after_three_looks_that_say_nothing_and_when_no_call_has_effect_any_more(
    num_looks: int, now: float, *, is_given_up: bool
) -> None:
    task = answered(LOST)
    for _ in range(num_looks):
        task.see(PodState.UNKNOWN, looked_at=now)

    assert task.is_given_up(now) is is_given_up


def test_look_that_finds_the_pod_has_the_others_forgotten() -> None:
    task = answered(LOST)
    for state in (PodState.UNKNOWN, PodState.UNKNOWN, PodState.PRESENT, PodState.UNKNOWN):
        task.see(state, looked_at=50.0)

    assert (task.num_blind_looks, task.seen_alive_at) == (1, 50.0)


def test_looks_that_say_nothing_are_made_ever_more_rarely() -> None:
    task = EvictionTask(make_eviction("web"))
    waits = []
    for _ in range(6):
        task.see(PodState.UNKNOWN, looked_at=0.0)
        waits.append(task.blind_wait_seconds(0.5))

    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]


EVICTED, REFUSED, BACKGROUND = OutcomeKind.EVICTED, OutcomeKind.REFUSED, OutcomeKind.BACKGROUND
ALIVE = "a budget; the pod still exists"
UNKNOWN, LEFT = OutcomeCode.OUTCOME_UNKNOWN, OutcomeCode.LEFT_WITHOUT_ANSWER


@pytest.mark.parametrize(
    ("answers", "seen_at", "outlives", "ending"),
    [
        pytest.param([DONE], None, False, (EVICTED, OutcomeCode.DONE, ""), id="evicted"),
        pytest.param([BUDGET], None, False, (REFUSED, OutcomeCode.BUDGET, "a budget"), id="refused"),
        pytest.param([GONE], None, False, (GONE.kind, GONE.code, GONE.message), id="gone"),
        pytest.param([LOST, DONE], None, False, (EVICTED, OutcomeCode.DONE, ""), id="evicted at last"),
        pytest.param([LOST], None, False, (EVICTED, UNKNOWN, "not confirmed: connection lost"), id="lost"),
        pytest.param([LOST, BUDGET], 29.0, False, (EVICTED, UNKNOWN, "not confirmed: a budget"), id="seen too early"),
        pytest.param([LOST, BUDGET], 30.0, False, (REFUSED, OutcomeCode.BUDGET, ALIVE), id="alive"),
        pytest.param([LOST, BUDGET], 30.0, True, (EVICTED, UNKNOWN, "not confirmed: a budget"), id="no proof"),
        pytest.param([LOST, HANDED_OVER], 30.0, True, (BACKGROUND, HANDED_OVER.code, "handed over"), id="handed"),
        pytest.param(
            [LOST, GONE],
            None,
            False,
            (EVICTED, LEFT, "no clear answer, and the pod no longer exists or is terminating"),
            id="gone after a lost answer",
        ),
    ],
)
def test_what_is_in_doubt_counts_as_evicted(
    answers: list[Judgement],
    seen_at: float | None,
    ending: tuple[OutcomeKind, OutcomeCode, str],
    *,
    outlives: bool,
) -> None:
    task = answered(*answers, outlives_effect=outlives)
    if seen_at is not None:
        task.see_alive(seen_at)

    assert (task.ending.kind, task.ending.code, task.ending.message) == ending


def test_task_that_was_never_called_has_no_ending() -> None:
    with pytest.raises(ValueError, match="pod web was never called"):
        _ = answered().ending


def test_pod_that_is_found_to_be_gone_counts_as_evicted_only_after_an_open_call() -> None:
    assert answered(BUDGET).departure == GONE
    assert answered(LOST).departure.kind is EVICTED
    assert answered().why == ""
    assert answered(BUDGET).why == "a budget"


@pytest.mark.parametrize(("wants", "had", "is_looked_at"), [(0, 0, False), (1, 0, True), (0, 1, True)])
def test_step_under_way_is_a_look_where_one_is_wanted_or_the_last(wants: int, had: int, *, is_looked_at: bool) -> None:
    task = EvictionTask(make_eviction("web"), wants_look=bool(wants), had_last_look=bool(had))

    assert task.is_looked_at is is_looked_at
