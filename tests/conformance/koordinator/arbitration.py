"""Recorded arbitrations: which jobs koord-descheduler let go, refused, failed for want of a pod or had wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.migration_controller.arbitration import JobDecision, JobOutcome, arbitrate
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.model.koordinator.classes import importance
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import EVICT_ANNOTATION
from descheduler.policy.load import load_policy

Case = Mapping[str, Any]

_VERSIONS = {"Pod": "v1", "Node": "v1", "ReplicaSet": "apps/v1"}
_RECORDED_NAMES = {JobOutcome.HELD: "started"}
"""A job that waits for the limiters, or is paused, has been let go."""


def check(case: Case) -> str | None:
    """The first job that fares otherwise than in koord-descheduler.

    Its sort of pods is not stable, and many were created in the same second: a job among others whose pods are equal in
    every key may have come in any order, so that any order of theirs counts.
    """
    snapshot, args, expected = _snapshot(case), _args(case), case["expect"]["jobs"]
    # All jobs were created within their time limit before they were looked at.
    created = [job.created_at for job in snapshot.migration_jobs if job.created_at is not None]
    first: str | None = None
    for jobs in _orders_of_ties(snapshot, expected):
        view = ClusterView(snapshot, moves_take_effect=True)
        decisions = arbitrate(jobs, view, args, now=max(created) + timedelta(seconds=1))
        difference = _difference(expected, {decision.job.name: _told(decision, case) for decision in decisions})
        if difference is None:
            return None
        first = first or difference
    return first


def _difference(expected: Mapping[str, Any], got: Mapping[str, Any]) -> str | None:
    differing = (name for name in sorted(expected.keys() | got) if got.get(name) != expected.get(name))
    return next((f"{name}: expected {expected.get(name)}, got {got.get(name)}" for name in differing), None)


def _orders_of_ties(snapshot: Snapshot, expected: Mapping[str, Any]) -> Iterator[list[MigrationJob]]:
    """The jobs as they are, then with the times of creation dealt out anew among those whose pods are equal.

    If any order of theirs gives what was recorded this one does: who was to wait comes last; of the others pods that
    use up no allowance, as they are unavailable already, come first, and those that need none come last.
    """
    jobs = snapshot.migration_jobs
    yield list(jobs)
    pods = {(pod.namespace, pod.name): pod for pod in snapshot.pods}

    def place(job: MigrationJob) -> tuple[bool, ...]:
        pod, told = pods.get((job.pod_namespace, job.pod_name)), expected[job.name]
        is_bypassing = pod is not None and EVICT_ANNOTATION in pod.annotations
        return told["outcome"] != "started", not told["status"], is_bypassing, pod is not None and pod.is_ready

    groups: dict[object, list[MigrationJob]] = defaultdict(list)
    for job in jobs:
        pod = pods.get((job.pod_namespace, job.pod_name))
        groups[importance(pod) if pod is not None else None].append(job)
    yield [job for group in groups.values() for job in _dealt(sorted(group, key=place))]


def _dealt(jobs: Sequence[MigrationJob]) -> Iterator[MigrationJob]:
    times = sorted((job.created_at for job in jobs if job.created_at is not None), reverse=True)
    for job, time in zip(jobs, times, strict=True):
        yield msgspec.structs.replace(job, created_at=time)


def _snapshot(case: Case) -> Snapshot:
    kinds = {"pods": "Pod", "nodes": "Node", "replicasets": "ReplicaSet"}
    named = [
        {"kind": kind, "apiVersion": _VERSIONS[kind], **item} for member, kind in kinds.items() for item in case[member]
    ]
    return snapshot_from_objects([*named, *case["workloads"], *case["jobs"]])


def _args(case: Case) -> MigrationControllerArgs:
    """The arguments as a policy file has them, with defaults filled in."""
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [{"name": "p", "pluginConfig": [{"name": "MigrationController", "args": case["args"]}]}],
    }
    args = load_policy(policy, REGISTRY).profiles[0].args["MigrationController"]
    assert isinstance(args, MigrationControllerArgs)
    return args


def _told(decision: JobDecision, case: Case) -> dict[str, Any]:
    """The decision in the words of the records."""
    status = decision.status
    if status is None:
        (job,) = (job for job in case["jobs"] if job["metadata"]["name"] == decision.job.name)
        words = tuple((job.get("status") or {}).get(member, "") for member in ("phase", "status", "reason"))
    else:
        words = (status.phase, status.condition, status.reason or "")
    outcome = _RECORDED_NAMES.get(decision.outcome, decision.outcome.value)
    return {"outcome": outcome, "passed_arbitration": decision.has_passed} | dict(
        zip(("phase", "status", "reason"), map(str, words), strict=True)
    )
