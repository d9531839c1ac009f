"""What a run's exit code says of its plan or outcome."""

from __future__ import annotations

import signal
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from descheduler.cli.ending.exit_code import (
    ExitCode,
    outcome_exit_code,
    plan_exit_code,
    simulation_exit_code,
    stopped_exit_code,
)
from descheduler.plan.decisions import Failure
from descheduler.plan.outcome import Outcome as ExecutedEviction
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.report.simulation_document import SimulatedFailure
from tests.report.decided_cycles import OLD, make_test_plan, pod_life_time_policy
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
    executed,
    outcome_of,
)
from tests.report.pictures.builders import cycle, simulated_policy, simulation

FAILURE = Failure(profile="main", plugin="PodLifeTime", message="boom")


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


@pytest.mark.parametrize(
    ("kind", "code", "usual", "detailed"),
    [
        (OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER, ExitCode.DONE, ExitCode.DONE),
        (OutcomeKind.EVICTED, OutcomeCode.OUTCOME_UNKNOWN, ExitCode.DONE, ExitCode.INCOMPLETE),
        (OutcomeKind.EVICTED, OutcomeCode.NOT_REPLACED, ExitCode.DONE, ExitCode.DONE),
        (OutcomeKind.GONE, OutcomeCode.POD_GONE, ExitCode.DONE, ExitCode.DONE),
        (OutcomeKind.REFUSED, OutcomeCode.BUDGET, ExitCode.DONE, ExitCode.INCOMPLETE),
        (OutcomeKind.FAILED, OutcomeCode.NO_ANSWER, ExitCode.FAILED, ExitCode.FAILED),
        (OutcomeKind.FAILED, OutcomeCode.NO_ROOM, ExitCode.FAILED, ExitCode.FAILED),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.DRY_RUN, ExitCode.DONE, ExitCode.DONE),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.REPEATED, ExitCode.DONE, ExitCode.DONE),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.BUNDLE, ExitCode.DONE, ExitCode.INCOMPLETE),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.WINDOW_CLOSED, ExitCode.DONE, ExitCode.INCOMPLETE),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.LEASE_LOST, ExitCode.STOPPED, ExitCode.STOPPED),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.GUARD, ExitCode.STOPPED, ExitCode.STOPPED),
    ],
    ids=lambda each: each.name if isinstance(each, OutcomeCode) else "",
)
def test_exit_code_of_each_end_of_an_eviction(
    kind: OutcomeKind, code: OutcomeCode, usual: ExitCode, detailed: ExitCode
) -> None:
    outcome = outcome_of(executed(OLD[0], kind, code))

    assert outcome_exit_code(outcome, is_detailed=False) is usual
    assert outcome_exit_code(outcome, is_detailed=True) is detailed


def test_pods_that_another_controller_evicts_leave_no_failure_that_a_job_would_repeat() -> None:
    taken = executed(OLD[0], OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER)

    assert outcome_exit_code(outcome_of(taken, FAILED), is_detailed=False) is ExitCode.DONE


def test_moves_that_were_left_out_of_a_plan_are_told_in_detail() -> None:
    outcome = outcome_of(EVICTED)

    assert outcome_exit_code(outcome, is_detailed=True, is_partial=True) is ExitCode.INCOMPLETE
    assert outcome_exit_code(outcome, is_detailed=False, is_partial=True) is ExitCode.DONE


def test_requests_that_the_plan_refused_are_told_in_detail() -> None:
    outcome = outcome_of(EVICTED, maxNoOfPodsToEvictTotal=1)

    assert outcome_exit_code(outcome, is_detailed=True) is ExitCode.INCOMPLETE
    assert outcome_exit_code(outcome, is_detailed=False) is ExitCode.DONE


@pytest.mark.parametrize(("results", "code"), [([], ExitCode.FAILED), ([EVICTED], ExitCode.DONE)], ids=["none", "one"])
def test_plugin_that_failed_fails_a_run_that_evicted_nothing(results: list[ExecutedEviction], code: ExitCode) -> None:
    outcome = outcome_of(*results)
    failed = replace(outcome, plan=replace(outcome.plan, failures=(FAILURE,)))

    assert outcome_exit_code(failed, is_detailed=False) is code


def test_plugin_that_failed_fails_a_dry_run_whatever_it_plans() -> None:
    plan = replace(make_test_plan(), failures=(FAILURE,))

    assert plan_exit_code(plan, is_detailed=False) is ExitCode.FAILED
    assert plan_exit_code(plan, is_detailed=True) is ExitCode.FAILED


def test_simulation_fails_where_a_plugin_fails_in_one_of_its_policies() -> None:
    sound = simulated_policy(cycle(1))
    failed = replace(sound, failures=(SimulatedFailure(cycle=1, profile="main", plugin="P", message="boom"),))

    assert simulation_exit_code(simulation(sound, sound)) is ExitCode.DONE
    assert simulation_exit_code(simulation(sound, failed)) is ExitCode.FAILED


@pytest.mark.parametrize(("number", "code"), [(None, 4), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_run_that_was_stopped_ends_as_shells_count_signals(number: int | None, code: int) -> None:
    assert stopped_exit_code(number) == code


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
