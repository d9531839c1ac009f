"""What a run's exit code says of its plan or outcome."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from descheduler.cli.ending.exit_code import ExitCode, outcome_exit_code, plan_exit_code
from descheduler.plan.outcome import Outcome as ExecutedEviction
from tests.report.decided_cycles import make_test_plan, pod_life_time_policy
from tests.report.outcomes import (
    EVICTED,
    FAILED,
    FORBIDDEN,
    GIVEN_UP,
    GONE,
    REFUSED,
    REPEATED,
    TOO_LATE,
    TURNED_AWAY,
    outcome_of,
)


@pytest.mark.parametrize(
    ("results", "usual", "detailed"),
    [
        pytest.param([], ExitCode.DONE, ExitCode.DONE, id="nothing to do is done"),
        pytest.param([EVICTED, GONE, REPEATED], ExitCode.DONE, ExitCode.DONE, id="all evicted or gone is done"),
        pytest.param([EVICTED, REFUSED], ExitCode.DONE, ExitCode.INCOMPLETE, id="a refusal is told only in detail"),
        pytest.param([FAILED], ExitCode.FAILED, ExitCode.FAILED, id="faults alone are a failure"),
        pytest.param([FORBIDDEN], ExitCode.FAILED, ExitCode.FAILED, id="a missing right is a failure"),
        pytest.param([GIVEN_UP], ExitCode.FAILED, ExitCode.FAILED, id="errors before the first eviction are a failure"),
        pytest.param([EVICTED, FAILED], ExitCode.DONE, ExitCode.INCOMPLETE, id="a Job that evicted is not run again"),
        pytest.param([EVICTED, TOO_LATE], ExitCode.STOPPED, ExitCode.STOPPED, id="the deadline is a guard"),
        pytest.param([EVICTED, TURNED_AWAY], ExitCode.STOPPED, ExitCode.STOPPED, id="an overloaded server is a guard"),
    ],
)
def test_exit_code_of_a_run(results: list[ExecutedEviction], usual: ExitCode, detailed: ExitCode) -> None:
    outcome = outcome_of(*results)

    assert outcome_exit_code(outcome, is_detailed=False) is usual
    assert outcome_exit_code(outcome, is_detailed=True) is detailed


@pytest.mark.parametrize("result", [FAILED, FORBIDDEN, GIVEN_UP])
def test_fault_of_a_users_job_is_no_failure_of_the_run(result: ExecutedEviction) -> None:
    outcome = outcome_of(replace(result, eviction=replace(result.eviction, plugin="", users_job="mine")))

    assert outcome_exit_code(outcome, is_detailed=False) is ExitCode.DONE
    assert outcome_exit_code(outcome, is_detailed=True) is ExitCode.INCOMPLETE


@pytest.mark.parametrize(
    ("policy", "detailed"),
    [
        pytest.param(pod_life_time_policy(), ExitCode.PLANNED, id="evictions are planned"),
        pytest.param(
            pod_life_time_policy(maxNoOfPodsToEvictTotal=1), ExitCode.PLANNED, id="some are planned, others refused"
        ),
        pytest.param(pod_life_time_policy(maxNoOfPodsToEvictTotal=0), ExitCode.INCOMPLETE, id="all are refused"),
        pytest.param(pod_life_time_policy(profiles=()), ExitCode.DONE, id="nothing is asked for"),
    ],
)
def test_exit_code_of_a_dry_run_tells_of_its_plan_only_in_detail(
    policy: Mapping[str, object], detailed: ExitCode
) -> None:
    plan = make_test_plan(policy=policy)

    assert plan_exit_code(plan, is_detailed=False) is ExitCode.DONE
    assert plan_exit_code(plan, is_detailed=True) is detailed
