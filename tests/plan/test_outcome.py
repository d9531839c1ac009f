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
