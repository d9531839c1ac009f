"""What each way of ending means for limits, for the run and for the exit code."""

from __future__ import annotations

import pytest

from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from tests.migration.stand_ins import make_eviction


def test_every_way_of_ending_a_call_uses_limits_or_frees_them() -> None:
    called = set(OutcomeKind) - {OutcomeKind.UNSET, OutcomeKind.NOT_ATTEMPTED}

    assert all(kind.uses_limits is not kind.frees_limits for kind in called)
    assert not any(kind.uses_limits or kind.frees_limits for kind in set(OutcomeKind) - called)


def test_every_guard_ends_the_run() -> None:
    guards = {code for code in OutcomeCode if code.is_guard}

    assert guards == {OutcomeCode.DEADLINE, OutcomeCode.OVERLOADED, OutcomeCode.LEASE_LOST, OutcomeCode.GUARD}
    assert all(code.ends_run for code in guards)


@pytest.mark.parametrize(
    ("kind", "code", "is_settled"),
    [
        (OutcomeKind.EVICTED, OutcomeCode.DONE, True),
        (OutcomeKind.EVICTED, OutcomeCode.OUTCOME_UNKNOWN, False),
        (OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER, True),
        (OutcomeKind.REFUSED, OutcomeCode.BUDGET, False),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.LIMIT, True),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.REPEATED, True),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.STOPPED, False),
    ],
)
def test_more_time_changes_nothing_for_what_is_settled(kind: OutcomeKind, code: OutcomeCode, is_settled: bool) -> None:
    assert Outcome(make_eviction("a"), kind, code, "").is_settled is is_settled


@pytest.mark.parametrize("code", list(OutcomeCode))
def test_run_ends_with_guards_with_signals_and_without_an_api_server(code: OutcomeCode) -> None:
    ends = {OutcomeCode.STOPPED, OutcomeCode.NO_CONNECTION, OutcomeCode.OVERLOADED, OutcomeCode.DEADLINE}
    ends |= {OutcomeCode.LEASE_LOST, OutcomeCode.GUARD}

    assert code.ends_run is (code in ends)
    assert code.is_unserved is (code in {OutcomeCode.NO_CONNECTION, OutcomeCode.OVERLOADED})
    assert code.is_fault is (code in {OutcomeCode.NO_ANSWER, OutcomeCode.SERVER_ERROR})
    assert code.is_never_meant is (code in {OutcomeCode.DRY_RUN, OutcomeCode.REPEATED})


@pytest.mark.parametrize(
    ("code", "is_settled"),
    [
        (OutcomeCode.NO_UID, True),
        (OutcomeCode.LIMIT, True),
        (OutcomeCode.BUNDLE, True),
        (OutcomeCode.WINDOW_CLOSED, True),
        (OutcomeCode.PROTECTED, True),
        (OutcomeCode.TIMED_OUT, True),
        (OutcomeCode.DRY_RUN, True),
        (OutcomeCode.DEADLINE, False),
        (OutcomeCode.NO_ROOM, False),
    ],
)
def test_what_was_not_attempted_is_settled_by_its_code(code: OutcomeCode, is_settled: bool) -> None:
    assert Outcome(make_eviction("a"), OutcomeKind.NOT_ATTEMPTED, code, "").is_settled is is_settled
