"""Every metric that a run writes: one table, from which the metrics and their page of the documentation are made."""

from __future__ import annotations

from typing import Literal

import msgspec

LAST_SUCCESS = "descheduler_last_success_timestamp_seconds"

STRATEGY_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0)
"""Upper bounds in seconds, as kubernetes-sigs/descheduler 0.36 `metrics/metrics.go` has them."""
LOOP_BUCKETS = (*STRATEGY_BUCKETS, 250.0, 500.0)
JOB_BUCKETS = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)


class MetricSpec(msgspec.Struct, frozen=True):
    """One metric: its name as it is queried, its type, the names of its labels, and what it says.

    `is_upstream` marks the ones that kubernetes-sigs/descheduler has too, under the same name and labels.
    """

    name: str
    type: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    help: str
    is_upstream: bool = False


METRICS = (
    MetricSpec(
        "descheduler_build_info",
        "gauge",
        ("AppVersion", "DeschedulerVersion", "PythonVersion"),
        "Version of this program; the value is always 1",
        is_upstream=True,
    ),
    MetricSpec(
        "descheduler_pods_evicted_total",
        "counter",
        ("result", "strategy", "profile", "namespace", "node"),
        "Eviction requests of the run by result: success (unknown outcomes included), error, background, or the text "
        "of the limit that was reached; none in a dry run. strategy is empty for PodMigrationJobs of users",
        is_upstream=True,
    ),
    MetricSpec(
        "descheduler_loop_duration_seconds",
        "histogram",
        (),
        "Time from the first object read to the last eviction, one observation for each run",
        is_upstream=True,
    ),
    MetricSpec(
        "descheduler_strategy_duration_seconds",
        "histogram",
        ("strategy", "profile"),
        "Time that a plugin took to decide; evictions are made later and not part of it",
        is_upstream=True,
    ),
    MetricSpec("descheduler_run_duration_seconds", "gauge", (), "Time that the whole run took"),
    MetricSpec("descheduler_run_timestamp_seconds", "gauge", (), "When the run ended, in seconds since 1970"),
    MetricSpec(
        LAST_SUCCESS,
        "gauge",
        (),
        "End of the last successful run (exit code 0 or 3), in seconds since 1970; a failed run does not change it",
    ),
    MetricSpec("descheduler_run_exit_code", "gauge", (), "Exit code of the run"),
    MetricSpec("descheduler_run_dry", "gauge", (), "1 for a dry run, 0 for a run that evicts"),
    MetricSpec(
        "descheduler_shard_info",
        "gauge",
        ("index", "count", "label"),
        "Which shard the run was (--shard-index, --shards, --shard-by, empty for node pools); always 1. Runs "
        "over the whole cluster do not have it",
    ),
    MetricSpec("descheduler_snapshot_duration_seconds", "gauge", (), "Time that reading the cluster took"),
    MetricSpec("descheduler_snapshot_objects", "gauge", ("kind",), "Objects in the snapshot; workloads are one kind"),
    MetricSpec("descheduler_moves_planned", "gauge", ("strategy", "profile"), "Pods that the plan evicts"),
    MetricSpec(
        "descheduler_goal",
        "gauge",
        ("strategy", "profile", "number", "objective", "counts", "value"),
        "What an objective of a planner counts, such as nodes over target, by value: before (with the "
        "evictions by earlier plugins and for earlier objectives), after the plan, reached by the evictions of a run "
        "that evicts, and bound, which no plan is below; number is its place in the policy, from 1",
    ),
    MetricSpec(
        "descheduler_goal_evictions",
        "gauge",
        ("strategy", "profile", "number", "objective", "value"),
        "Evictions for an objective of a planner, by value: planned, and bound, the fewest that "
        "reach the same figures, where this is proven",
    ),
    MetricSpec(
        "descheduler_eviction_outcomes",
        "gauge",
        ("result", "code"),
        "Evictions of the plan and of PodMigrationJobs of users by result and code, as in the outcome document",
    ),
    MetricSpec(
        "descheduler_predictions",
        "gauge",
        ("result",),
        "Replacements of evicted pods for which a node was predicted, by where they were seen ready: as-predicted, "
        "tied (on another node that ranks as high), elsewhere or not-seen",
    ),
    MetricSpec(
        "descheduler_refusals",
        "gauge",
        ("code", "attempt"),
        "Pods not evicted, by reason code; attempt is true when their eviction was requested",
    ),
    MetricSpec(
        "descheduler_migration_jobs",
        "gauge",
        ("phase", "reason", "provider"),
        "Migration jobs that the run changed, by their phase and reason at its end and how room is held: koordinator, "
        "placeholder, none, or empty for PodMigrationJobs of users",
    ),
    MetricSpec(
        "descheduler_migration_stage_duration_seconds",
        "histogram",
        ("stage", "provider"),
        "Time that migration jobs were in a stage: pending, reserving (no node yet for Reservation or placeholder), "
        "waiting (for rate limits, budgets and the check before the eviction), evicting (until the pod is gone) or "
        "landing (until the replacement is ready)",
    ),
    MetricSpec("descheduler_strategy_failures", "gauge", ("strategy", "profile"), "Plugins that failed in the run"),
)
"""In the order in which they are written."""


def spec_of(name: str) -> MetricSpec:
    """The entry of the table. Raises KeyError when there is none."""
    for spec in METRICS:
        if spec.name == name:
            return spec
    raise KeyError(name)
