"""What the eviction of a pod costs its workload, beside that of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np

from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.groups.gangs import gangs_of
from descheduler.model.koordinator.classes import annotated_cost
from descheduler.model.koordinator.eviction_annotations import COST_ANNOTATION, DELETION_COST_ANNOTATION
from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import PENDING, Floats, Ints
from descheduler.optimizer.problem import Problem
from descheduler.planner.args import TIE_BREAKS, DisruptionCost
from descheduler.strategies.shared.pods import age_seconds

ORDINARY = 1000
"""The cost of an ordinary eviction."""

_ENDS_OWNER = 1000.0
"""Ordinary evictions that one weighs which fails or ends a Job."""
_HALF_AGE_SECONDS = 3600.0
_MANY_RESTARTS = 5


def disruption_costs(
    pods: Sequence[Pod],
    weights: DisruptionCost,
    view: ClusterView,
    now: datetime,
    ends_owner: Callable[[Pod], bool],
) -> Ints:
    """int64[P], in thousandths of an ordinary eviction, 1 at least.

    Each scale is from 0 to 1 over `pods`, and from -1 where a stated cost is below 0. A pod whose eviction `ends_owner`
    costs a thousand ordinary evictions more, whatever `weights` say.
    """
    priority = [pod.priority or 0 for pod in pods]
    stated = [annotated_cost(pod, COST_ANNOTATION) or annotated_cost(pod, DELETION_COST_ANNOTATION) for pod in pods]
    age = np.array([max(age_seconds(pod, now), 0) for pod in pods], dtype=np.float64)
    share_of_age = age / (age + _HALF_AGE_SECONDS)
    restarts = np.array([sum(status.restart_count for status in pod.container_statuses) for pod in pods])
    of_job = np.array([pod.controller is not None and pod.controller.kind == "Job" for pod in pods], dtype=bool)
    scales = (
        (weights.priority, _share_of_range(np.array(priority, dtype=np.float64))),
        (weights.eviction_cost, _share_of_highest(np.array(stated, dtype=np.float64))),
        (weights.age, share_of_age),
        (weights.restarts, 1.0 - np.minimum(restarts, _MANY_RESTARTS) / _MANY_RESTARTS),
        (weights.replicas, np.array([1.0 / _num_replicas(pod, view) for pod in pods])),
        (weights.gang, np.array([bool(gangs_of(pod)) for pod in pods], dtype=np.float64)),
        (weights.job, share_of_age * of_job),
    )
    total = sum((weight * scale for weight, scale in scales), np.ones(len(pods)))
    ends = np.fromiter(map(ends_owner, pods), dtype=bool, count=len(pods))
    total = np.where(ends, np.maximum(total, 1.0) + _ENDS_OWNER, total)
    return np.maximum(np.rint(total * ORDINARY), 1).astype(np.int64)


def most_of_ties(num_evictions: int) -> int:
    """By how much two plans with so many evictions can differ in cost by tie-breaks alone."""
    return round(num_evictions * TIE_BREAKS * ORDINARY)


def cost_of_cheapest(problem: Problem, number: int) -> int:
    """What so many evictions cost at least."""
    costs = problem.cost[problem.evictable & (problem.assignment != PENDING)]
    return int(np.sort(costs)[:number].sum())


def fewest_that_cost(problem: Problem, cost: int) -> int:
    """How many evictions it takes at least to cost so much."""
    costs = problem.cost[problem.evictable & (problem.assignment != PENDING)]
    return int(np.searchsorted(np.cumsum(-np.sort(-costs)), cost)) + 1 if cost > 0 else 0


def _share_of_range(values: Floats) -> Floats:
    """Where each of the different values is between the lowest and the highest, by rank: scales of priorities jump."""
    known, ranks = np.unique(values, return_inverse=True)
    return ranks / max(len(known) - 1, 1)


def _share_of_highest(values: Floats) -> Floats:
    return values / max(float(np.abs(values).max(initial=0.0)), 1.0)


def _num_replicas(pod: Pod, view: ClusterView) -> int:
    """The pods of its controller, of which a pod without one is the only one."""
    return 1 if pod.controller is None else max(view.pods_of_owner(pod.controller.uid), 1)
