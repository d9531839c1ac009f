"""What a Job says about its pods."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from descheduler.cluster.decoding.job_facts import JobSpecWire, JobStatusWire, decode_job_facts, replacement_policy
from descheduler.model.groups.workloads import FailureRule, JobFacts
from tests.builders import Object

STARTED = datetime(2026, 1, 2, tzinfo=UTC)


def facts(*, status: Object | None = None, **spec: object) -> JobFacts:
    return decode_job_facts(msgspec.convert(spec, JobSpecWire), msgspec.convert(status or {}, JobStatusWire))


def test_job_that_says_nothing_has_the_facts_of_the_api_server() -> None:
    assert facts() == JobFacts()


def test_all_that_a_job_says_is_read() -> None:
    spec = {
        "completions": 5,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "backoffLimitPerIndex": 2,
        "maxFailedIndexes": 3,
        "activeDeadlineSeconds": 60,
        "suspend": True,
        "managedBy": "example.com/x",
    }
    status = {
        "startTime": "2026-01-02T00:00:00Z",
        "succeeded": 2,
        "failed": 3,
        "uncountedTerminatedPods": {"failed": ["a", "b"], "succeeded": ["c"]},
        "completedIndexes": "1,3-5",
        "failedIndexes": "7",
        "conditions": [
            {"type": "FailureTarget", "status": "True"},
            {"type": "Complete", "status": "False"},
            {"status": "True"},
        ],
    }

    assert facts(status=status, **spec) == JobFacts(
        completions=5,
        is_indexed=True,
        backoff_limit=0,
        backoff_limit_per_index=2,
        max_failed_indexes=3,
        active_deadline_seconds=60,
        is_suspended=True,
        managed_by="example.com/x",
        started_at=STARTED,
        num_succeeded=2,
        num_failed=5,
        completed_indexes=frozenset({1, 3, 4, 5}),
        failed_indexes=frozenset({7}),
        conditions=frozenset({"FailureTarget", ""}),
    )


@pytest.mark.parametrize(
    ("spec", "limit"), [({}, 6), ({"backoffLimit": 1}, 1), ({"backoffLimitPerIndex": 1}, 2**31 - 1)]
)
def test_failures_are_limited_by_default_but_where_each_index_has_a_limit(spec: Object, limit: int) -> None:
    assert facts(**spec).backoff_limit == limit


def test_number_of_failures_is_not_below_those_that_are_uncounted() -> None:
    assert facts(status={"failed": -3, "uncountedTerminatedPods": {"failed": ["a"]}}).num_failed == 1


@pytest.mark.parametrize(
    ("text", "indexes"),
    [
        ("", set()),
        ("0", {0}),
        ("2-4,7", {2, 3, 4, 7}),
        ("3-3,", {3}),
        ("4-2", set()),
        ("x,5,1-y", {5}),
        ("-5", set()),
        ("99999-200000", {99_999, 100_000}),
    ],
)
def test_indexes_of_a_text_are_read_as_far_as_a_job_has_any(text: str, indexes: set[int]) -> None:
    assert facts(status={"completedIndexes": text}).completed_indexes == indexes


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        pytest.param({}, FailureRule(""), id="empty"),
        pytest.param(
            {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 2]}},
            FailureRule("FailJob", "In", frozenset({1, 2})),
            id="of exit codes",
        ),
        pytest.param(
            {"action": "Ignore", "onPodConditions": [{"type": "A"}, {"type": "B", "status": "False"}, {}]},
            FailureRule("Ignore", conditions=(("A", "True"), ("B", "False"), ("", "True"))),
            id="of conditions, which are true unless they say otherwise",
        ),
    ],
)
def test_rules_for_failed_pods_are_read(rule: Object, value: FailureRule) -> None:
    assert facts(podFailurePolicy={"rules": [rule]}).failure_rules == (value,)


@pytest.mark.parametrize(
    ("spec", "policy"),
    [
        ({}, ""),
        ({"podReplacementPolicy": "TerminatingOrFailed"}, "TerminatingOrFailed"),
        ({"podFailurePolicy": {}}, "Failed"),
        ({"podReplacementPolicy": "X", "podFailurePolicy": {}}, "X"),
    ],
)
def test_job_with_rules_for_failed_pods_replaces_failed_ones_alone(spec: Object, policy: str) -> None:
    assert replacement_policy(msgspec.convert(spec, JobSpecWire)) == policy
