from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from descheduler.migration.job.conditions import failed
from descheduler.model.koordinator.eviction_annotations import PROVIDER_ANNOTATION
from descheduler.model.koordinator.migration_job import JobReason, MigrationJob
from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from descheduler.report.outcome.making import make_outcome
from descheduler.report.plan.making import make_plan
from descheduler.telemetry.metrics.families import last_success_registry, run_registry
from descheduler.telemetry.metrics.table import METRICS, spec_of
from descheduler.telemetry.observer import RunObserver
from descheduler.telemetry.run_record import RunRecord
from tests.builders import make_pod
from tests.migration.stand_ins import Clock, make_eviction
from tests.report.decided_cycles import make_test_decisions, pod_life_time_policy

EVICTED = "descheduler_pods_evicted_total"


def ended(kind: OutcomeKind, code: OutcomeCode, message: str = "", *, name: str = "cart") -> Outcome:
    eviction: PlannedEviction = make_eviction(name)
    return Outcome(eviction, kind, code, message)


def record_of(outcomes: Iterable[Outcome] = (), /, **policy: Any) -> RunRecord:
    """A run over two old pods, one of them without an owner, whose evictions ended so."""
    pods = [make_pod("old"), make_pod("bare", owners=())]
    decisions = make_test_decisions(pods, policy=pod_life_time_policy(**policy))
    plan = make_plan(decisions)
    return RunRecord(plan=plan, outcome=make_outcome(plan, decisions, tuple(outcomes)), exit_code=0, ended_at=1000.0)


def values(registry: CollectorRegistry, name: str) -> dict[tuple[str, ...], float]:
    """Labels in the order of the table → value."""
    labels = spec_of(name).labels
    samples = [sample for family in registry.collect() for sample in family.samples if sample.name == name]
    return {tuple(sample.labels[label] for label in labels): sample.value for sample in samples}


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        pytest.param(ended(OutcomeKind.EVICTED, OutcomeCode.DONE), "success", id="evicted"),
        pytest.param(ended(OutcomeKind.GONE, OutcomeCode.POD_GONE), "error", id="gone"),
        pytest.param(ended(OutcomeKind.REFUSED, OutcomeCode.BUDGET), "error", id="refused"),
        pytest.param(ended(OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR), "error", id="failed"),
        pytest.param(ended(OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER), "background", id="handed over"),
        pytest.param(
            ended(
                OutcomeKind.NOT_ATTEMPTED,
                OutcomeCode.LIMIT,
                "maxNoOfPodsToEvictPerNode (5) reached for node n1",
            ),
            "maximum number of evicted pods per node reached",
            id="at a limit",
        ),
    ],
)
def test_outcome_of_an_eviction_becomes_upstreams_result(outcome: Outcome, expected: str) -> None:
    registry = run_registry(record_of([outcome]), last_success=None)

    assert values(registry, EVICTED) == {(expected, "PodLifeTime", "p", "shop", "n1"): 1}


@pytest.mark.parametrize("code", [OutcomeCode.STOPPED, OutcomeCode.DEADLINE, OutcomeCode.REPEATED])
def test_eviction_that_was_never_asked_for_is_not_counted(code: OutcomeCode) -> None:
    registry = run_registry(record_of([ended(OutcomeKind.NOT_ATTEMPTED, code)]), last_success=None)

    assert values(registry, EVICTED) == {}


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        ("maxNoOfPodsToEvictTotal", "maximum number of evicted pods per a descheduling cycle reached"),
        ("maxNoOfPodsToEvictPerNode", "maximum number of evicted pods per node reached"),
        ("maxNoOfPodsToEvictPerNamespace", "maximum number of evicted pods per namespace reached"),
    ],
)
def test_limit_that_refused_a_request_is_named_as_upstream_does(limit: str, text: str) -> None:
    registry = run_registry(record_of(**{limit: 0}), last_success=None)

    assert values(registry, EVICTED) == {(text, "PodLifeTime", "main", "default", "a"): 1}


def test_candidates_that_were_not_asked_for_are_refusals_without_attempt() -> None:
    registry = run_registry(record_of(), last_success=None)

    assert values(registry, "descheduler_refusals") == {("BarePod", "true"): 0, ("BarePod", "false"): 1}


def test_plugins_that_found_nothing_are_there_with_zero() -> None:
    registry = run_registry(record_of(maxNoOfPodsToEvictTotal=0), last_success=None)

    assert list(values(registry, "descheduler_moves_planned").values()) == [0]
    assert list(values(registry, "descheduler_strategy_failures").values()) == [0]


