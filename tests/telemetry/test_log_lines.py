from __future__ import annotations

import logging

import pytest
from msgspec.structs import replace

from descheduler.plan.outcome import OutcomeCode
from descheduler.telemetry.log_lines import log_outcome, log_plan
from descheduler.telemetry.observer import RunObserver
from tests.builders import make_node
from tests.report.decided_cycles import OLD, make_test_decisions, make_test_plan
from tests.report.outcomes import EVICTED, FAILED, REFUSED, TOO_LATE, outcome_of


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO - 1, "descheduler")
    return caplog


def events(caplog: pytest.LogCaptureFixture, message: str) -> list[dict[str, object]]:
    return [vars(record)["event_fields"] for record in caplog.records if record.message == message]


def test_a_dry_run_names_every_pod_as_upstream_does(lines: pytest.LogCaptureFixture) -> None:
    log_plan(make_test_plan())

    evicted = events(lines, "Evicted pod in dry run mode")
    assert [event["pod"] for event in evicted] == [f"default/{name}" for name in OLD]
    assert evicted[0].keys() == {"pod", "reason", "strategy", "node", "profile"}


def test_sums_stand_for_each_plugin_and_for_the_run(lines: pytest.LogCaptureFixture) -> None:
    log_plan(make_test_plan())

    assert events(lines, "Total number of evictions/requests") == [
        {"profile": "main", "strategy": "PodLifeTime", "evictedPods": 3, "evictionRequests": 0}
    ]
    assert events(lines, "Number of evictions/requests") == [{"totalEvicted": 3, "evictionRequests": 0, "refused": 0}]


def test_a_skipped_cycle_is_said_in_upstreams_words(lines: pytest.LogCaptureFixture) -> None:
    log_plan(make_test_plan(nodes=[make_node("a")]))

    assert "Skipping descheduling cycle: requires >=2 nodes" in [record.message for record in lines.records]


def test_eviction_is_logged_at_every_level_with_its_plugin_reason_and_target(caplog: pytest.LogCaptureFixture) -> None:
    """The target is that of the plan's move; upstream's keys come first, in its order."""
    caplog.set_level(logging.INFO, "descheduler")
    decisions = make_test_decisions()
    landing = decisions.moves[0].landing
    assert landing is not None

    RunObserver().record(replace(EVICTED, eviction=replace(EVICTED.eviction, landing=landing)))

    assert events(caplog, "Evicted pod") == [
        {
            "pod": "default/old-1",
            "reason": "runs for too long",
            "strategy": "PodLifeTime",
            "node": "a",
            "profile": "main",
            "target": landing.node,
        }
    ]


def test_refusal_is_a_warning_with_the_reason_and_the_cause(lines: pytest.LogCaptureFixture) -> None:
    RunObserver().record(REFUSED)

    (event,) = events(lines, "Pod not evicted")
    assert [record.levelname for record in lines.records] == ["WARNING"]
    assert (event["reason"], event["err"]) == ("runs for too long", "budget")


def test_sums_at_the_end_are_of_what_was_done(lines: pytest.LogCaptureFixture) -> None:
    log_outcome(outcome_of(EVICTED, FAILED, TOO_LATE))

    assert events(lines, "Total number of evictions/requests") == [
        {"profile": "main", "strategy": "PodLifeTime", "evictedPods": 1, "evictionRequests": 0}
    ]
    assert events(lines, "Number of evictions/requests")[0]["totalEvicted"] == 1
    assert events(lines, "Evictions not attempted") == [{"count": 1, "err": "--deadline exceeded", "code": "deadline"}]


def test_only_failed_evictions_are_errors(lines: pytest.LogCaptureFixture) -> None:
    observer = RunObserver()

    for outcome in (EVICTED, FAILED, REFUSED):
        observer.record(outcome)

    errors = [record.message for record in lines.records if record.levelno >= logging.ERROR]
    assert errors == ["Error evicting pod"]
    assert [event["pod"] for event in events(lines, "Evicted pod")] == ["default/old-1"]
    assert [event["result"] for event in events(lines, "Pod not evicted")] == ["refused"]


def test_an_eviction_of_unknown_fate_is_a_warning(lines: pytest.LogCaptureFixture) -> None:
    RunObserver().record(replace(EVICTED, code=OutcomeCode.OUTCOME_UNKNOWN))

    assert [record.levelname for record in lines.records] == ["WARNING"]
    assert lines.records[0].message == "Eviction not confirmed, counted as evicted"


def test_the_end_of_a_run_repeats_no_eviction(lines: pytest.LogCaptureFixture) -> None:
    log_outcome(outcome_of(EVICTED, FAILED, REFUSED))

    assert [record.message for record in lines.records] == [
        "Total number of evictions/requests",
        "Number of evictions/requests",
    ]


def test_waits_are_warnings_and_that_for_an_overloaded_server_is_told_once(lines: pytest.LogCaptureFixture) -> None:
    observer = RunObserver()

    observer.doubted(EVICTED.eviction, "connection lost", 40.04)
    observer.turned_away(1.0)
    observer.turned_away(2.0)

    assert [record.levelname for record in lines.records] == ["WARNING", "WARNING"]
    assert events(lines, "No clear answer to an eviction; counted as evicted until the pod is seen again") == [
        {"pod": "default/old-1", "answer": "connection lost", "seconds": 40.0}
    ]
    assert events(lines, "API server is overloaded; waiting") == [{"seconds": 1.0}]


def test_the_story_of_a_run_is_short_at_the_usual_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "descheduler")

    log_plan(make_test_plan())

    assert len(caplog.records) == 1
