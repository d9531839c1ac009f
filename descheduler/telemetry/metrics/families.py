"""The metrics of one finished run. They are made from what is known of it, so there is no registry to update."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector, CollectorRegistry

from descheduler.plan.decisions import Failure
from descheduler.report.outcome.document import EvictionResult, OutcomeDocument
from descheduler.report.outcome.predictions import Predictions
from descheduler.report.plan.document import Plan, PlanMove
from descheduler.report.plan.goal import PlannedObjective
from descheduler.telemetry.metrics.table import (
    JOB_BUCKETS,
    LAST_SUCCESS,
    LOOP_BUCKETS,
    METRICS,
    STRATEGY_BUCKETS,
    spec_of,
)
from descheduler.telemetry.observer import RunObserver
from descheduler.telemetry.run_record import RunRecord
from descheduler.version import VERSION

Labels = tuple[str, ...]
Values = Mapping[Labels, float]

_NO_LABELS: Labels = ()
_LOOP = "descheduler_loop_duration_seconds"
_STRATEGY = "descheduler_strategy_duration_seconds"
_STAGES = "descheduler_migration_stage_duration_seconds"
_LIMITS = {
    "maxNoOfPodsToEvictPerNode": "maximum number of evicted pods per node reached",
    "maxNoOfPodsToEvictPerNamespace": "maximum number of evicted pods per namespace reached",
    "maxNoOfPodsToEvictTotal": "maximum number of evicted pods per a descheduling cycle reached",
}
"""Limit → the label that kubernetes-sigs/descheduler 0.36 gives to a request that it refused."""
_RESULTS = {"evicted": "success", "gone": "error", "refused": "error", "failed": "error", "background": "background"}
_ERROR = "error"
_COUNTED_ELSEWHERE = frozenset({"APIRefused", "MissingUID", "AlreadyRequested"})
"""Refused requests that are not counted here: the first is among the outcomes, and upstream leaves the others out."""


@dataclass(frozen=True, slots=True, eq=False)
class _Families(Collector):
    families: Sequence[Metric]

    def collect(self) -> Iterable[Metric]:
        return self.families


def run_registry(record: RunRecord, *, last_success: float | None) -> CollectorRegistry:
    """All metrics of the run; metrics of what it never came to are left out.

    `last_success` is when a run last succeeded, None to leave that out. Every registry is a new one.
    """
    observer, plan, outcome, shard = record.observer, record.plan, record.outcome, record.shard
    values: dict[str, Values] = {
        "descheduler_build_info": {(VERSION, VERSION, platform.python_version()): 1.0},
        "descheduler_run_duration_seconds": _one(observer.run_seconds),
        "descheduler_run_timestamp_seconds": _one(record.ended_at),
        LAST_SUCCESS: _one(last_success),
        "descheduler_run_exit_code": _one(record.exit_code),
        "descheduler_run_dry": _one(record.is_dry),
        "descheduler_shard_info": {} if shard.is_whole else {(str(shard.index), str(shard.count), shard.label): 1.0},
        "descheduler_snapshot_duration_seconds": _one(observer.snapshot_seconds),
        "descheduler_snapshot_objects": {(kind,): number for kind, number in observer.num_objects.items()},
        "descheduler_goal": {**_goal_figures(plan), **_goal_reached(outcome)},
        "descheduler_goal_evictions": _goal_evictions(plan),
        "descheduler_migration_jobs": observer.jobs.counts,
    }
    if plan is not None:
        values["descheduler_moves_planned"] = _by_plugin(plan, plan.moves)
        values["descheduler_refusals"] = _refusals(plan)
        values["descheduler_strategy_failures"] = _by_plugin(plan, plan.failures)
    if outcome is not None:
        requests = (*_requests_sent(outcome), *_requests_refused(outcome.plan))
        values["descheduler_pods_evicted_total"] = Counter(requests)
        results = ((str(result.result), result.code) for result in outcome.results)
        values["descheduler_eviction_outcomes"] = Counter(results)
        values["descheduler_predictions"] = _predictions(outcome.predictions)
    cycle_seconds = {} if observer.cycle_seconds is None else {_NO_LABELS: [observer.cycle_seconds]}
    histograms: Mapping[str, Metric] = {
        _LOOP: _histogram(_LOOP, cycle_seconds, LOOP_BUCKETS),
        _STRATEGY: _histogram(_STRATEGY, _plugin_seconds(observer), STRATEGY_BUCKETS),
        _STAGES: _histogram(_STAGES, observer.jobs.seconds, JOB_BUCKETS),
    }
    return _registry([histograms.get(spec.name) or _family(spec.name, values.get(spec.name, {})) for spec in METRICS])


def last_success_registry(record: RunRecord) -> CollectorRegistry:
    """Only when the run, which succeeded, ended."""
    return _registry([_family(LAST_SUCCESS, {_NO_LABELS: record.ended_at})])


def _registry(families: Sequence[Metric]) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_Families(families))
    return registry


def _one(number: float | None) -> Values:
    return {} if number is None else {_NO_LABELS: float(number)}


def _plugin_seconds(observer: RunObserver) -> Mapping[Labels, Sequence[float]]:
    observed: dict[Labels, list[float]] = {}
    for run in observer.plugin_runs:
        observed.setdefault((run.plugin, run.profile), []).append(run.seconds)
    return observed


def _family(name: str, values: Values) -> Metric:
    spec = spec_of(name)
    maker = CounterMetricFamily if spec.type == "counter" else GaugeMetricFamily
    family = maker(name, spec.help, labels=spec.labels)
    for labels, number in values.items():
        family.add_metric(labels, number)
    return family


def _histogram(name: str, observed: Mapping[Labels, Sequence[float]], bounds: Sequence[float]) -> Metric:
    spec = spec_of(name)
    family = HistogramMetricFamily(name, spec.help, labels=spec.labels)
    for labels, seconds in observed.items():
        family.add_metric(labels, _buckets(seconds, bounds), sum(seconds))
    return family


def _buckets(seconds: Sequence[float], bounds: Sequence[float]) -> list[tuple[str, float]]:
    """Upper bound → observations up to it."""
    return [*((str(bound), sum(s <= bound for s in seconds)) for bound in bounds), ("+Inf", len(seconds))]


def _requests_sent(outcome: OutcomeDocument) -> Iterator[Labels]:
    for result in outcome.results:
        if (text := _result_label(result)) is not None:
            yield text, result.plugin, result.profile, result.pod.namespace, result.node


def _result_label(result: EvictionResult) -> str | None:
    """None for an eviction that was never asked for."""
    if result.code == "limit":
        return next((text for key, text in _LIMITS.items() if result.message.startswith(f"{key} ")), _ERROR)
    return _RESULTS.get(result.result)


def _requests_refused(plan: Plan) -> Iterator[Labels]:
    for refusal in plan.refusals:
        if refusal.is_attempt and refusal.code not in _COUNTED_ELSEWHERE:
            text = _LIMITS.get(refusal.limit, _ERROR)
            yield text, refusal.plugin, refusal.profile, refusal.pod.namespace, refusal.node


def _objectives(plan: Plan | None) -> Iterator[tuple[Labels, PlannedObjective]]:
    """Each objective of the planners with its plugin, profile, number and name."""
    numbers = Counter[tuple[str, str]]()
    for each in () if plan is None or plan.goal is None else plan.goal.objectives:
        numbers[each.plugin, each.profile] += 1
        yield (each.plugin, each.profile, str(numbers[each.plugin, each.profile]), each.objective), each


def _goal_figures(plan: Plan | None) -> Values:
    return {
        (*labels, level.counts, value): number
        for labels, each in _objectives(plan)
        for level in each.levels
        for value, number in (("before", level.before), ("after", level.after), ("bound", level.bound))
    }


def _goal_reached(outcome: OutcomeDocument | None) -> Values:
    """In the order of the plan's objectives. `before` is that of the run, whose plan may be that of a later round."""
    if outcome is None:
        return {}
    return {
        (*labels, reached.counts, value): number
        for (labels, _), reached in zip(_objectives(outcome.plan), outcome.goals, strict=False)
        for value, number in (("before", reached.before), ("reached", reached.reached))
        if number is not None
    }


def _goal_evictions(plan: Plan | None) -> Values:
    return {
        (*labels, value): number
        for labels, each in _objectives(plan)
        for value, number in (("planned", each.evictions), ("bound", each.bound))
        if number is not None
    }


def _by_plugin(plan: Plan, found: Iterable[PlanMove | Failure]) -> Values:
    """How many of `found` are of each plugin, also where none is."""
    counts = Counter((each.plugin, each.profile) for each in found)
    return {(run.plugin, run.profile): counts[run.plugin, run.profile] for run in plan.plugins}


def _predictions(found: Predictions) -> Values:
    counts = {
        "as-predicted": found.as_predicted,
        "tied": found.tied,
        "elsewhere": found.elsewhere,
        "not-seen": found.not_seen,
    }
    return {(result,): number for result, number in counts.items()}


def _refusals(plan: Plan) -> Values:
    values: dict[Labels, float] = {}
    for count in plan.refusal_counts:
        values[count.code, "true"] = count.num_attempts
        values[count.code, "false"] = count.num_refusals - count.num_attempts
    return values