def test_plugin_durations_fall_into_upstreams_buckets() -> None:
    clock = Clock()
    observer = RunObserver(clock=clock.now)
    for seconds in (0.3, 60):
        with observer.cycle(), observer.plugin_run("p", "PodLifeTime", "deschedule"):
            clock.sleep(seconds)

    registry = run_registry(RunRecord(observer), last_success=None)

    def bucket(metric: str, bound: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"{metric}_bucket", {**labels, "le": bound})

    strategy = {"strategy": "PodLifeTime", "profile": "p"}
    bounds = ("0.25", "0.5", "50.0", "100.0", "+Inf")
    assert [bucket("descheduler_strategy_duration_seconds", bound, **strategy) for bound in bounds] == [0, 1, 1, 2, 2]
    assert registry.get_sample_value("descheduler_strategy_duration_seconds_sum", strategy) == 60.3
    assert bucket("descheduler_loop_duration_seconds", "500.0") == 1


def test_duration_counts_in_the_bucket_that_it_is_the_bound_of() -> None:
    clock = Clock()
    observer = RunObserver(clock=clock.now)
    with observer.cycle(), observer.plugin_run("p", "PodLifeTime", "deschedule"):
        clock.sleep(0.5)

    registry = run_registry(RunRecord(observer), last_success=None)

    name, labels = "descheduler_strategy_duration_seconds_bucket", {"strategy": "PodLifeTime", "profile": "p"}
    assert [registry.get_sample_value(name, {**labels, "le": bound}) for bound in ("0.25", "0.5", "1.0")] == [0, 1, 1]


def test_build_info_is_one() -> None:
    assert list(values(run_registry(RunRecord(), last_success=None), "descheduler_build_info").values()) == [1]


def test_run_that_came_to_nothing_still_tells_how_it_ended() -> None:
    registry = run_registry(RunRecord(exit_code=2, ended_at=5.0), last_success=4.0)

    assert values(registry, "descheduler_run_exit_code") == {(): 2}
    assert values(registry, "descheduler_run_timestamp_seconds") == {(): 5}
    assert values(registry, "descheduler_last_success_timestamp_seconds") == {(): 4}
    assert values(registry, "descheduler_snapshot_duration_seconds") == {}


def test_every_metric_of_the_table_is_made_and_no_other() -> None:
    families = list(run_registry(record_of(), last_success=1.0).collect())

    assert [family.name for family in families] == [spec.name.removesuffix("_total") for spec in METRICS]
    assert [family.type for family in families] == [spec.type for spec in METRICS]


def test_last_success_goes_alone() -> None:
    families = list(last_success_registry(RunRecord(ended_at=7.0)).collect())

    assert [(family.name, family.samples[0].value) for family in families] == [
        ("descheduler_last_success_timestamp_seconds", 7.0)
    ]


def test_jobs_are_counted_by_phase_and_their_stages_timed() -> None:
    record = RunRecord(RunObserver(clock=iter(range(0, 1000, 7)).__next__))
    new = MigrationJob("j", "", "shop", "cart", "old", uid="uid", annotations={PROVIDER_ANNOTATION: "placeholder"})
    reserving = replace(new, phase="Running")
    record.observer.jobs.changed(None, new)
    for old, changed in pairwise([new, reserving, failed(reserving, JobReason.UNSCHEDULABLE, "no node")]):
        record.observer.jobs.changed(old, changed)

    registry = run_registry(record, last_success=None)

    assert values(registry, "descheduler_migration_jobs") == {("Failed", "Unschedulable", "placeholder"): 1.0}
    stages = "descheduler_migration_stage_duration_seconds"
    labels = {"stage": "reserving", "provider": "placeholder"}
    assert registry.get_sample_value(f"{stages}_sum", labels) == 7.0
    assert registry.get_sample_value(f"{stages}_bucket", {**labels, "le": "5.0"}) == 0.0
    assert registry.get_sample_value(f"{stages}_bucket", {**labels, "le": "10.0"}) == 1.0


@pytest.mark.parametrize(
    ("shard", "labels"),
    [
        pytest.param(WHOLE_CLUSTER, {}, id="the whole cluster"),
        pytest.param(Shard(3, 4), {("3", "4", ""): 1}, id="a shard by node pools"),
        pytest.param(Shard(0, 4, "rack"), {("0", "4", "rack"): 1}, id="a shard by a label"),
    ],
)
def test_a_run_of_a_shard_says_which(shard: Shard, labels: dict[tuple[str, ...], float]) -> None:
    registry = run_registry(RunRecord(shard=shard), last_success=None)

    assert values(registry, "descheduler_shard_info") == labels
