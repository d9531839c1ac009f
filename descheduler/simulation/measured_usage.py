"""What the metrics server and Koordinator's agent would measure once pods have moved: their usage goes with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.koordinator.node_metric import NodeMetric, PodMetric
from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.model.pod import Pod

__all__ = ["node_metrics_after", "server_usage_after"]

Successions = Sequence[tuple[Pod, Pod | None]]
"""Each pod that is gone, with the one that runs in its place; None where none does, or where it is pending."""


def node_metrics_after(snapshot: Snapshot, moved: Successions, elapsed: timedelta) -> Mapping[str, NodeMetric]:
    """The NodeMetrics of `snapshot` after `moved`, each as long after the one before as `elapsed`."""
    gone = {(pod.node_name, pod.key) for pod, _ in moved}
    arrived: dict[str, list[PodMetric]] = {}
    for old, new in moved:
        metric = snapshot.node_metrics.get(old.node_name)
        measured = () if metric is None or new is None else (each for each in metric.pods if each.key == old.key)
        for each in measured:
            if new is not None:
                arrived.setdefault(new.node_name, []).append(replace(each, name=new.name))
    return {
        name: replace(
            metric,
            updated_at=None if metric.updated_at is None else metric.updated_at + elapsed,
            pods=(*(pod for pod in metric.pods if (name, pod.key) not in gone), *arrived.get(name, ())),
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
    """A pod may have been measured a moment later than its node, so that nothing falls below zero."""
    amounts: Iterable[tuple[str, int]] = node.usage.items()
    return replace(node, usage={name: max(0, nano + change.get(name, 0)) for name, nano in amounts}) if change else node
