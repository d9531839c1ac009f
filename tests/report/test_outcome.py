from __future__ import annotations

import re
from typing import get_args

import pytest

from descheduler.cli.exit_code import ExitCode, outcome_exit_code, plan_exit_code
from descheduler.migration.outcome import Outcome as ExecutedEviction
from descheduler.migration.outcome import OutcomeCode, OutcomeKind
from descheduler.migration.planned import PlannedEviction
from descheduler.report.document import PodReference
from descheduler.report.outcome import EvictionResult, Outcome, ResultKind, make_outcome
from descheduler.report.render import render
from tests.report.worlds import OLD, make_test_plan, pod_life_time_policy


def executed(name: str, kind: OutcomeKind, code: OutcomeCode, message: str = "", status: int = 0) -> ExecutedEviction:
    eviction = PlannedEviction("default", name, f"default-{name}", "a", "main", "PodLifeTime")
    return ExecutedEviction(eviction, kind, code, message, status, 1)


def outcome_of(*results: ExecutedEviction, **policy: object) -> Outcome:
    return make_outcome(make_test_plan(policy=pod_life_time_policy(**policy)), results)


EVICTED = executed(OLD[0], OutcomeKind.EVICTED, OutcomeCode.DONE, "pod default/old-1 evicted", 201)
FAILED = executed(OLD[1], OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, "pod default/old-2 not evicted: boom", 500)
REFUSED = executed(OLD[1], OutcomeKind.REFUSED, OutcomeCode.BUDGET, "pod default/old-2 not evicted: budget", 429)
FORBIDDEN = executed(OLD[1], OutcomeKind.REFUSED, OutcomeCode.FORBIDDEN, "not allowed", 403)
GONE = executed(OLD[2], OutcomeKind.GONE, OutcomeCode.POD_GONE)
TOO_LATE = executed(OLD[2], OutcomeKind.NOT_ATTEMPTED, OutcomeCode.DEADLINE)
TURNED_AWAY = executed(OLD[2], OutcomeKind.NOT_ATTEMPTED, OutcomeCode.OVERLOADED)
REPEATED = executed(OLD[2], OutcomeKind.NOT_ATTEMPTED, OutcomeCode.REPEATED)


def test_the_document_knows_every_way_an_eviction_can_end():
    kinds = {kind.value for kind in OutcomeKind if kind is not OutcomeKind.UNSET}

    assert kinds == set(get_args(ResultKind))


def test_each_eviction_has_its_result():
    outcome = outcome_of(EVICTED)

    assert outcome.results == (
        EvictionResult(
            pod=PodReference(namespace="default", name="old-1", uid="default-old-1"),
            node="a",
            profile="main",
            plugin="PodLifeTime",
            result="evicted",
            code="done",
            message="pod default/old-1 evicted",
            status_code=201,
            num_attempts=1,
        ),
    )


def test_results_are_counted_and_kinds_that_did_not_occur_are_zero():
    outcome = outcome_of(EVICTED, FAILED, GONE)

    assert outcome.counts == {
        "evicted": 1,
        "gone": 1,
        "refused": 0,
        "background": 0,
        "failed": 1,
        "not-attempted": 0,
    }


def test_table_shows_what_became_of_each_eviction():
    text = "".join(render(outcome_of(EVICTED, FAILED), "table"))

    assert re.search(
        r"^default +old-2 +a +PodLifeTime +failed +pod default/old-2 not evicted: boom$", text, re.MULTILINE
    )
    assert "1 pod evicted, 1 failed, 0 requests refused, 0 candidates kept" in text


@pytest.mark.parametrize(
    ("results", "usual", "detailed"),
    [
        pytest.param([], ExitCode.DONE, ExitCode.DONE, id="nothing to do is done"),
        pytest.param([EVICTED, GONE, REPEATED], ExitCode.DONE, ExitCode.DONE, id="all evicted or gone is done"),
        pytest.param([EVICTED, REFUSED], ExitCode.DONE, ExitCode.INCOMPLETE, id="a refusal is told only in detail"),
        pytest.param([FAILED], ExitCode.FAILED, ExitCode.FAILED, id="faults alone are a failure"),
        pytest.param([FORBIDDEN], ExitCode.FAILED, ExitCode.FAILED, id="a missing right is a failure"),
        pytest.param([EVICTED, FAILED], ExitCode.DONE, ExitCode.INCOMPLETE, id="a Job that evicted is not run again"),
        pytest.param([EVICTED, TOO_LATE], ExitCode.STOPPED, ExitCode.STOPPED, id="the deadline is a guard"),
        pytest.param([EVICTED, TURNED_AWAY], ExitCode.STOPPED, ExitCode.STOPPED, id="an overloaded server is a guard"),
    ],
)
def test_exit_code_of_a_run(results: list[ExecutedEviction], usual: ExitCode, detailed: ExitCode):
    outcome = outcome_of(*results)

    assert outcome_exit_code(outcome, is_detailed=False) is usual
    assert outcome_exit_code(outcome, is_detailed=True) is detailed


def test_exit_code_of_a_dry_run_tells_refused_requests_only_in_detail():
    plan = make_test_plan(policy=pod_life_time_policy(maxNoOfPodsToEvictTotal=1))

    assert plan_exit_code(plan, is_detailed=False) is ExitCode.DONE
    assert plan_exit_code(plan, is_detailed=True) is ExitCode.INCOMPLETE
