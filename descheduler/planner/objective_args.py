"""Arguments of the objectives of MigrationPlanner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec

from descheduler.model.koordinator.node_reports import NODE_METRIC_KIND, RAW_ALLOCATABLE_ANNOTATION
from descheduler.model.names import is_container_resource
from descheduler.model.node import CORDON_ANNOTATION
from descheduler.model.requests import PODS
from descheduler.policy.plugin import ArgsProblem, Needs
from descheduler.policy.shared_args import (
    Args,
    LabelSelectorArg,
    Namespaces,
    Percent,
    UInt,
    check_namespaces,
    check_percentages,
    check_selector,
    one_of,
)

PENDING_PODS = "pending"
"""All pods that are pending, as `makeRoom` names them."""

DEFERRED_RESIZES = "deferredResizes"
"""Pods whose in-place resize is deferred, as `makeRoom` names them."""

SHARED_GPUS = "koordinator.sh/gpu"
"""GPUs that pods share, as `reduceFragmentation` names them."""
CLAIMED_DEVICES = "resource.k8s.io/devices"
"""Devices of resource claims, as `reduceFragmentation` names them."""

KUBERNETES_METRICS, NODE_METRIC = "KubernetesMetrics", "NodeMetric"
_SOURCES = (KUBERNETES_METRICS, NODE_METRIC)
MOST_NODE_COST = 1_000_000_000
"""Costs of nodes are below: those of a whole cluster have to fit 64 bits, in thousandths."""

_NO_COST = f"is not a number from 0 to below {MOST_NODE_COST:,}"
_EXPIRATION_SECONDS = 180
_RESOURCES = (
    "write cpu, memory, pods, ephemeral-storage, hugepages-SIZE, or an extended resource such as nvidia.com/gpu"
)


def _check_targets(field: str, percent_by_resource: Mapping[str, float]) -> Iterator[ArgsProblem]:
    """Percentages out of range, or none at all; names that no node can have a resource of."""
    yield from check_percentages(field, percent_by_resource)
    for resource in sorted(percent_by_resource):
        if resource != PODS and not is_container_resource(resource):
            yield ArgsProblem((field, resource), f"{resource!r} is not a resource of nodes; {_RESOURCES}")


def _fractions(field: str, percent_by_resource: Mapping[str, float]) -> Iterator[ArgsProblem]:
    """Percentages below 1, which look like shares of 1."""
    for resource, percent in sorted(percent_by_resource.items()):
        if 0 < percent < 1:
            message = f"{percent:g} is less than 1 percent; write {100 * percent:g} for {100 * percent:g}%"
            yield ArgsProblem((field, resource), message)


class ObjectiveArgs(Args, frozen=True):
    """Arguments of one objective."""

    def problems(self) -> Iterator[ArgsProblem]:
        """What is wrong with them as they were decoded, by the path from here."""
        yield from ()

    def warnings(self) -> Iterator[ArgsProblem]:
        """What is allowed and hardly meant."""
        yield from ()

    def needs(self) -> Needs:
        """What is read of a cluster beside what every objective needs."""
        return Needs()


class MeasuredUtilization(Args, frozen=True):
    """Where measured usage comes from."""

    source: Annotated[str, one_of(_SOURCES)] = ""
    """`KubernetesMetrics`: the metrics server. `NodeMetric`: Koordinator's agent koordlet. Prometheus is not a source,
    because it does not measure pods."""
    node_metric_expiration_seconds: UInt = _EXPIRATION_SECONDS
    """A NodeMetric that is this old counts as missing."""

    def problems(self) -> Iterator[ArgsProblem]:
        """An unknown source, or one that is always too old."""
        if self.source not in _SOURCES:
            yield ArgsProblem(("source",), f"{self.source!r} is not one of {', '.join(_SOURCES)}")
        if not self.node_metric_expiration_seconds:
            yield ArgsProblem(("nodeMetricExpirationSeconds",), "0 is not above 0")


class BalanceUtilizationArgs(ObjectiveArgs, frozen=True):
    """Brings all nodes under a target, by as few evictions as can be."""

    target_thresholds: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """Resource → percent of allocatable that pods may request of a node at most. Nodes above it give pods away; no
    other node is brought above it."""
    use_deviation_thresholds: bool = False
    """Whether the targets are distances above the average of all nodes, as in LowNodeUtilization."""
    metrics_utilization: MeasuredUtilization | None = None
    """The targets are for measured usage, not for requests; requests must fit the nodes as ever. Nodes and pods that
    were not measured are left as they are."""

    def problems(self) -> Iterator[ArgsProblem]:
        """Percentages out of range, or none at all; an unknown source."""
        yield from _check_targets("targetThresholds", self.target_thresholds)
        for problem in () if self.metrics_utilization is None else self.metrics_utilization.problems():
            yield msgspec.structs.replace(problem, path=("metricsUtilization", *problem.path))

    def warnings(self) -> Iterator[ArgsProblem]:
        """Targets below 1 percent; small distances from the average are usual."""
        yield from () if self.use_deviation_thresholds else _fractions("targetThresholds", self.target_thresholds)

    def needs(self) -> Needs:
        """The measurements."""
        metrics = self.metrics_utilization
        if metrics is None:
            return Needs()
        if metrics.source == NODE_METRIC:
            return Needs(frozenset({NODE_METRIC_KIND}), annotations=frozenset({RAW_ALLOCATABLE_ANNOTATION}))
        return Needs(frozenset({"NodeMetrics.metrics.k8s.io", "PodMetrics.metrics.k8s.io"}))


class RepairViolationsArgs(ObjectiveArgs, frozen=True):
    """Gives another node to the most pods that strategies select, with the fewest evictions; other pods make room for
    them where that helps."""

    strategies: tuple[str, ...] = ()
    """Names of deschedule and balance plugins, which run for their selection alone, with the arguments that they have
    in the `pluginConfig` of the profile. They need not be enabled."""
    weights: Mapping[str, UInt] = msgspec.field(default_factory=dict)
    """Strategy → what each pod counts that it selects; 1 for those that are not named. Of several strategies that
    select a pod the largest counts."""

    def problems(self) -> Iterator[ArgsProblem]:
        """No strategy, one that is named twice or that is this plugin, weights of others or of 0."""
        if not self.strategies:
            yield ArgsProblem(("strategies",), "is empty; name one at least, such as RemovePodsViolatingNodeTaints")
        for index, name in enumerate(self.strategies):
            if name == "MigrationPlanner":
                yield ArgsProblem(("strategies", index), "MigrationPlanner cannot run itself")
            elif name in self.strategies[:index]:
                yield ArgsProblem(("strategies", index), f"{name} is named twice")
        for name, weight in self.weights.items():
            if name not in self.strategies:
                yield ArgsProblem(("weights", name), "is not one of strategies")
            elif not weight:
                yield ArgsProblem(("weights", name), "0 is not above 0")


class ReduceFragmentationArgs(ObjectiveArgs, frozen=True):
    """Makes the free capacity of a resource usable by pods of the sizes that the cluster runs, with few evictions."""

    resource: str = ""
    """An extended resource that pods request whole, such as `nvidia.com/gpu`; `koordinator.sh/gpu` for GPUs one by one,
    of which pods request parts, whole ones or several by any of Koordinator's resources; `resource.k8s.io/devices` for
    the devices of resource claims one by one, whole ones and partitions."""

    def problems(self) -> Iterator[ArgsProblem]:
        """No resource, or one of which pods request any part."""
        if "/" not in self.resource:
            yield ArgsProblem(("resource",), f"{self.resource!r} is not an extended resource such as nvidia.com/gpu")
        elif self.resource.startswith("koordinator.sh/") and self.resource != SHARED_GPUS:
            message = f"pods can share devices of {self.resource}; {SHARED_GPUS} stands for GPUs that pods share"
            yield ArgsProblem(("resource",), message)


class NodeCost(Args, frozen=True):
    """What nodes cost, in any unit. Without `prices` the value of the label is the cost itself."""

    label: str = ""
    """Key of the label that says what a node costs, such as `node.kubernetes.io/instance-type`."""
    prices: Mapping[str, float] = msgspec.field(default_factory=dict)
    """Value of the label → cost."""
    default: float = 1.0
    """The cost of nodes without a known one."""

    def problems(self) -> Iterator[ArgsProblem]:
        """A missing label, or costs that are out of range."""
        if not self.label:
            yield ArgsProblem(("label",), "is empty; name the label that says what a node costs")
        for value, price in sorted(self.prices.items()):
            if not _is_cost(price):
                yield ArgsProblem(("prices", value), f"{price:g} {_NO_COST}")
        if not _is_cost(self.default):
            yield ArgsProblem(("default",), f"{self.default:g} {_NO_COST}")


class ConsolidateNodesArgs(ObjectiveArgs, frozen=True):
    """Empties the most nodes, each whole or not at all. Pods of DaemonSets and static pods do not count."""

    max_utilization: Mapping[str, Percent] = msgspec.field(default_factory=dict)
    """Resource → percent of allocatable that pods may request of a node that receives pods; 100 by default."""
    protected_nodes: LabelSelectorArg | None = None
    """Nodes that are not emptied; they may receive pods."""
    node_cost: NodeCost | None = None
    """What nodes cost: the most cost is emptied, not the most nodes. Nodes that cost 0 are not emptied."""
    use_empty_nodes: bool = False
    """Whether nodes without pods may receive pods, where more is emptied for it: two nodes for one, or with `nodeCost`
    expensive nodes for cheaper ones. Pods of several nodes that go to one such node are evicted together or not at all.
    """

    def problems(self) -> Iterator[ArgsProblem]:
        """Percentages out of range, a bad selector or costs."""
        if self.max_utilization:
            yield from _check_targets("maxUtilization", self.max_utilization)
        yield from check_selector("protectedNodes", self.protected_nodes)
        for problem in () if self.node_cost is None else self.node_cost.problems():
            yield msgspec.structs.replace(problem, path=("nodeCost", *problem.path))

    def warnings(self) -> Iterator[ArgsProblem]:
        """Shares below 1 percent."""
        yield from _fractions("maxUtilization", self.max_utilization)


class ReduceCostArgs(ObjectiveArgs, frozen=True):
    """Moves pods to free room that costs less, for example from on-demand nodes to nodes that are paid for anyway. Each
    eviction has to gain something by itself; set `minGainPerDisruption`. A pod costs its share of what its node costs:
    the mean of its shares of allocatable CPU and memory."""

    node_cost: NodeCost = NodeCost()
    """What nodes cost. Required."""

    def problems(self) -> Iterator[ArgsProblem]:
        """No costs, or bad ones."""
        for problem in self.node_cost.problems():
            yield msgspec.structs.replace(problem, path=("nodeCost", *problem.path))


class MakeRoomArgs(ObjectiveArgs, frozen=True):
    """Makes room for the most pending pods, of a gang all or none, or for in-place resizes, by as few evictions as can
    be."""

    pods: str | tuple[str, ...] = msgspec.field(default=PENDING_PODS, name="for")
    """`pending` for all pending pods, which is the default, or a list of pods as `namespace/name`. `deferredResizes`
    for running pods whose in-place resize is deferred, on their own node or on another one."""
    namespaces: Namespaces | None = None
    """Of these, the pods of some namespaces."""
    label_selector: LabelSelectorArg | None = None
    """Of these, the pods with these labels."""

    def problems(self) -> Iterator[ArgsProblem]:
        """Another word than those for pods, names that are not of a namespace and a pod, or bad selectors."""
        if isinstance(self.pods, str) and self.pods not in (PENDING_PODS, DEFERRED_RESIZES):
            words = f"{PENDING_PODS!r}, {DEFERRED_RESIZES!r}"
            yield ArgsProblem(("for",), f"{self.pods!r} is neither {words} nor a list of namespace/name")
        for index, name in enumerate(() if isinstance(self.pods, str) else self.pods):
            namespace, _, pod_name = name.partition("/")
            if not namespace or not pod_name or "/" in pod_name:
                yield ArgsProblem(("for", index), f"{name!r} is not a pod as namespace/name")
        yield from check_namespaces(self.namespaces)
        yield from check_selector("labelSelector", self.label_selector)

    def needs(self) -> Needs:
        """The conditions of pods, which say that a resize is deferred."""
        return Needs(pod_conditions=self.pods == DEFERRED_RESIZES)


class DrainNodesArgs(ObjectiveArgs, frozen=True):
    """Drains the most of the nodes that are named or selected, each whole or not at all. Pods of DaemonSets and static
    pods are not evicted. No replacement pod is scheduled onto a node that is to be drained."""

    nodes: tuple[str, ...] = ()
    """Names of nodes."""
    nodes_file: str = ""
    """A file with the names of further nodes, one on each line, as `kubectl get nodes -o name` prints them. A path that
    is not absolute starts from the folder of the policy file. The file is read together with the policy."""
    node_selector: LabelSelectorArg | None = None
    """Nodes with these labels."""
    conditions: tuple[str, ...] = ()
    """Nodes that have one of these conditions with status `True`, such as `MaintenancePlanned`."""
    max_unavailable: UInt = 1
    """How many nodes are drained at once, in one wave of the plan."""
    zones_in_turn: bool = False
    """Whether all nodes of one zone are drained before the first node of the next zone. The zone is the label
    `topology.kubernetes.io/zone`."""
    cordon: bool = False
    """Whether a live run cordons the nodes before the first eviction. The plan counts them as unschedulable. At the end
    the run uncordons the nodes that it has cordoned and that still have pods. It never uncordons a node that was
    cordoned by someone else. The right to patch nodes is in a role of its own."""

    def problems(self) -> Iterator[ArgsProblem]:
        """No node, a bad selector, or none at once."""
        if not (self.nodes or self.nodes_file or self.conditions) and self.node_selector is None:
            yield ArgsProblem((), "names no node; set nodes, nodesFile, nodeSelector or conditions")
        yield from check_selector("nodeSelector", self.node_selector)
        if not self.max_unavailable:
            yield ArgsProblem(("maxUnavailable",), "0 is too low: must be at least 1")

    def needs(self) -> Needs:
        """Which nodes earlier runs have cordoned."""
        return Needs(annotations=frozenset({CORDON_ANNOTATION} if self.cordon else ()))


def _is_cost(number: float) -> bool:
    return 0 <= number < MOST_NODE_COST
