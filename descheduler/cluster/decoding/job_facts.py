"""The facts of a Job that decide about its pods, from wire types to model values."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from descheduler.cluster.decoding.wire import ConditionWire, Int32, Int64, Wire, set_time
from descheduler.model.groups.workloads import DEFAULT_BACKOFF_LIMIT, FailureRule, JobFacts
from descheduler.model.text.numbers import whole_number

_TRUE = "True"
_MOST_INDEXES = 100_000
"""The API server allows no Indexed Job more completions."""


class _ExitCodesWire(Wire):
    operator: str | None = None
    values: list[int] | None = None


class _PodConditionWire(Wire):
    type: str | None = None
    status: str | None = None


class _RuleWire(Wire):
    action: str | None = None
    on_exit_codes: _ExitCodesWire | None = None
    on_pod_conditions: list[_PodConditionWire] | None = None


class _FailurePolicyWire(Wire):
    rules: list[_RuleWire] | None = None


class JobSpecWire(Wire):
    """`spec` of a Job."""

    active_deadline_seconds: Int64 | None = None
    backoff_limit: Int32 | None = None
    backoff_limit_per_index: Int32 | None = None
    completion_mode: str | None = None
    completions: Int32 | None = None
    managed_by: str | None = None
    max_failed_indexes: Int32 | None = None
    pod_failure_policy: _FailurePolicyWire | None = None
    pod_replacement_policy: str | None = None
    suspend: bool | None = None


class _UncountedWire(Wire):
    failed: list[str] | None = None


class JobStatusWire(Wire):
    """`status` of a Job."""

    completed_indexes: str | None = None
    conditions: list[ConditionWire] | None = None
    failed: Int32 | None = None
    failed_indexes: str | None = None
    start_time: datetime | None = None
    succeeded: Int32 | None = None
    uncounted_terminated_pods: _UncountedWire | None = None


def decode_job_facts(spec: JobSpecWire, status: JobStatusWire) -> JobFacts:
    """The value of `spec` and `status`."""
    uncounted = status.uncounted_terminated_pods or _UncountedWire()
    return JobFacts(
        completions=spec.completions,
        is_indexed=spec.completion_mode == "Indexed",
        backoff_limit=_backoff_limit(spec),
        backoff_limit_per_index=spec.backoff_limit_per_index,
        max_failed_indexes=spec.max_failed_indexes,
        active_deadline_seconds=spec.active_deadline_seconds,
        is_suspended=bool(spec.suspend),
        managed_by=spec.managed_by or "",
        failure_rules=tuple(map(_rule, (spec.pod_failure_policy or _FailurePolicyWire()).rules or ())),
        started_at=None if status.start_time is None else set_time(status.start_time),
        num_succeeded=status.succeeded or 0,
        num_failed=max(status.failed or 0, 0) + len(uncounted.failed or ()),
        completed_indexes=frozenset(_indexes(status.completed_indexes or "")),
        failed_indexes=frozenset(_indexes(status.failed_indexes or "")),
        conditions=frozenset(each.type or "" for each in status.conditions or () if each.status == _TRUE),
    )


def replacement_policy(spec: JobSpecWire) -> str:
    """`podReplacementPolicy`; a Job with a `podFailurePolicy` has `Failed` where it says nothing."""
    return spec.pod_replacement_policy or ("Failed" if spec.pod_failure_policy is not None else "")


def _backoff_limit(spec: JobSpecWire) -> int:
    """The API server leaves it as large as can be beside a limit for each index."""
    if spec.backoff_limit is not None:
        return spec.backoff_limit
    return DEFAULT_BACKOFF_LIMIT if spec.backoff_limit_per_index is None else 2**31 - 1


def _rule(wire: _RuleWire) -> FailureRule:
    codes = wire.on_exit_codes or _ExitCodesWire()
    return FailureRule(
        action=wire.action or "",
        operator=codes.operator or "",
        exit_codes=frozenset(codes.values or ()),
        conditions=tuple((each.type or "", each.status or _TRUE) for each in wire.on_pod_conditions or ()),
    )


def _indexes(text: str) -> Iterator[int]:
    """The indexes of a text such as `1,3-5`; what is not of that form is passed over."""
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        lowest, highest = whole_number(first), whole_number(last or first)
        if lowest is not None and highest is not None:
            yield from range(lowest, min(highest, _MOST_INDEXES) + 1)
