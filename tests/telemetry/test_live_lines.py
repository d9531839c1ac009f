"""Log lines of a run that is under way."""

from __future__ import annotations

import logging

import pytest
from msgspec.structs import replace

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.replacements.answer import not_created
from descheduler.plan.outcome import Outcome
from descheduler.telemetry.live_lines import log_cluster, log_eviction, log_missing_events, log_overload, log_skipped
from tests.report.decided_cycles import make_test_decisions
from tests.report.outcomes import EVICTED, FAILED, GONE, REFUSED, TOO_LATE


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO - 1, "descheduler")
    return caplog


def logged(lines: pytest.LogCaptureFixture) -> list[tuple[int, str, dict[str, object]]]:
    """Verbosity, message and fields of each line; warnings and errors are below zero."""
    return [(logging.INFO - each.levelno, each.message, vars(each)["event_fields"]) for each in lines.records]


@pytest.mark.parametrize(("context", "shown"), [("", "in-cluster"), ("prod", "prod")])
def test_cluster_is_named(lines: pytest.LogCaptureFixture, context: str, shown: str) -> None:
    log_cluster(context, "https://h")

    assert logged(lines) == [(0, "Cluster", {"context": shown, "server": "https://h"})]


@pytest.mark.parametrize(
    ("outcome", "verbosity", "message", "result"),
    [
        (EVICTED, 0, "Evicted pod", None),
        (FAILED, -20, "Error evicting pod", None),
        (REFUSED, -10, "Pod not evicted", "refused"),
        (GONE, 0, "Pod not evicted", "gone"),
        (TOO_LATE, 1, "Pod not evicted", "not-attempted"),
    ],
)
def test_end_of_an_eviction_is_logged_as_it_matters(
    lines: pytest.LogCaptureFixture, outcome: Outcome, verbosity: int, message: str, result: str | None
) -> None:
    log_eviction(outcome)

    ((level, said, fields),) = logged(lines)
    assert (level, said, fields.get("result")) == (verbosity, message, result)
    assert ("err" in fields) == bool(outcome.message)


@pytest.mark.parametrize(
    ("verdict", "node", "is_created", "target"),
    [
        (LandingVerdict.NO, "", True, "pending"),
        (LandingVerdict.UNKNOWN, "", True, "unknown"),
        (LandingVerdict.NO, "b", True, "b"),
        (LandingVerdict.NO, "b", False, "none"),
    ],
)
def test_target_is_what_is_expected_of_the_replacement(
    lines: pytest.LogCaptureFixture, verdict: LandingVerdict, node: str, is_created: bool, target: str
) -> None:
    landing = next(each.landing for each in make_test_decisions().moves if each.landing is not None)
    answer = landing.replacement.answer if is_created else not_created("it is a bare pod")
    replacement = replace(landing.replacement, answer=answer)
    expected = replace(landing, verdict=verdict, node=node, replacement=replacement)

    log_eviction(replace(EVICTED, eviction=replace(EVICTED.eviction, landing=expected)))

    assert logged(lines)[0][2]["target"] == target


def test_what_a_run_goes_without_is_logged(lines: pytest.LogCaptureFixture) -> None:
    log_skipped([])
    log_skipped(["Pod a is invalid", "Pod b is invalid"])
    log_overload(1.26)
    log_missing_events("forbidden")

    assert logged(lines) == [
        (0, "Invalid objects skipped", {"num": 2, "first": "Pod a is invalid"}),
        (-10, "API server is overloaded; waiting", {"seconds": 1.3}),
        (-10, "Events not written", {"reason": "forbidden"}),
    ]
