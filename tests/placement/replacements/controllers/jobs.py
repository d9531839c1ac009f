"""Builders of the Job `sum` and its pods."""

from __future__ import annotations

from typing import Any

from tests.builders import Object, ago, pod_object
from tests.placement.workloads import workload_object

DISRUPTED = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"


def member(name: str = "victim", index: int | None = None, failures: int = 0) -> Object:
    """A running pod of the Job `sum`."""
    labels = {} if index is None else {INDEX: str(index)}
    return pod_object(name, owners=["Job/sum"], labels=labels, annotations={FAILURES: str(failures)})


def job(status: Object | None = None, *, parallelism: int = 1, **spec: Any) -> Object:
    """The Job `sum`, which is to complete as many pods as it runs unless `spec` says otherwise."""
    facts: dict[str, Any] = {"completions": parallelism, **spec}
    return workload_object("Job/sum", replicas=parallelism, **facts) | {"status": status or {}}


def indexed(*, completions: int = 2, status: Object | None = None, **spec: Any) -> Object:
    """An Indexed Job with a limit of failures for each index."""
    return job(
        status,
        parallelism=2,
        completions=completions,
        completionMode="Indexed",
        **{"backoffLimitPerIndex": 0, **spec},
    )


def policy(action: str, **rule: object) -> Object:
    """A `podFailurePolicy` of one rule."""
    return {"podFailurePolicy": {"rules": [{"action": action, **(rule or DISRUPTED)}]}}


def ended(name: str, phase: str, seconds: float) -> Object:
    """A pod of the Job `sum` that ended so long ago."""
    made = pod_object(name, owners=["Job/sum"], phase=phase, age=3600)
    made["status"]["conditions"] = [{"type": "Ready", "status": "False", "lastTransitionTime": ago(seconds)}]
    return made
