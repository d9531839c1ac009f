"""Evictions that ended in one way or another, and the outcome they make."""

from __future__ import annotations

from typing import Any

from descheduler.plan.outcome import Outcome as ExecutedEviction
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from descheduler.report.outcome.document import OutcomeDocument
from descheduler.report.outcome.making import make_outcome
from descheduler.report.plan.making import make_plan
from tests.report.decided_cycles import OLD, make_test_decisions, pod_life_time_policy


def executed(name: str, kind: OutcomeKind, code: OutcomeCode, message: str = "", status: int = 0) -> ExecutedEviction:
    eviction = PlannedEviction("default", name, f"default-{name}", "a", "main", "PodLifeTime", "runs for too long")
    return ExecutedEviction(eviction, kind, code, message, status, 1)


def outcome_of(*results: ExecutedEviction, **policy: Any) -> OutcomeDocument:
    decisions = make_test_decisions(policy=pod_life_time_policy(**policy))
    return make_outcome(make_plan(decisions), decisions, results)


EVICTED = executed(OLD[0], OutcomeKind.EVICTED, OutcomeCode.DONE, "", 201)
FAILED = executed(OLD[1], OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, "boom", 500)
REFUSED = executed(OLD[1], OutcomeKind.REFUSED, OutcomeCode.BUDGET, "budget", 429)
FORBIDDEN = executed(OLD[1], OutcomeKind.REFUSED, OutcomeCode.FORBIDDEN, "not allowed", 403)
GONE = executed(OLD[2], OutcomeKind.GONE, OutcomeCode.POD_GONE)
TOO_LATE = executed(OLD[2], OutcomeKind.NOT_ATTEMPTED, OutcomeCode.DEADLINE, "--deadline exceeded")
TURNED_AWAY = executed(OLD[2], OutcomeKind.NOT_ATTEMPTED, OutcomeCode.OVERLOADED)
GIVEN_UP = executed(OLD[2], OutcomeKind.NOT_ATTEMPTED, OutcomeCode.SERVER_ERROR, "no right to create reservations")
REPEATED = executed(OLD[2], OutcomeKind.NOT_ATTEMPTED, OutcomeCode.REPEATED)
