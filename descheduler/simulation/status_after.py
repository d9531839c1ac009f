"""What controllers and agents report once pods have gone and others have come: budgets, owners and measured usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

import msgspec
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.groups.workloads import JobFacts, Workload
from descheduler.model.koordinator.node_reports import NodeMetric, PodMetric
from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.model.pod import Pod
from descheduler.model.requests import ResourceList
from descheduler.placement.landings.landing import Landing
from descheduler.plan.moves import Move


def budgets_after(snapshot: Snapshot, gone: Iterable[Pod], come: Iterable[Pod]) -> tuple[DisruptionBudget, ...]:
    """The budgets of `snapshot` without the pods that are `gone` and with those that have `come`.

    A budget of which as many pods are healthy as before stays as it is reported. Mirrors kubernetes 1.36
    `pkg/controller/disruption/disruption.go`: what is allowed is what is healthy beyond what is desired.
    """
    changes: Counter[tuple[str, str]] = Counter()
    for pods, number in ((gone, -1), (come, 1)):
        for pod in filter(_is_healthy, pods):
            changes.update({(each.namespace, each.name): number for each in snapshot.budgets_of(pod)})
    return tuple(_changed_budget(budget, changes[budget.namespace, budget.name]) for budget in snapshot.budgets)


def _is_healthy(pod: Pod) -> bool:
    return pod.is_ready and not pod.is_terminating


def _changed_budget(budget: DisruptionBudget, number: int) -> DisruptionBudget:
    if not number or budget.disruptions_allowed is None:
        return budget
    healthy = budget.current_healthy + number
    return replace(budget, current_healthy=healthy, disruptions_allowed=max(0, healthy - budget.desired_healthy))


def workloads_after(workloads: Mapping[str, Workload], moves: Iterable[Move]) -> Mapping[str, Workload]:
    """`workloads` once their controllers have seen the evictions of `moves`."""
    after = dict(workloads)
    for uid, landing in _owned(moves):
        workload = after.get(uid)
        if workload is not None and workload.job is not None:
            after[uid] = msgspec.structs.replace(workload, job=_job_after(workload.job, landing))
    return after


def ended_owners(moves: Iterable[Move]) -> frozenset[str]:
    """The UIDs of Jobs that end with these evictions, and with that all their pods."""
    return frozenset(uid for uid, landing in _owned(moves) if landing.replacement.answer.end is not None)


def _owned(moves: Iterable[Move]) -> Iterator[tuple[str, Landing]]:
    """The UID of the controller of each pod that leaves, and the landing of the pod that comes for it."""
    for move in moves:
        if move.landing is not None and move.pod.controller is not None:
            yield move.pod.controller.uid, move.landing


def _job_after(job: JobFacts, landing: Landing) -> JobFacts:
    answer = landing.replacement.answer
    if answer.end is not None:
        return msgspec.structs.replace(job, conditions=job.conditions | {answer.end.condition})
    failed = job.failed_indexes if answer.failed_index is None else job.failed_indexes | {answer.failed_index}
    return msgspec.structs.replace(job, failed_indexes=failed, num_failed=job.num_failed + answer.is_counted)


Successions = Sequence[tuple[Pod, Pod | None]]
"""Each pod that is gone, with the one that runs in its place; None where none does, or where it is pending."""


def node_metrics_after(snapshot: Snapshot, moved: Successions, elapsed: timedelta) -> Mapping[str, NodeMetric]:
    """The NodeMetrics of `snapshot` after `moved`, each as long after the one before as `elapsed`."""
    gone = {(pod.node_name, pod.key) for pod, _ in moved}
    arrived: dict[str, list[PodMetric]] = {}
    changes: dict[str, Counter[str]] = {}
    for old, new in moved:
        metric = snapshot.node_metrics.get(old.node_name)
        for each in () if metric is None else (each for each in metric.pods if each.key == old.key):
            changes.setdefault(old.node_name, Counter()).subtract(each.usage)
            if new is not None:
                changes.setdefault(new.node_name, Counter()).update(each.usage)
                arrived.setdefault(new.node_name, []).append(replace(each, name=new.name))
    return {
        name: replace(
            metric,
            updated_at=None if metric.updated_at is None else metric.updated_at + elapsed,
            pods=(*(pod for pod in metric.pods if (name, pod.key) not in gone), *arrived.get(name, ())),
            node_usage=_usage_after(metric.node_usage, changes.get(name, {})),
        )
        for name, metric in snapshot.node_metrics.items()
    }


def server_usage_after(
    snapshot: Snapshot, moved: Successions
) -> tuple[Mapping[str, NodeUsage], Mapping[tuple[str, str], PodUsage]]:
    """What the metrics server would say of nodes and of pods after `moved`."""
    pods = dict(snapshot.pod_usage)
    changes: dict[str, Counter[str]] = {}
    for old, _ in moved:
        if (measured := pods.pop((old.namespace, old.name), None)) is not None:
            changes.setdefault(old.node_name, Counter()).subtract(_total(measured))
    for old, new in moved:
        measured = snapshot.pod_usage.get((old.namespace, old.name))
        if measured is not None and new is not None:
            pods[new.namespace, new.name] = replace(measured, name=new.name)
            changes.setdefault(new.node_name, Counter()).update(_total(measured))
    nodes = {name: _changed(usage, changes.get(name, {})) for name, usage in snapshot.node_usage.items()}
    return nodes, pods


def _total(usage: PodUsage) -> Counter[str]:
    total: Counter[str] = Counter()
    for container in usage.containers:
        total.update(container)
    return total


def _changed(node: NodeUsage, change: Mapping[str, int]) -> NodeUsage:
    return replace(node, usage=_usage_after(node.usage, change)) if change else node


def _usage_after(usage: ResourceList, change: Mapping[str, int]) -> ResourceList:
    """A pod may have been measured a moment later than its node, so that nothing falls below zero."""
    return {name: max(0, nano + change.get(name, 0)) for name, nano in usage.items()}
