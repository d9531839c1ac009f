"""What a node offers to best-effort pods of Koordinator: batch resources, and how much cpu they may use.

Source: koordinator 1.8 `pkg/slo-controller/noderesource/plugins/batchresource/plugin.go` and `pkg/util/resource`, with
the defaults of `pkg/util/sloconfig/colocation_config.go`; the cpu of best-effort pods is limited as
`pkg/koordlet/qosmanager/plugins/cpusuppress` does it. The cluster's own settings, which stand in a ConfigMap, are not
read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from descheduler.model.koordinator.classes import KoordinatorPriority, priority_class, qos_of
from descheduler.model.koordinator.node_reports import NodeMetric
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY, ResourceList

BATCH_NAMES: Mapping[str, str] = {CPU: "kubernetes.io/batch-cpu", MEMORY: "kubernetes.io/batch-memory"}
"""cpu and memory, and what they are called where best-effort pods request them."""
MID_NAMES: Mapping[str, str] = {CPU: "kubernetes.io/mid-cpu", MEMORY: "kubernetes.io/mid-memory"}
"""The same for pods of the class koord-mid."""
_RECLAIMED_PERCENT = {CPU: 60, MEMORY: 65}
_SUPPRESSED_ABOVE_PERCENT = 65
_DEGRADED_AFTER = timedelta(minutes=15)
_LSE = "LSE"


class BatchResource(NamedTuple):
    """cpu or memory of one node, in nano units.

    `margin` is kept free, `reserved` is the larger of what the kubelet and the node's annotation reserve, `system_used`
    is at least that. `pods_used` and `pods_requested` are of pods that are not best effort. `allocatable` is what the
    usage leaves to batch pods, 0 while the measurement is old; `limit` is how much cpu best-effort pods may use at
    present, None for memory. `published` is what the node states.
    """

    resource: str
    capacity: int
    margin: int
    reserved: int
    system_used: int
    pods_used: int
    pods_requested: int
    allocatable: int
    limit: int | None
    published: int


def batch_resources(
    node: Node, pods: Iterable[Pod], metric: NodeMetric | None, now: datetime | None
) -> tuple[BatchResource, ...]:
    """cpu and memory of `node`, on which `pods` are; empty while nothing was measured there.

    Without `now` the measurement is taken to be fresh.
    """
    if metric is None or metric.system_usage is None:
        return ()
    used = {each.key: each.usage for each in metric.pods}
    running = [pod for pod in pods if not pod.is_terminal]
    is_old = now is not None and (metric.updated_at is None or now - metric.updated_at > _DEGRADED_AFTER)
    gone = used.keys() - {f"{pod.namespace}/{pod.name}" for pod in running}
    return tuple(
        _resource(name, node, running, metric.system_usage, used, [used[key] for key in gone], is_old=is_old)
        for name in BATCH_NAMES
    )


def _resource(
    name: str,
    node: Node,
    pods: list[Pod],
    system: ResourceList,
    used: Mapping[str, ResourceList],
    gone: list[ResourceList],
    *,
    is_old: bool,
) -> BatchResource:
    capacity = node.capacity.get(name, 0)
    by_annotation = node.reservation.amounts.get(name, 0) if node.reservation is not None else 0
    reserved = max(capacity - _of_kubelet(node, name), by_annotation)
    margin = capacity * (100 - _RECLAIMED_PERCENT[name]) // 100
    # The agent still measures pods that are gone; their class is not known, and they count as important.
    high = [pod for pod in pods if priority_class(pod) > KoordinatorPriority.BATCH]
    pods_used = sum(_usage(pod, name, used) for pod in high) + sum(usage.get(name, 0) for usage in gone)
    system_used = max(system.get(name, 0), reserved)
    batch = capacity - margin - system_used - pods_used
    return BatchResource(
        resource=name,
        capacity=capacity,
        margin=margin,
        reserved=reserved,
        system_used=system_used,
        pods_used=pods_used,
        pods_requested=sum(pod.spec.requests.get(name, 0) for pod in high),
        allocatable=0 if is_old else max(0, batch),
        limit=_limit(name, capacity, pods, used, system_used),
        published=node.allocatable.get(BATCH_NAMES[name], 0),
    )


def _of_kubelet(node: Node, name: str) -> int:
    """What the kubelet gives to pods: the snapshot may have taken the annotation's reservation off."""
    taken = node.reservation.amounts.get(name, 0) if node.reservation is not None and node.is_trimmed else 0
    return node.allocatable.get(name, 0) + taken


def _usage(pod: Pod, name: str, used: Mapping[str, ResourceList]) -> int:
    """The usage of a pod; its request where it was not measured, and of cpu where no pod can use the rest."""
    measured = used.get(f"{pod.namespace}/{pod.name}")
    if measured is None or (name == CPU and qos_of(pod) == _LSE):
        return pod.spec.requests.get(name, 0)
    return measured.get(name, 0)


def _limit(name: str, capacity: int, pods: list[Pod], used: Mapping[str, ResourceList], system: int) -> int | None:
    """How much cpu best-effort pods may use: the share that may be in use at all, less all other usage."""
    if name != CPU:
        return None
    others = sum(used.get(f"{pod.namespace}/{pod.name}", {}).get(name, 0) for pod in pods if qos_of(pod) != "BE")
    return max(0, capacity * _SUPPRESSED_ABOVE_PERCENT // 100 - others - system)
