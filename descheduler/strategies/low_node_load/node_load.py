"""What is used of the nodes of a pool, as Koordinator's agent has measured it, after the moves that are booked.

By that some of them are left by pods, and others can take them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum

import msgspec

from descheduler.cluster.decoding.blocks import decode_quantities
from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.koordinator.classes import is_prod
from descheduler.model.koordinator.node_reports import RAW_ALLOCATABLE_ANNOTATION, NodeMetric
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.quantity import NANO
from descheduler.model.requests import PODS, ResourceList
from descheduler.strategies.low_node_load.pools import LoadThresholds, NodePool, average_percent, resources_of


class Load(msgspec.Struct):
    """Usage beside its thresholds, in nano units by resource. `usage` changes with what the plugin books.

    It holds the number of pods too, which counts where that is a resource of the thresholds.
    """

    usage: dict[str, int]
    low: ResourceList
    high: ResourceList

    @property
    def over(self) -> list[str]:
        """The resources above their high thresholds, in name order."""
        return sorted(resource for resource, limit in self.high.items() if self.usage[resource] > limit)

    @property
    def is_over(self) -> bool:
        """Whether any resource is above its high threshold."""
        return any(self.usage[resource] > limit for resource, limit in self.high.items())

    @property
    def is_under(self) -> bool:
        """Whether no resource is above its low threshold."""
        return all(self.usage[resource] <= limit for resource, limit in self.low.items())


class MeasuredNode(msgspec.Struct, frozen=True):
    """A measured node: the load of all of it, and that of its `prod` pods alone.

    `pods` have not finished; those that are to arrive are in the usage alone. `usage_by_pod` is by `namespace/name`.
    """

    node: Node
    capacity: ResourceList
    whole: Load
    prod: Load
    pods: Sequence[Pod]
    prod_pods: Sequence[Pod]
    usage_by_pod: Mapping[str, ResourceList]

    def usage_of(self, pod: Pod) -> ResourceList | None:
        """What a pod of the node uses; None of one that was not measured."""
        return self.usage_by_pod.get(pod.key)


class PoolLoads(msgspec.Struct, frozen=True):
    """The measured nodes of a pool in the given order, the others, and the thresholds in effect for both phases."""

    loads: Sequence[MeasuredNode]
    unmeasured: Sequence[Node]
    whole: LoadThresholds
    prod: LoadThresholds
    resources: tuple[str, ...]


def measure(
    pool: NodePool, nodes: Sequence[Node], view: ClusterView, *, now: datetime, expiration_seconds: int
) -> PoolLoads:
    """The loads of `nodes`. A NodeMetric that is missing or as old as `expiration_seconds` leaves its node out."""
    resources = resources_of(pool)
    metrics = view.snapshot.node_metrics
    lifetime = timedelta(seconds=expiration_seconds)
    known = [node for node in nodes if _is_current(metrics.get(node.name), now, lifetime)]
    measured = [_Measured.of(node, metrics[node.name], view, resources) for node in known]
    averages = [None, None] if not pool.uses_deviation else [_average(measured), _prod_average(measured)]
    whole = LoadThresholds.of(pool.node, resources, averages[0])
    prod = LoadThresholds.of(pool.prod, resources, averages[1])
    names = {node.name for node in known}
    return PoolLoads(
        loads=[each.beside(whole, prod) for each in measured],
        unmeasured=[node for node in nodes if node.name not in names],
        whole=whole,
        prod=prod,
        resources=resources,
    )


def _is_current(metric: NodeMetric | None, now: datetime, lifetime: timedelta) -> bool:
    if metric is None or metric.system_usage is None or metric.updated_at is None:
        return False
    return now - metric.updated_at < lifetime


class _Measured(msgspec.Struct, frozen=True):
    """A node before its thresholds are known, which may depend on the average of all."""

    node: Node
    capacity: ResourceList
    usage: dict[str, int]
    prod_usage: dict[str, int]
    pods: Sequence[Pod]
    prod_pods: Sequence[Pod]
    usage_by_pod: Mapping[str, ResourceList]

    @classmethod
    def of(cls, node: Node, metric: NodeMetric, view: ClusterView, resources: Sequence[str]) -> _Measured:
        """The sum of the system and of every pod that was measured, whether or not it is still there.

        Not the usage of the node as a whole, which is an average over minutes (koordinator#990). Pods that the run has
        evicted no longer count, those that come for them count as what they come for.
        """
        listed = view.active_pods_on(node.name)
        arrivals = [pod for pod in listed if view.is_arrival(pod)] if view.has_arrivals else []
        gone = _gone(node, view)
        entries = [(pod.key, pod.usage) for pod in metric.pods if pod.key not in gone]
        entries += [(pod.key, _usage_before(pod, view)) for pod in arrivals]
        prod = {pod.key for pod in listed if is_prod(pod)}
        system = metric.system_usage or {}
        usage = {name: system.get(name, 0) + sum(used.get(name, 0) for _, used in entries) for name in resources}
        of_prod = [used for key, used in entries if key in prod]
        prod_usage = {name: sum(used.get(name, 0) for used in of_prod) for name in resources}
        here = [pod for pod in listed if not view.is_arrival(pod)] if arrivals else listed
        return cls(
            node=node,
            capacity=_capacity(node),
            usage={**usage, PODS: len(listed) * NANO},
            prod_usage={**prod_usage, PODS: len(prod) * NANO},
            pods=here,
            prod_pods=[pod for pod in here if pod.key in prod],
            usage_by_pod=dict(entries),
        )

    def beside(self, whole: LoadThresholds, prod: LoadThresholds) -> MeasuredNode:
        """The node with its thresholds."""
        capacity = self.capacity
        return MeasuredNode(
            node=self.node,
            capacity=capacity,
            whole=Load(self.usage, whole.low_amounts(capacity), whole.high_amounts(capacity)),
            prod=Load(self.prod_usage, prod.low_amounts(capacity), prod.high_amounts(capacity)),
            pods=self.pods,
            prod_pods=self.prod_pods,
            usage_by_pod=self.usage_by_pod,
        )


def _average(measured: Sequence[_Measured]) -> Mapping[str, float]:
    return average_percent([(each.usage, each.capacity) for each in measured])


def _prod_average(measured: Sequence[_Measured]) -> Mapping[str, float]:
    return average_percent([(each.prod_usage, each.capacity) for each in measured])


def _gone(node: Node, view: ClusterView) -> frozenset[str]:
    """The pods of a node, by key, that the run has evicted."""
    stored, listed = view.snapshot.pods_by_node.get(node.name, ()), view.pods_on(node.name)
    if stored is listed:
        return frozenset()
    still_here = {pod.key for pod in listed}
    return frozenset(pod.key for pod in stored if pod.key not in still_here)


def _usage_before(arrival: Pod, view: ClusterView) -> ResourceList:
    """What the pod that `arrival` comes for used; nothing where that was not measured."""
    leaving = view.evicted_for(arrival)
    metric = view.snapshot.node_metrics.get(leaving.node_name) if leaving is not None else None
    if leaving is None or metric is None:
        return {}
    return next((pod.usage for pod in metric.pods if pod.key == leaving.key), {})


def _capacity(node: Node) -> ResourceList:
    """What a node can give: as it says in its annotation where allocatable is amplified, else allocatable.

    As in Koordinator, what the annotation does not name is not there.
    """
    text = node.annotations.get(RAW_ALLOCATABLE_ANNOTATION, "")
    if not text:
        return node.allocatable
    try:
        return decode_quantities(text.encode())
    except (ValueError, RecursionError, msgspec.DecodeError):
        return node.allocatable


class NodeClass(Enum):
    """What a node is; the value is the clause about it."""

    HIGH = "overutilized"
    PROD_HIGH = "overutilized by prod pods"
    BOTH_LOW = "underutilized"
    LOW = "underutilized, but not by prod pods"
    PROD_LOW = "not overutilized, and can take prod pods"
    OTHER = "neither overutilized nor underutilized"


class _LoadClasses(msgspec.Struct, frozen=True):
    """The loads of a pool by class, in the given order."""

    loads: Sequence[MeasuredNode]
    classes: Sequence[NodeClass]

    def of(self, *classes: NodeClass) -> list[MeasuredNode]:
        """The nodes of these classes: class by class, as they are given here."""
        return [load for wanted in classes for load in self._of(wanted)]

    @property
    def num_low(self) -> int:
        """How many nodes count as underutilized, those that can take prod pods alone among them."""
        return sum(each in (NodeClass.LOW, NodeClass.PROD_LOW, NodeClass.BOTH_LOW) for each in self.classes)

    def _of(self, wanted: NodeClass) -> Iterator[MeasuredNode]:
        return (load for load, found in zip(self.loads, self.classes, strict=True) if found is wanted)


def classify(loads: Iterable[MeasuredNode]) -> _LoadClasses:
    """The classes of nodes; a cordoned node is never underutilized.

    Without thresholds for prod pods every node that is not overutilized can take prod pods, as in koordinator 1.8
    `classifyNodes` in `pkg/descheduler/framework/plugins/loadaware/utilization_util.go`.
    """
    known = list(loads)
    return _LoadClasses(known, [_class_of(load) for load in known])


def _class_of(load: MeasuredNode) -> NodeClass:
    is_schedulable = not load.node.unschedulable
    is_prod_low = is_schedulable and load.prod.is_under
    if is_schedulable and load.whole.is_under:
        if load.prod.is_over:
            return NodeClass.PROD_HIGH
        return NodeClass.BOTH_LOW if is_prod_low else NodeClass.LOW
    if load.whole.is_over:
        return NodeClass.HIGH
    if load.prod.is_over:
        return NodeClass.PROD_HIGH
    return NodeClass.PROD_LOW if is_prod_low else NodeClass.OTHER
